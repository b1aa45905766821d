//! Motion capture against matrices multiplied one by one.

use super::matrix::{Chance, M, apply, assert_close, between, moved, mul, turned};
use glam::DVec3;
use motes::skeleton::Rig;

const AXES: [&str; 3] = ["X", "Y", "Z"];

/// A joint of a test: its channels (axis, and whether it is a position), and who it hangs on.
struct Joint {
    parent: Option<usize>,
    offset: [f64; 3],
    channels: Vec<(usize, bool)>,
}

fn words(joint: &Joint) -> String {
    let word = |&(axis, place): &(usize, bool)| {
        format!(" {}{}", AXES[axis], if place { "position" } else { "rotation" })
    };
    let [x, y, z] = joint.offset;
    let channels: String = joint.channels.iter().map(word).collect();
    format!("OFFSET {x} {y} {z}\nCHANNELS {}{channels}\n", joint.channels.len())
}

/// A root with an arm of two joints and, beside it, one more.
fn text(joints: &[Joint; 4], rows: &[Vec<f64>]) -> String {
    let [root, upper, lower, other] = joints.each_ref().map(words);
    let mut text = format!(
        "HIERARCHY\nROOT root {{\n{root}JOINT upper arm\n{{\n{upper}JOINT lower {{\n{lower}\
         End Site {{\nOFFSET 0 0.5 0\n}}\n}}\n}}\nJOINT other {{\n{other}}}\n}}\n\
         MOTION\nFrames: {}\nFrame Time: 0.04\n",
        rows.len()
    );
    for row in rows {
        let row: Vec<String> = row.iter().map(f64::to_string).collect();
        text += &(row.join(" ") + "\n");
    }
    text
}

/// The place and the rotation of a joint in a frame, in its parent.
fn local(joint: &Joint, values: &[f64]) -> ([f64; 3], M) {
    let (mut place, mut turn) = (joint.offset, super::matrix::ONE);
    for (&(axis, is_place), &value) in joint.channels.iter().zip(values) {
        if is_place {
            place[axis] = value;
        } else {
            turn = mul(&turn, &turned(axis, value));
        }
    }
    (place, turn)
}

#[test]
fn poses_are_right_in_all_orders_of_channels_on_frames_and_between_them() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut chance = Chance(1);
    for (k, order) in orders.iter().enumerate() {
        let turns = |order: &[usize]| order.iter().map(|&axis| (axis, false)).collect::<Vec<_>>();
        let places = |order: &[usize]| order.iter().map(|&axis| (axis, true)).collect::<Vec<_>>();
        let joints = [
            Joint {
                parent: None,
                offset: chance.some(),
                channels: [places(order), turns(order)].concat(),
            },
            Joint { parent: Some(0), offset: chance.some(), channels: turns(&orders[(k + 1) % 6]) },
            // Two turns and one coordinate, the turns first.
            Joint {
                parent: Some(1),
                offset: chance.some(),
                channels: [turns(&order[..2]), places(&order[1..2])].concat(),
            },
            Joint { parent: Some(0), offset: chance.some(), channels: turns(&order[2..]) },
        ];
        let width = joints.iter().map(|joint| joint.channels.len()).sum();
        let is_place = |i: usize| joints.iter().flat_map(|j| &j.channels).nth(i).unwrap().1;
        let rows: Vec<Vec<f64>> = (0..5)
            .map(|_| {
                let size = |i| if is_place(i) { 3.0 } else { 170.0 };
                (0..width).map(|i| chance.next() * size(i)).collect()
            })
            .collect();
        let rig = Rig::from_bytes("test.bvh", text(&joints, &rows).as_bytes(), None).unwrap();
        assert_eq!(rig.skeleton.bones[1].name, "upper arm");
        assert_eq!(rig.skeleton.bones[2].tip, Some(DVec3::Y * 0.5));
        let clip = &rig.clips[0];
        assert!((clip.duration() - 0.16).abs() < 1e-12);
        for (frame, s) in [(0, 0.0), (1, 0.0), (4, 0.0), (0, 0.5), (2, 0.3), (3, 0.99)] {
            let pose = rig.skeleton.pose(Some(clip), (frame as f64 + s) * 0.04);
            let mut world: Vec<M> = Vec::new();
            let mut first = 0;
            for (bone, joint) in joints.iter().enumerate() {
                let own = first..first + joint.channels.len();
                first = own.end;
                let (a, from) = local(joint, &rows[frame][own.clone()]);
                let (b, to) = local(joint, &rows[(frame + 1).min(4)][own]);
                let place = std::array::from_fn(|i| a[i] + (b[i] - a[i]) * s);
                let own = mul(&moved(place), &between(&from, &to, s));
                world.push(joint.parent.map_or(own, |parent| mul(&world[parent], &own)));
                for point in [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] {
                    let found = pose.world[bone].transform_point3(point.into());
                    let what = format!("order {k}, frame {frame} + {s}, bone {bone}");
                    assert_close(found.to_array(), apply(&world[bone], point), 1.0, &what);
                }
                let x = pose.turn[bone] * DVec3::X;
                let [o, right] = [[0.0; 3], [1.0, 0.0, 0.0]].map(|p| apply(&world[bone], p));
                assert_close(x.to_array(), std::array::from_fn(|i| right[i] - o[i]), 1.0, "turn");
            }
        }
    }
}

#[test]
fn joints_without_channels_and_files_without_frames_are_read() {
    let text = "HIERARCHY\r\nROOT a\r\n{\r\n\tOFFSET 0 0 0\r\n\tJOINT b\r\n\t{\r\n\t\tOFFSET 0 3 4\r\n\t\tCHANNELS 1 \
                Xrotation\r\n\t}\r\n}\r\nROOT c { OFFSET 1 2 3 CHANNELS 0 }\r\nMOTION\r\nFrames: 0\r\nFrame Time: .01\r\n";
    let rig = Rig::from_bytes("test.bvh", text.as_bytes(), None).unwrap();
    let parents: Vec<_> = rig.skeleton.bones.iter().map(|bone| bone.parent).collect();
    assert_eq!(parents, [None, Some(0), None]);
    assert_eq!(rig.skeleton.lengths(), [5.0, 0.0, 0.0]);
    assert!(rig.clips.is_empty() && rig.notes.is_empty());
    // One line more than declared, as some programs write it.
    let more = text.replace("Frames: 0", "Frames: 1") + "10\n20\n";
    let rig = Rig::from_bytes("test.bvh", more.as_bytes(), None).unwrap();
    assert_eq!((rig.clips[0].times[0].len(), rig.notes.len()), (1, 1));
}
