//! The scenes and meshes that come with the program, inside it.

use super::Scene;

/// Every file of assets/scenes, in the order they are listed. A test compares it to the folder.
const SCENES: &[(&str, &str)] = &[
    ("axe", include_str!("../../assets/scenes/axe.toml")),
    ("bodies", include_str!("../../assets/scenes/bodies.toml")),
    ("bowl", include_str!("../../assets/scenes/bowl.toml")),
    ("boxes_216k", include_str!("../../assets/scenes/boxes_216k.toml")),
    ("buoyancy", include_str!("../../assets/scenes/buoyancy.toml")),
    ("cape", include_str!("../../assets/scenes/cape.toml")),
    ("cloth_hang", include_str!("../../assets/scenes/cloth_hang.toml")),
    ("cloth_stretch", include_str!("../../assets/scenes/cloth_stretch.toml")),
    ("curtain", include_str!("../../assets/scenes/curtain.toml")),
    ("dam_break", include_str!("../../assets/scenes/dam_break.toml")),
    ("dominoes", include_str!("../../assets/scenes/dominoes.toml")),
    ("droplets", include_str!("../../assets/scenes/droplets.toml")),
    ("flag", include_str!("../../assets/scenes/flag.toml")),
    ("fountain", include_str!("../../assets/scenes/fountain.toml")),
    ("grains_box", include_str!("../../assets/scenes/grains_box.toml")),
    ("granular_216k", include_str!("../../assets/scenes/granular_216k.toml")),
    ("hydrostatic", include_str!("../../assets/scenes/hydrostatic.toml")),
    ("ledge", include_str!("../../assets/scenes/ledge.toml")),
    ("mud", include_str!("../../assets/scenes/mud.toml")),
    ("push_through", include_str!("../../assets/scenes/push_through.toml")),
    ("rabbit", include_str!("../../assets/scenes/rabbit.toml")),
    ("sand_heap", include_str!("../../assets/scenes/sand_heap.toml")),
    ("spike", include_str!("../../assets/scenes/spike.toml")),
    ("splash", include_str!("../../assets/scenes/splash.toml")),
    ("stack", include_str!("../../assets/scenes/stack.toml")),
    ("stairs", include_str!("../../assets/scenes/stairs.toml")),
    ("tear", include_str!("../../assets/scenes/tear.toml")),
    ("trampoline", include_str!("../../assets/scenes/trampoline.toml")),
    ("two_fluids", include_str!("../../assets/scenes/two_fluids.toml")),
    ("wade", include_str!("../../assets/scenes/wade.toml")),
    ("walk_through", include_str!("../../assets/scenes/walk_through.toml")),
    ("wet_cloth", include_str!("../../assets/scenes/wet_cloth.toml")),
];

macro_rules! meshes {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../assets/meshes/", $name, ".obj")))),+]
    };
}

/// Every file of assets/meshes; likewise tested.
const MESHES: &[(&str, &[u8])] = meshes![
    "axe",
    "bowl",
    "cone",
    "cube",
    "cube_with_hole",
    "cylinder",
    "ledge",
    "rabbit",
    "sphere",
    "spike",
    "stairs",
    "thick_bowl",
    "torus",
    "trefoil",
];

/// Every file of assets/skeletons, by its name without the ending; likewise tested.
const SKELETONS: &[(&str, &[u8])] = &[
    ("hand", include_bytes!("../../assets/skeletons/hand.glb")),
    ("person", include_bytes!("../../assets/skeletons/person.glb")),
    ("person_walk", include_bytes!("../../assets/skeletons/person_walk.bvh")),
];

pub(super) fn scene_text(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub(super) fn mesh_bytes(name: &str) -> Option<&'static [u8]> {
    MESHES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}

pub(super) fn skeleton_bytes(name: &str) -> Option<&'static [u8]> {
    SKELETONS.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}

impl Scene {
    /// Names of the built-in scenes.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        SCENES.iter().map(|(name, _)| *name)
    }

    /// Names of the built-in meshes.
    pub fn builtin_mesh_names() -> impl Iterator<Item = &'static str> {
        MESHES.iter().map(|(name, _)| *name)
    }

    /// Names of the built-in skeletons.
    pub fn builtin_skeleton_names() -> impl Iterator<Item = &'static str> {
        SKELETONS.iter().map(|(name, _)| *name)
    }

    /// A built-in skeleton as a GLB or BVH file, for [`Rig::from_bytes`](crate::skeleton::Rig::from_bytes).
    pub fn builtin_skeleton(name: &str) -> Option<&'static [u8]> {
        skeleton_bytes(name)
    }

    /// A built-in mesh as an OBJ file, for [`TriangleMesh::from_obj_bytes`].
    ///
    /// [`TriangleMesh::from_obj_bytes`]: crate::shape::mesh::TriangleMesh::from_obj_bytes
    pub fn builtin_mesh(name: &str) -> Option<&'static [u8]> {
        mesh_bytes(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
        std::fs::read_dir(format!("{}/assets/{folder}", env!("CARGO_MANIFEST_DIR")))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == extension))
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn the_tables_are_the_folders() {
        assert_eq!(stems("scenes", "toml"), Scene::builtin_names().map(String::from).collect());
        let mut skeletons = stems("skeletons", "glb");
        skeletons.extend(stems("skeletons", "bvh"));
        assert_eq!(skeletons, Scene::builtin_skeleton_names().map(String::from).collect());
        assert_eq!(stems("meshes", "obj"), Scene::builtin_mesh_names().map(String::from).collect());
    }
}
