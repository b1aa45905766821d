//! The materials of the scene, each with the numbers that contacts use. The default material is not
//! among them: it is the parameters.

use super::Kit;
use super::parameters::{real, row};
use crate::viewer::physics::{COEFFICIENTS, Coefficient, Command};
use crate::viewer::state::Viewer;
use motes::Params;
use motes::world::ParamInfo;
use toml::Value;

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    if viewer.moment.materials.is_empty() {
        return;
    }
    kit.ui.separator();
    kit.ui.text("Materials");
    kit.hint("what a material leaves open is that of the parameters above");
    let scene = std::sync::Arc::clone(&viewer.moment.scene);
    let materials = viewer.moment.materials.clone();
    for (id, material) in &materials {
        let _id = kit.ui.push_id(id.number().to_string());
        kit.ui.text_disabled(&material.name);
        let before = scene.materials.iter().find(|(known, _)| known == id);
        let before = before.map(|(_, material)| material.coefficients).unwrap_or_default();
        for Coefficient { name, get, .. } in &COEFFICIENTS {
            let Some(info) = info(name) else { continue };
            let said = |own: Option<f32>, params: &Params| own.map(real).or(params.get(name));
            let now = said(get(&material.coefficients), &viewer.moment.params);
            let (Some(now), Some(scenes)) = (now, said(get(&before), &scene.params)) else {
                continue;
            };
            let _id = kit.ui.push_id(*name);
            let now = viewer.pending.shown((id.number(), name), now);
            if let Some(value) = row(kit, info, &now, &scenes) {
                viewer.pending.set((id.number(), name), value.clone());
                // Put back, it is open again if the scene left it open.
                let new = if value == scenes { get(&before) } else { number(&value) };
                viewer.physics.send(Command::Material(*id, name, new));
            }
        }
    }
}

fn info(name: &str) -> Option<&'static ParamInfo> {
    Params::TABLE.iter().find(|info| info.name == name)
}

fn number(value: &Value) -> Option<f32> {
    value.as_float().map(|v| v as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each number of a material has a parameter of its name, which gives its range and its words.
    #[test]
    fn every_number_of_a_material_has_a_row() {
        for coefficient in &COEFFICIENTS {
            let info = info(coefficient.name).unwrap();
            assert!(info.choices.is_empty() && info.min == 0.0, "{}", info.name);
        }
        assert_eq!(number(&real(0.1)), Some(0.1));
    }
}
