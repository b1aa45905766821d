//! How a body is turned: the rotation R that comes nearest to a matrix A, which is where
//! trace(R^T A) is largest. Four ways, of which `newton` is the default.
//!
//! A is given as what it was, a symmetric matrix S, and what came to it, B: A = S + B. So a body that
//! hardly moved is turned by exactly as little, and one at rest not at all.

use super::rows::{self, Rows};
use crate::world::RotationMethod;
use glam::{Vec3, Vec4};

/// Most turns of `newton` and of the exponential map.
const NEWTON_TURNS: u32 = 12;
const EXPONENTIAL_TURNS: u32 = 100;
/// A turn whose square is below this, rad^2, is the last one: what is left after it is less than its
/// cube.
const DONE_SQ: f32 = 1e-6;
/// What is added to the curvature, as a share of the trace: what lies in a line can turn about it.
const REGULAR: f32 = 1e-5;
/// Squares of lengths below this have no direction. Matrices come with a trace of about 1.
const LEAST: f32 = 1e-20;

/// The rotation of S + B as a unit quaternion, from one that it should be near to; and how many
/// iterations it took.
pub(crate) fn rotation(method: RotationMethod, s: &Rows, b: &Rows, near: Vec4) -> (Vec4, u32) {
    let a = rows::sum(s, b);
    match method {
        RotationMethod::Polar => (polar(&a, near), 1),
        RotationMethod::GramSchmidt => (gram_schmidt(&a, near), 1),
        RotationMethod::Newton => climb(s, b, near, true),
        RotationMethod::Exponential => climb(s, b, near, false),
    }
}

/// Up the gradient of trace(R^T A), as far as the curvature says (Kugelstadt 2018), or by the trace
/// (Mueller 2016). Where the curvature is not that of a summit, the polar decomposition says where
/// to go on from.
fn climb(s: &Rows, b: &Rows, near: Vec4, curved: bool) -> (Vec4, u32) {
    let a = rows::sum(s, b);
    let (mut q, mut restarted, mut turns) = (near, false, 0);
    let most = if curved { NEWTON_TURNS } else { EXPONENTIAL_TURNS };
    while turns < most {
        turns += 1;
        let less_one = rows::turn_less_one(q);
        // R^T A = S + F; S is symmetric, so it has no part in the gradient.
        let f = rows::sum(&rows::product(&rows::turned(&less_one), &a), b);
        let gradient = Vec3::new(f[2].y - f[1].z, f[0].z - f[2].x, f[1].x - f[0].y);
        let m = rows::sum(s, &f);
        let trace = m[0].x + m[1].y + m[2].z;
        let size = trace.abs();
        let mut w = gradient / if size > REGULAR { size } else { REGULAR };
        let across = Vec3::new(m[0].y + m[1].x, m[0].z + m[2].x, m[1].z + m[2].y) * -0.5;
        let along = Vec3::new(m[1].y + m[2].z, m[0].x + m[2].z, m[0].x + m[1].y)
            + Vec3::splat(size * REGULAR);
        let curvature = rows::symmetric(along, across);
        let (inverse, determinant) = rows::adjugate(&curvature);
        let summit = along.x > 0.0 && inverse[2].z > 0.0 && determinant > 0.0;
        if !summit && !restarted {
            restarted = true;
            q = polar(&a, q);
            continue;
        }
        if curved && summit {
            w = rows::times(&inverse, gradient) / determinant;
        }
        let w_sq = w.dot(w);
        // Further than a turn of 1 rad the curvature means little.
        if w_sq > 1.0 {
            w /= w_sq.sqrt();
        }
        q = rows::unit(rows::after(q, (w * 0.5).extend(1.0)));
        if w_sq < DONE_SQ {
            break;
        }
    }
    (q, turns)
}

/// From the eigenvectors of A^T A, the longest first; the third axis follows from the other two, so
/// the result is a rotation and never a reflection.
fn polar(a: &Rows, near: Vec4) -> Vec4 {
    let columns = rows::turned(a);
    let mut c = rows::product_turned(&columns, &columns);
    let mut v = rows::ONE;
    for _ in 0..6 {
        // Each makes one entry beside the diagonal zero; the axes of c and v are then named anew,
        // so that it is always the one between the first two.
        for _ in 0..3 {
            (c, v) = flattened(&c, &v);
        }
    }
    // The longest first.
    let lengths = Vec3::new(c[0].x, c[1].y, c[2].z);
    let first = if lengths.x >= lengths.y && lengths.x >= lengths.z {
        0
    } else if lengths.y >= lengths.z {
        1
    } else {
        2
    };
    let [v1, mut v2, mut v3] = match first {
        0 => [v[0], v[1], v[2]],
        1 => [v[1], v[2], v[0]],
        _ => [v[2], v[0], v[1]],
    };
    let [_, second, third] = match first {
        0 => [lengths.x, lengths.y, lengths.z],
        1 => [lengths.y, lengths.z, lengths.x],
        _ => [lengths.z, lengths.x, lengths.y],
    };
    if third > second {
        (v2, v3) = (v3, -v2);
    }
    framed(rows::times(a, v1), rows::times(a, v2), [v1, v2, v3], near)
}

