//! Reports and screenshots, and what must be seen on them.

use serde_json::Value;
use std::path::Path;

/// Whether a report has these words among its messages.
pub fn says(report: &Value, text: &str) -> bool {
    report["messages"].to_string().contains(text)
}

pub struct Picture {
    pub width: u32,
    pub height: u32,
    rgb: Vec<u8>,
}

impl Picture {
    pub fn read(path: &Path) -> Picture {
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        Picture { width: info.width, height: info.height, rgb }
    }

    /// A dump of a screen of 24 bits (XWD): words of a header, a table of colours, pixels.
    pub fn of_screen(dump: &[u8]) -> Picture {
        let word = |k: usize| u32::from_be_bytes(dump[4 * k..4 * k + 4].try_into().unwrap());
        let [header, width, height, stride, colors] = [0, 4, 5, 12, 19].map(word);
        assert_eq!(word(11), 32, "bits of a pixel");
        let rows = dump[(header + 12 * colors) as usize..].chunks_exact(stride as usize);
        let pixel = |p: &[u8; 4]| [p[2], p[1], p[0]];
        let row = |row: &[u8]| -> Vec<[u8; 3]> {
            row.as_chunks().0.iter().take(width as usize).map(pixel).collect()
        };
        let rgb: Vec<u8> = rows.take(height as usize).flat_map(row).flatten().collect();
        Picture { width, height, rgb }
    }

    pub fn at(&self, x: f64, y: f64) -> Option<[u8; 3]> {
        if x < 0.0 || y < 0.0 || x >= f64::from(self.width) || y >= f64::from(self.height) {
            return None;
        }
        let i = (y as usize * self.width as usize + x as usize) * 3;
        Some([self.rgb[i], self.rgb[i + 1], self.rgb[i + 2]])
    }

    /// Share of an area in which another picture has other colours.
    pub fn differs(&self, other: &Picture, area: [f64; 4]) -> f64 {
        let (mut hits, mut count) = (0, 0);
        for (mine, theirs) in self.pairs(other, area) {
            hits += u32::from(mine != theirs);
            count += 1;
        }
        f64::from(hits) / f64::from(count.max(1))
    }

    /// Mean difference of a channel to another picture in an area, in levels.
    pub fn apart(&self, other: &Picture, area: [f64; 4]) -> f64 {
        let (mut sum, mut count) = (0, 0);
        for (mine, theirs) in self.pairs(other, area) {
            sum += (0..3).map(|k| u32::from(mine[k].abs_diff(theirs[k]))).sum::<u32>();
            count += 3;
        }
        f64::from(sum) / f64::from(count.max(1))
    }

    /// The colours of both pictures, where both have one.
    fn pairs(&self, other: &Picture, area: [f64; 4]) -> Vec<([u8; 3], [u8; 3])> {
        let mut pairs = Vec::new();
        for y in area[1] as u32..(area[1] + area[3]) as u32 {
            for x in area[0] as u32..(area[0] + area[2]) as u32 {
                let (x, y) = (x.into(), y.into());
                pairs.extend(self.at(x, y).zip(other.at(x, y)));
            }
        }
        assert!(!pairs.is_empty(), "nothing is in {area:?}");
        pairs
    }

    /// Share of an area (left, top, width, height) whose pixels satisfy something.
    pub fn share(&self, area: [f64; 4], is: impl Fn([u8; 3]) -> bool) -> f64 {
        let (mut hits, mut count) = (0, 0);
        for y in area[1] as u32..(area[1] + area[3]) as u32 {
            for x in area[0] as u32..(area[0] + area[2]) as u32 {
                let Some(pixel) = self.at(x.into(), y.into()) else { continue };
                hits += u32::from(is(pixel));
                count += 1;
            }
        }
        f64::from(hits) / f64::from(count.max(1))
    }
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or(Vec::new(), |a| a.iter().filter_map(Value::as_f64).collect())
}

/// Hue in degrees, or none for what is nearly grey, as floor and background are.
fn hue(color: [u8; 3]) -> Option<f64> {
    let [r, g, b] = color.map(f64::from);
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    if high - low < 0.35 * high.max(1.0) {
        return None;
    }
    let turn = if high == r {
        (g - b) / (high - low)
    } else if high == g {
        2.0 + (b - r) / (high - low)
    } else {
        4.0 + (r - g) / (high - low)
    };
    Some((turn * 60.0).rem_euclid(360.0))
}

/// Share of the particles that are in front, by the report, and have their colour on the picture
/// where they should be, moved by `shift` pixels.
pub fn seen_in_place(report: &Value, picture: &Picture, shift: f64) -> f64 {
    let view = numbers(&report["panels"]["view"]);
    let particles: Vec<(Vec<f64>, f64, f64, [u8; 3])> = report["particles"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|p| {
            let color = numbers(&p["color"]);
            Some((
                Some(numbers(&p["pixel"])).filter(|v| v.len() == 2)?,
                p["depth"].as_f64()?,
                p["radius"].as_f64()?,
                [color[0] as u8, color[1] as u8, color[2] as u8],
            ))
        })
        .collect();
    let (mut right, mut count) = (0, 0);
    for (pixel, depth, _, color) in &particles {
        let inside = (0..2).all(|k| pixel[k] > view[k] && pixel[k] < view[k] + view[k + 2]);
        let hidden = particles.iter().any(|(other, near, radius, _)| {
            // A generous disc: who may be covered is not asked.
            let reach = 1500.0 * radius / near;
            near < depth && (other[0] - pixel[0]).hypot(other[1] - pixel[1]) < reach
        });
        if !inside || hidden {
            continue;
        }
        count += 1;
        let found = picture.at(pixel[0] + shift, pixel[1]).and_then(hue);
        if let (Some(found), Some(wanted)) = (found, hue(*color)) {
            let apart = (found - wanted).abs();
            right += u32::from(apart.min(360.0 - apart) < 25.0);
        }
    }
    assert!(count >= 8, "only {count} particles are in front");
    f64::from(right) / f64::from(count)
}

/// Checks that a panel is there: its background, and text in it.
pub fn assert_panel(report: &Value, picture: &Picture, name: &str, dark: bool) {
    let area = numbers(&report["panels"][name]);
    let area: [f64; 4] = area.try_into().unwrap();
    assert!(area[2] > 50.0 && area[3] > 50.0, "{name} has no room: {area:?}");
    let back = if dark { [0x18, 0x1b, 0x21] } else { [0xf4, 0xf6, 0xf9] };
    let near = |p: [u8; 3]| (0..3).all(|k| p[k].abs_diff(back[k]) < 6);
    let light = |p: [u8; 3]| p.iter().map(|c| u32::from(*c)).sum::<u32>();
    let text = |p: [u8; 3]| if dark { light(p) > 480 } else { light(p) < 300 };
    let (plain, written) = (picture.share(area, near), picture.share(area, text));
    assert!(plain > 0.15, "{name}: {plain:.3} of it is background");
    assert!(written > 0.005, "{name}: {written:.4} of it is text");
}
