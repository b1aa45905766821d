//! One colour over another, in sRGB bytes: (over * alpha + under * (255 - alpha)) / 255, rounded.

/// Words of the canvas have two channels in these bits, and one in the others.
const PAIR: u32 = 0x00ff_00ff;

/// Two channels at once: exact rounding of a division by 255.
#[inline(always)]
fn divide(sums: u32) -> u32 {
    let sums = sums + 0x0080_0080;
    (sums + (sums >> 8 & PAIR)) >> 8 & PAIR
}

/// A colour made ready to lie over many pixels.
#[derive(Clone, Copy)]
pub struct Over {
    red_blue: u32,
    green: u32,
    rest: u32,
}

impl Over {
    #[inline(always)]
    pub fn new([r, g, b, a]: [u8; 4]) -> Self {
        let a = a as u32;
        Self { red_blue: ((r as u32) << 16 | b as u32) * a, green: g as u32 * a, rest: 255 - a }
    }

    #[inline(always)]
    pub fn on(self, pixel: u32) -> u32 {
        let red_blue = divide(self.red_blue + (pixel & PAIR) * self.rest);
        let green = divide(self.green + (pixel >> 8 & 0xff) * self.rest);
        red_blue | green << 8
    }

    /// Lies over a row of pixels.
    #[inline(always)]
    pub fn over(self, pixels: &mut [u32]) {
        match self.rest {
            0 => pixels.fill(self.on(0)),
            255 => {}
            _ => pixels.iter_mut().for_each(|pixel| *pixel = self.on(*pixel)),
        }
    }
}
