//! Neighbour lists by description: how far they reach, who asks, who may be found, and which pairs
//! are kept. A world has the list of its contacts, which follows from the world, and as many others
//! as were added to it. One set of passes makes them all.

use super::{Params, Phase, Solver, World};
use crate::error::{Error, Result};
use glam::Vec4;
use serde::{Deserialize, Serialize};

/// How far apart two particles of a list may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ListReach {
    /// They touch. The parameter `margin` is the skin of such a list.
    Contact,
    /// At most so many times the sum of their radii.
    Radii(f32),
    /// At most so far, m: the length of a smoothing kernel.
    Length(f32),
}

impl ListReach {
    /// How far each particle reaches, skin included.
    pub(crate) fn span(self, skin: f32, margin: f32) -> Span {
        let thick = 1.0 + skin;
        match self {
            ListReach::Contact => Span { per_radius: margin, length: 0.0 },
            ListReach::Radii(factor) => Span { per_radius: factor * thick, length: 0.0 },
            ListReach::Length(length) => Span { per_radius: 0.0, length: 0.5 * length * thick },
        }
    }

    /// How far each particle may move before a pair out of the list can have come within reach.
    pub(crate) fn slack(self, skin: f32, margin: f32) -> Span {
        let Span { per_radius, length } = self.span(skin, margin);
        match self {
            ListReach::Contact => Span { per_radius: per_radius - 1.0, length },
            ListReach::Radii(factor) => Span { per_radius: per_radius - factor, length },
            ListReach::Length(all) => Span { per_radius, length: length - 0.5 * all },
        }
    }
}

/// In whose list a pair stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ListPairs {
    /// In that of the particle with the lower slot: each pair is listed once.
    Half,
    /// In the lists of both.
    Full,
}

/// Which pairs within reach are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ListFilter {
    /// Those that may come to touch: their phases collide, no distance constraint joins them, and
    /// something can move one of them. An entry has the distance at which they touch.
    MayTouch,
    /// All of them.
    Everything,
}

/// Some of the particles, chosen by their phase: those whose phase has, under a mask, a given value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    mask: u32,
    value: u32,
}

impl Who {
    /// Every particle.
    pub const ALL: Who = Who { mask: 0, value: 0 };

    /// The particles of a group ([`Phase::group_number`]).
    pub fn group(group: u32) -> Self {
        Who { mask: Phase::MAX_GROUP, value: group & Phase::MAX_GROUP }
    }
    /// The particles that have all of some flags, for instance [`Phase::FLUID`].
    pub fn flags(flags: u32) -> Self {
        Who { mask: flags, value: flags }
    }
    /// The particles that have none of some flags.
    pub fn without(flags: u32) -> Self {
        Who { mask: flags, value: 0 }
    }
    /// Whether a particle of this phase is one of them.
    #[inline(always)]
    pub fn has(self, phase: Phase) -> bool {
        phase.0 & self.mask == self.value
    }
    /// The mask and the value, as a device reads them.
    #[cfg(feature = "vulkan")]
    pub(crate) fn words(self) -> [u32; 2] {
        [self.mask, self.value]
    }
}

/// What a neighbour list holds.
///
/// ```
/// use motes::{Backend, Engine, Grains, ListDescription, ListReach, World};
/// let mut world = World::new();
/// let ids = world.add_grains(&Grains::default())?;
/// world.add_list(ListDescription::new("kernel", ListReach::Length(0.2)))?;
/// let mut engine = Engine::new(world, Backend::default())?;
/// engine.step(1.0 / 60.0)?;
/// let kernel = engine.neighbors("kernel")?;
/// for neighbor in kernel.of(ids[0]) {
///     let apart = engine.world().position(ids[0]).unwrap()
///         - engine.world().position(neighbor.particle).unwrap();
///     assert!(apart.length() < 0.3);
/// }
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListDescription {
    /// The name, which no other list of the world has.
    pub name: String,
    /// How far apart two of its particles may be.
    pub reach: ListReach,
    /// How much farther than the reach pairs are listed, as a part of the reach. A list is kept until
    /// a particle has moved through half of this, so a thick skin makes longer lists less often.
    pub skin: f32,
    /// Whether a pair is listed once or twice.
    pub pairs: ListPairs,
    /// Who has a list; those of all others are empty.
    pub asks: Who,
    /// Who may stand in a list.
    pub found: Who,
    /// Which pairs within reach are kept.
    pub filter: ListFilter,
}

/// A reach that depends on the radius r of a particle: `per_radius` r + `length`, m. Two particles
/// are neighbours when they are at most the sum of their reaches apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub per_radius: f32,
    pub length: f32,
}

impl Span {
    #[inline(always)]
    pub fn of(self, radius: f32) -> f32 {
        radius * self.per_radius + self.length
    }
}

impl ListDescription {
    /// The name of the list of contacts.
    pub const CONTACTS: &str = "contacts";

