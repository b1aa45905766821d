//! What can be opened: a picture, a name and a line on each.

use super::Kit;
use crate::viewer::catalog::Entry;
use crate::viewer::state::Viewer;
use crate::viewer::thumbnails::Thumbnails;
use imgui::StyleColor;

/// Height of a row and width of its picture at 100 % [px].
const ROW: f32 = 50.0;
const PICTURE: f32 = 72.0;

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    let ui = kit.ui;
    let open = viewer.moment.scene.spec.clone();
    let mut wanted = None;
    let wide = kit.px(PICTURE).round();
    let size = [wide, (wide * 9.0 / 16.0).round()];
    viewer.thumbnails.fit(&viewer.catalog.entries, size.map(|v| v as u32));
    for (k, entry) in viewer.catalog.entries.iter().enumerate() {
        let _id = ui.push_id(entry.name);
        let is_open = open.split(':').next() == Some(entry.name);
        if row(kit, k, entry, is_open, size) && open != entry.name {
            wanted = Some(entry.name.to_string());
        }
        for variant in entry.variants.iter().filter(|_| is_open) {
            let spec = format!("{}:{variant}", entry.name);
            ui.indent_by(kit.px(16.0));
            if ui.selectable_config(&spec).selected(open == spec).build() && open != spec {
                wanted = Some(spec);
            }
            ui.unindent_by(kit.px(16.0));
        }
    }
    wanted = recent(kit, viewer, &open).or(wanted);
    ui.separator();
    ui.text_wrapped("Or drop a scene (.toml), a state (.motes) or a mesh (.obj) on the window.");
    if let Some(spec) = wanted {
        viewer.open(&spec);
    }
}

/// The files that were opened before; gives the one that is clicked.
fn recent(kit: &Kit, viewer: &Viewer, open: &str) -> Option<String> {
    let ui = kit.ui;
    let mut wanted = None;
    if !viewer.settings.recent.is_empty() {
        ui.separator();
        ui.text_disabled("Recent files");
        kit.hint("G opens the one before");
    }
    for path in &viewer.settings.recent {
        let name = std::path::Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        let is_open = path == open || std::path::absolute(open).is_ok_and(|p| p.ends_with(path));
        let label = format!("{name}##{path}");
        if ui.selectable_config(&label).selected(is_open).build() {
            wanted = Some(path.clone());
        }
        kit.hint(path);
    }
    wanted
}

/// One scene. True when it is clicked.
fn row(kit: &Kit, k: usize, entry: &Entry, is_open: bool, size: [f32; 2]) -> bool {
    let ui = kit.ui;
    let [left, top] = ui.cursor_screen_pos();
    let height = kit.px(ROW);
    let width = ui.content_region_avail()[0];
    let clicked = ui
        .selectable_config("##row")
        .selected(is_open)
        .size([0.0, height - ui.clone_style().item_spacing[1]])
        .build();
    if ui.is_item_hovered() {
        let count = entry.particles.map_or("counting".into(), |n| n.to_string());
        kit.hint(&format!("{}\n\n{count} particles\nfrom {}", entry.title, entry.source));
    }
    let list = ui.get_window_draw_list();
    // On a whole pixel, so that it is not blurred.
    let corner = [left.round(), (top + kit.px(2.0)).round()];
    let end = [corner[0] + size[0], corner[1] + size[1]];
    list.add_image(Thumbnails::texture(k), corner, end).build();
    let ink = ui.style_color(StyleColor::Text);
    let grey = ui.style_color(StyleColor::TextDisabled);
    let text_left = left + kit.px(PICTURE + 8.0);
    let room = width - kit.px(PICTURE + 8.0);
    list.add_text([text_left, top], ink, entry.name);
    let line = ui.text_line_height();
    for (i, text) in kit.wrap(&entry.title, room, 2).iter().enumerate() {
        list.add_text([text_left, top + line * (i as f32 + 1.0)], grey, text);
    }
    clicked
}
