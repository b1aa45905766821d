//! A world as a picture: spheres coloured by object, skins of cloth and soft bodies, obstacles.

use crate::painter::skin::{Particles, Pattern, Tailor, skins};
use crate::painter::tessellate;
use crate::painter::{Content, Droplet, Line, Picture, Sphere, Triangle, palette};
use glam::Vec3;
use motes::{Object, Phase, World};

const LINE_COLOR: [u8; 3] = [60, 64, 72];

/// A picture and the box a camera should show: what moves, with the obstacles around it.
pub struct Seen {
    pub picture: Picture,
    pub focus: Option<(Vec3, Vec3)>,
}

/// How a world is wanted.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Distance constraints as lines.
    pub lines: bool,
    /// A colour for each slot, which tells something else than objects do.
    pub colors: Option<&'a [[u8; 3]]>,
    /// Fluids as their particles and not as a surface, which cannot show what colours measure.
    pub beads: bool,
}

/// Everything to be seen of a world; `lines` adds the distance constraints.
pub fn of(world: &World, lines: bool) -> Seen {
    wanted(world, Wanted { lines, ..Wanted::default() })
}

/// The same as it is wanted.
pub fn wanted(world: &World, Wanted { lines, colors, beads }: Wanted) -> Seen {
    let mut picture = Picture::default();
    let p = world.particles();
    let at = |slot: usize| p.positions()[slot].truncate();
    let mut color = vec![palette::group(0); p.len()];
    let mut skinned = vec![false; p.len()];
    let hidden = hidden(world);
    let skins = skins(world, false);
    for &slot in skins.iter().flat_map(|(_, skin)| &skin.covered) {
        skinned[slot] = true;
    }
    // The first object of a particle gives it its colour, so the last ones come first.
    let objects: Vec<(&Object, [u8; 3])> =
        world.objects().map(|(_, object)| object).zip(hues(world)).collect();
    for (object, hue) in objects.iter().rev().filter(|(object, _)| object.visible) {
        for slot in object.particles().filter_map(|id| p.slot(id)) {
            color[slot] = *hue;
        }
    }
    let pattern = match colors {
        Some(colors) => {
            color.copy_from_slice(colors);
            // Where colours measure something, a pattern would be read as a measure.
            Pattern::Plain
        }
        None => Pattern::Checker,
    };
    let of = Particles { at: &at, radius: &|slot| p.radii()[slot], color: &|slot| color[slot] };
    Tailor::default().add(&mut picture.triangles, skins.iter().map(|(_, skin)| skin), &of, pattern);
    let seen: Vec<usize> = (0..p.len()).filter(|&slot| !hidden[slot]).collect();
    picture.particles = Content::of_particles(seen.len(), |k| (at(seen[k]), p.radii()[seen[k]]));
    let beads = beads || colors.is_some();
    for slot in seen.into_iter().filter(|&slot| !skinned[slot]) {
        let (center, radius, color) = (at(slot), p.radii()[slot], color[slot]);
        if !beads && is_fluid(p.phases()[slot]) {
            let speed = p.velocities()[slot].truncate().length();
            picture.droplets.push(Droplet { center, radius, color, speed });
        } else {
            picture.spheres.push(Sphere { center, radius, color });
        }
    }
    if lines {
        picture.lines = (0..world.distance().len())
            .map(|i| world.distance().particles(i).map(|s| s as usize))
            .filter(|&[a, b]| !hidden[a] && !hidden[b])
            .map(|[a, b]| Line { a: at(a), b: at(b), color: LINE_COLOR, width_px: 1.0 })
            .collect();
    }
    let first = picture.triangles.len();
    tessellate::add_shapes(&mut picture, &world.colliders, world.time());
    for (_, character) in world.skeletons() {
        tessellate::add_character(&mut picture, character, world.time());
    }
    let focus = picture.particles.map(|content| around(&content, &picture.triangles[first..]));
    tessellate::add_planes(&mut picture, &world.colliders, world.time(), focus);
    picture.size = size(focus);
    Seen { picture, focus }
}

/// Whether a particle of this phase is fluid.
pub fn is_fluid(phase: u32) -> bool {
    phase & Phase::FLUID != 0
}

/// Length of the diagonal of what a camera should show [m], by which fluids are drawn.
pub fn size(focus: Option<(Vec3, Vec3)>) -> f32 {
    focus.map_or(0.0, |(low, high)| low.distance(high))
}

/// The colour of each object: fluids have their own, so that water is blue whatever came before it.
pub fn hues(world: &World) -> Vec<[u8; 3]> {
    let p = world.particles();
    let first = |object: &Object| object.particles().find_map(|id| p.slot(id));
    let mut fluids = 0..;
    let hue = |(number, object): (u32, &Object)| match first(object) {
        Some(slot) if is_fluid(p.phases()[slot]) => palette::fluid(fluids.next().unwrap_or(0)),
        _ => palette::group(number),
    };
    (0..).zip(world.objects().map(|(_, object)| object)).map(hue).collect()
}

