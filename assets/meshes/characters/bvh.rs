//! A motion of a character as motion capture.

use super::{Character, rounded};
use std::fmt::Write;

/// One motion as a BVH file. Writing to a String cannot fail.
pub fn text(character: &Character, motion: &str) -> String {
    let mut text = String::from("HIERARCHY\n");
    joint(character, 0, 0, &mut text);
    let motion = character.motions.iter().find(|other| other.name == motion).expect(motion);
    let frames = motion.stances.len();
    let step = rounded(motion.seconds / (frames - 1) as f64);
    let _ = writeln!(text, "MOTION\nFrames: {frames}\nFrame Time: {step}");
    for stance in &motion.stances {
        let mut numbers = stance.root.to_vec();
        below(character, 0, &mut |k| numbers.extend(stance.turns[k]));
        let words: Vec<String> = numbers.iter().map(|v| rounded(*v).to_string()).collect();
        let _ = writeln!(text, "{}", words.join(" "));
    }
    text
}

/// A joint and all below it, as they stand in the file.
fn below(character: &Character, k: usize, visit: &mut dyn FnMut(usize)) {
    visit(k);
    children(character, k).for_each(|child| below(character, child, visit));
}

fn children(character: &Character, k: usize) -> impl Iterator<Item = usize> {
    let joints = character.joints.iter().enumerate();
    joints.filter(move |(_, joint)| joint.parent == Some(k)).map(|(child, _)| child)
}

fn joint(character: &Character, k: usize, depth: usize, text: &mut String) {
    let own = &character.joints[k];
    let tab = "\t".repeat(depth);
    let from = own.parent.map_or([0.0; 3], |parent| character.joints[parent].head);
    let away = |point: [f64; 3], from: [f64; 3]| {
        let [x, y, z] = std::array::from_fn(|c| rounded(point[c] - from[c]));
        format!("OFFSET {x} {y} {z}")
    };
    let (word, places) = match own.parent {
        None => ("ROOT", "6 Xposition Yposition Zposition"),
        Some(_) => ("JOINT", "3"),
    };
    let offset = away(own.head, from);
    let _ = write!(
        text,
        "{tab}{word} {}\n{tab}{{\n{tab}\t{offset}\n{tab}\tCHANNELS {places} Zrotation Xrotation \
         Yrotation\n",
        own.name
    );
    let mut end = true;
    for child in children(character, k) {
        end = false;
        joint(character, child, depth + 1, text);
    }
    if end {
        let offset = away(own.ends[1], own.head);
        let _ = writeln!(text, "{tab}\tEnd Site\n{tab}\t{{\n{tab}\t\t{offset}\n{tab}\t}}");
    }
    let _ = writeln!(text, "{tab}}}");
}
