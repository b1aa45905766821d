//! Characters: skeletons in a world, driven by their clips, with an obstacle for every limb.
//!
//! Before each step the obstacles are given keyframes at the times of its substeps, where the clip has
//! the limbs then. So both backends see them as any obstacle on a path, and what lies on them is carried
//! along with the velocity that follows.

use glam::{DVec3, Quat};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::World;
use super::collider::{Collider, Keyframe, Pose, Shape, check_path, pose_on};
use super::material::{Coefficients, MaterialId};
use crate::shape::mesh::TriangleMesh;
use crate::skeleton::{Limb, Pose as Posture, Rig};
use crate::{Error, Result};

/// A limb that is shorter than this, m, between its round ends is a ball.
const BALL: f64 = 1e-6;

/// A character of a world. It is never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SkeletonId(u32);

/// What an obstacle follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimbOf {
    /// Whose limb it is.
    pub skeleton: SkeletonId,
    /// Which of [`World::limbs`].
    pub limb: u32,
    /// The mesh of the character is drawn in its place.
    pub covered: bool,
}

/// A skeleton that a clip drives through a world.
///
/// ```
/// use motes::skeleton::Rig;
/// use motes::world::Character;
/// use motes::{Backend, Engine, World};
/// use std::sync::Arc;
///
/// let bytes = motes::Scene::builtin_skeleton("person").unwrap();
/// let rig = Arc::new(Rig::from_bytes("person", bytes, None)?);
/// let walk = rig.clip("walk")?;
/// let mut world = World::new();
/// let id = world.add_skeleton(&Character { clip: Some(walk), ..Character::of(rig) })?;
/// let mut engine = Engine::new(world, Backend::default())?;
/// engine.step(1.0 / 60.0)?;
/// let (world, time) = (engine.world(), engine.world().time());
/// let person = world.skeleton(id)?;
/// assert!((person.clip_time(time) - time).abs() < 1e-12);
/// let head = person.rig.skeleton.find("head").unwrap();
/// assert!(person.bone_at(head, time).unwrap().translation.y > 1.5);
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Character {
    /// For messages and exports; may be empty.
    pub name: String,
    /// Bones, clips and mesh.
    pub rig: Arc<Rig>,
    /// Number of the clip that plays; without one it stands in its rest pose.
    pub clip: Option<u32>,
    /// Time of the clip, counted from its first keyframe, when the time of the world is `since`, s.
    pub start: f64,
    /// s.
    pub since: f64,
    /// Seconds of the clip in a second of the world; below 0 it goes backwards.
    pub speed: f64,
    /// Starts over after its end. It jumps back, and sweeps whatever is between, unless its last pose
    /// is its first.
    pub looped: bool,
    /// Where the origin of the file is when, as of a [`Collider`].
    pub path: Vec<Keyframe>,
    /// m in a unit of the file.
    pub scale: f64,
    /// How thick the limbs of a skeleton without a mesh are, m; else it is taken from its height.
    pub radius: Option<f64>,
    /// What its limbs are made of.
    pub material: MaterialId,
    /// Friction and restitution of its limbs, as of a [`Collider`].
    pub coefficients: Coefficients,
}

impl Character {
    /// A character that stands in its rest pose at the origin, one metre for each unit of the file.
    pub fn of(rig: Arc<Rig>) -> Self {
        Character {
            name: String::new(),
            rig,
            clip: None,
            start: 0.0,
            since: 0.0,
            speed: 1.0,
            looped: true,
            path: vec![Keyframe { time: 0.0, pose: Pose::IDENTITY }],
            scale: 1.0,
            radius: None,
            material: MaterialId::DEFAULT,
            coefficients: Coefficients::default(),
        }
    }

    /// Time of the clip at a time of the world, counted from its first keyframe, s.
    pub fn clip_time(&self, now: f64) -> f64 {
        let time = self.start + self.speed * (now - self.since);
        let clip = self.clip.and_then(|clip| self.rig.clips.get(clip as usize));
        let length = clip.map_or(0.0, |clip| clip.duration());
        match self.looped && length > 0.0 {
            true => time.rem_euclid(length),
            false => time.clamp(0.0, length),
        }
    }

    /// Goes on with another clip, or none, from a time of it, s; `now` is the time of the world. The
    /// limbs jump, and a jump has no velocity.
    pub fn play(&mut self, clip: Option<u32>, time: f64, now: f64) {
        (self.clip, self.start, self.since) = (clip, time, now);
    }

    /// Goes on at another speed from where it is at the time `now` of the world, s.
    pub fn set_speed(&mut self, speed: f64, now: f64) {
        (self.start, self.since, self.speed) = (self.clip_time(now), now, speed);
    }

    /// Where the origin of the file is.
    pub fn place_at(&self, now: f64) -> Pose {
        pose_on(&self.path, false, now)
    }

    /// How the bones are, in the frame and unit of the file.
    pub fn posture_at(&self, now: f64) -> Posture {
        let clip = self.clip.and_then(|clip| self.rig.clips.get(clip as usize));
        let start = clip.map_or(0.0, |clip| clip.start());
        self.rig.skeleton.pose(clip, start + self.clip_time(now))
    }

