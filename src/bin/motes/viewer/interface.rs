//! imgui set up for this window: fonts, colours, sizes. Everything is in physical pixels, so that
//! the painter has nothing to scale.

use super::{fonts, queue};
use crate::painter::ui::FontTexture;
use imgui::{BackendFlags, Context, FontConfig, FontGlyphRanges, FontSource, StyleColor};
use imgui_winit_support::{HiDpiMode, WinitPlatform};
use winit::window::Window;

/// Height of a line of text at 100 % [px].
const TEXT: f32 = 14.0;

/// imgui and what is drawn with it.
pub struct Interface {
    pub context: Context,
    pub platform: WinitPlatform,
    pub texture: FontTexture,
    /// How often the fonts were made.
    pub version: u64,
    font: Option<Vec<u8>>,
    /// The style imgui starts with; sizes are scaled from it.
    plain: imgui::Style,
    /// Scale and theme that fonts and colours were made for.
    made_for: Option<(f32, bool)>,
}

impl Interface {
    pub fn new(window: &Window) -> Self {
        let mut context = context();
        let mut platform = WinitPlatform::new(&mut context);
        platform.attach_window(context.io_mut(), window, HiDpiMode::Locked(1.0));
        let plain = *context.style();
        Interface {
            plain,
            context,
            platform,
            texture: FontTexture::default(),
            version: 0,
            font: fonts::system(),
            made_for: None,
        }
    }

    /// Makes fonts and colours anew when the scale or the theme changed.
    pub fn adapt(&mut self, scale: f32, dark: bool) {
        if self.made_for == Some((scale, dark)) {
            return;
        }
        if self.made_for.is_none_or(|(old, _)| old != scale) {
            self.make_fonts(scale);
        }
        self.made_for = Some((scale, dark));
        let style = self.context.style_mut();
        *style = self.plain;
        if dark {
            style.use_dark_colors();
        } else {
            style.use_light_colors();
        }
        for (which, color) in colors(dark) {
            style[which] = color;
        }
        style.window_rounding = 0.0;
        style.frame_rounding = 3.0;
        style.grab_rounding = 3.0;
        style.tab_rounding = 3.0;
        style.popup_rounding = 4.0;
        style.scrollbar_rounding = 3.0;
        style.scrollbar_size = 10.0;
        style.window_border_size = 1.0;
        style.window_padding = [8.0, 8.0];
        style.frame_padding = [6.0, 3.0];
        style.item_spacing = [6.0, 5.0];
        style.scale_all_sizes(scale);
    }

    fn make_fonts(&mut self, scale: f32) {
        let size = (TEXT * scale).round();
        let atlas = self.context.fonts();
        atlas.clear();
        let config = Some(FontConfig {
            size_pixels: size,
            oversample_h: 2,
            pixel_snap_h: true,
            // Latin with its accents, and the superscript two of m/s².
            glyph_ranges: FontGlyphRanges::default(),
            ..FontConfig::default()
        });
        match &self.font {
            Some(data) => {
                atlas.add_font(&[FontSource::TtfData { data, size_pixels: size, config }])
            }
            None => atlas.add_font(&[FontSource::DefaultFontData { config }]),
        };
        let texture = atlas.build_alpha8_texture();
        self.version += 1;
        self.texture = FontTexture {
            width: texture.width as usize,
            height: texture.height as usize,
            alpha: texture.data.to_vec(),
        };
    }
}

/// imgui with what the painters can do and without a file of its own.
fn context() -> Context {
    let mut context = Context::create();
    context.set_ini_filename(None);
    // Indices have 16 bits. Without this, a list of more than 65 536 vertices ends the program.
    context.io_mut().backend_flags |= BackendFlags::RENDERER_HAS_VTX_OFFSET;
    queue::set_up(context.io_mut());
    context
}

/// A process has one context at a time. Tests that make one hold this.
#[cfg(test)]
pub static ONE_CONTEXT: parking_lot::Mutex<()> = parking_lot::Mutex::new(());

fn rgb(hex: u32, alpha: f32) -> [f32; 4] {
    let part = |shift: u32| (hex >> shift & 255) as f32 / 255.0;
    [part(16), part(8), part(0), alpha]
}

