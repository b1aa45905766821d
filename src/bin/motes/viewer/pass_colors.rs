//! A colour for each pass that no other pass comes near, so that a graph and its legend can be
//! read.

use motes::Pass;
use std::sync::LazyLock;

/// Levels of each channel among which colours are chosen.
const LEVELS: [u8; 9] = [0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0xff];
/// Lightness between these is seen on a dark and on a light ground.
const LIGHT: std::ops::Range<f32> = 0.42..0.88;
/// Greys are left to the panel itself.
const CHROMA: f32 = 0.055;

static COLORS: LazyLock<Vec<[u8; 3]>> = LazyLock::new(|| far_apart(Pass::COUNT));

pub fn of(pass: Pass) -> [f32; 4] {
    let [r, g, b] = COLORS[pass as usize].map(|c| f32::from(c) / 255.0);
    [r, g, b, 1.0]
}

/// Colours of which each is as far as possible from all before it: so neighbours differ most.
fn far_apart(count: usize) -> Vec<[u8; 3]> {
    let all = LEVELS
        .iter()
        .flat_map(|&r| LEVELS.iter().flat_map(move |&g| LEVELS.iter().map(move |&b| [r, g, b])));
    let good: Vec<([u8; 3], [f32; 3])> = all
        .map(|rgb| (rgb, lab(rgb)))
        .filter(|(_, [l, a, b])| LIGHT.contains(l) && a.hypot(*b) > CHROMA)
        .collect();
    let mut near = vec![f32::MAX; good.len()];
    let mut chosen = Vec::with_capacity(count);
    let mut next = 0;
    for _ in 0..count {
        let (rgb, place) = good[next];
        chosen.push(rgb);
        for (near, (_, other)) in near.iter_mut().zip(&good) {
            *near = near.min(distance(place, *other));
        }
        next = (0..good.len()).max_by(|&a, &b| near[a].total_cmp(&near[b])).unwrap_or(0);
    }
    chosen
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f32>().sqrt()
}

/// A colour in OKLab (Ottosson 2020), where distances are as the eye sees them.
fn lab(rgb: [u8; 3]) -> [f32; 3] {
    let linear = |c: u8| {
        let c = f32::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let [r, g, b] = rgb.map(linear);
    let l = (0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b).cbrt();
    let m = (0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b).cbrt();
    let s = (0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b).cbrt();
    [
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least distance of two colours.
    fn closest(colors: &[[u8; 3]]) -> f32 {
        let pairs = (0..colors.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs.map(|(a, b)| distance(lab(colors[a]), lab(colors[b]))).fold(f32::MAX, f32::min)
    }

    #[test]
    fn no_two_passes_look_alike() {
        assert!(closest(&COLORS) > 0.085, "{}", closest(&COLORS));
        // The control: hues by the golden ratio in three brightnesses come as near as this.
        let hues: Vec<[u8; 3]> = (0..Pass::COUNT)
            .map(|k| {
                let hue = (k as f32 * 0.618_034 + 0.25).fract() * 6.0;
                let light = [0.92, 0.62, 0.78][k % 3];
                [0.0, 4.0, 2.0].map(|shift: f32| {
                    let x = ((hue + shift) % 6.0 - 3.0).abs() - 1.0;
                    (255.0 * light * (0.38 + 0.62 * x.clamp(0.0, 1.0))) as u8
                })
            })
            .collect();
        assert!(closest(&hues) < 0.05, "{}", closest(&hues));
    }
}
