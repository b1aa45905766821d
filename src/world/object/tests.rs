use super::*;
use crate::Grains;

fn ids(ids: &[u64]) -> Vec<ParticleId> {
    ids.iter().copied().map(ParticleId).collect()
}

fn objects(lists: &[&[u64]]) -> Objects {
    let mut objects = Objects::default();
    for list in lists {
        objects.add(Object::new("", &ids(list), Surface::default()));
    }
    objects
}

/// Ten were added, and the last of them is gone.
fn sound(objects: &Objects) -> bool {
    let mut world = World::new();
    let sand = Grains { counts: [10, 1, 1], ..Grains::default() };
    let sand = world.add_grains(&sand).unwrap();
    world.remove_particles(&[sand[9]]).unwrap();
    objects.are_sound(&world.particles)
}

#[test]
fn ids_in_sequence_are_one_run_and_the_order_stays() {
    let count = |list: &[u64]| {
        let object = Object::new("", &ids(list), Surface::default());
        assert!(object.particles().eq(ids(list)));
        assert!((0..=list.len()).all(|i| object.particle(i) == ids(list).get(i).copied()));
        object.runs.len()
    };
    assert_eq!(count(&[]), 0);
    assert_eq!(count(&[3, 4, 5, 6]), 1);
    assert_eq!(count(&[6, 5, 4, 1, 2, 9]), 5);
}

#[test]
fn a_place_is_taken_again_with_the_next_generation() {
    let mut objects = objects(&[&[0], &[1], &[2]]);
    objects.remove(ObjectId::nth(1)).unwrap();
    assert!(objects.remove(ObjectId::nth(1)).is_none());
    let again = objects.add(Object::new("", &ids(&[3]), Surface::default()));
    assert_eq!(again, ObjectId { place: 1, generation: 1 });
    assert_eq!(objects.places.len(), 3);
    assert!(sound(&objects));
    // The last generation of a place is its end.
    objects.places[1].generation = u32::MAX;
    objects.remove(ObjectId { place: 1, generation: u32::MAX }).unwrap();
    let next = objects.add(Object::new("", &ids(&[4]), Surface::default()));
    assert_eq!(next, ObjectId::nth(3));
    assert!(sound(&objects));
}

#[test]
fn objects_that_a_file_may_bring_are_checked() {
    let good = || objects(&[&[0, 1, 2, 5], &[2, 3]]);
    assert!(sound(&good()), "two may share a particle");
    let broken = |change: fn(&mut Objects)| {
        let mut objects = good();
        change(&mut objects);
        !sound(&objects)
    };
    fn first(objects: &mut Objects) -> &mut Object {
        objects.places[0].object.as_mut().unwrap()
    }
    assert!(broken(|o| first(o).runs.push(Run { first: 8, count: 2 })), "9 is gone");
    assert!(broken(|o| first(o).runs.push(Run { first: 8, count: 3 })), "there is no 10");
    assert!(broken(|o| first(o).runs.push(Run { first: u64::MAX, count: u32::MAX })));
    assert!(broken(|o| first(o).runs.push(Run { first: 6, count: u32::MAX })));
    assert!(broken(|o| first(o).runs.push(Run { first: 7, count: 0 })), "empty");
    assert!(broken(|o| first(o).runs[1].first = 1), "1 twice");
    assert!(broken(|o| first(o).made_of = 3), "more than it was made of");
    assert!(broken(|o| first(o).surface.triangles.push([0, 1, 3].map(ParticleId))), "3 is not its");
    assert!(broken(|o| first(o).surface.triangles.push([0, 1, 99].map(ParticleId))));
    assert!(!broken(|o| first(o).surface.triangles.push([0, 1, 5].map(ParticleId))));
    assert!(broken(|o| o.free.push(0)), "it is taken");
    assert!(broken(|o| o.free.push(7)), "there is no such place");
    assert!(broken(|o| {
        o.remove(ObjectId::nth(1)).unwrap();
        o.free.push(1);
    }));
}
