//! imgui's triangles as shapes ready to be filled. Nearly all of them come in pairs that make a
//! rectangle (glyphs, backgrounds, bars), which is filled without looking at edges.

use super::texture::Texture;
use imgui::DrawVert;
use std::ops::Range;

/// Pixels that may be touched: those whose middles lie inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    pub x: [i32; 2],
    pub y: [i32; 2],
}

/// The first pixel whose middle is not before `edge`. The cast saturates, so nothing can wrap.
fn first_after(edge: f32) -> i32 {
    (edge - 0.5).ceil() as i32
}

impl Clip {
    pub fn new([x0, y0, x1, y1]: [f32; 4]) -> Self {
        Self { x: [first_after(x0), first_after(x1)], y: [first_after(y0), first_after(y1)] }
    }

    pub fn within(self, width: u32, height: u32) -> Self {
        let screen = Self { x: [0, width as i32], y: [0, height as i32] };
        self.and(&screen)
    }

    fn and(self, other: &Self) -> Self {
        let cut = |[a, b]: [i32; 2], [c, d]: [i32; 2]| [a.max(c), b.min(d)];
        Self { x: cut(self.x, other.x), y: cut(self.y, other.y) }
    }

    pub fn is_empty(&self) -> bool {
        self.x[0] >= self.x[1] || self.y[0] >= self.y[1]
    }
}

/// A rectangle or triangle, with the pixels it may touch.
#[derive(Clone)]
pub struct Shape<'a> {
    pub clip: Clip,
    pub paint: Paint<'a>,
    /// None for a rectangle, which is all of `clip`.
    pub edges: Option<[Edge; 3]>,
}

impl Shape<'_> {
    /// Rows that may be touched.
    pub fn rows(&self) -> Range<usize> {
        if self.clip.is_empty() { 0..0 } else { self.clip.y[0] as usize..self.clip.y[1] as usize }
    }
}

/// What a shape is filled with.
#[derive(Clone)]
pub enum Paint<'a> {
    /// One colour: red, green, blue, opacity.
    Plain([u8; 4]),
    /// A texture with one tint; its texels as they change with x and y.
    Textured { texture: Texture<'a>, tint: [u8; 4], u: Ramp, v: Ramp },
    /// Everything changes.
    Mixed { texture: Texture<'a>, channels: [Ramp; 4], u: Ramp, v: Ramp },
}

/// A value that changes evenly over the screen.
#[derive(Clone, Copy, Debug)]
pub struct Ramp {
    origin: f32,
    x: f32,
    y: f32,
}

impl Ramp {
    /// The ramp that has these values at the corners of a triangle.
    fn over(p: [[f32; 2]; 3], values: [f32; 3]) -> Self {
        let [a, b] = [1, 2].map(|k| [p[k][0] - p[0][0], p[k][1] - p[0][1]]);
        let [da, db] = [values[1] - values[0], values[2] - values[0]];
        let area = a[0] * b[1] - a[1] * b[0];
        let (x, y) = ((da * b[1] - db * a[1]) / area, (db * a[0] - da * b[0]) / area);
        Self { origin: values[0] - x * p[0][0] - y * p[0][1], x, y }
    }

    /// The value in the middle of a pixel.
    #[inline(always)]
    pub fn at(&self, x: usize, y: usize) -> f32 {
        self.origin + self.x * (x as f32 + 0.5) + self.y * (y as f32 + 0.5)
    }
}

/// A side of a triangle: a pixel is inside where `place` is positive, or 0 on sides that own it.
/// Written so that two triangles with a common side see the same number with another sign.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    start: [f32; 2],
    along: [f32; 2],
    sign: f32,
    owns: bool,
}

impl Edge {
    fn new(a: [f32; 2], b: [f32; 2], turn: f32) -> Self {
        // A pixel on a side belongs to one of two triangles: the one below or right of it.
        let (dx, dy) = ((b[0] - a[0]) * turn, (b[1] - a[1]) * turn);
        let owns = dy < 0.0 || (dy == 0.0 && dx > 0.0);
        let (start, end, sign) = if a <= b { (a, b, turn) } else { (b, a, -turn) };
        Self { start, along: [end[0] - start[0], end[1] - start[1]], sign, owns }
    }

    #[inline(always)]
    pub fn holds(&self, x: i32, y: i32) -> bool {
        let (x, y) = (x as f32 + 0.5 - self.start[0], y as f32 + 0.5 - self.start[1]);
        let place = (self.along[0] * y - self.along[1] * x) * self.sign;
        place > 0.0 || (self.owns && place == 0.0)
    }

    /// Where the side crosses a row of pixels, and whether the inside is right of it; nothing for a
    /// side that lies level.
    #[inline(always)]
    pub fn crossing(&self, y: i32) -> Option<(f32, bool)> {
        let down = (y as f32 + 0.5 - self.start[1]) / self.along[1];
        (self.along[1] != 0.0)
            .then(|| (self.start[0] + self.along[0] * down, self.along[1] * self.sign < 0.0))
    }
}