    /// Where a bone is in the world; none when it is not there.
    pub fn bone_at(&self, bone: u32, now: f64) -> Option<Pose> {
        self.bone_in(bone, &self.place_at(now), &self.posture_at(now))
    }

    fn bone_in(&self, bone: u32, place: &Pose, posture: &Posture) -> Option<Pose> {
        let (origin, turn) = (posture.world.get(bone as usize)?, posture.turn.get(bone as usize)?);
        Some(self.in_world(place, origin.translation, turn.as_quat()))
    }

    /// The mesh as it is in the world; none without one.
    pub fn mesh_at(&self, now: f64) -> Option<TriangleMesh> {
        let mesh = self.rig.mesh.as_ref()?;
        let place = self.place_at(now);
        let vertex = |at: &DVec3| place.apply_point((*at * self.scale).as_vec3());
        let vertices = mesh.vertices_in(&self.posture_at(now)).iter().map(vertex).collect();
        Some(TriangleMesh { vertices, triangles: mesh.triangles.clone() })
    }

    /// A place and a direction of the file in the world.
    fn in_world(&self, place: &Pose, at: DVec3, turn: Quat) -> Pose {
        let translation = place.apply_point((at * self.scale).as_vec3());
        Pose::new(translation, times(place.rotation, turn))
    }

    /// Where a limb is.
    fn limb_at(&self, limb: &Limb, place: &Pose, posture: &Posture) -> Pose {
        let bone = limb.bone as usize;
        let (Some(origin), Some(&turn)) = (posture.world.get(bone), posture.turn.get(bone)) else {
            return *place; // `validate` has looked at the bones
        };
        let at = origin.translation + turn * limb.centre;
        self.in_world(place, at, (turn * limb.turn).as_quat())
    }

    fn shape_of(&self, limb: &Limb) -> Shape {
        let radius = (limb.radius * self.scale) as f32;
        match limb.half_height * self.scale {
            half if half < BALL => Shape::Sphere { radius },
            half => Shape::Capsule { radius, half_height: half as f32 },
        }
    }

    /// Checks everything that came from outside; `field` is the path the messages start with.
    ///
    /// # Errors
    /// Names the first value that is not allowed and what would be right.
    pub fn validate(&self, field: &str) -> Result<()> {
        self.rig.validate()?;
        if let Some(clip) = self.clip
            && clip as usize >= self.rig.clips.len()
        {
            let count = self.rig.clips.len();
            let message = format!("there is no clip {clip}; the skeleton has {count}");
            return Err(Error::value(format!("{field}.clip"), message));
        }
        for (name, value) in [("start", self.start), ("since", self.since), ("speed", self.speed)] {
            if !value.is_finite() || value.abs() > 1e9 {
                let message = format!("{value} is not legal; expected a finite number");
                return Err(Error::value(format!("{field}.{name}"), message));
            }
        }
        let lengths = [("scale", Some(self.scale)), ("radius", self.radius)];
        for (name, value) in lengths.into_iter().filter_map(|(name, v)| Some((name, v?))) {
            if !(1e-6..=1e6).contains(&value) {
                let message = format!("{value} is not legal; expected more than 0");
                return Err(Error::value(format!("{field}.{name}"), message));
            }
        }
        check_path(&self.path, field)?;
        self.coefficients.validate(field)
    }
}

/// The product of two rotations, written out: glam's own has other bits at each level of SIMD.
fn times(a: Quat, b: Quat) -> Quat {
    Quat::from_xyzw(
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    )
}

/// The characters of a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Characters {
    list: Vec<Entry>,
    /// How many there ever were.
    count: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    id: SkeletonId,
    character: Character,
    limbs: Vec<Limb>,
}

impl Characters {
    /// For snapshots: numbers that are looked up without asking again.
    pub fn are_sound(&self) -> bool {
        self.list.windows(2).all(|pair| pair[0].id < pair[1].id)
            && self.list.iter().all(|Entry { id, character, limbs }| {
                let bones = character.rig.skeleton.bones.len();
                let legal = |limb: &Limb| {
                    (limb.bone as usize) < bones && limb.centre.is_finite() && limb.turn.is_finite()
                };
                id.0 < self.count
                    && limbs.iter().all(legal)
                    && character.validate("skeleton").is_ok()
            })
    }
}

