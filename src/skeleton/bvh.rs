//! Reads BVH motion capture.
//!
//! A position channel is the place of a joint in the frame of its parent, and takes the place of that
//! coordinate of `OFFSET`. Rotation channels turn in the order in which they stand, the first of them
//! in the frame of the parent. Between two frames rotations take the shorter arc.

use glam::{DQuat, DVec3};

use super::clip::turn_about;
use super::{Bone, Channel, Clip, Interpolation, Rig, Skeleton, Track, Transform};
use crate::{Error, Result};

/// A joint may have six channels; files with scales have nine, and are refused by name.
const MOST_CHANNELS: usize = 9;

/// What a number of a frame says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Position(usize),
    Turn(DVec3),
}

/// The joint of each number of a frame, and what it says.
type Numbers = Vec<(u32, Number)>;

/// Words with the lines on which they stand.
struct Words<'a> {
    name: &'a str,
    words: std::iter::Peekable<Box<dyn Iterator<Item = (usize, &'a str)> + 'a>>,
    /// Line of the last word.
    line: usize,
}

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Rig> {
    let fail = |line, field: &str, message| fail(name, line, field, message);
    let line_of = |at: usize| 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => text.trim_start_matches('\u{feff}'),
        Ok(text) => {
            let at = text.find('\0').unwrap_or(0);
            return fail(line_of(at), "BVH", "holds a zero byte, so it is not text".into());
        }
        Err(error) => {
            let message = "is not text in UTF-8; save it as such, or rename its joints";
            return fail(line_of(error.valid_up_to()), "BVH", message.into());
        }
    };
    let lines = || text.lines().enumerate().map(|(k, line)| (k + 1, line));
    let motion = lines().find(|(_, line)| line.trim().eq_ignore_ascii_case("MOTION"));
    let Some((motion, _)) = motion else {
        let message = "there is no line MOTION; the file was cut short, or its frames are missing";
        return fail(text.lines().count().max(1), "BVH", message.into());
    };
    let before: Box<dyn Iterator<Item = (usize, &str)>> = Box::new(
        lines().take(motion - 1).flat_map(|(k, l)| l.split_whitespace().map(move |word| (k, word))),
    );
    let mut words = Words { name, words: before.peekable(), line: 1 };
    let (bones, numbers) = hierarchy(&mut words)?;
    let (clip, surplus) = frames(name, lines().skip(motion), motion, &bones, &numbers)?;
    let notes = (surplus > 0).then(|| {
        let count = clip.as_ref().map_or(0, |clip| clip.times[0].len());
        format!("{count} frames are declared; what follows them was not read: {surplus} more")
    });
    let notes = notes.into_iter().collect();
    Ok(Rig { skeleton: Skeleton { bones }, clips: clip.into_iter().collect(), mesh: None, notes })
}

fn fail<T>(name: &str, line: usize, field: &str, message: String) -> Result<T> {
    Err(Error::input(name, Some(line), field, message))
}

