//! Colours with a meaning: which group, how much, how strained.

use super::color::encode;
use std::sync::LazyLock;

/// Twelve colours that stay apart from each other on a light and on a dark floor.
const GROUPS: [[u8; 3]; 12] = [
    [0x3d, 0x7e, 0xe0], // blue
    [0xf2, 0x8a, 0x2e], // orange
    [0x2f, 0xa8, 0x8a], // green
    [0xe0, 0x4f, 0x5f], // red
    [0x8f, 0x63, 0xd2], // violet
    [0xf0, 0xc0, 0x3c], // yellow
    [0x35, 0xb3, 0xd4], // cyan
    [0xe0, 0x78, 0xb4], // pink
    [0x84, 0xb8, 0x42], // lime
    [0xa8, 0x6e, 0x4a], // brown
    [0x6d, 0x7f, 0x99], // slate
    [0xd9, 0xc7, 0xa3], // sand
];

/// The colour of a group or material; the palette repeats after twelve.
pub fn group(index: u32) -> [u8; 3] {
    GROUPS[index as usize % GROUPS.len()]
}

/// What light is after a long way through a fluid: water, oil, and others.
const FLUIDS: [[u8; 3]; 6] = [
    [0x2b, 0x8c, 0xd4], // blue
    [0xf0, 0xa4, 0x30], // amber
    [0x4c, 0xb0, 0x5e], // green
    [0xd8, 0x50, 0x64], // red
    [0x9a, 0x6c, 0xd8], // violet
    [0x30, 0xb8, 0xb0], // cyan
];

/// The colour of a fluid; the palette repeats after six.
pub fn fluid(index: u32) -> [u8; 3] {
    FLUIDS[index as usize % FLUIDS.len()]
}

/// A neutral colour for what only sets the stage: colliders, walls, stairs.
pub const STAGE: [u8; 3] = [0xc4, 0xc9, 0xd1];

/// A character: warmer than the stage.
pub const CHARACTER: [u8; 3] = [0xd8, 0xb0, 0x98];

/// A value that few exceed: one particle that flew off must not make all others look at rest.
pub fn usual_top(count: usize, value: impl Fn(usize) -> f32) -> f32 {
    let stride = (count / 512).max(1);
    let mut sample: Vec<f32> = (0..count).step_by(stride).map(value).collect();
    sample.sort_unstable_by(f32::total_cmp);
    sample.get(sample.len() * 49 / 50).copied().unwrap_or(0.0)
}

const RAMP_STEPS: usize = 256;

/// Dark violet, through teal, to bright yellow. Built in OKLab with lightness linear in the value,
/// so equal steps of the value look like equal steps of brightness, also in grey.
static RAMP: LazyLock<Vec<[u8; 3]>> = LazyLock::new(|| {
    (0..RAMP_STEPS)
        .map(|step| {
            let t = step as f32 / (RAMP_STEPS - 1) as f32;
            let hue = (300.0 - 195.0 * t).to_radians();
            let chroma = 0.125 + 0.05 * (2.0 * t - 1.0).powi(2);
            oklch(0.32 + 0.57 * t, chroma, hue)
        })
        .collect()
});

/// The colour of a share from 0 to 1; outside is cut, not-a-number is magenta so that it is seen.
pub fn scalar(share: f32) -> [u8; 3] {
    if share.is_nan() {
        return [0xff, 0x00, 0xff];
    }
    RAMP[(share.clamp(0.0, 1.0) * (RAMP_STEPS - 1) as f32).round() as usize]
}

/// The colour of a strain (stretch ratio minus one): blue when compressed, pale at rest, red when
/// stretched, full at `limit`.
pub fn strain(strain: f32, limit: f32) -> [u8; 3] {
    let share = strain / limit.abs().max(1e-9);
    if share.is_nan() {
        return [0xff, 0x00, 0xff];
    }
    let share = share.clamp(-1.0, 1.0);
    // The root makes small strains visible: most of a solved cloth lies within a tenth of its limit.
    let amount = share.abs().sqrt();
    let hue = if share > 0.0 { 27.0_f32 } else { 255.0 };
    oklch(0.80 - 0.20 * amount, 0.02 + 0.18 * amount, hue.to_radians())
}

/// OKLCH to sRGB bytes (Ottosson 2020); colours outside the screen's gamut are cut per channel.
fn oklch(lightness: f32, chroma: f32, hue: f32) -> [u8; 3] {
    let (a, b) = (chroma * hue.cos(), chroma * hue.sin());
    let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    [
        encode(4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s),
        encode(-1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s),
        encode(-0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_only_gets_brighter() {
        let brightness = |c: [u8; 3]| {
            0.2126 * super::super::color::decode(c[0])
                + 0.7152 * super::super::color::decode(c[1])
                + 0.0722 * super::super::color::decode(c[2])
        };
        let steps: Vec<f32> = (0..=16).map(|i| brightness(scalar(i as f32 / 16.0))).collect();
        assert!(steps.windows(2).all(|pair| pair[1] > pair[0]), "{steps:?}");
    }

    #[test]
    fn strain_is_red_when_stretched_and_blue_when_compressed() {
        let (stretched, compressed) = (strain(0.1, 0.1), strain(-0.1, 0.1));
        assert!(stretched[0] > stretched[2] && compressed[2] > compressed[0]);
        assert_eq!(strain(f32::NAN, 0.1), scalar(f32::NAN));
        assert_eq!(strain(1.0, 0.0), strain(0.2, 0.1));
    }
}
