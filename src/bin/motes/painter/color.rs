//! sRGB bytes to linear light and back, by table: both run per pixel.

use glam::Vec3;
use std::sync::LazyLock;

/// Steps of the encoding table. The steepest part of the sRGB curve has 12.92 * 255 = 3295 codes per
/// unit of light, so 4095 steps never skip one. All bits are ones, so that a mask keeps within them.
pub const STEPS: usize = 4095;

static LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|code| {
        let s = code as f32 / 255.0;
        if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
    })
});

static CODES: LazyLock<[u8; STEPS + 1]> = LazyLock::new(|| {
    std::array::from_fn(|step| {
        let light = step as f32 / STEPS as f32;
        let s = if light <= 0.003_130_8 {
            light * 12.92
        } else {
            1.055 * light.powf(1.0 / 2.4) - 0.055
        };
        (s * 255.0).round() as u8
    })
});

/// Linear light of every sRGB byte, for loops that decode many.
pub fn decoding() -> &'static [f32; 256] {
    &LINEAR
}

/// sRGB bytes of light in `STEPS` steps from 0 to 1, for loops that encode many.
pub fn encoding() -> &'static [u8; STEPS + 1] {
    &CODES
}

/// Linear light of an sRGB byte.
#[inline]
pub fn decode(code: u8) -> f32 {
    LINEAR[code as usize]
}

/// The sRGB byte of linear light; outside 0 to 1 is cut, not-a-number is black.
#[inline]
pub fn encode(light: f32) -> u8 {
    let step = (light.clamp(0.0, 1.0) * STEPS as f32 + 0.5) as usize;
    CODES[step.min(STEPS)]
}

/// Linear light of an sRGB colour.
#[inline]
pub fn linear(color: [u8; 3]) -> Vec3 {
    Vec3::new(decode(color[0]), decode(color[1]), decode(color[2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_the_round_trip() {
        for code in 0..=255 {
            assert_eq!(encode(decode(code)), code);
        }
        assert_eq!(encode(f32::NAN), 0);
        assert_eq!(encode(9.0), 255);
    }
}
