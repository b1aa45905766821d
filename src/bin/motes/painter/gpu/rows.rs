//! The primitives of a picture as rows of vertex buffers, an instance a row. What cannot be drawn is
//! left out here.

use crate::painter::color::linear;
use crate::painter::lens::Lens;
use crate::painter::project::{self, stroke};
use crate::painter::tiles::Footprint;
use crate::painter::water::{SWELL, Scale, takes};
use crate::painter::{Droplet, Line, Sphere, Triangle};
use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};
use motes::gpu::Place::Written;
use motes::gpu::{Buffer, Device, Failure};
use std::marker::PhantomData;
use std::sync::Arc;

/// Beyond this [m] products of three coordinates overflow; nothing there could be seen.
const FAR: f32 = 1e12;

/// A row and where its parts stand [byte].
pub trait Row: Pod {
    const PARTS: &[(vk::Format, u32)];
}

const FLOAT: vk::Format = vk::Format::R32_SFLOAT;
const VEC3: vk::Format = vk::Format::R32G32B32_SFLOAT;
const VEC4: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
const COLOR: vk::Format = vk::Format::R8G8B8A8_UNORM;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Ball {
    center: Vec3,
    radius: f32,
    color: [u8; 4],
}

impl Row for Ball {
    const PARTS: &[(vk::Format, u32)] = &[(VEC3, 0), (FLOAT, 12), (COLOR, 16)];
}

impl Ball {
    pub fn of(sphere: &Sphere) -> Option<Self> {
        let &Sphere { center, radius, color: [r, g, b] } = sphere;
        let drawable = is_near(center) && radius > 0.0 && radius < FAR;
        drawable.then_some(Self { center, radius, color: [r, g, b, 255] })
    }
}

/// The middle of a particle as the engine has it on the device.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Place {
    center: Vec3,
    inverse_mass: f32,
}

impl Row for Place {
    const PARTS: &[(vk::Format, u32)] = &[(VEC3, 0)];
}

/// The rest of a ball, whose middle is a [`Place`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Coat {
    radius: f32,
    color: [u8; 4],
}

impl Row for Coat {
    const PARTS: &[(vk::Format, u32)] = &[(FLOAT, 0), (COLOR, 4)];
}

impl Coat {
    pub fn of(&Sphere { radius, color: [r, g, b], .. }: &Sphere) -> Self {
        Self { radius, color: [r, g, b, 255] }
    }
}

/// A particle of a fluid.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Drip {
    center: Vec3,
    /// As it is drawn [m].
    radius: f32,
    color: [u8; 4],
    foam: f32,
    /// What a metre of it takes from light.
    takes: Vec3,
}

impl Row for Drip {
    /// As the shader of balls has them.
    const PARTS: &[(vk::Format, u32)] = Ball::PARTS;
}

impl Drip {
    /// What its volume is summed up from.
    pub const BULK: &[(vk::Format, u32)] = &[(VEC3, 0), (FLOAT, 12), (FLOAT, 20), (VEC3, 24)];

    pub fn of(droplet: &Droplet, scale: &Scale) -> Option<Self> {
        let &Droplet { center, color: [r, g, b], .. } = droplet;
        let radius = droplet.radius * SWELL;
        let drawable = is_near(center) && radius > 0.0 && radius < FAR;
        drawable.then(|| Self {
            center,
            radius,
            color: [r, g, b, 255],
            foam: scale.foam(droplet),
            takes: takes(droplet.color, scale.clarity),
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Facet {
    p: [Vec3; 3],
    n: [Vec3; 3],
    /// The last is 255 when it has two sides.
    color: [u8; 4],
}

impl Row for Facet {
    const PARTS: &[(vk::Format, u32)] =
        &[(VEC3, 0), (VEC3, 12), (VEC3, 24), (VEC3, 36), (VEC3, 48), (VEC3, 60), (COLOR, 72)];
}

impl Facet {
    pub fn of(triangle: &Triangle) -> Option<Self> {
        let &Triangle { p, n, color: [r, g, b], two_sided } = triangle;
        // Normals that say nothing give way to the flat one.
        let n = if n.iter().all(|n| is_near(*n)) { n } else { [Vec3::ZERO; 3] };
        let sides = if two_sided { 255 } else { 0 };
        p.iter().all(|p| is_near(*p)).then_some(Self { p, n, color: [r, g, b, sides] })
    }
}

/// A line in pixels.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Stroke {
    a: Vec2,
    b: Vec2,
    inv_depth: [f32; 2],
    /// Half its width and half a pixel, for smooth edges.
    reach: f32,
    opacity: f32,
    light: Vec3,
}

impl Row for Stroke {
    const PARTS: &[(vk::Format, u32)] = &[(VEC4, 0), (VEC4, 16), (VEC3, 32)];
}

impl Stroke {
    /// Its row, and the pixels that it may touch.
    pub fn of(lens: &Lens, line: &Line) -> (Self, Footprint) {
        let (made, footprint) = stroke(lens, line, 1.0);
        let project::Stroke { a, b, inv_depth, half_width, opacity } = made;
        let (reach, light) = (half_width + 0.5, linear(line.color));
        (Self { a, b, inv_depth, reach, opacity, light }, footprint)
    }
}

/// False also for what is not a number.
fn is_near(p: Vec3) -> bool {
    p.abs().cmplt(Vec3::splat(FAR)).all()
}

/// Rows on the device; the buffer grows and is kept.
pub struct Rows<R> {
    name: &'static str,
    buffer: Option<Buffer>,
    count: usize,
    kind: PhantomData<R>,
}

impl<R: Row> Rows<R> {
    pub fn new(name: &'static str) -> Self {
        Self { name, buffer: None, count: 0, kind: PhantomData }
    }

    /// The buffer, unless there is nothing in it, and how many rows it holds.
    pub fn get(&self) -> Option<(vk::Buffer, u32)> {
        let buffer = self.buffer.as_ref().filter(|_| self.count > 0)?;
        Some((buffer.raw, self.count as u32))
    }

    /// Forgets the rows and makes room for so many.
    pub fn clear(&mut self, gpu: &Arc<Device>, most: usize) -> Result<(), Failure> {
        self.count = 0;
        let size = size_of::<R>();
        // The device counts instances in 32 bits.
        let Some(bytes) = most.checked_mul(size).filter(|_| u32::try_from(most).is_ok()) else {
            let what = format!("{most} {} are more than {} draws", self.name, gpu.name);
            return Err(Failure::Unable(what));
        };
        let (usage, place) = (vk::BufferUsageFlags::VERTEX_BUFFER, Written);
        Buffer::grown(&mut self.buffer, gpu, self.name, bytes, usage, place)?;
        Ok(())
    }

    /// Adds rows, as long as there is room; says how many there are then.
    pub fn add(&mut self, rows: impl Iterator<Item = R>) -> usize {
        let host = self.buffer.as_mut().map_or(&mut [][..], Buffer::host_mut);
        let free = host.chunks_exact_mut(size_of::<R>()).skip(self.count);
        for (place, row) in free.zip(rows) {
            place.copy_from_slice(bytemuck::bytes_of(&row));
            self.count += 1;
        }
        self.count
    }
}
