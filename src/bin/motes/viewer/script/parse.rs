//! Lines of a script as things to do. A wrong line is refused before the window opens.

use super::{Op, PATIENCE, Point, STROKE, Script, parameter};
use crate::cli::PainterName;
use crate::failure::Failure;
use crate::viewer::colors::ColorBy;
use crate::viewer::painter::Lost;
use crate::viewer::physics::{COEFFICIENTS, Placement, What};
use crate::viewer::{backends, keys};
use clap::ValueEnum;
use glam::{Vec2, Vec3};
use imgui::MouseButton;
use motes::Scene;
use std::path::Path;
use std::time::Instant;

/// More steps than any machine takes in the time that a line has.
const MOST_STEPS: u32 = 1_000_000;
/// As many frames as are drawn in the time that a line has.
const MOST_FRAMES: u32 = PATIENCE.as_secs() as u32 * 60;
/// Larger windows are cut.
const MOST_PIXELS: u32 = 16_384;
/// A day.
const MOST_SECONDS: f32 = 86_400.0;

impl Script {
    /// Reads a script.
    pub fn load(path: &Path) -> Result<Script, Failure> {
        let text = std::fs::read_to_string(path).map_err(|e| motes::Error::io(path, e))?;
        Script::parse(&text).map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))
    }

    fn parse(text: &str) -> Result<Script, String> {
        let mut script = Script { ops: Default::default(), waits: None, since: Instant::now() };
        // The scene of the command line is there before the first line.
        script.ops.push_back((0, Op::Wait(3)));
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let ops = read(line).map_err(|why| format!("line {}: {why}", number + 1))?;
            script.ops.extend(ops.into_iter().map(|op| (number + 1, op)));
        }
        Ok(script)
    }
}

fn read(line: &str) -> Result<Vec<Op>, String> {
    let mut words = Words(line.split_whitespace().collect());
    let (left, right) = (MouseButton::Left, MouseButton::Right);
    let verb = words.word()?;
    let ops = match verb.as_str() {
        "open" => vec![Op::Open(words.word()?)],
        "play" => vec![Op::Play(true)],
        "pause" => vec![Op::Play(false)],
        "steps" => vec![Op::Steps(words.count(MOST_STEPS)?)],
        "wait" => vec![Op::Wait(words.count(MOST_FRAMES)?)],
        "move" => vec![Op::Move(words.point()?), Op::Wait(1)],
        "press" => vec![Op::Button(words.button()?, true)],
        "release" => vec![Op::Button(words.button()?, false)],
        "click" => click(words.point()?, left),
        "rightclick" => click(words.point()?, right),
        "drag" => stroke(words.point()?, words.point()?),
        "cut" => {
            let mut ops = vec![Op::Shift(true)];
            ops.extend(stroke(words.point()?, words.point()?));
            ops.push(Op::Shift(false));
            ops
        }
        "wheel" => vec![Op::Wheel(words.real()?)],
        "key" => {
            let name = words.word()?;
            let key = keys::by_name(&name).ok_or(format!("no key `{name}`; ? lists them"))?;
            let mut ops = vec![Op::Key(key, true), Op::Wait(1), Op::Key(key, false), Op::Wait(1)];
            if keys::needs_shift(&name) {
                ops.insert(0, Op::Shift(true));
                ops.push(Op::Shift(false));
            }
            ops
        }
        "drop" => vec![Op::Drop(words.word()?.into()), Op::Wait(2)],
        "type" => vec![Op::Type(words.rest()), Op::Wait(2)],
        "place" => vec![Op::Place(Box::new(words.placement()?)), Op::Wait(3)],
        "hand" => vec![Op::Wait(2), Op::Hand(words.word()?.into())],
        "set" => {
            let name = words.word()?;
            let known = parameter(&name).ok_or(format!("no parameter `{name}`"))?;
            let text = words.rest();
            let value = text.parse().unwrap_or_else(|_| toml::Value::String(text.clone()));
            vec![Op::Set(known, value), Op::Wait(3)]
        }
        "material" => {
            let (material, name) = (words.word()?, words.word()?);
            let known = COEFFICIENTS.iter().find(|known| known.name == name);
            let name = known.ok_or(format!("materials have no `{name}`"))?.name;
            vec![Op::Material(material, name, words.real()?), Op::Wait(3)]
        }
        "resize" => {
            let (width, height) = (words.count(MOST_PIXELS)?, words.count(MOST_PIXELS)?);
            vec![Op::Resize(width, height), Op::Wait(2)]
        }
        "threads" => vec![Op::Threads(words.number()?), Op::Wait(3)],
        "backend" => {
            let name = words.word()?;
            let found = backends::all().iter().find(|choice| choice.name.starts_with(&name));
            let choice = found.ok_or(format!("no backend `{name}`"))?;
            vec![Op::Backend(&choice.name), Op::Wait(3)]
        }
        "painter" => {
            let painter = PainterName::from_str(&words.word()?, true)?;
            vec![Op::Painter(painter), Op::Wait(3)]
        }
        "lose" => {
            let what = match words.word()?.as_str() {
                "surface" => Lost::Surface,
                "device" => Lost::Device,
                other => return Err(format!("`{other}` is not surface or device")),
            };
            vec![Op::Lose(what), Op::Wait(3)]
        }
        "speed" => vec![Op::Speed(words.real()?)],
        "color" => {
            let name = words.word()?;
            let found = ColorBy::ALL.iter().find(|(_, known)| *known == name);
            let (color, _) = found.ok_or(format!("no colouring `{name}`"))?;
            vec![Op::Color(*color), Op::Wait(1)]
        }
        "screenshot" => vec![Op::Wait(2), Op::Screenshot(words.word()?.into())],
        "report" => vec![Op::Wait(2), Op::Report(words.word()?.into())],
        "monkey" => {
            let (seed, seconds) = (words.number()?, words.real()?);
            if !(0.0..=MOST_SECONDS).contains(&seconds) {
                return Err(format!("{seconds} s are not within 0 and {MOST_SECONDS} s"));
            }
            vec![Op::Monkey(seed, seconds)]
        }
        "quit" => vec![Op::Quit],
        other => return Err(format!("`{other}` is not known")),
    };
    match words.0.first() {
        Some(word) => Err(format!("`{word}` is too much")),
        None => Ok(ops),
    }
}

