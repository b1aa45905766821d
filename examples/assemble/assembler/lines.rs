//! The lines of a shader with its shared parts in their places.
//!
//! A line that begins with `;@` is for this driver:
//! - `use NAME key=value ..` stands for the lines of `shared/NAME.spvasm`, with `{key}` replaced;
//! - `use SHADER:PART key=value ..` for those lines of a shader that `part PART` and `end` enclose;
//! - `for ITEM in LIST` repeats the lines up to its `end`, see [`super::repeat`].

use super::repeat::{self, replaced};
use super::{Problem, Result};
use motes::vulkan::layout::KINDS;
use std::fs;
use std::path::Path;

/// A line and where it was written.
#[derive(Clone, Debug)]
pub struct Line {
    pub text: String,
    pub file: String,
    pub number: usize,
}

impl Line {
    pub fn problem(&self, what: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem {
            file: self.file.clone(),
            line: self.number,
            what: what.into(),
            remedy: remedy.into(),
        }
    }
    /// The words behind `;@`.
    pub fn directive(&self) -> Option<Vec<&str>> {
        Some(self.text.strip_prefix(";@")?.split_whitespace().collect())
    }
}

/// A key and what stands for it.
pub type Setting = (String, String);

/// The lines of a shader.
pub fn of_shader(folder: &Path, shader: &str) -> Result<Vec<Line>> {
    expand(folder, read(folder, &format!("{shader}.spvasm"))?, 0)
}

/// The lines of a shared part that has no keys.
pub fn of_shared(folder: &Path, part: &str) -> Result<Vec<Line>> {
    expand(folder, read(folder, &format!("shared/{part}.spvasm"))?, 0)
}

/// Replaces what follows from the kind of constraint that a part is used for.
fn of_kind(mut lines: Vec<Line>, settings: &[Setting]) -> Vec<Line> {
    let named = settings.iter().find(|(key, _)| key == "kind").map(|(_, kind)| kind);
    let kind = KINDS.iter().find(|(kind, _)| Some(*kind) == named.map(String::as_str));
    for line in &mut lines {
        if let Some((_, corners)) = kind {
            line.text = line.text.replace("{corners}", &corners.to_string());
        }
    }
    lines
}

fn read(folder: &Path, name: &str) -> Result<Vec<Line>> {
    let file = format!("spirv/{name}");
    let text = fs::read_to_string(folder.join(name)).map_err(|e| Problem {
        file: file.clone(),
        line: 0,
        what: e.to_string(),
        remedy: "write it, or correct the name".into(),
    })?;
    let line = |(at, text): (usize, &str)| Line {
        text: text.trim().to_string(),
        file: file.clone(),
        number: at + 1,
    };
    Ok(text.lines().enumerate().map(line).collect())
}

/// Replaces `{key}`, also within the directives. Every key given must be asked for.
fn set(mut lines: Vec<Line>, settings: &[Setting], user: &Line) -> Result<Vec<Line>> {
    for (key, value) in settings {
        let asked = format!("{{{key}}}");
        if !lines.iter().any(|line| line.text.contains(&asked)) {
            return Err(user.problem(format!("nothing there asks for {asked}"), "leave it out"));
        }
        for line in &mut lines {
            line.text = line.text.replace(&asked, value);
        }
    }
    Ok(lines)
}

fn expand(folder: &Path, lines: Vec<Line>, depth: usize) -> Result<Vec<Line>> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        at += 1;
        match line.directive().as_deref() {
            Some(["use", _, ..]) if depth > 8 => {
                return Err(line.problem("parts use each other in a circle", "take one use out"));
            }
            Some(["use", part, settings @ ..]) => {
                let settings =
                    settings.iter().map(|s| setting(line, s)).collect::<Result<Vec<_>>>()?;
                let taken = |name: String| {
                    let missing =
                        |p: Problem| line.problem(format!("{}: {}", p.file, p.what), p.remedy);
                    read(folder, &name).map_err(missing)
                };
                let used = match part.split_once(':') {
                    None => taken(format!("shared/{part}.spvasm"))?,
                    Some((shader, name)) => {
                        let whole = taken(format!("{shader}.spvasm"))?;
                        let begin = whole.iter().position(
                            |l| matches!(l.directive().as_deref(), Some(["part", n]) if *n == name),
                        );
                        let Some(begin) = begin else {
                            let remedy =
                                format!("mark it there with `;@ part {name}` and `;@ end`");
                            return Err(
                                line.problem(format!("{shader} has no part {name}"), remedy)
                            );
                        };
                        whole[begin + 1..end_of(&whole, begin + 1)?].to_vec()
                    }
                };
                out.extend(expand(
                    folder,
                    of_kind(set(used, &settings, line)?, &settings),
                    depth + 1,
                )?);
            }
            Some(["for", item, "in", list]) => {
                let end = end_of(&lines, at)?;
                for turn in repeat::turns(line, item, list)? {
                    let mut body = lines[at..end].to_vec();
                    body.iter_mut().for_each(|line| line.text = replaced(&line.text, &turn));
                    out.extend(expand(folder, body, depth + 1)?);
                }
                at = end + 1;
            }
            // Other shaders take it.
            Some(["part", _]) => at = end_of(&lines, at)? + 1,
            Some(["entries", ..]) => out.push(line.clone()),
            Some(_) => {
                let remedy = "there are `use`, `part`, `for`, `end` and `entries`";
                return Err(
                    line.problem(format!("no directive is called so: {}", line.text), remedy)
                );
            }
            None => out.push(Line { text: repeat::within(line)?, ..line.clone() }),
        }
    }
    Ok(out)
}

fn setting(line: &Line, text: &str) -> Result<Setting> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(line.problem(format!("{text} sets nothing"), "write key=value"));
    };
    Ok((key.to_string(), value.to_string()))
}

/// Where the lines from `begin` on meet the `end` that is theirs.
fn end_of(lines: &[Line], begin: usize) -> Result<usize> {
    let mut open = 1;
    for (at, line) in lines.iter().enumerate().skip(begin) {
        match line.directive().as_deref() {
            Some(["for" | "part", ..]) => open += 1,
            Some(["end"]) => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Ok(at);
        }
    }
    Err(lines[begin - 1].problem("it has no end", "write `;@ end` behind its last line"))
}
