//! Pieces of pictures: copying them, cutting them out, making them smaller.

use crate::painter::Canvas;

/// A colour as the canvas keeps it.
pub fn word([r, g, b]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, r, g, b])
}

/// Copies a picture into a larger one; what does not fit is cut off.
pub fn blit(from: &Canvas, to: &mut Canvas, [left, top]: [i32; 2]) {
    let x0 = left.max(0);
    let x1 = (left + from.width() as i32).min(to.width() as i32);
    let y0 = top.max(0);
    let y1 = (top + from.height() as i32).min(to.height() as i32);
    if x0 >= x1 {
        return;
    }
    let count = (x1 - x0) as usize;
    for y in y0..y1 {
        let source = (y - top) as usize * from.width() as usize + (x0 - left) as usize;
        let target = y as usize * to.width() as usize + x0 as usize;
        to.pixels[target..target + count].copy_from_slice(&from.pixels[source..source + count]);
    }
}

/// A part of a picture: left, top, width, height.
pub fn part(canvas: &Canvas, [left, top, width, height]: [u32; 4]) -> Canvas {
    let width = width.min(canvas.width().saturating_sub(left));
    let height = height.min(canvas.height().saturating_sub(top));
    let mut cut = Canvas::new(width, height);
    blit(canvas, &mut cut, [-(left as i32), -(top as i32)]);
    cut
}

/// The picture at another size: each pixel is the mean of those it covers.
pub fn scaled(from: &Canvas, width: u32, height: u32) -> Canvas {
    let mut small = Canvas::new(width, height);
    let span = |k: u32, of: u32, out: u32| {
        let low = (u64::from(k) * u64::from(of) / u64::from(out.max(1))) as u32;
        let high = (u64::from(k + 1) * u64::from(of)).div_ceil(u64::from(out.max(1))) as u32;
        low..high.max(low + 1).min(of)
    };
    for y in 0..small.height() {
        for x in 0..small.width() {
            let mut sum = [0u32; 3];
            let mut count = 0;
            for v in span(y, from.height(), height) {
                for u in span(x, from.width(), width) {
                    let color = from.color_at(u, v).unwrap_or_default();
                    (0..3).for_each(|k| sum[k] += u32::from(color[k]));
                    count += 1;
                }
            }
            let at = y as usize * small.width() as usize + x as usize;
            small.pixels[at] = word(sum.map(|s| (s / count.max(1)) as u8));
        }
    }
    small
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: u32, height: u32, color: [u8; 3]) -> Canvas {
        let mut canvas = Canvas::new(width, height);
        canvas.pixels.fill(word(color));
        canvas
    }

    #[test]
    fn pieces_are_cut_at_every_edge() {
        let mut large = plain(20, 10, [10, 20, 30]);
        let small = plain(6, 4, [200, 0, 0]);
        for at in [[-3, -2], [17, 8], [-9, 3], [40, 40], [5, 5]] {
            blit(&small, &mut large, at);
        }
        assert_eq!(large.color_at(0, 0), Some([200, 0, 0]));
        assert_eq!(large.color_at(19, 9), Some([200, 0, 0]));
        assert_eq!(large.color_at(10, 8), Some([200, 0, 0]));
        assert_eq!(large.color_at(4, 5), Some([10, 20, 30]));
        let cut = part(&large, [5, 5, 3, 3]);
        assert_eq!((cut.width(), cut.color_at(1, 1)), (3, Some([200, 0, 0])));
        assert_eq!(part(&large, [18, 9, 9, 9]).width(), 2);
    }

    #[test]
    fn a_plain_picture_stays_plain_at_any_size() {
        for (width, height) in [(1, 1), (7, 5), (80, 45), (0, 3)] {
            let other = scaled(&plain(20, 10, [10, 20, 30]), width, height);
            assert!(other.pixels.iter().all(|p| *p == 0x0a141e), "{width} x {height}");
        }
    }
}
