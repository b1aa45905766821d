//! The four ways to find a rotation against the best there is, by another road in f64.

use super::rotation::rotation;
use super::rows::{self, Rows};
use crate::world::RotationMethod;
use glam::{DMat3, DQuat, DVec3, Mat3, Quat, Vec3, Vec4};

/// Random numbers, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
    fn turn(&mut self) -> DQuat {
        loop {
            let (v, w) = (self.vector(), self.next());
            let q = DQuat::from_xyzw(v.x, v.y, v.z, w);
            if (0.01..1.0).contains(&q.length_squared()) {
                return q.normalize();
            }
        }
    }
}

/// The largest trace(R^T A) of all rotations: the largest eigenvalue of a matrix of four rows (Horn
/// 1987), by Jacobi's rotations; and the rotation.
fn best(a: DMat3) -> (f64, DQuat) {
    let m = |i: usize, j: usize| a.col(j)[i];
    let (x, y, z) = (m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1));
    let mut k = [
        [m(0, 0) + m(1, 1) + m(2, 2), x, y, z],
        [x, m(0, 0) - m(1, 1) - m(2, 2), m(0, 1) + m(1, 0), m(0, 2) + m(2, 0)],
        [y, m(0, 1) + m(1, 0), m(1, 1) - m(0, 0) - m(2, 2), m(1, 2) + m(2, 1)],
        [z, m(0, 2) + m(2, 0), m(1, 2) + m(2, 1), m(2, 2) - m(0, 0) - m(1, 1)],
    ];
    let mut v = [[0.0; 4]; 4];
    (0..4).for_each(|i| v[i][i] = 1.0);
    for _ in 0..30 {
        for p in 0..4 {
            for q in p + 1..4 {
                if k[p][q] == 0.0 {
                    continue;
                }
                let theta = (k[q][q] - k[p][p]) / (2.0 * k[p][q]);
                let t = 1f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in k.iter_mut().chain(&mut v) {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (kp, kq) = (k[p], k[q]);
                for i in 0..4 {
                    (k[p][i], k[q][i]) = (c * kp[i] - s * kq[i], s * kp[i] + c * kq[i]);
                }
            }
        }
    }
    let top = (0..4).max_by(|&i, &j| k[i][i].total_cmp(&k[j][j])).unwrap();
    let q = DQuat::from_xyzw(v[1][top], v[2][top], v[3][top], v[0][top]).normalize();
    (k[top][top], q)
}

fn rows_of(m: DMat3) -> Rows {
    let t = m.transpose();
    [t.x_axis, t.y_axis, t.z_axis].map(|row| row.as_vec3())
}

fn matrix_of(r: &Rows) -> DMat3 {
    Mat3::from_cols(r[0], r[1], r[2]).transpose().as_dmat3()
}

/// What a body of this stretch, turned and then pulled about, gives.
struct Case {
    name: &'static str,
    s: DMat3,
    a: DMat3,
    /// Whether there is one best rotation.
    unique: bool,
}

fn cases() -> Vec<Case> {
    let mut random = Random(3);
    let mut cases = Vec::new();
    let mut add = |name, s: DMat3, a: DMat3| {
        let scale = 1.0 / (s.x_axis.x + s.y_axis.y + s.z_axis.z);
        let (s, a) = (s * scale, a * scale);
        // The second-best rotation is far from as good when the two smallest directions weigh.
        let c = a.transpose() * a;
        let (values, _) = crate::shape::mass::principal(c);
        let root = DVec3::from_array(values.to_array().map(|v| v.max(0.0).sqrt()));
        let signed = root.x * a.determinant().signum();
        cases.push(Case { name, s, a, unique: signed + root.y > 0.02 });
    };
    for _ in 0..200 {
        let turn = DMat3::from_quat(random.turn());
        let axes = DMat3::from_quat(random.turn());
        let diagonal = |d: DVec3| axes * DMat3::from_diagonal(d) * axes.transpose();
        let cube = diagonal(DVec3::ONE);
        let bar = diagonal(DVec3::new(1.0, 1.0, 16.0));
        let shear = DMat3::from_cols(random.vector(), random.vector(), random.vector());
        add("cube", cube, turn * cube);
        add("bar", bar, turn * bar);
        add("random", cube, shear);
        add("sheared", bar, turn * bar + shear);
        add(
            "flat",
            diagonal(DVec3::new(1.0, 2.0, 0.0)),
            turn * diagonal(DVec3::new(1.0, 2.0, 0.0)),
        );
        add("line", diagonal(DVec3::X), turn * diagonal(DVec3::X));
        add("point", cube, DMat3::ZERO);
        add("inverted", cube, turn * diagonal(DVec3::new(1.0, 1.5, -0.7)));
        add("mirrored", cube, turn * diagonal(DVec3::new(-1.0, -1.5, -0.7)));
        add("near-singular", cube, turn * diagonal(DVec3::new(1.0, 1e-3, 1e-4)));
        add("half turn", bar, diagonal(DVec3::new(-1.0, 1.0, -16.0)));
        add("tiny", cube, turn * cube * 1e-6);
    }
    cases
}