fn click(at: Point, button: MouseButton) -> Vec<Op> {
    // A frame between, so that imgui knows what is below the pointer.
    let (down, up) = (Op::Button(button, true), Op::Button(button, false));
    vec![Op::Move(at), Op::Wait(2), down, Op::Wait(1), up, Op::Wait(1)]
}

fn stroke(from: Point, to: Point) -> Vec<Op> {
    let left = MouseButton::Left;
    vec![
        Op::Move(from),
        Op::Wait(2),
        // Where it is by now.
        Op::Move(from),
        Op::Button(left, true),
        Op::Stroke { to, frames: STROKE },
        Op::Wait(2),
        Op::Button(left, false),
        Op::Wait(1),
    ]
}

/// The words of a line that are left.
struct Words<'a>(Vec<&'a str>);

impl Words<'_> {
    fn word(&mut self) -> Result<String, String> {
        match self.0.is_empty() {
            true => Err("something is missing at the end".into()),
            false => Ok(self.0.remove(0).into()),
        }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, String> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("`{word}` is not a number that fits"))
    }

    /// A whole number from 1 on. Above `most` the line would not end in the time it has.
    fn count(&mut self, most: u32) -> Result<u32, String> {
        let count = self.number()?;
        match (1..=most).contains(&count) {
            true => Ok(count),
            false => Err(format!(
                "{count} is not within 1 and {most}; a line that is not done after {} s has failed",
                PATIENCE.as_secs()
            )),
        }
    }

    /// A number that is one: a script that waits for nothing finite never ends.
    fn real(&mut self) -> Result<f32, String> {
        let number: f32 = self.number()?;
        match number.is_finite() {
            true => Ok(number),
            false => Err(format!("`{number}` is not a number that fits")),
        }
    }

    fn rest(&mut self) -> String {
        std::mem::take(&mut self.0).join(" ")
    }

    fn point(&mut self) -> Result<Point, String> {
        let word = self.word()?;
        if let Some(id) = word.strip_prefix('@') {
            let id = id.parse().map_err(|_| format!("`{word}` is not @ and an id"))?;
            return Ok(Point::Particle(id));
        }
        let x: f32 = word.parse().map_err(|_| format!("`{word}` is not a number"))?;
        let y = self.real()?;
        if !x.is_finite() {
            return Err(format!("`{word}` is not a number that fits"));
        }
        Ok(Point::At(Vec2::new(x, y)))
    }

    fn placement(&mut self) -> Result<Placement, String> {
        let word = self.word()?;
        let position = Vec3::new(self.real()?, self.real()?, self.real()?);
        let size = self.real()?;
        let mut wanted = Placement { position, scale: size, spacing: size, ..Placement::default() };
        // By its last word, or in full with a dash: `block`, `rigid-mesh`.
        let is =
            |name: &str| name.rsplit(' ').next() == Some(&word) || name.replace(' ', "-") == word;
        match What::ALL.iter().find(|(_, name)| is(name)) {
            Some((what, _)) => wanted.what = *what,
            None => {
                wanted.what = What::Mesh;
                match Scene::builtin_mesh_names().find(|name| *name == word) {
                    Some(name) => wanted.builtin = name,
                    None => wanted.file = word,
                }
            }
        }
        Ok(wanted)
    }

    fn button(&mut self) -> Result<MouseButton, String> {
        match self.word()?.as_str() {
            "left" => Ok(MouseButton::Left),
            "middle" => Ok(MouseButton::Middle),
            "right" => Ok(MouseButton::Right),
            other => Err(format!("`{other}` is not left, middle or right")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_wrong_ones_refused() {
        let good = "# a comment\n\nopen tear\nsteps 30\ndrag @5 100 200\nset solver jacobi\n\
            place my.obj 0 1 0 2\ntype two words\nhand done\ncolor density\nquit\n";
        assert!(Script::parse(good).is_ok());
        for (bad, says) in [
            ("jump", "not known"),
            ("steps", "missing"),
            ("steps -1", "not a number"),
            ("click 1", "missing"),
            ("press up", "not left"),
            ("key F99", "no key"),
            ("set nonsense 1", "no parameter"),
            ("place box 1 2 3", "missing"),
            ("place my.obj 1 high 3 1", "not a number"),
            ("color red", "no colouring"),
            ("quit now", "too much"),
            // What could never end.
            ("wait 4000000000", "not within"),
            ("steps 4000000000", "not within"),
            ("steps 0", "not within"),
            ("resize 0 600", "not within"),
            ("monkey 1 inf", "not a number"),
            ("monkey 1 nan", "not a number"),
            ("monkey 1 -1", "not within"),
            ("monkey 1 1e9", "not within"),
            ("speed nan", "not a number"),
            ("move inf 3", "not a number"),
            ("wheel nan", "not a number"),
        ] {
            let why = Script::parse(&format!("play\n{bad}")).err().unwrap();
            assert!(why.contains(says) && why.contains("line 2"), "{bad}: {why}");
        }
    }
}