    /// A list in which every particle finds everyone within reach, with a skin of a tenth.
    pub fn new(name: impl Into<String>, reach: ListReach) -> Self {
        ListDescription {
            name: name.into(),
            reach,
            skin: 0.1,
            pairs: ListPairs::Full,
            asks: Who::ALL,
            found: Who::ALL,
            filter: ListFilter::Everything,
        }
    }

    /// The list of contacts. A solver that gathers what each contact asks for needs every pair in
    /// both lists.
    pub fn contacts(params: &Params) -> Self {
        let gathers = params.solver == Solver::Jacobi;
        ListDescription {
            skin: params.margin - 1.0,
            pairs: if gathers { ListPairs::Full } else { ListPairs::Half },
            filter: ListFilter::MayTouch,
            ..ListDescription::new(Self::CONTACTS, ListReach::Contact)
        }
    }

    /// Whether pairs are left out because of who asks or who may be found.
    pub(crate) fn chooses(&self) -> bool {
        self.asks != Who::ALL || self.found != Who::ALL
    }

    fn check(&self) -> Result<()> {
        let name = &self.name;
        let wrong = |field: &str, message: String| {
            Err(Error::value(format!("list {name:?}: {field}"), message))
        };
        if name.is_empty() || name == Self::CONTACTS {
            return Err(Error::value(
                "list name",
                format!("{name:?} is not free; give the list a name of its own"),
            ));
        }
        // Beyond these, squares of distances leave the range of f32.
        let (legal, value) = match self.reach {
            ListReach::Contact => (true, 1.0),
            ListReach::Radii(factor) => ((1e-3..=1e3).contains(&factor), factor),
            ListReach::Length(length) => ((1e-6..=1e9).contains(&length), length),
        };
        if !legal {
            let expected = "expected 1e-3 to 1e3 radii, or 1e-6 to 1e9 m";
            return wrong("reach", format!("{value} is not legal; {expected}"));
        }
        if self.reach != ListReach::Contact && !(1e-3..=10.0).contains(&self.skin) {
            return wrong("skin", format!("{} is not legal; expected 1e-3 to 10", self.skin));
        }
        if self.pairs == ListPairs::Half && self.asks != self.found {
            return wrong(
                "pairs",
                "where others ask than may be found, the lower slot of a pair may be one that does \
                 not ask; make the pairs full"
                    .into(),
            );
        }
        Ok(())
    }
}

/// The number of a list, which no other list of the world ever had.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct ListId(u32);

impl ListId {
    /// The list of contacts, which every world has where anything can touch.
    pub const CONTACTS: ListId = ListId(0);
}

/// What neighbour lists depend on besides positions: they are made again when it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ListKey {
    particles: u64,
    edges: u64,
    margin: f32,
    solver: Option<Solver>,
}

impl ListKey {
    /// Of the list of contacts.
    pub fn of(world: &World) -> Self {
        ListKey {
            particles: world.particle_revision,
            edges: world.sets.distance.revision(),
            margin: world.params.margin,
            solver: Some(world.params.solver),
        }
    }

    /// As of another revision of the particles.
    #[cfg(feature = "vulkan")]
    pub fn with_particles(self, particles: u64) -> Self {
        ListKey { particles, ..self }
    }

    /// Of another list, which depends on less.
    pub fn of_list(world: &World, list: &ListDescription) -> Self {
        let joins = list.filter == ListFilter::MayTouch;
        let contact = list.reach == ListReach::Contact;
        ListKey {
            particles: world.particle_revision,
            edges: if joins { world.sets.distance.revision() } else { 0 },
            margin: if contact { world.params.margin } else { 0.0 },
            solver: None,
        }
    }
}

/// A list that was added to a world. The lists themselves are a backend's, which makes them from this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AddedList {
    pub id: ListId,
    pub description: ListDescription,
    /// What it was made for; `None` before that.
    pub key: Option<ListKey>,
    /// Where each particle was when it was made. A resumed run makes the same list from it.
    pub reference: Vec<Vec4>,
}

/// The lists that were added to a world, in that order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AddedLists {
    lists: Vec<AddedList>,
    last: u32,
}

impl AddedLists {
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &AddedList> {
        self.lists.iter()
    }
    pub fn get(&self, id: ListId) -> Option<&AddedList> {
        self.lists.iter().find(|list| list.id == id)
    }
    pub fn get_mut(&mut self, id: ListId) -> Option<&mut AddedList> {
        self.lists.iter_mut().find(|list| list.id == id)
    }
    pub fn named(&self, name: &str) -> Option<&AddedList> {
        self.lists.iter().find(|list| list.description.name == name)
    }
    /// Another backend than the one that makes them has to begin anew.
    #[cfg(feature = "vulkan")]
    pub fn expire(&mut self) {
        self.lists.iter_mut().for_each(|list| list.key = None);
    }
    /// Names and numbers are of one list each, and every description is legal.
    pub fn are_sound(&self) -> bool {
        let mut numbers: Vec<u32> = self.lists.iter().map(|list| list.id.0).collect();
        let mut names: Vec<&str> = self.iter().map(|list| &list.description.name[..]).collect();
        names.sort_unstable();
        numbers.dedup();
        names.dedup();
        self.iter().all(|list| list.description.check().is_ok())
            && numbers.len() == self.lists.len()
            && names.len() == self.lists.len()
            && numbers.is_sorted()
            && numbers.iter().all(|number| (1..=self.last).contains(number))
    }
}

