//! Joints of a scene: edges between particles of any two objects.

use crate::error::{Error, Result};
use crate::scene::bond::bond;
use crate::scene::file::JointFile;
use crate::scene::names::Names;
use crate::scene::objects::{SceneObject, from_end};
use crate::world::{ObjectId, ParticleId, World};

/// The objects of the scene in the order of `names`, each with its handle in the world.
type Placed<'a> = [(ObjectId, &'a dyn SceneObject)];

pub(super) fn add(
    world: &mut World,
    names: &Names,
    built: &Placed,
    path: &str,
    joint: &JointFile,
) -> Result<()> {
    let end = |key: &str, text: &str| {
        find_particle(world, names, built, text)
            .map_err(|message| Error::value(format!("{path}.{key}"), message))
    };
    let (a, b) = (end("a", &joint.a)?, end("b", &joint.b)?);
    let bond = bond(joint.compliance, joint.stiffness, joint.break_at, joint.yield_at);
    world.add_distance(a, b, joint.rest.map(|r| r.0), &bond)
}

/// The particle `object:index` or, on a cloth, `object:column,row`.
fn find_particle(
    world: &World,
    names: &Names,
    built: &Placed,
    text: &str,
) -> std::result::Result<ParticleId, String> {
    let Some((name, index)) = text.rsplit_once(':') else {
        return Err(format!("`{text}` is not a particle; expected \"object:index\""));
    };
    let found = names.find(name).and_then(|i| built.get(i));
    let Some((keys, object)) = found.and_then(|&(id, keys)| Some((keys, world.object(id).ok()?)))
    else {
        return Err(names.instead_of(name));
    };
    let numbers: Vec<Option<i64>> = index.split(',').map(|s| s.trim().parse().ok()).collect();
    let count = object.len();
    let number = match *numbers.as_slice() {
        [Some(i)] => from_end(i, count),
        [Some(column), Some(row)] => keys.cell([column, row]),
        _ => None,
    };
    number.and_then(|i| object.particle(i)).ok_or_else(|| {
        format!("`{index}` is not one of the {count} particles of `{name}`, counted from 0")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::file::SceneFile;
    use crate::scene::objects::{Entry, Site};

    const SCENE: &str = r#"
        [[cloth]]
        name = "narrow"
        columns = 2
        rows = 9
        spacing = 0.1
        [[cloth]]
        name = "wide"
        columns = 5
        rows = 3
        spacing = 0.1
        [[box]]
        counts = [3, 3, 3]
        spacing = 0.1
        [[particles]]
        positions = [[0, 0, 0], [0, 1, 0]]
        radius = 0.1
    "#;

    /// A cell is one of the cloth that is named, whatever stands before it: the order of the kinds
    /// in the list must not matter.
    #[test]
    fn a_cell_belongs_to_its_own_cloth_in_any_order_of_the_objects() {
        let file: SceneFile = toml::from_str(SCENE).unwrap();
        for turned in [false, true] {
            let entries = || -> Vec<Entry> {
                let mut entries: Vec<Entry> = file.objects().collect();
                if turned {
                    entries.reverse();
                }
                entries
            };
            let names = Names::of(entries().into_iter());
            let mut world = World::new();
            let mut built = Vec::new();
            for Entry { path, object, .. } in entries() {
                let site = Site { seed: 1, folder: None };
                built.push((object.build(&mut world, &path, &site).unwrap().object, object));
            }
            let index = |text: &str| {
                let id = find_particle(&world, &names, &built, text).ok()?;
                let whole = world.objects().find(|(_, o)| o.particles().any(|p| p == id))?.1;
                whole.particles().position(|p| p == id)
            };
            assert_eq!(index("wide:1,1"), Some(6));
            assert_eq!(index("wide:-1,-1"), Some(14));
            assert_eq!(index("narrow:1,1"), Some(3));
            assert_eq!(index("cloth.0:1,8"), Some(17));
            assert_eq!(index("wide:1,3"), None, "it has three rows");
            assert_eq!(index("box.0:26"), Some(26));
            assert_eq!(index("box.0:1,1"), None, "a box has no rows");
            assert_eq!(index("particles.0:0,0"), None, "a list has no rows");
        }
    }
}
