//! The numbers of a picture that its shaders share: one uniform buffer, whose members the shaders
//! name as they are named here.

use crate::painter::content::Content;
use crate::painter::ground::Floor;
use crate::painter::lens::Lens;
use crate::painter::look::Look;
use crate::painter::occlusion::STRENGTH;
use crate::painter::project::LEAST_RADIUS;
use crate::painter::shadow::fit;
use crate::painter::software::occlusion_radius;
use crate::painter::spiral::Spiral;
use crate::painter::strokes::PULL;
use crate::painter::sunlight::{BIAS, LIFT};
use crate::painter::water::{DISC, SWELL, Scale, VOLUME};
use crate::painter::{Picture, Quality};
use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

/// Texels along the longer side of the sun's map.
pub const MAP_SIDE: u32 = Quality::LIVE.shadow_side;
const TAPS: usize = Quality::LIVE.occlusion_taps;
// So many are written out in `spirv/paint/occlusion.spvasm`.
const _: () = assert!(TAPS == 8);
/// Turns of the spiral.
const TURNS: usize = 16;

macro_rules! frame {
    ($($name:ident: $kind:ty,)*) => {
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Pod, Zeroable)]
        pub struct Frame {
            $(pub $name: $kind,)*
        }

        impl Frame {
            /// Where each member stands [byte].
            #[cfg(test)]
            pub const MEMBERS: &[(&str, usize)] =
                &[$((stringify!($name), std::mem::offset_of!(Frame, $name)),)*];
        }
    };
}

// The camera's axes, place and lens, then the sun's map from the world (`map_*`) and from view space
// (`sun_*`), each with where it starts, then lights and stage; the rest fills the gaps of 16 bytes. The scale
// of fluids (`flow_*`) is all 0 where there are none.
frame! {
    right: Vec3,
    pixel: f32,
    up: Vec3,
    near: f32,
    forward: Vec3,
    drop: f32,
    eye: Vec3,
    spacing: f32,
    size: Vec2,
    half: Vec2,
    origin: Vec2,
    map_size: Vec2,
    map_u: Vec3,
    start_u: f32,
    map_v: Vec3,
    start_v: f32,
    map_w: Vec3,
    start_w: f32,
    sun_u: Vec3,
    from_u: f32,
    sun_v: Vec3,
    from_v: f32,
    sun_w: Vec3,
    from_w: f32,
    sun: Vec3,
    highlight: f32,
    sky: Vec3,
    rim: f32,
    sun_light: Vec3,
    map_scale: f32,
    sky_light: Vec3,
    map_range: f32,
    bounce_light: Vec3,
    lift: f32,
    horizon: Vec3,
    bias: f32,
    zenith: Vec3,
    pull: f32,
    floor: Vec3,
    least_radius: f32,
    floor_line: Vec3,
    fade_start: f32,
    floor_shade: Vec3,
    fade_scale: f32,
    middle: Vec2,
    radius: f32,
    strength: f32,
    taps: [[f32; 4]; TAPS * TURNS],
    flow_reach: f32,
    flow_step: f32,
    flow_range: f32,
    flow_sink: f32,
    flow_spread: f32,
    flow_volume: f32,
    flow_skin: f32,
    flow_clarity: f32,
    flow_disc: [[f32; 4]; DISC.len()],
}

impl Frame {
    /// The frame of a picture whose corner is at left, top of an image.
    pub fn new(picture: &Picture, lens: &Lens, [left, top]: [u32; 2]) -> Self {
        let look = Look::of(picture.theme);
        let content = Content::of(picture);
        let floor = Floor::new(content.as_ref());
        let (axes, spiral) = (lens.axes, Spiral::new(TAPS));
        let mut frame = Self {
            right: axes.right,
            pixel: lens.pixel,
            up: axes.up,
            near: lens.near,
            forward: axes.forward,
            // Seen from below the floor would hide everything, so there it is left out.
            drop: picture.ground.map_or(0.0, |height| lens.eye.y - height),
            eye: lens.eye,
            spacing: floor.spacing,
            size: lens.size,
            half: lens.half,
            origin: Vec2::new(left as f32, top as f32),
            sun: lens.direction(look.sun),
            highlight: look.highlight,
            sky: lens.direction(Vec3::Y),
            rim: look.rim,
            sun_light: look.sun_light,
            sky_light: look.sky_light,
            bounce_light: look.bounce_light,
            horizon: look.horizon,
            bias: BIAS,
            zenith: look.zenith,
            pull: PULL,
            floor: look.floor,
            least_radius: LEAST_RADIUS,
            floor_line: look.floor_line,
            fade_start: floor.fade.0,
            floor_shade: look.floor_shade,
            fade_scale: 1.0 / (floor.fade.1 - floor.fade.0),
            middle: floor.middle,
            radius: occlusion_radius(&content),
            strength: STRENGTH * 2.0 / TAPS as f32,
            ..Self::zeroed()
        };
        for turn in 0..TURNS as u32 {
            for (tap, point) in spiral.at(turn % 4, turn / 4).enumerate() {
                frame.taps[tap * TURNS + turn as usize] = [point.x, point.y, 0.0, 0.0];
            }
        }
        if let Some(scale) = Scale::of(picture, lens) {
            frame.place_flow(&scale);
        }
        if let Some(content) = &content {
            frame.place_map(content, &look, lens);
        }
        frame
    }

    fn place_map(&mut self, content: &Content, look: &Look, lens: &Lens) {
        let (place, tiles) = fit(content, look.sun, MAP_SIDE);
        self.map_size = Vec2::new(tiles.width as f32, tiles.height as f32);
        self.map_scale = place.scale;
        // Behind the content there is room for strays that still throw shadows.
        self.map_range = MAP_SIDE as f32 * 8.0 + content.diagonal() * place.scale;
        self.lift = LIFT / place.scale.max(1e-30);
        [self.map_u, self.map_v, self.map_w] = place.axes;
        [self.start_u, self.start_v, self.start_w] = place.start.to_array();
        [self.sun_u, self.sun_v, self.sun_w] = place.axes.map(|axis| lens.direction(axis));
        [self.from_u, self.from_v, self.from_w] = place.point(lens.eye).to_array();
    }

    fn place_flow(&mut self, scale: &Scale) {
        self.flow_reach = scale.reach;
        self.flow_step = scale.step as f32;
        self.flow_range = scale.range;
        self.flow_sink = scale.sink;
        // Rows have the radius that is drawn.
        self.flow_spread = scale.spread / SWELL;
        self.flow_volume = VOLUME / SWELL.powi(3);
        self.flow_skin = scale.skin;
        self.flow_clarity = scale.clarity;
        for (tap, (right, down)) in self.flow_disc.iter_mut().zip(DISC) {
            let far = ((right * right + down * down) as f32).sqrt();
            *tap = [right as f32, down as f32, far, 0.0];
        }
    }

    /// Width and height of the sun's map, nothing without content [texels].
    pub fn map(&self) -> [u32; 2] {
        [self.map_size.x as u32, self.map_size.y as u32]
    }
}
