//! Matrices of 4 x 4 in rows, written out, and numbers by chance: nothing of it is shared with the
//! library.

pub type M = [[f64; 4]; 4];

pub const ONE: M = [[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0., 1.]];

pub fn mul(a: &M, b: &M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
}

pub fn apply(a: &M, p: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i][0] * p[0] + a[i][1] * p[1] + a[i][2] * p[2] + a[i][3])
}

pub fn moved(t: [f64; 3]) -> M {
    let mut m = ONE;
    (0..3).for_each(|i| m[i][3] = t[i]);
    m
}

pub fn scaled(s: [f64; 3]) -> M {
    let mut m = ONE;
    (0..3).for_each(|i| m[i][i] = s[i]);
    m
}

/// About x, y or z by degrees.
pub fn turned(axis: usize, degrees: f64) -> M {
    let (s, c) = degrees.to_radians().sin_cos();
    let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut m = ONE;
    (m[i][i], m[i][j], m[j][i], m[j][j]) = (c, -s, s, c);
    m
}

/// The rotation of a quaternion x, y, z, w of any length.
pub fn of_quaternion(q: [f64; 4]) -> M {
    let n = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    let [x, y, z, w] = q.map(|c| c / n);
    let mut m = ONE;
    m[0][..3].copy_from_slice(&[
        1. - 2. * (y * y + z * z),
        2. * (x * y - z * w),
        2. * (x * z + y * w),
    ]);
    m[1][..3].copy_from_slice(&[
        2. * (x * y + z * w),
        1. - 2. * (x * x + z * z),
        2. * (y * z - x * w),
    ]);
    m[2][..3].copy_from_slice(&[
        2. * (x * z - y * w),
        2. * (y * z + x * w),
        1. - 2. * (x * x + y * y),
    ]);
    m
}

fn transposed(m: &M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

/// From one rotation a share `s` of the way to another, about the one axis that leads there.
pub fn between(a: &M, b: &M, s: f64) -> M {
    let way = mul(&transposed(a), b);
    let trace = way[0][0] + way[1][1] + way[2][2];
    let angle = ((trace - 1.) / 2.).clamp(-1., 1.).acos();
    let v = [way[2][1] - way[1][2], way[0][2] - way[2][0], way[1][0] - way[0][1]];
    let n = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    if n < 1e-12 {
        return *a;
    }
    let u = v.map(|c| c / n);
    // Rodrigues.
    let (sin, cos) = (s * angle).sin_cos();
    let mut part = ONE;
    for i in 0..3 {
        for j in 0..3 {
            let cross = match (j + 3 - i) % 3 {
                1 => -u[(i + 2) % 3],
                2 => u[(i + 1) % 3],
                _ => 0.,
            };
            let same = f64::from(u8::from(i == j));
            part[i][j] = cos * same + sin * cross + (1. - cos) * u[i] * u[j];
        }
    }
    mul(a, &part)
}

/// Numbers by chance, always the same.
pub struct Chance(pub u64);

impl Chance {
    /// From -1 to 1, as f32 has it.
    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(((self.0 >> 40) as f32 / (1u64 << 23) as f32) - 1.0)
    }
    pub fn some<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.next())
    }
}

/// Relative to the size of the whole, at most this far apart.
pub const CLOSE: f64 = 1e-5;

pub fn assert_close(found: [f64; 3], right: [f64; 3], size: f64, what: &str) {
    let apart = (0..3).map(|i| (found[i] - right[i]).powi(2)).sum::<f64>().sqrt();
    assert!(apart <= CLOSE * size, "{what}: {found:?}, but {right:?} is right");
}

#[test]
fn the_way_between_two_rotations_is_even() {
    let (a, b) = (turned(1, 20.), turned(1, 100.));
    let half = between(&a, &b, 0.25);
    let right = turned(1, 40.);
    (0..3).for_each(|i| (0..3).for_each(|j| assert!((half[i][j] - right[i][j]).abs() < 1e-12)));
}
