//! The panels around the scene: where each one is, and what all of them share.

mod compare;
mod convergence;
mod groups;
mod help;
mod inspector;
mod legend;
mod marks;
mod materials;
mod messages;
pub mod parameters;
mod place;
pub mod profile;
mod run;
mod scenes;
mod splitters;

use super::settings::{Settings, Splits};
use super::state::Viewer;
use imgui::{Condition, Ui, WindowFlags};

/// Width and height of the scene at 100 % that panels leave at least [px].
const SCENE: [f32; 2] = [280.0, 200.0];

/// Left, top, width, height [px].
pub type Area = [f32; 4];

/// Where things are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layout {
    pub view: Area,
    pub run: Area,
    pub parameters: Area,
    pub scenes: Area,
    pub inspector: Area,
    pub graphs: Area,
}

impl Layout {
    /// Columns on both sides and a strip below the scene. What a small window has no room for is
    /// left out: the right column first, then the strip.
    pub fn new(size: [f32; 2], scale: f32, panels: bool, splits: &Splits) -> Self {
        let [width, height] = size;
        if !panels {
            return Layout { view: [0.0, 0.0, width, height], ..Layout::default() };
        }
        let Splits { left, right, bottom, run, scenes } = *splits;
        let fits = |room: f32, panels: f32, scene: f32| room >= (panels + scene) * scale;
        let right = if fits(width, left + right, SCENE[0]) { right } else { 0.0 };
        let bottom = if fits(height, bottom, SCENE[1]) { bottom } else { 0.0 };
        let left = (left * scale).min(width * 0.6).round();
        let [right, bottom] = [right, bottom].map(|side| (side * scale).round());
        let run = (run * scale).min(height * 0.72).round();
        let scenes = match scenes {
            0.0 => height * 0.42,
            own => (own * scale).min(height * 0.8),
        }
        .round();
        let middle = (width - left - right).max(1.0);
        Layout {
            view: [left, 0.0, middle, (height - bottom).max(1.0)],
            run: [0.0, 0.0, left, run],
            parameters: [0.0, run, left, height - run],
            scenes: [width - right, 0.0, right, scenes],
            inspector: [width - right, scenes, right, height - scenes],
            graphs: [left, height - bottom, middle, bottom],
        }
    }
}

/// What every panel is made with: imgui, the scale, and the widgets that several panels share.
pub struct Kit<'a> {
    pub ui: &'a Ui,
    pub scale: f32,
}

impl Kit<'_> {
    /// A panel in its place; nothing when it has none.
    fn panel(&self, name: &str, area: Area, content: impl FnOnce()) {
        let [left, top, width, height] = area;
        if width < 1.0 || height < 1.0 {
            return;
        }
        let flags = WindowFlags::NO_MOVE
            | WindowFlags::NO_RESIZE
            | WindowFlags::NO_COLLAPSE
            | WindowFlags::NO_BRING_TO_FRONT_ON_FOCUS;
        self.ui
            .window(name)
            .position([left, top], Condition::Always)
            .size([width, height], Condition::Always)
            .flags(flags)
            .build(content);
    }

    /// A slider with its value and unit beside it, where the grip never covers them. True when it
    /// is moved.
    pub fn slider(&self, name: &str, range: (f32, f32), value: &mut f32, text: &str) -> bool {
        let flags = imgui::SliderFlags::ALWAYS_CLAMP | imgui::SliderFlags::NO_ROUND_TO_FORMAT;
        // A range of several decades is gone through by factors.
        let decades = range.0 > 0.0 && range.1 / range.0 >= 20.0;
        let flags = if decades { flags | imgui::SliderFlags::LOGARITHMIC } else { flags };
        let slider = self.ui.slider_config(format!("##{name}"), range.0, range.1);
        let moved = slider.display_format("").flags(flags).build(value);
        self.hint(&format!("{} to {}; Ctrl + click to type", range.0, range.1));
        self.ui.same_line();
        self.ui.text(text);
        moved
    }

    /// The same for a whole number.
    pub fn count(&self, name: &str, range: (u32, u32), value: &mut u32, text: &str) -> bool {
        let mut real = *value as f32;
        let moved = self.slider(name, (range.0 as f32, range.1 as f32), &mut real, text);
        if moved {
            *value = (real.round() as u32).clamp(range.0, range.1);
        }
        moved
    }

    /// A length at the current scale.
    pub fn px(&self, length: f32) -> f32 {
        length * self.scale
    }

    /// Explains the last widget when the pointer rests on it.
    pub fn hint(&self, text: &str) {
        if self.ui.is_item_hovered() {
            self.ui.tooltip(|| {
                let wrap = self.ui.push_text_wrap_pos_with_pos(self.px(320.0));
                self.ui.text(text);
                wrap.end();
            });
        }
    }

    /// Breaks a text into lines that fit a width. There are at most `most` lines, and the last one
    /// ends in dots when the text is longer.
    pub fn wrap(&self, text: &str, width: f32, most: usize) -> Vec<String> {
        let fits = |text: &str| self.ui.calc_text_size(text)[0] <= width;
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let count = lines.len();
            let last = &mut lines[count - 1];
            let longer = format!("{last}{}{word}", if last.is_empty() { "" } else { " " });
            if last.is_empty() || fits(&longer) {
                *last = longer;
            } else if count < most {
                lines.push(word.into());
            } else {
                *last += "...";
                break;
            }
        }
        lines
    }

    /// A word to choose. Gives the new one.
    pub fn choice<'w>(&self, label: &str, now: &str, words: &[&'w str]) -> Option<&'w str> {
        let mut chosen = None;
        if let Some(_open) = self.ui.begin_combo(label, now) {
            for &word in words {
                if self.ui.selectable_config(word).selected(word == now).build() {
                    chosen = Some(word);
                }
            }
        }
        chosen.filter(|word| *word != now)
    }

    /// One of a few values, each with its word.
    pub fn pick<T: Copy + PartialEq>(&self, label: &str, value: &mut T, all: &[(T, &str)]) {
        let words: Vec<&str> = all.iter().map(|(_, word)| *word).collect();
        let now = all.iter().find(|(one, _)| one == value).map_or("", |(_, word)| word);
        let chosen = self.choice(label, now, &words);
        if let Some((one, _)) = all.iter().find(|(_, word)| Some(*word) == chosen) {
            *value = *one;
        }
    }
}

