//! What can be opened.

use super::Desk;
use crate::viewer::state::Viewer;

pub fn draw(desk: &Desk, viewer: &mut Viewer) {
    let open = viewer.frame.scene.spec.clone();
    let mut wanted = None;
    for entry in &viewer.catalog.entries {
        let _id = desk.ui.push_id(entry.name);
        let is_open = open.split(':').next() == Some(entry.name);
        if desk.ui.selectable_config(entry.name).selected(is_open).build() && open != entry.name {
            wanted = Some(entry.name.to_string());
        }
        desk.hint(&format!("{}\n\nfrom {}", entry.title, entry.source));
        desk.ui.same_line_with_pos(desk.px(182.0));
        desk.ui.text_disabled(entry.particles.to_string());
        if is_open {
            desk.ui.text_wrapped(&entry.title);
            for variant in &entry.variants {
                let spec = format!("{}:{variant}", entry.name);
                desk.ui.bullet();
                if desk.ui.selectable_config(&spec).selected(open == spec).build() {
                    wanted = Some(spec);
                }
            }
        }
    }
    desk.ui.separator();
    desk.ui.text_wrapped("Drop a scene (.toml), a state (.motes) or a mesh (.obj) on the window.");
    if let Some(spec) = wanted {
        viewer.open(&spec);
    }
}
