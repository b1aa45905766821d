//! A ring around the selected particle, which may be small or behind something, and the way a cut
//! went.

use super::Kit;
use crate::viewer::state::Viewer;

const RING: [f32; 4] = [1.0, 0.86, 0.25, 0.95];

pub fn draw(kit: &Kit, viewer: &Viewer) {
    let trace: Vec<[f32; 2]> = viewer.pointer.trace.iter().map(|p| p.to_array()).collect();
    if trace.len() > 1 {
        let list = kit.ui.get_background_draw_list();
        list.add_polyline(trace, RING).thickness(kit.px(1.5)).build();
    }
    ring(kit, viewer);
}

fn ring(kit: &Kit, viewer: &Viewer) {
    let Some(slot) = viewer.selected.and_then(|id| viewer.moment.slot(id)) else { return };
    let place = viewer.moment.positions[slot].truncate();
    let Some((at, _)) = viewer.view.project(place) else { return };
    if !viewer.view.contains(at) {
        return;
    }
    let list = kit.ui.get_background_draw_list();
    list.add_circle(at.to_array(), kit.px(9.0), RING).thickness(kit.px(1.8)).build();
}
