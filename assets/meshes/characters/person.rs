//! A person of capsules, 1.78 m high: stands on y = 0 and looks along z.

use super::{Character, Joint, Point, sin_cos};

/// From the hip to the knee, and from the knee to the ankle, m.
const LEG: f64 = 0.42;
const HIPS: f64 = 0.95;

pub fn person() -> Character {
    let joint = |name: &str, parent, head, ends, radius| Joint {
        name: name.into(),
        parent,
        head,
        ends,
        radius,
    };
    let mut joints = vec![
        joint("hips", None, [0.0, HIPS, 0.0], [[-0.08, 0.95, 0.0], [0.08, 0.95, 0.0]], 0.12),
        joint("spine", Some(0), [0.0, 1.05, 0.0], [[0.0, 1.07, 0.0], [0.0, 1.17, 0.0]], 0.12),
        joint("chest", Some(1), [0.0, 1.2, 0.0], [[-0.06, 1.33, 0.0], [0.06, 1.33, 0.0]], 0.13),
        joint("neck", Some(2), [0.0, 1.46, 0.0], [[0.0, 1.46, 0.0], [0.0, 1.54, 0.0]], 0.05),
        joint("head", Some(3), [0.0, 1.54, 0.0], [[0.0, 1.61, 0.01], [0.0, 1.68, 0.01]], 0.1),
    ];
    for (side, x) in [("L", 1.0), ("R", -1.0)] {
        // From the shoulder down, and from the hip down.
        let limbs: [Limb; 6] = [
            ("upper_arm", 2, [0.235, 1.4, 0.0], [[0.235, 1.39, 0.0], [0.235, 1.12, 0.0]], 0.047),
            ("forearm", 0, [0.235, 1.12, 0.0], [[0.235, 1.12, 0.0], [0.235, 0.86, 0.0]], 0.04),
            ("hand", 0, [0.235, 0.86, 0.0], [[0.235, 0.82, 0.0], [0.235, 0.76, 0.0]], 0.038),
            ("thigh", 0, [0.1, 0.92, 0.0], [[0.1, 0.9, 0.0], [0.1, 0.5, 0.0]], 0.075),
            ("shin", 0, [0.1, 0.5, 0.0], [[0.1, 0.5, 0.0], [0.1, 0.1, 0.0]], 0.055),
            ("foot", 0, [0.1, 0.08, 0.0], [[0.1, 0.045, -0.03], [0.1, 0.045, 0.14]], 0.045),
        ];
        for (k, (name, parent, head, ends, radius)) in limbs.into_iter().enumerate() {
            let mirror = |p: [f64; 3]| [x * p[0], p[1], p[2]];
            // An arm hangs on the chest, a leg on the hips, and what follows on what is before it.
            let parent = if k % 3 == 0 { parent } else { joints.len() - 1 };
            joints.push(Joint {
                name: format!("{name}.{side}"),
                parent: Some(parent),
                head: mirror(head),
                ends: ends.map(mirror),
                radius,
            });
        }
    }
    let mut person = Character { joints, motions: Vec::new() };
    person.motion("walk", 1.0, 16, walk);
    person.motion("wave", 2.0, 32, wave);
    person.motion("fall", 1.5, 24, fall);
    person
}

/// Name, parent, head, ends and radius, on the left.
type Limb = (&'static str, usize, Point, [Point; 2], f64);

type Moment = (Point, Vec<(String, [f64; 3])>);

fn turn(name: &str, x: f64) -> (String, [f64; 3]) {
    (name.into(), [0.0, x, 0.0])
}

/// Two steps on the spot: whoever moves on at 1.42 m/s does not slide.
fn walk(t: f64) -> Moment {
    let phase = std::f64::consts::TAU * t;
    let mut turns = vec![("chest".into(), [0.0, 0.0, 6.0 * libm::sin(phase)])];
    let mut down = f64::MAX;
    for (side, sign) in [("L", 1.0), ("R", -1.0)] {
        // A leg goes forward against x, and a knee bends with it.
        let (swing, lift) = (sign * libm::sin(phase), (sign * libm::cos(phase)).max(0.0));
        let (thigh, knee) = (-25.0 * swing, 5.0 + 45.0 * lift * lift);
        turns.push(turn(&format!("thigh.{side}"), thigh));
        turns.push(turn(&format!("shin.{side}"), knee));
        turns.push(turn(&format!("foot.{side}"), -0.7 * (thigh + knee)));
        turns.push(turn(&format!("upper_arm.{side}"), 22.0 * swing));
        turns.push(turn(&format!("forearm.{side}"), -25.0 + 10.0 * swing));
        let reach = libm::cos(thigh.to_radians()) + libm::cos((thigh + knee).to_radians());
        down = down.min(LEG * (2.0 - reach));
    }
    // The longer leg stands on the ground.
    ([0.0, HIPS - down, 0.0], turns)
}

/// The right arm goes up, waves three times and comes down.
fn wave(t: f64) -> Moment {
    let up = smooth(t / 0.25) * smooth((1.0 - t) / 0.25);
    let beat = libm::sin(std::f64::consts::TAU * 3.0 * t);
    let turns = vec![
        ("upper_arm.R".into(), [-115.0 * up, 0.0, 0.0]),
        ("forearm.R".into(), [up * (-45.0 + 30.0 * beat), 0.0, 0.0]),
        ("head".into(), [-6.0 * up, 0.0, -10.0 * up]),
    ];
    ([0.0, HIPS, 0.0], turns)
}

/// Forward onto the ground like a tree, the arms before the body.
fn fall(t: f64) -> Moment {
    let lean = 90.0 * (t / 0.9).min(1.0).powi(2);
    let arms = -120.0 * smooth(t / 0.7);
    let (sin, cos) = sin_cos(lean.to_radians());
    let mut turns = vec![turn("hips", lean), turn("neck", -20.0 * smooth(t))];
    for side in ["L", "R"] {
        turns.push(turn(&format!("upper_arm.{side}"), arms));
        turns.push(turn(&format!("forearm.{side}"), -20.0 * smooth(t)));
        turns.push(turn(&format!("foot.{side}"), 50.0 * smooth(t)));
    }
    // About the toes; lying, the chest rests on the ground.
    ([0.0, HIPS * cos + 0.14 * sin, HIPS * sin], turns)
}

/// From 0 to 1 without a jolt.
fn smooth(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
