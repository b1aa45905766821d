//! Neighbours of points, apart from any simulation: for kernels, for skinning, for measuring.

mod density;

use crate::cpu::search::broad::{AsFound, Broad, SearchTools};
use crate::cpu::search::lists::Lists;
use crate::cpu::search::nearest;
use crate::cpu::team::Team;
use crate::error::{Error, Result};
use crate::report::PassTimes;
use crate::step::Pass;
use crate::step::lists::passes;
use crate::world::{BroadPhase, BvhVolume, MemoryNeed, Params, Particles};
use glam::Vec3;
use std::time::Instant;

/// Which points are neighbours.
#[derive(Clone, Copy, Debug)]
pub enum Reach<'a> {
    /// Those at most this far apart, m: a smoothing kernel's length.
    Fixed(f32),
    /// Those at most `margin` times the sum of their radii apart: what may come to touch.
    Radii {
        /// A radius for each point, m.
        radii: &'a [f32],
        /// How much farther than touching.
        margin: f32,
    },
}

/// Finds the neighbours of each of a set of points.
///
/// ```
/// use glam::Vec3;
/// use motes::search::{Reach, Search};
/// let points: Vec<Vec3> = (0..100).map(|i| Vec3::X * i as f32).collect();
/// let mut search = Search::new(motes::Params::default(), 0)?;
/// search.find(&points, Reach::Fixed(1.5))?;
/// let mut around = search.of(50).to_vec();
/// around.sort();
/// assert_eq!(around, [49, 51]);
/// # Ok::<(), motes::Error>(())
/// ```
pub struct Search {
    params: Params,
    team: Team,
    broad: Broad,
    lists: Lists<u32, SearchTools>,
    times: PassTimes,
    used: BroadPhase,
}

impl Search {
    /// A search with the structure and its knobs taken from `params` (`broad_phase`, `octree_leaf`
    /// and so on); 0 threads means one per core.
    pub fn new(params: Params, threads: usize) -> Result<Self> {
        params.check()?;
        Ok(Search {
            used: params.broad_phase,
            params,
            team: Team::new(threads)?,
            broad: Broad::default(),
            lists: Lists::default(),
            times: PassTimes::default(),
        })
    }

    /// Lists the neighbours of every point.
    pub fn find(&mut self, points: &[Vec3], reach: Reach) -> Result<()> {
        check(points, reach)?;
        let started = Instant::now();
        let (team, count) = (&self.team, points.len());
        match reach {
            Reach::Fixed(length) => {
                let half = 0.5 * length;
                self.broad.load(team, count, |i| points[i].extend(half));
            }
            Reach::Radii { radii, margin } => {
                self.broad.load(team, count, |i| points[i].extend(radii[i] * margin));
            }
        }
        let used = self.params.broad_phase.resolve(self.broad.points.iter().map(|p| p.w));
        self.used = used;
        self.times = PassTimes::default();
        self.times.add(Pass::Bounds, started.elapsed());
        for dispatch in passes(used) {
            let started = Instant::now();
            if dispatch.pass.finds_neighbors() {
                let Search { team, broad, lists, params, .. } = &mut *self;
                broad.find(team, dispatch.pass, params, &AsFound, lists)?;
            } else {
                self.broad.build(&self.team, &dispatch, &self.params, &[]);
            }
            self.times.add(dispatch.pass, started.elapsed());
        }
        Ok(())
    }