impl World {
    /// Adds a neighbour list, which every step from now on keeps up to date.
    /// [`Engine::neighbors`](crate::Engine::neighbors) reads it.
    ///
    /// # Errors
    /// When another list has the name, or the description is not legal.
    pub fn add_list(&mut self, description: ListDescription) -> Result<()> {
        description.check()?;
        let name = &description.name;
        if self.lists.named(name).is_some() {
            return Err(Error::value(
                "list name",
                format!("the world has a list {name:?}; remove it first, or take another name"),
            ));
        }
        let Some(last) = self.lists.last.checked_add(1) else {
            return Err(Error::value("list", "all numbers of lists are used; start a new world"));
        };
        self.lists.last = last;
        let (id, reference) = (ListId(last), Vec::new());
        self.lists.lists.push(AddedList { id, description, key: None, reference });
        Ok(())
    }

    /// Removes a list that was added, and returns what it held.
    pub fn remove_list(&mut self, name: &str) -> Result<ListDescription> {
        let Some(at) = self.lists.iter().position(|list| list.description.name == name) else {
            return Err(self.no_list(name));
        };
        let is_of_fluid = [Self::FLUID_LIST, Self::SHORE_LIST].contains(&name);
        if is_of_fluid && self.has_fluid() {
            let message = format!("fluids need the list {name:?}; remove them first");
            return Err(Error::value("list", message));
        }
        Ok(self.lists.lists.remove(at).description)
    }

    /// The lists that were added, in that order. That of the contacts is not among them.
    pub fn lists(&self) -> impl ExactSizeIterator<Item = &ListDescription> {
        self.lists.iter().map(|list| &list.description)
    }

    pub(crate) fn no_list(&self, name: &str) -> Error {
        let names: Vec<&str> = self.lists().map(|list| &list.name[..]).collect();
        let there = if names.is_empty() { "none was added".into() } else { names.join(", ") };
        Error::value("list", format!("there is no list {name:?}; the world's own lists: {there}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_not_legal_is_refused() {
        type Change = fn(&mut ListDescription);
        let mut world = World::new();
        let list = |change: Change| {
            let mut list = ListDescription::new("kernel", ListReach::Length(0.1));
            change(&mut list);
            list
        };
        let refused: [(Change, &str); 9] = [
            (|list| list.name.clear(), "name"),
            (|list| list.name = "contacts".into(), "name"),
            (|list| list.reach = ListReach::Length(0.0), "reach"),
            (|list| list.reach = ListReach::Length(f32::NAN), "reach"),
            (|list| list.reach = ListReach::Radii(-1.0), "reach"),
            (|list| list.skin = 0.0, "skin"),
            (|list| list.skin = f32::NAN, "skin"),
            (|list| list.skin = f32::INFINITY, "skin"),
            (|list| (list.pairs, list.asks) = (ListPairs::Half, Who::group(1)), "full"),
        ];
        for (change, field) in refused {
            let error = world.add_list(list(change)).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
        assert_eq!(world.lists().len(), 0);
        world.add_list(list(|_| ())).unwrap();
        let twice = world.add_list(list(|_| ())).unwrap_err().to_string();
        assert!(twice.contains("remove it first"), "{twice}");
        assert_eq!(world.remove_list("kernel").unwrap(), list(|_| ()));
        let gone = world.remove_list("kernel").unwrap_err().to_string();
        assert!(gone.contains("none was added"), "{gone}");
        world.validate().unwrap();
    }

    /// Numbers are never given twice: what a backend keeps for one list is never taken for another's.
    #[test]
    fn a_list_that_comes_back_has_another_number() {
        let mut world = World::new();
        let kernel = ListDescription::new("kernel", ListReach::Radii(2.0));
        let mut ids = Vec::new();
        for _ in 0..3 {
            world.add_list(kernel.clone()).unwrap();
            ids.push(world.lists.named("kernel").unwrap().id);
            world.remove_list("kernel").unwrap();
        }
        ids.dedup();
        assert_eq!(ids.len(), 3);
        assert!(!ids.contains(&ListId::CONTACTS));
    }

    #[test]
    fn slack_is_what_the_skin_adds() {
        let radius = 0.03;
        assert_eq!(ListReach::Contact.span(0.0, 1.3).of(radius), radius * 1.3);
        assert_eq!(ListReach::Contact.slack(0.0, 1.3).of(radius), radius * (1.3f32 - 1.0));
        for reach in [ListReach::Radii(2.0), ListReach::Length(0.12)] {
            let (span, slack) =
                (reach.span(0.25, 1.3).of(radius), reach.slack(0.25, 1.3).of(radius));
            assert!((span - 0.075).abs() < 1e-6 && (slack - 0.015).abs() < 1e-6, "{span} {slack}");
        }
    }
}
