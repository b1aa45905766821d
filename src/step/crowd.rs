//! What the schedule depends on of the particles, whoever they are.

use super::lists;
use crate::world::{BroadPhase, ListReach, World};

/// Particles come and go while a tap is open. The schedule stays as it is while this does.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    pub traits: Traits,
    /// What finds the neighbours of each list that was added.
    pub added: Vec<BroadPhase>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Traits {
    /// Two of them may touch.
    pub contacts: bool,
    /// There is fluid.
    pub fluid: bool,
    /// There is something in it.
    pub shore: bool,
    /// There are open surfaces.
    pub surfaces: bool,
    /// There are bodies that keep their shape.
    pub bodies: bool,
    /// What finds contacts.
    pub structure: Option<BroadPhase>,
}

impl Crowd {
    pub fn of(world: &World) -> Self {
        Crowd { traits: Traits::of(world), added: structures(world).collect() }
    }

    /// Whether it would be the same of a world as it is now. It allocates nothing.
    pub fn is_still_that_of(&self, world: &World) -> bool {
        self.traits == Traits::of(world) && self.added.iter().copied().eq(structures(world))
    }
}

impl Traits {
    fn of(world: &World) -> Self {
        let (contacts, fluid) = (world.may_touch(), world.has_fluid());
        Traits {
            contacts,
            fluid,
            shore: fluid && world.has_solids(),
            surfaces: world.open_triangle_count() > 0,
            bodies: !world.bodies.is_empty(),
            structure: contacts.then(|| lists::structure(world, ListReach::Contact)),
        }
    }
}

fn structures(world: &World) -> impl Iterator<Item = BroadPhase> + '_ {
    world.lists.iter().map(|list| lists::structure(world, list.description.reach))
}
