//! What is repeated: lines once a kind of constraint (`kind in constraints`), once a kind whose rows
//! join four particles (`kind in four_cornered`) or once a particle of a row (`corner in KIND`), and
//! words within a line likewise (`{each corner in KIND: WORDS}`).

use super::Result;
use super::lines::{Line, Setting};
use motes::vulkan::layout::KINDS;

/// What the keys stand for in each turn of a repetition.
pub fn turns(line: &Line, item: &str, list: &str) -> Result<Vec<Vec<Setting>>> {
    let setting = |key: &str, value: String| (key.to_string(), value);
    let chosen = match (item, list) {
        ("kind", "constraints") => Some(None),
        ("kind", "four_cornered") => Some(Some(4)),
        _ => None,
    };
    if let Some(wanted) = chosen {
        let turn = |(number, (kind, corners)): (usize, &(&str, usize))| {
            // The first kind follows on none.
            let previous = number.checked_sub(1).map_or("none", |before| KINDS[before].0);
            vec![
                setting("kind", kind.to_string()),
                setting("corners", corners.to_string()),
                setting("number", number.to_string()),
                setting("previous", previous.to_string()),
            ]
        };
        let kinds = KINDS.iter().enumerate();
        let fits =
            |(_, (_, corners)): &(usize, &(&str, usize))| wanted.is_none_or(|n| n == *corners);
        return Ok(kinds.filter(fits).map(turn).collect());
    }
    let corners = KINDS.iter().find(|(kind, _)| *kind == list).map(|(_, corners)| *corners);
    let Some(corners) = corners.filter(|_| item == "corner") else {
        let remedy =
            "write `kind in constraints`, `kind in four_cornered` or `corner in` and a kind";
        return Err(line.problem(format!("nothing gives {item} in {list}"), remedy));
    };
    let turn = |(k, corner): (usize, char)| {
        vec![setting("corner", corner.to_string()), setting("k", k.to_string())]
    };
    Ok(('a'..='z').take(corners).enumerate().map(turn).collect())
}

pub fn replaced(text: &str, settings: &[Setting]) -> String {
    let put = |text: String, (key, value): &Setting| text.replace(&format!("{{{key}}}"), value);
    settings.iter().fold(text.to_string(), put)
}

/// A line with its `{each ITEM in LIST: TEXT}` written out.
pub fn within(line: &Line) -> Result<String> {
    let mut text = line.text.replace("{first}", KINDS[0].0);
    text = text.replace("{last}", KINDS[KINDS.len() - 1].0);
    text = text.replace("{kinds}", &KINDS.len().to_string());
    while let Some(begin) = text.find("{each ") {
        let mut depth = 0;
        let end = text[begin..].find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        let inside = end.map(|end| text[begin + 6..begin + end].to_string());
        let parsed = inside.as_deref().and_then(|inside| {
            let (item, rest) = inside.split_once(" in ")?;
            let (list, each) = rest.split_once(": ")?;
            Some((item, list, each))
        });
        let (Some(end), Some((item, list, each))) = (end, parsed) else {
            return Err(line.problem("an `each` is not whole", "write {each corner in bend: TEXT}"));
        };
        let turns = turns(line, item, list)?;
        let words: Vec<String> = turns.iter().map(|turn| replaced(each, turn)).collect();
        text.replace_range(begin..=begin + end, &words.join(" "));
    }
    match text.split(';').next().and_then(|code| code.find('{')) {
        None => Ok(text),
        Some(_) => {
            Err(line.problem("nothing stands for a key in braces", "set it where it is used"))
        }
    }
}