/// The colours that differ from imgui's own.
fn colors(dark: bool) -> Vec<(StyleColor, [f32; 4])> {
    use StyleColor::*;
    let pick =
        |on_dark: u32, on_light: u32, alpha: f32| rgb(if dark { on_dark } else { on_light }, alpha);
    let accent = |alpha: f32| pick(0x4a8cf0, 0x2f6fd6, alpha);
    vec![
        (Text, pick(0xe3e7ee, 0x1c2430, 1.0)),
        (TextDisabled, pick(0x8a94a4, 0x6d7888, 1.0)),
        (WindowBg, pick(0x181b21, 0xf4f6f9, 1.0)),
        (ChildBg, pick(0x181b21, 0xf4f6f9, 0.0)),
        (PopupBg, pick(0x1f232b, 0xffffff, 0.98)),
        (Border, pick(0x2c323c, 0xd2d8e1, 1.0)),
        (FrameBg, pick(0x2a303a, 0xdbe2ec, 1.0)),
        (FrameBgHovered, pick(0x303743, 0xd7dee8, 1.0)),
        (FrameBgActive, pick(0x3a4352, 0xcad4e2, 1.0)),
        (TitleBg, pick(0x12151a, 0xe3e7ed, 1.0)),
        (TitleBgActive, pick(0x12151a, 0xe3e7ed, 1.0)),
        (TitleBgCollapsed, pick(0x12151a, 0xe3e7ed, 1.0)),
        (ScrollbarBg, pick(0x181b21, 0xf4f6f9, 0.0)),
        (ScrollbarGrab, pick(0x3a4250, 0xc3ccd8, 1.0)),
        (CheckMark, accent(1.0)),
        (SliderGrab, accent(0.9)),
        (SliderGrabActive, accent(1.0)),
        (Button, pick(0x2d3440, 0xdbe2ec, 1.0)),
        (ButtonHovered, accent(0.55)),
        (ButtonActive, accent(0.85)),
        (Header, accent(0.28)),
        (HeaderHovered, accent(0.42)),
        (HeaderActive, accent(0.55)),
        (Separator, pick(0x2c323c, 0xd2d8e1, 1.0)),
        (Tab, pick(0x1f242c, 0xe3e8ef, 1.0)),
        (TabHovered, accent(0.5)),
        (TabActive, accent(0.4)),
        (TabUnfocused, pick(0x1f242c, 0xe3e8ef, 1.0)),
        (TabUnfocusedActive, accent(0.3)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::painter::Canvas;
    use crate::painter::ui::draw_with;

    /// More vertices than 16 bits can count: each of them is drawn where it belongs.
    #[test]
    fn a_long_list_is_drawn_to_its_end() {
        const SIDE: u16 = 160;
        let _alone = ONE_CONTEXT.lock();
        let mut context = context();
        context.io_mut().display_size = [f32::from(SIDE); 2];
        context.io_mut().delta_time = 1.0 / 60.0;
        let atlas = context.fonts().build_alpha8_texture();
        let fonts = FontTexture {
            width: atlas.width as usize,
            height: atlas.height as usize,
            alpha: atlas.data.to_vec(),
        };
        let color = |x: u16, y: u16| [x as u8, y as u8, (x ^ y) as u8];
        let ui = context.new_frame();
        let list = ui.get_background_draw_list();
        for y in 0..SIDE {
            for x in 0..SIDE {
                let [r, g, b] = color(x, y).map(|c| f32::from(c) / 255.0);
                let [left, top] = [x, y].map(f32::from);
                let end = [left + 1.0, top + 1.0];
                list.add_rect([left, top], end, [r, g, b, 1.0]).filled(true).build();
            }
        }
        drop(list);
        let mut canvas = Canvas::new(SIDE.into(), SIDE.into());
        let drawn = context.render();
        assert!(drawn.total_vtx_count > 1 << 16, "the list is too short to show anything");
        draw_with(&mut canvas, drawn, &fonts, &[]);
        for (x, y) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))) {
            assert_eq!(canvas.color_at(x.into(), y.into()), Some(color(x, y)), "at {x}, {y}");
        }
    }
}