/// Adds the shapes of a command; `place` takes imgui's positions to pixels.
pub fn shapes<'a>(
    vertices: &[DrawVert],
    indices: &[u16],
    place: impl Fn([f32; 2]) -> [f32; 2],
    clip: Clip,
    texture: Texture<'a>,
    out: &mut Vec<Shape<'a>>,
) {
    if clip.is_empty() {
        return;
    }
    let corner = |index: u16| {
        let vertex = vertices.get(index as usize)?;
        let [width, height] = texture.size();
        let texel = [vertex.uv[0] * width, vertex.uv[1] * height];
        Some(Corner { at: place(vertex.pos), texel, color: vertex.col })
    };
    let mut rest = indices;
    while let [a, b, c, after @ ..] = rest {
        rest = after;
        let (Some(p), Some(q), Some(r)) = (corner(*a), corner(*b), corner(*c)) else { continue };
        // imgui writes a rectangle as the triangles 0 1 2 and 0 2 3.
        if let [d, e, f, after @ ..] = rest
            && (a, c) == (d, e)
            && let Some(s) = corner(*f)
            && let Some(shape) = rectangle([p, q, r, s], clip, texture)
        {
            rest = after;
            out.extend(shape);
            continue;
        }
        out.extend(triangle([p, q, r], clip, texture));
    }
}

#[derive(Clone, Copy)]
struct Corner {
    at: [f32; 2],
    /// Place in the texture [texels].
    texel: [f32; 2],
    color: [u8; 4],
}

/// The rectangle of four corners around it; nothing if it is none, and nothing inside that if it has
/// no pixels.
fn rectangle<'a>(
    corners: [Corner; 4],
    clip: Clip,
    texture: Texture<'a>,
) -> Option<Option<Shape<'a>>> {
    let [a, b, c, d] = corners;
    let upright = |get: fn(&Corner) -> [f32; 2]| {
        let [a, b, c, d] = corners.each_ref().map(get);
        a[1] == b[1] && b[0] == c[0] && c[1] == d[1] && d[0] == a[0]
    };
    let plain = a.color == b.color && a.color == c.color && a.color == d.color;
    if !(plain && upright(|c| c.at) && upright(|c| c.texel)) {
        return None;
    }
    let ([x0, y0], [x1, y1]) = (a.at, c.at);
    let [x0, x1] = [x0.min(x1), x0.max(x1)];
    let [y0, y1] = [y0.min(y1), y0.max(y1)];
    let clip = Clip::new([x0, y0, x1, y1]).and(&clip);
    if clip.is_empty() || a.color[3] == 0 {
        return Some(None);
    }
    Some(Some(Shape { clip, paint: paint([a, b, c], texture), edges: None }))
}

fn triangle<'a>(corners: [Corner; 3], clip: Clip, texture: Texture<'a>) -> Option<Shape<'a>> {
    let p = corners.map(|corner| corner.at);
    let area =
        (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
    let visible = corners.iter().any(|corner| corner.color[3] > 0);
    if !(area.is_finite() && area != 0.0 && visible) {
        return None;
    }
    let low = |k: usize| p[0][k].min(p[1][k]).min(p[2][k]);
    let high = |k: usize| p[0][k].max(p[1][k]).max(p[2][k]);
    let mut around = Clip::new([low(0), low(1), high(0), high(1)]);
    // A middle that lies exactly on the right or lower end may still be owned by another side.
    around.x[1] = around.x[1].saturating_add(1);
    around.y[1] = around.y[1].saturating_add(1);
    let clip = around.and(&clip);
    let turn = area.signum();
    let edges = [(0, 1), (1, 2), (2, 0)].map(|(a, b)| Edge::new(p[a], p[b], turn));
    (!clip.is_empty()).then(|| Shape { clip, paint: paint(corners, texture), edges: Some(edges) })
}

fn paint<'a>(corners: [Corner; 3], texture: Texture<'a>) -> Paint<'a> {
    let [a, b, c] = corners;
    let p = corners.map(|corner| corner.at);
    let one_texel = a.texel == b.texel && a.texel == c.texel;
    let one_color = a.color == b.color && a.color == c.color;
    if one_texel && one_color {
        return Paint::Plain(texture.sample(a.texel, a.color));
    }
    let [u, v] = [0, 1].map(|k| Ramp::over(p, corners.map(|corner| corner.texel[k])));
    if one_color {
        return Paint::Textured { texture, tint: a.color, u, v };
    }
    let channel = |k: usize| Ramp::over(p, corners.map(|corner| corner.color[k] as f32));
    Paint::Mixed { texture, channels: std::array::from_fn(channel), u, v }
}