/// Draws every panel and tells the view where it is.
pub fn draw(ui: &Ui, viewer: &mut Viewer, scale: f32) {
    let Settings { panels, splits, .. } = viewer.settings;
    let layout = Layout::new(ui.io().display_size, scale, panels, &splits);
    let [left, top, width, height] = layout.view;
    viewer.view.corner = [left as u32, top as u32];
    viewer.view.size = [width as u32, height as u32];
    viewer.placing = false;
    let kit = Kit { ui, scale };
    kit.panel("Run", layout.run, || run::draw(&kit, viewer));
    kit.panel("Parameters", layout.parameters, || parameters::draw(&kit, viewer));
    kit.panel("Scenes", layout.scenes, || scenes::draw(&kit, viewer));
    kit.panel("Inspector", layout.inspector, || {
        if let Some(_bar) = ui.tab_bar("inspector") {
            if let Some(_tab) = ui.tab_item("Particle") {
                inspector::draw(&kit, viewer);
            }
            if let Some(_tab) = ui.tab_item("Place") {
                place::draw(&kit, viewer);
            }
        }
    });
    kit.panel("Graphs", layout.graphs, || {
        if let Some(_bar) = ui.tab_bar("graphs") {
            if let Some(_tab) = ui.tab_item("Profile") {
                profile::draw(&kit, viewer);
            }
            if let Some(_tab) = ui.tab_item("Compare") {
                compare::draw(&kit, viewer);
            }
            if let Some(_tab) = ui.tab_item("Convergence") {
                convergence::draw(&kit, viewer);
            }
            let label = match viewer.messages.unread_errors {
                0 => "Messages###messages".to_string(),
                count => format!("Messages ({count})###messages"),
            };
            if let Some(_tab) = ui.tab_item(label) {
                messages::draw(&kit, viewer);
            }
        }
    });
    splitters::draw(&kit, &mut viewer.settings.splits, &layout);
    marks::draw(&kit, viewer);
    legend::draw(&kit, viewer);
    messages::overlay(&kit, viewer);
    help::draw(&kit, viewer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_do_not_overlap_and_fill_the_window() {
        for (size, scale) in
            [([1280.0, 720.0], 1.0), ([2560.0, 1440.0], 2.0), ([640.0, 480.0], 1.0)]
        {
            let l = Layout::new(size, scale, true, &Splits::default());
            let areas = [l.view, l.run, l.parameters, l.scenes, l.inspector, l.graphs];
            let sum: f32 = areas.iter().map(|a| a[2] * a[3]).sum();
            assert!((sum - size[0] * size[1]).abs() < 1.0, "{size:?}: {areas:?}");
            assert!(l.view[2] >= 200.0 && l.view[3] >= 200.0);
        }
        let bare = Layout::new([800.0, 600.0], 1.0, false, &Splits::default());
        assert_eq!(bare.view, [0.0, 0.0, 800.0, 600.0]);
    }

    /// However far a border is dragged, every panel and the scene stay where they can be reached.
    #[test]
    fn borders_stay_within_the_window() {
        for far in [-1e9, 1e9, f32::NAN] {
            let all = Splits { left: far, right: far, bottom: far, run: far, scenes: far };
            for (size, scale) in [([1280.0, 720.0], 1.0), ([3840.0, 2160.0], 2.0)] {
                let mut splits = all;
                splits.fit(size[0] / scale, size[1] / scale);
                let l = Layout::new(size, scale, true, &splits);
                for area in [l.view, l.run, l.parameters, l.scenes, l.inspector, l.graphs] {
                    assert!(area[2] > 100.0 && area[3] > 70.0, "{far}, {size:?}: {l:?}");
                }
            }
        }
    }
}