/// The joints, and the numbers of a frame.
fn hierarchy(words: &mut Words) -> Result<(Vec<Bone>, Numbers)> {
    words.expect("HIERARCHY")?;
    let (mut bones, mut numbers): (Vec<Bone>, Numbers) = Default::default();
    // The joints that are open, from the root on.
    let mut open: Vec<u32> = Vec::new();
    while let Some(word) = words.next() {
        match (word.to_ascii_uppercase().as_str(), open.last()) {
            ("ROOT", None) | ("JOINT", Some(_)) => {
                let name = words.up_to_brace()?;
                let rest = Transform { translation: words.offset()?, ..Transform::IDENTITY };
                let bone = bones.len() as u32;
                numbers.extend(words.channels()?.into_iter().map(|number| (bone, number)));
                bones.push(Bone { name, parent: open.last().copied(), rest, tip: None });
                open.push(bone);
            }
            ("END", Some(&bone)) => {
                words.up_to_brace()?;
                let tip = words.offset()?;
                bones[bone as usize].tip = Some(tip);
                words.expect("}")?;
            }
            ("}", Some(_)) => drop(open.pop()),
            ("ROOT", Some(&bone)) => {
                let name = &bones[bone as usize].name;
                return words.fail("ROOT", format!("stands inside joint {name:?}; write JOINT"));
            }
            (_, None) => return words.fail(word, "stands where ROOT should be".into()),
            (_, Some(_)) => {
                let message = "is not known here; expected JOINT, End Site or }";
                return words.fail(word, message.into());
            }
        }
    }
    if let Some(&bone) = open.last() {
        let name = &bones[bone as usize].name;
        return words.fail("MOTION", format!("comes before the }} of joint {name:?}"));
    }
    if bones.is_empty() {
        return words.fail("HIERARCHY", "has no ROOT; give at least one joint".into());
    }
    Ok((bones, numbers))
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (line, word) = self.words.next()?;
        self.line = line;
        Some(word)
    }

    fn fail<T>(&self, field: &str, message: String) -> Result<T> {
        // A word of rubbish may be as long as the file.
        let field: String = field.chars().take(40).collect();
        fail(self.name, self.line, &field, message)
    }

    fn expect(&mut self, what: &str) -> Result<()> {
        match self.next() {
            Some(word) if word.eq_ignore_ascii_case(what) => Ok(()),
            Some(word) => self.fail(word, format!("stands where {what} should be")),
            None => self.fail(what, "is missing before MOTION; the file was cut short".into()),
        }
    }

    fn number(&mut self, what: &str) -> Result<f64> {
        match self.next() {
            Some(word) => self.read_number(word, what),
            None => self.fail(what, "has too few numbers; the file was cut short".into()),
        }
    }

    fn read_number(&self, word: &str, what: &str) -> Result<f64> {
        number(word).or_else(|message| self.fail(what, message))
    }

    /// A name, which may have blanks, up to the brace that opens a joint.
    fn up_to_brace(&mut self) -> Result<String> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some("{") => return Ok(name),
                Some(word) => {
                    if !name.is_empty() {
                        name.push(' ');
                    }
                    name.push_str(word);
                }
                None => return self.fail("{", "is missing after the name of a joint".into()),
            }
        }
    }

    fn offset(&mut self) -> Result<DVec3> {
        self.expect("OFFSET")?;
        let [x, y, z] = [self.number("OFFSET")?, self.number("OFFSET")?, self.number("OFFSET")?];
        Ok(DVec3::new(x, y, z))
    }

    /// The channels of a joint; it may have none.
    fn channels(&mut self) -> Result<Vec<Number>> {
        let is_next = |&(_, word): &(usize, &str)| word.eq_ignore_ascii_case("CHANNELS");
        if !self.words.peek().is_some_and(is_next) {
            return Ok(Vec::new());
        }
        self.expect("CHANNELS")?;
        let word = self.next().unwrap_or_default();
        let count = match word.parse::<usize>() {
            Ok(count) if count <= MOST_CHANNELS => count,
            _ => {
                let message = format!("{word:?} is no number of channels; expected 0 to 6");
                return self.fail("CHANNELS", message);
            }
        };
        let mut channels = Vec::with_capacity(count);
        for _ in 0..count {
            let word = self.next().unwrap_or_default();
            let axis = match word.chars().next().map(|c| c.to_ascii_uppercase()) {
                Some('X') => 0,
                Some('Y') => 1,
                _ => 2,
            };
            let number = match word.to_ascii_lowercase().as_str() {
                "xposition" | "yposition" | "zposition" => Number::Position(axis),
                "xrotation" | "yrotation" | "zrotation" => Number::Turn(DVec3::AXES[axis]),
                _ => {
                    let message = format!(
                        "{word:?} is no channel; expected {count} of Xposition, Yposition, \
                         Zposition, Xrotation, Yrotation, Zrotation"
                    );
                    return self.fail("CHANNELS", message);
                }
            };
            if channels.contains(&number) {
                return self.fail("CHANNELS", format!("has {word} twice"));
            }
            channels.push(number);
        }
        Ok(channels)
    }
}

fn number(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!("{word:?} is not finite")),
        Err(_) => {
            let word: String = word.chars().take(40).collect();
            Err(format!("{word:?} is not a number"))
        }
    }
}

