//! Line drawings as SVG or PNG: a list of strokes and words, written twice.

mod font;
mod raster;

use crate::commands::plot::raster::Raster;
use crate::failure::Failure;
use motes::file::write_atomically;
use std::fmt::Write as _;
use std::path::Path;

/// x to the right, y down, in pixels.
pub type Point = [f32; 2];

#[derive(Clone, Copy)]
pub struct Stroke {
    pub color: [u8; 3],
    pub width: f32,
    /// Lengths of a dash and of the gap after it.
    pub dash: Option<[f32; 2]>,
}

/// Which end of a text stands at its point.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

enum Mark {
    Line { points: Vec<Point>, stroke: Stroke },
    Text { at: Point, size: f32, anchor: Anchor, color: [u8; 3], text: String },
}

/// Marks on white, in drawing order.
pub struct Drawing {
    width: f32,
    height: f32,
    marks: Vec<Mark>,
}

impl Drawing {
    pub fn new(width: f32, height: f32) -> Self {
        Drawing { width, height, marks: Vec::new() }
    }

    pub fn line(&mut self, points: &[Point], stroke: &Stroke) {
        self.marks.push(Mark::Line { points: points.to_vec(), stroke: *stroke });
    }

    /// `at` is on the base line.
    pub fn text(&mut self, at: Point, size: f32, anchor: Anchor, color: [u8; 3], text: &str) {
        self.marks.push(Mark::Text { at, size, anchor, color, text: text.into() });
    }
}

/// How a drawing is stored.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Format {
    Svg,
    Png,
}

impl Format {
    /// From the ending of a file's name.
    pub fn of(path: &Path) -> Result<Format, Failure> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => Err(Failure::Usage(format!(
                "--plot {}: the name must end in .svg or .png",
                path.display()
            ))),
        }
    }
}

/// Writes a drawing, whole or not at all.
pub fn write(path: &Path, format: Format, drawing: &Drawing) -> Result<(), Failure> {
    match format {
        Format::Svg => {
            let text = svg(drawing);
            write_atomically(path, |out| out.write_all(text.as_bytes()))?;
        }
        Format::Png => {
            let raster = rasterized(drawing);
            write_atomically(path, |out| raster.write_png(out))?;
        }
    }
    Ok(())
}

fn svg(drawing: &Drawing) -> String {
    let Drawing { width, height, marks } = drawing;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let hex = |[r, g, b]: [u8; 3]| format!("#{r:02x}{g:02x}{b:02x}");
    // Writing to a String cannot fail.
    for mark in marks {
        let _ = match mark {
            Mark::Line { points, stroke } => {
                let list: Vec<String> =
                    points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
                let dash = stroke
                    .dash
                    .map_or(String::new(), |[on, off]| format!(" stroke-dasharray=\"{on} {off}\""));
                writeln!(
                    text,
                    "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash} points=\"{}\"/>",
                    hex(stroke.color),
                    stroke.width,
                    list.join(" ")
                )
            }
            Mark::Text { at: [x, y], size, anchor, color, text: words } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                writeln!(
                    text,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
                     fill=\"{}\">{words}</text>",
                    hex(*color)
                )
            }
        };
    }
    text + "</svg>\n"
}

fn rasterized(drawing: &Drawing) -> Raster {
    let mut raster = Raster::new(drawing.width as usize, drawing.height as usize);
    for mark in &drawing.marks {
        match mark {
            Mark::Line { points, stroke } => raster.polyline(points, stroke),
            Mark::Text { at, size, anchor, color, text } => {
                // The bitmap letters are 6 by 9 with their gaps; 12 px text is drawn once as large.
                let scale = (size / 12.0).round().max(1.0) as usize;
                let width = (text.chars().count() * 6 * scale) as f32;
                let left = match anchor {
                    Anchor::Start => at[0],
                    Anchor::Middle => at[0] - width / 2.0,
                    Anchor::End => at[0] - width,
                };
                raster.text([left, at[1] - (7 * scale) as f32], scale, *color, text);
            }
        }
    }
    raster
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Drawing {
        let mut drawing = Drawing::new(100.0, 50.0);
        let stroke = Stroke { color: [255, 0, 0], width: 3.0, dash: None };
        drawing.line(&[[10.0, 25.0], [90.0, 25.0]], &stroke);
        drawing.text([50.0, 45.0], 12.0, Anchor::Middle, [0; 3], "a < b & c");
        drawing
    }

    #[test]
    fn svg_holds_the_marks_and_escapes_words() {
        let text = svg(&sample());
        assert!(text.contains("points=\"10.0,25.0 90.0,25.0\""), "{text}");
        assert!(text.contains("a &lt; b &amp; c"), "{text}");
    }

    #[test]
    fn png_shows_the_line_and_words() {
        let raster = rasterized(&sample());
        assert_eq!(raster.color_at(50, 25), [255, 0, 0]);
        assert_eq!(raster.color_at(50, 5), [255; 3]);
        let dark = (0..100).flat_map(|x| (36..47).map(move |y| (x, y)));
        assert!(dark.filter(|&(x, y)| raster.color_at(x, y) == [0; 3]).count() > 20);
    }

    #[test]
    fn the_ending_chooses_the_format() {
        assert_eq!(Format::of(Path::new("a.SVG")).unwrap(), Format::Svg);
        assert!(Format::of(Path::new("a.pdf")).is_err());
        assert!(Format::of(Path::new("svg")).is_err());
    }
}