    /// The `k` points nearest to each of a list of places, or all of them where there are fewer.
    /// Exact; what is equally near comes in order of index. Always through the tree, whatever
    /// `broad_phase` says; the lists of the last [`Search::find`] stay.
    ///
    /// ```
    /// use glam::Vec3;
    /// use motes::search::Search;
    /// let points: Vec<Vec3> = (0..100).map(|i| Vec3::X * i as f32).collect();
    /// let mut search = Search::new(motes::Params::default(), 0)?;
    /// let nearest = search.nearest(&points, &[Vec3::new(7.25, 0.0, 0.0)], 3)?;
    /// assert_eq!(nearest.of(0), [(7, 0.25), (8, 0.75), (6, 1.25)]);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn nearest(&mut self, points: &[Vec3], queries: &[Vec3], k: usize) -> Result<Nearest> {
        check_points(points)?;
        if let Some(i) = queries.iter().position(|q| !q.is_finite()) {
            return Err(Error::value(
                "queries",
                format!("query {i} is {}, not finite", queries[i]),
            ));
        }
        let each = k.min(points.len());
        let bytes = each.saturating_mul(queries.len()).saturating_mul(size_of::<(u32, f32)>());
        if let Some(free) = MemoryNeed::free_for(bytes) {
            return Err(Error::TooLarge {
                what: format!("the {each} nearest to {} places", queries.len()),
                needed: format!("{} MiB", bytes >> 20),
                limit: format!("this machine has {} MiB free; ask in parts", free >> 20),
            });
        }
        self.used = BroadPhase::Bvh;
        self.times = PassTimes::default();
        self.broad.load(&self.team, points.len(), |i| points[i].extend(0.0));
        let params = Params { bvh_volume: BvhVolume::Aabb, ..self.params.clone() };
        for dispatch in passes(BroadPhase::Bvh) {
            if !dispatch.pass.finds_neighbors() {
                let started = Instant::now();
                self.broad.build(&self.team, &dispatch, &params, &[]);
                self.times.add(dispatch.pass, started.elapsed());
            }
        }
        let found = nearest::find(&self.team, &self.broad, queries, each);
        Ok(Nearest { each, queries: queries.len(), found })
    }

    /// Neighbours of point i, in no particular order. Panics unless the last [`Search::find`] had
    /// such a point.
    pub fn of(&self, i: usize) -> &[u32] {
        self.lists.of(i)
    }
    /// Neighbours of all points: each pair counts twice.
    pub fn neighbor_count(&self) -> usize {
        self.lists.len()
    }
    /// What each pass of the last search cost.
    pub fn times(&self) -> &PassTimes {
        &self.times
    }
    /// The structure of the last search: what `auto` chose.
    pub fn used(&self) -> BroadPhase {
        self.used
    }
    /// Bytes held by what was built so far (mainly the last structure), and by the lists.
    pub fn bytes(&self) -> [usize; 2] {
        [self.broad.bytes(), self.lists.bytes()]
    }
}

/// What [`Search::nearest`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    each: usize,
    queries: usize,
    found: Vec<(u32, f32)>,
}

impl Nearest {
    /// Points nearest to place `query`: index and distance in m, nearest first.
    pub fn of(&self, query: usize) -> &[(u32, f32)] {
        assert!(query < self.queries, "place {query} of {}", self.queries);
        &self.found[query * self.each..(query + 1) * self.each]
    }
    /// How many places were asked for.
    pub fn len(&self) -> usize {
        self.queries
    }
    /// True when none was.
    pub fn is_empty(&self) -> bool {
        self.queries == 0
    }
}

fn check(points: &[Vec3], reach: Reach) -> Result<()> {
    check_points(points)?;
    // Beyond these, squares of distances leave the range of f32.
    let legal = |v: f32| (1e-15..=1e15).contains(&v);
    match reach {
        Reach::Fixed(length) if !legal(length) => {
            Err(Error::value("reach", format!("{length} m is not legal; expected 1e-15 to 1e15")))
        }
        Reach::Radii { radii, .. } if radii.len() != points.len() => Err(Error::value(
            "radii",
            format!("{} radii for {} points; expected one each", radii.len(), points.len()),
        )),
        Reach::Radii { radii, margin } => match radii.iter().position(|&r| !legal(r * margin)) {
            Some(i) => Err(Error::value(
                "radii",
                format!("radius {i} x margin is {}; expected 1e-15 to 1e15", radii[i] * margin),
            )),
            None => Ok(()),
        },
        Reach::Fixed(_) => Ok(()),
    }
}

fn check_points(points: &[Vec3]) -> Result<()> {
    if points.len() > Particles::MOST {
        return Err(Error::value("points", format!("more than {}; use fewer", Particles::MOST)));
    }
    if let Some(i) = points.iter().position(|p| !p.is_finite()) {
        return Err(Error::value("points", format!("point {i} is {}, not finite", points[i])));
    }
    Ok(())
}
