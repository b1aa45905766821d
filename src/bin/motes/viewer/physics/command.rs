//! What the window may ask of the simulation. Every command is carried out between two steps.

use super::placement::Placement;
use super::straight::Gpu;
use glam::Vec3;
use motes::{MaterialId, ParticleId};

/// One request.
pub enum Command {
    /// Loads a scene by name or path, with keys to set; a `.motes` file is a snapshot.
    Open(String, Vec<String>),
    /// Runs or stops.
    Play(bool),
    /// Takes this many steps, then stops.
    Step(u32),
    /// Builds the scene anew; the parameters stay.
    Reset,
    /// Reads the scene's file again.
    Reload,
    /// Simulated seconds a second; 0 for as fast as it goes.
    Speed(f32),
    /// Worker threads; 0 for one per core.
    Threads(usize),
    /// Where the passes run, by name.
    Backend(&'static str),
    /// Another painter paints: its device can be shared, if it has one.
    Share(Gpu),
    /// Sets a parameter by name.
    Param(&'static str, toml::Value),
    /// Sets a number of a material, by the name of the parameter it stands for; `None` leaves it to
    /// that parameter.
    Material(MaterialId, &'static str, Option<f32>),
    /// Sets every parameter and material as the scene has it.
    SceneParams,
    /// Pulls a particle towards a point.
    Drag {
        id: ParticleId,
        target: Vec3,
    },
    /// Lets go of the dragged particle.
    Release,
    /// Cuts every constraint that crosses the wedge.
    Cut(Wedge),
    /// Pins a free particle, frees a pinned one.
    TogglePin(ParticleId),
    /// The stroke that cut is over.
    StrokeEnd,
    /// Takes a particle out of the world.
    Remove(ParticleId),
    /// Takes the object of a particle out of the world.
    RemoveObject(ParticleId),
    /// Takes an obstacle out of the world, by its number.
    RemoveObstacle(usize),
    /// Takes back the last edit, or does it again.
    Undo,
    Redo,
    /// Throws a ball.
    Throw(Ball),
    /// Puts a new object or obstacle into the world.
    Place(Box<Placement>),
    /// Writes particles, obstacles and a snapshot, all of the same step.
    Export,
    /// Every so many steps the window is to keep a picture, and the next step waits for that; or no
    /// longer.
    Record(Option<u32>),
    /// Runs this many bare iterations on a copy of the world and reports the residuals.
    Converge(u32),
    /// Runs copies of the world on every backend for this many steps.
    Compare(u32),
    /// Ends that before its time.
    StopCompare,
    /// Ends the thread.
    Quit,
}

/// The part of space between two rays from the eye: what a straight stroke on the screen covers.
#[derive(Clone, Copy, Debug)]
pub struct Wedge {
    pub eye: Vec3,
    /// Directions of the stroke's two ends.
    pub ends: [Vec3; 2],
}

impl Wedge {
    /// Whether the straight line from `a` to `b` passes through it.
    pub fn crosses(&self, a: Vec3, b: Vec3) -> bool {
        let [u, v] = self.ends;
        let normal = u.cross(v);
        let (da, db) = (normal.dot(a - self.eye), normal.dot(b - self.eye));
        if da * db > 0.0 || da == db {
            return false;
        }
        let p = a + (b - a) * (da / (da - db)) - self.eye;
        // Between the two rays, and in front of the eye.
        u.cross(p).dot(normal) >= 0.0 && p.cross(v).dot(normal) >= 0.0 && p.dot(u + v) > 0.0
    }
}

/// A heavy ball to throw.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    pub position: Vec3,
    pub velocity: Vec3,
    /// m.
    pub radius: f32,
    /// kg; 0 for a fifth of all that is in the scene.
    pub mass: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wedge_cuts_what_is_between_its_rays() {
        let ends = [Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 0.0, -1.0)];
        let wedge = Wedge { eye: Vec3::ZERO, ends };
        let upright = |x: f32, z: f32| (Vec3::new(x, -1.0, z), Vec3::new(x, 1.0, z));
        for ((a, b), cut) in [
            (upright(0.0, -5.0), true),
            (upright(4.0, -5.0), true),
            (upright(6.0, -5.0), false),
            (upright(0.0, 5.0), false),
            ((Vec3::new(0.0, 1.0, -5.0), Vec3::new(0.0, 2.0, -5.0)), false),
        ] {
            assert_eq!(wedge.crosses(a, b), cut, "{a} {b}");
            assert_eq!(wedge.crosses(b, a), cut, "{b} {a}");
        }
    }
}
