//! A left hand of capsules, the palm down and the fingers along z.

use super::{Character, Joint};

pub fn hand() -> Character {
    let mut joints = vec![Joint {
        name: "wrist".into(),
        parent: None,
        head: [0.0; 3],
        ends: [[-0.025, 0.0, 0.05], [0.025, 0.0, 0.05]],
        radius: 0.03,
    }];
    let fingers = [
        ("thumb", [0.05, -0.005, 0.035], [0.6, 0.0, 0.8], [0.035, 0.028, 0.02], 0.011),
        ("index", [0.036, 0.0, 0.085], [0.1, 0.0, 0.995], [0.042, 0.026, 0.02], 0.009),
        ("middle", [0.013, 0.0, 0.09], [0.0, 0.0, 1.0], [0.046, 0.028, 0.02], 0.009),
        ("ring", [-0.011, 0.0, 0.087], [-0.05, 0.0, 0.999], [0.042, 0.026, 0.02], 0.009),
        ("little", [-0.034, 0.0, 0.08], [-0.15, 0.0, 0.989], [0.032, 0.02, 0.018], 0.008),
    ];
    for (name, base, way, lengths, radius) in fingers {
        let mut head = base;
        for (k, length) in lengths.into_iter().enumerate() {
            let end = std::array::from_fn(|axis| head[axis] + length * way[axis]);
            joints.push(Joint {
                name: format!("{name}.{}", k + 1),
                parent: Some(if k == 0 { 0 } else { joints.len() - 1 }),
                head,
                ends: [head, end],
                radius,
            });
            head = end;
        }
    }
    let mut hand = Character { joints, motions: Vec::new() };
    hand.motion("grasp", 2.0, 32, |t| {
        let closed = 0.5 - 0.5 * libm::cos(std::f64::consts::TAU * t);
        let bend = |(name, _, _, _, _): &(&str, _, _, _, _)| {
            let most = if *name == "thumb" { [0.0, 30.0, 40.0] } else { [70.0, 80.0, 50.0] };
            let name = name.to_string();
            (0..3).map(move |k| (format!("{name}.{}", k + 1), [0.0, closed * most[k], 0.0]))
        };
        ([0.0; 3], fingers.iter().flat_map(bend).collect())
    });
    hand
}
