use super::*;
use crate::step::Pass;

#[test]
fn buffers_are_listed_in_their_order() {
    for (i, &buffer) in Buffer::ALL.iter().enumerate() {
        assert_eq!(buffer as usize, i, "{buffer:?}");
    }
    assert_eq!(Buffer::ALL.last(), Some(&Buffer::Colliders));
    assert_eq!(Buffer::ListReference.name(), "list_reference");
}

#[test]
fn the_rows_agree_with_themselves() {
    for &buffer in Buffer::ALL {
        let world = buffer.home() == Home::World;
        assert_eq!(world, buffer.is(Mark::Saved), "{buffer:?}: the world is what is saved");
        let needs_world = [Mark::Loaded, Mark::Written, Mark::Restored, Mark::Fetched, Mark::Slots];
        assert!(world || !needs_world.iter().any(|&m| buffer.is(m)), "{buffer:?} is scratch");
        assert!(!world || buffer.first_room().is_none(), "{buffer:?}: what grows is made anew");
        let by_particle = matches!(buffer.domain(), Domain::Particle);
        assert!(buffer.width().is_none() || by_particle, "{buffer:?}: words for each particle");
    }
}

/// Who `sort_particles` must carry along: a buffer of the world that it forgets is found here.
#[test]
fn a_sort_carries_every_buffer_that_follows_particles() {
    let writes = Pass::SortParticles.info().writes;
    let follow: Vec<Buffer> =
        Buffer::ALL.iter().copied().filter(|b| b.follows_particles()).collect();
    let carried: Vec<Buffer> =
        Buffer::ALL.iter().copied().filter(|b| writes.contains(b) && b.is(Mark::Loaded)).collect();
    assert_eq!(carried, follow);
    assert_eq!(follow.len(), 15, "{follow:?}");
    assert!(!follow.contains(&Buffer::Colliders) && !follow.contains(&Buffer::Delta));
}

#[cfg(feature = "vulkan")]
#[test]
fn what_may_run_out_of_room_says_so_in_a_word_of_its_own() {
    let mut words: Vec<usize> = Buffer::ALL.iter().filter_map(|b| b.overflow()).collect();
    let growing = Buffer::ALL.iter().filter(|b| b.first_room().is_some()).count();
    words.sort_unstable();
    words.dedup();
    assert_eq!((words.len(), growing), (6, 6));
}