fn turned(q: Vec4) -> DMat3 {
    matrix_of(&rows::sum(&rows::turn_less_one(q), &rows::ONE))
}

/// From no turn at all, and from any other, every way comes to a rotation, and all but Gram-Schmidt
/// to the best one.
#[test]
fn rotations_are_the_best_there_are() {
    let mut random = Random(5);
    for case in cases() {
        let (most, answer) = best(case.a);
        let (s, b) = (rows_of(case.s), rows_of(case.a - case.s));
        for near in [DQuat::IDENTITY, random.turn()] {
            for &method in RotationMethod::ALL {
                let near = Vec4::from(near.as_quat());
                let (q, _) = rotation(method, &s, &b, near);
                let r = turned(q);
                let what = || format!("{} {method} {q} of {}", case.name, case.a);
                assert!((r * r.transpose()).abs_diff_eq(DMat3::IDENTITY, 1e-5), "{}", what());
                assert!(r.determinant() > 0.99, "a reflection: {}", what());
                let got = (r.transpose() * case.a).to_cols_array();
                let trace = got[0] + got[4] + got[8];
                if method == RotationMethod::GramSchmidt {
                    continue;
                }
                assert!(trace > most - 1e-4, "{trace} of {most}: {}", what());
                let slow = method == RotationMethod::Exponential;
                if case.unique && !slow {
                    let off = turned(Vec4::from(answer.as_quat())) - r;
                    let off = off.to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
                    assert!(off < 1e-4, "off by {off}: {}", what());
                }
            }
        }
    }
}

/// Gram-Schmidt is right where nothing is sheared along the axes of the body.
#[test]
fn gram_schmidt_is_right_where_nothing_is_sheared() {
    let mut random = Random(9);
    for _ in 0..100 {
        let turn = random.turn();
        let stretch = DMat3::from_diagonal(DVec3::new(1.0, 0.5, 2.0));
        let (s, a) = (stretch, DMat3::from_quat(turn) * stretch);
        let (q, _) = rotation(RotationMethod::GramSchmidt, &rows_of(s), &rows_of(a - s), Vec4::W);
        assert!(Quat::from_vec4(q).as_dquat().angle_between(turn) < 1e-3);
    }
}

/// A bar of 1:1:4 that turns once a second is found within two iterations at 60 steps a second, and
/// a body that turned by nearly nothing has turned by just that.
#[test]
fn newton_is_quick_and_exact_near_the_answer() {
    let bar = DMat3::from_diagonal(DVec3::new(1.0, 1.0, 16.0) / 18.0);
    for axis in [DVec3::X, DVec3::Y, DVec3::new(1.0, 2.0, 3.0).normalize()] {
        let mut near = Vec4::W;
        for step in 1..60 {
            let turn = DQuat::from_axis_angle(axis, f64::from(step) * std::f64::consts::TAU / 60.0);
            let a = DMat3::from_quat(turn) * bar;
            let (q, turns) =
                rotation(RotationMethod::Newton, &rows_of(bar), &rows_of(a - bar), near);
            let off = 2.0 * (Quat::from_vec4(q).as_dquat() * turn.inverse()).xyz().length();
            assert!(turns <= 2 && off < 1e-6, "step {step}: {turns} turns, off by {off} rad");
            near = q;
        }
        let small = DMat3::from_quat(DQuat::from_axis_angle(axis, 1e-6)) - DMat3::IDENTITY;
        let (q, _) =
            rotation(RotationMethod::Newton, &rows_of(bar), &rows_of(small * bar), Vec4::W);
        let off = q.truncate().as_dvec3() - axis * 0.5e-6;
        // The curvature is regularized by 1e-5 of its trace, and one of its directions is a ninth of
        // that: a turn comes to 1e-4 of what is left.
        assert!(off.length() < 1e-10, "off by {}", off.length());
    }
    let (q, _) = rotation(RotationMethod::Newton, &rows_of(bar), &[Vec3::ZERO; 3], Vec4::W);
    assert_eq!(q, Vec4::W, "nothing moved");
    assert_eq!(Vec3::ZERO, q.truncate());
}

/// A turn from its vector.
#[test]
fn turns_are_as_long_as_they_should_be() {
    let mut random = Random(1);
    for _ in 0..1000 {
        let t = random.vector();
        let q = Quat::from_vec4(rows::turn_by(t.as_vec3())).as_dquat();
        let right = DQuat::from_scaled_axis(t);
        assert!((q.dot(right).abs() - 1.0).abs() < 1e-6);
        assert!((q.w - right.w).abs() < 2e-7 && q.xyz().distance(right.xyz()) < 2e-7);
    }
}