/// The box of the content grown by the obstacles, by half its size at most: a hall must not make
/// what happens in it small.
pub fn around(content: &Content, obstacles: &[Triangle]) -> (Vec3, Vec3) {
    let (low, high) = (content.min, content.max);
    let reach = Vec3::splat((high - low).max_element() * 0.5);
    let (least, most) = (low - reach, high + reach);
    obstacles.iter().flat_map(|t| t.p).fold((low, high), |(low, high), p| {
        let p = p.clamp(least, most);
        (low.min(p), high.max(p))
    })
}

/// By slot: whether the particle is not drawn. That is so when it belongs to hidden objects alone.
pub fn hidden(world: &World) -> Vec<bool> {
    let p = world.particles();
    let mut hidden = vec![false; p.len()];
    for visible in [false, true] {
        let objects = world.objects().filter(|(_, object)| object.visible == visible);
        for slot in objects.flat_map(|(_, object)| object.particles()).filter_map(|id| p.slot(id)) {
            hidden[slot] = !visible;
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;
    use motes::{Bond, Built, Cloth, Fluid, FluidRegion, Grains};

    /// A cloth and grains, joined; with the handles of both.
    fn world() -> (World, Built, Built) {
        let mut world = World::new();
        let cloth = world.add_cloth(&Cloth { columns: 3, rows: 3, ..Cloth::default() }).unwrap();
        let origin = Vec3::Y * 5.0;
        let grains = Grains { counts: [2; 3], origin, ..Grains::default() };
        let grains = world.add_grains(&grains).unwrap();
        world.add_distance(cloth[0], grains[0], None, &Bond::default()).unwrap();
        (world, cloth, grains)
    }

    /// Triangles, spheres and lines of a picture, and the top of what a camera should show.
    fn counts(world: &World) -> ([usize; 3], Option<f32>) {
        let Seen { picture, focus } = of(world, true);
        let counts = [picture.triangles.len(), picture.spheres.len(), picture.lines.len()];
        (counts, focus.map(|(_, high)| high.y))
    }

    #[test]
    fn hidden_objects_are_not_drawn() {
        let (mut world, cloth, grains) = world();
        let edges = world.distance().len();
        let (all, top) = counts(&world);
        assert_eq!(all, [16, 8, edges], "a cloth has two sides");
        assert!(top.unwrap() > 5.0);
        world.object_mut(grains.object).unwrap().visible = false;
        let (left, top) = counts(&world);
        assert_eq!(left, [16, 0, edges - 1], "the joint has lost an end");
        assert!(top.unwrap() < 1.0, "the camera shows what is seen");
        world.object_mut(cloth.object).unwrap().visible = false;
        assert_eq!(counts(&world), ([0, 0, 0], None));
        world.object_mut(grains.object).unwrap().visible = true;
        assert_eq!(counts(&world).0, [0, 8, 0]);
    }

    #[test]
    fn fluids_are_droplets_unless_something_is_measured() {
        let (mut world, ..) = world();
        for low in [Vec3::ZERO, Vec3::X * 2.0] {
            let region = FluidRegion::Box { low, high: low + 1.0 };
            world.add_fluid(&Fluid { region, radius: 0.25, ..Fluid::default() }).unwrap();
        }
        let counts = |wanted: Wanted| {
            let picture = super::wanted(&world, wanted).picture;
            [picture.droplets.len(), picture.spheres.len()]
        };
        let colors = vec![[0; 3]; world.particles().len()];
        assert_eq!(counts(Wanted::default()), [16, 8]);
        assert_eq!(counts(Wanted { beads: true, ..Wanted::default() }), [0, 24]);
        assert_eq!(counts(Wanted { colors: Some(&colors), ..Wanted::default() }), [0, 24]);
        // Each fluid has its own colour, whatever came before it.
        let hues = hues(&world);
        assert_eq!(hues[2..], [palette::fluid(0), palette::fluid(1)]);
        assert_eq!(hues[..2], [palette::group(0), palette::group(1)]);
    }

    #[test]
    fn a_particle_of_two_objects_is_drawn_when_one_of_them_is() {
        let (mut world, _, grains) = world();
        let few = world.add_object("few", &grains[..3]).unwrap();
        world.object_mut(grains.object).unwrap().visible = false;
        assert_eq!(of(&world, false).picture.spheres.len(), 3);
        world.object_mut(few).unwrap().visible = false;
        assert_eq!(of(&world, false).picture.spheres.len(), 0);
    }
}