/// The frames below the line MOTION, and how many lines are left behind them; what is declared is only
/// compared with what is there.
fn frames<'a>(
    name: &str,
    lines: impl Iterator<Item = (usize, &'a str)>,
    motion: usize,
    bones: &[Bone],
    numbers: &[(u32, Number)],
) -> Result<(Option<Clip>, usize)> {
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let mut header = |key: &str| -> Result<(usize, f64)> {
        let Some((line, text)) = lines.next() else {
            return fail(
                name,
                motion,
                key,
                "is missing after MOTION; the file was cut short".into(),
            );
        };
        let value = text.split_once(':').filter(|(found, _)| {
            found.split_whitespace().collect::<Vec<_>>().join(" ").eq_ignore_ascii_case(key)
        });
        match value.map(|(_, value)| number(value.trim())) {
            Some(Ok(value)) => Ok((line, value)),
            Some(Err(message)) => fail(name, line, key, message),
            None => fail(name, line, key, format!("expected `{key}: NUMBER` here")),
        }
    };
    let (count_line, count) = header("Frames")?;
    let (time_line, step) = header("Frame Time")?;
    if count < 0.0 || count.fract() != 0.0 {
        return fail(name, count_line, "Frames", format!("{count} is no number of frames"));
    }
    if step <= 0.0 {
        return fail(name, time_line, "Frame Time", format!("{step} s is not more than 0"));
    }
    let mut tracks = tracks(bones, numbers);
    let mut found = 0usize;
    let mut row = Vec::with_capacity(numbers.len());
    while (found as f64) < count {
        let Some((line, text)) = lines.next() else {
            let message = format!("{count} are declared, but {found} are there");
            return fail(name, count_line, "Frames", message);
        };
        row.clear();
        for word in text.split_whitespace() {
            match number(word) {
                Ok(value) => row.push(value),
                Err(message) => return fail(name, line, &format!("frame {found}"), message),
            }
        }
        if row.len() != numbers.len() {
            let (has, needs) = (row.len(), numbers.len());
            let message = format!("has {has} numbers, but the joints have {needs} channels");
            return fail(name, line, &format!("frame {found}"), message);
        }
        push_frame(&mut tracks, bones, numbers, &row);
        found += 1;
    }
    let times: Vec<f64> = (0..found).map(|frame| frame as f64 * step).collect();
    let clip = Clip { name: "motion".into(), times: vec![times], tracks };
    Ok(((found > 0).then_some(clip), lines.count()))
}

/// A track for each joint that has positions, and one for each that has turns.
fn tracks(bones: &[Bone], numbers: &[(u32, Number)]) -> Vec<Track> {
    let track = |bone: u32, channel: Channel| Track {
        bone,
        channel,
        interpolation: Interpolation::Linear,
        times: 0,
        values: Vec::new(),
    };
    let mut moves = vec![[false; 2]; bones.len()];
    for &(bone, number) in numbers {
        moves[bone as usize][usize::from(matches!(number, Number::Turn(_)))] = true;
    }
    let of = |(bone, [place, turn]): (usize, [bool; 2])| {
        let place = place.then(|| track(bone as u32, Channel::Translation));
        let turn = turn.then(|| track(bone as u32, Channel::Rotation));
        place.into_iter().chain(turn)
    };
    moves.into_iter().enumerate().flat_map(of).collect()
}

fn push_frame(tracks: &mut [Track], bones: &[Bone], numbers: &[(u32, Number)], row: &[f64]) {
    let mut rest = 0;
    for track in tracks {
        // Numbers and tracks are both in the order of the joints.
        rest += numbers[rest..].iter().take_while(|(bone, _)| *bone < track.bone).count();
        let own = numbers[rest..].iter().zip(&row[rest..]);
        let own = own.take_while(|((bone, _), _)| *bone == track.bone);
        let mut place = bones[track.bone as usize].rest.translation;
        let mut turn = DQuat::IDENTITY;
        for ((_, number), &value) in own {
            match *number {
                Number::Position(axis) => place[axis] = value,
                Number::Turn(axis) => turn *= turn_about(axis, value),
            }
        }
        track.values.push(match track.channel {
            Channel::Rotation => turn.to_array().map(|v| v as f32),
            _ => place.extend(0.0).to_array().map(|v| v as f32),
        });
    }
}