impl World {
    /// Puts a character into the world: an obstacle for each of its limbs, called `NAME.BONE`, which
    /// follows its clip from the next step on.
    ///
    /// # Errors
    /// When a value is not legal, or the skeleton has no limb: neither a mesh nor a bone with a length.
    pub fn add_skeleton(&mut self, character: &Character) -> Result<SkeletonId> {
        let name = match character.name.as_str() {
            "" => "skeleton",
            name => name,
        };
        character.validate(name)?;
        let radius = character.radius.map(|radius| radius / character.scale);
        let limbs = character.rig.limbs(radius);
        if limbs.is_empty() {
            let message =
                "no bone has a length, and there is no mesh; give a skeleton whose bones lie apart";
            return Err(Error::value(format!("{name}.rig"), message));
        }
        let id = SkeletonId(self.characters.count);
        let (place, posture) = (character.place_at(self.time), character.posture_at(self.time));
        let mut obstacles = Vec::with_capacity(limbs.len());
        for (k, limb) in limbs.iter().enumerate() {
            let bone = &character.rig.skeleton.bones[limb.bone as usize].name;
            let pose = character.limb_at(limb, &place, &posture);
            let covered = character.rig.mesh.is_some();
            let obstacle = Collider {
                name: format!("{name}.{bone}"),
                material: character.material,
                coefficients: character.coefficients,
                limb: Some(LimbOf { skeleton: id, limb: k as u32, covered }),
                ..Collider::fixed(character.shape_of(limb), pose)
            };
            obstacle.validate(&obstacle.name)?;
            obstacles.push(obstacle);
        }
        self.characters.count += 1;
        self.characters.list.push(Entry { id, character: character.clone(), limbs });
        self.colliders.append(&mut obstacles);
        Ok(id)
    }

    /// All characters, in the order in which they came.
    pub fn skeletons(&self) -> impl Iterator<Item = (SkeletonId, &Character)> {
        self.characters.list.iter().map(|entry| (entry.id, &entry.character))
    }

    /// A character.
    ///
    /// # Errors
    /// When it is not there (any more).
    pub fn skeleton(&self, id: SkeletonId) -> Result<&Character> {
        Ok(&self.characters.list[self.place_of(id)?].character)
    }

    /// A character, to play another clip, set its time or speed, or lead it elsewhere. What changes
    /// its limbs (its bones, its mesh, its scale, its radius) takes effect when it is added anew.
    ///
    /// # Errors
    /// When it is not there (any more).
    pub fn skeleton_mut(&mut self, id: SkeletonId) -> Result<&mut Character> {
        let place = self.place_of(id)?;
        Ok(&mut self.characters.list[place].character)
    }

    /// The capsules of a character; [`LimbOf::limb`] counts them.
    ///
    /// # Errors
    /// When it is not there (any more).
    pub fn limbs(&self, id: SkeletonId) -> Result<&[Limb]> {
        Ok(&self.characters.list[self.place_of(id)?].limbs)
    }

    /// Takes a character and its obstacles away. What is held to its bones stays where they are.
    ///
    /// # Errors
    /// When it is not there (any more).
    pub fn remove_skeleton(&mut self, id: SkeletonId) -> Result<()> {
        let place = self.place_of(id)?;
        self.characters.list.remove(place);
        // What was held to its bones stays where it was led last.
        for pin in self.pins.iter_mut() {
            pin.bone = pin.bone.filter(|bone| bone.skeleton != id);
        }
        self.colliders.retain(|collider| collider.limb.is_none_or(|limb| limb.skeleton != id));
        Ok(())
    }

    fn place_of(&self, id: SkeletonId) -> Result<usize> {
        let found = self.characters.list.binary_search_by_key(&id, |entry| entry.id);
        found.map_err(|_| Error::value("skeleton", format!("there is no skeleton {}", id.0)))
    }

    /// Gives the obstacles of all characters their way through the next step, a keyframe where each of
    /// its substeps of `h` seconds begins and ends.
    ///
    /// # Errors
    /// When a field of a character was set to what is not legal.
    pub(crate) fn drive_skeletons(&mut self, h: f32) -> Result<()> {
        if self.characters.list.is_empty() {
            return Ok(());
        }
        // Summed as a step does, so that each substep finds its own keyframes.
        let mut times = vec![self.time];
        for k in 0..self.params.substeps as usize {
            times.push(times[k] + f64::from(h));
        }
        for Entry { id, character, limbs } in &self.characters.list {
            let moments: Vec<(f64, Pose, Posture)> = times
                .iter()
                .map(|&time| (time, character.place_at(time), character.posture_at(time)))
                .collect();
            for collider in &mut self.colliders {
                let Some(limb) = collider.limb.filter(|limb| limb.skeleton == *id) else {
                    continue;
                };
                let Some(limb) = limbs.get(limb.limb as usize) else { continue };
                let key = |(time, place, posture): &(f64, Pose, Posture)| Keyframe {
                    time: *time,
                    pose: character.limb_at(limb, place, posture),
                };
                let path: Vec<Keyframe> = moments.iter().map(key).collect();
                check_path(&path, &collider.name)?;
                (collider.path, collider.looped) = (path, false);
            }
            let held = self.pins.iter().filter_map(|pin| Some((pin.path?, pin.bone?)));
            for (path, held) in held.filter(|(_, held)| held.skeleton == *id) {
                let at = |(time, place, posture): &(f64, Pose, Posture)| {
                    let bone = character.bone_in(held.bone, place, posture)?;
                    Some((*time, bone.apply_point(held.offset)))
                };
                let keys: Vec<_> = moments.iter().filter_map(at).collect();
                // A snapshot may speak of a bone that is not there: then nothing leads it.
                if !keys.is_empty() {
                    self.paths[path as usize].keys = keys;
                }
            }
        }
        Ok(())
    }
}