/// One of Jacobi's rotations in the plane of the first two axes of a symmetric matrix; then the axes
/// change places: the second and third become the first and second.
fn flattened(c: &Rows, v: &Rows) -> (Rows, Rows) {
    let (mut cosine, mut sine) = (1.0, 0.0);
    let beside = c[0].y;
    if beside.abs() > LEAST {
        let theta = (c[1].y - c[0].x) / (beside + beside);
        let size = theta.abs() + (theta * theta + 1.0).sqrt();
        let t = if theta < 0.0 { -1.0 / size } else { 1.0 / size };
        cosine = 1.0 / (t * t + 1.0).sqrt();
        sine = t * cosine;
    }
    let first = c[0] * cosine - c[1] * sine;
    let second = c[0] * sine + c[1] * cosine;
    // Columns as rows: the matrix is symmetric.
    let xx = first.x * cosine - first.y * sine;
    let xy = first.x * sine + first.y * cosine;
    let yy = second.x * sine + second.y * cosine;
    let c = [
        Vec3::new(yy, second.z, xy),
        Vec3::new(second.z, c[2].z, first.z),
        Vec3::new(xy, first.z, xx),
    ];
    let (v1, v2) = (v[0] * cosine - v[1] * sine, v[0] * sine + v[1] * cosine);
    (c, [v2, v[2], v1])
}

/// The rotation that takes the axes v to those that the first two images say: the first as it is,
/// the second as far as it is across the first, and the third across both.
fn framed(image1: Vec3, image2: Vec3, v: Rows, near: Vec4) -> Vec4 {
    let length1_sq = image1.dot(image1);
    if length1_sq <= LEAST {
        return near;
    }
    let u1 = image1 / length1_sq.sqrt();
    let mut beside = image2 - u1 * u1.dot(image2);
    // What is left of it may be nothing but rounding.
    if beside.dot(beside) <= length1_sq * 1e-10 {
        // As it is in the base, as far as that is across the first axis.
        beside = v[1] - u1 * u1.dot(v[1]);
        if beside.dot(beside) < 0.01 {
            beside = v[2].cross(u1);
        }
    }
    let length2_sq = beside.dot(beside);
    let u2 = beside / length2_sq.sqrt();
    let u3 = u1.cross(u2);
    let r = [
        v[0] * u1.x + v[1] * u2.x + v[2] * u3.x,
        v[0] * u1.y + v[1] * u2.y + v[2] * u3.y,
        v[0] * u1.z + v[1] * u2.z + v[2] * u3.z,
    ];
    quaternion(&r)
}

/// Column after column, each as far as it is across those before it. Turned the other way than the
/// nearest rotation where the matrix is sheared: it is here to compare.
fn gram_schmidt(a: &Rows, near: Vec4) -> Vec4 {
    let columns = rows::turned(a);
    let first_sq = columns[0].dot(columns[0]);
    let second_sq = columns[1].dot(columns[1]);
    let crossed = columns[0].cross(columns[1]);
    // Where one of the first two says nothing, or both say the same.
    if crossed.dot(crossed) <= 1e-8 * (first_sq * second_sq) {
        return polar(a, near);
    }
    framed(columns[0], columns[1], rows::ONE, near)
}

/// The unit quaternion of a rotation, by its largest component.
fn quaternion(r: &Rows) -> Vec4 {
    let (x, y, z) = (r[0].x, r[1].y, r[2].z);
    let q = if x + y + z > 0.0 {
        Vec4::new(r[2].y - r[1].z, r[0].z - r[2].x, r[1].x - r[0].y, 1.0 + x + y + z)
    } else if x >= y && x >= z {
        Vec4::new(1.0 + x - y - z, r[0].y + r[1].x, r[0].z + r[2].x, r[2].y - r[1].z)
    } else if y >= z {
        Vec4::new(r[0].y + r[1].x, 1.0 + y - x - z, r[1].z + r[2].y, r[0].z - r[2].x)
    } else {
        Vec4::new(r[0].z + r[2].x, r[1].z + r[2].y, 1.0 + z - x - y, r[1].x - r[0].y)
    };
    rows::unit(q)
}
