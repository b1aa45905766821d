//! Messages of the reader in the words of somebody who writes scenes: no types of the program, and
//! what was probably meant.

use crate::suggest;
use crate::world::Params;

/// A message about the value or key at `path`, as serde words it, in ordinary words.
pub(super) fn plain(message: &str, path: &str) -> String {
    let (is_root, table) = match path.rsplit_once('.') {
        Some((table, _)) => (false, table),
        None => (true, ""),
    };
    if let Some((word, known)) = unknown(message, "unknown field ") {
        let place = if is_root { "in a scene".into() } else { format!("in `{table}`") };
        let mut names: Vec<&str> = known;
        if is_root && let Some(param) = meant_param(word, &names) {
            return format!("there is no key `{word}` {place}; did you mean `params.{param}`?");
        }
        names.sort_unstable();
        return format!("there is no key `{word}` {place}; {}", suggest::instead(word, names));
    }
    if let Some((word, known)) = unknown(message, "unknown variant ") {
        return format!("`{word}` is not known here; {}", suggest::instead(word, known));
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("the key {key} is missing");
    }
    for kind in ["invalid type: ", "invalid value: ", "invalid length "] {
        if let Some((found, expected)) =
            message.strip_prefix(kind).and_then(|rest| rest.split_once(", expected "))
        {
            return misfit(kind, found, expected, path);
        }
    }
    // What toml says of a word that is not in quotes.
    if message == "wanted string or table" {
        return "expected a word in quotes".into();
    }
    message.into()
}

/// The parameter that a key at the top of a scene probably means, when no key there is meant.
fn meant_param(word: &str, keys: &[&str]) -> Option<&'static str> {
    let here = suggest::nearest(word, keys.iter().copied());
    let params = Params::TABLE.iter().map(|p| p.name);
    suggest::nearest(word, params).filter(|param| here.is_none() || *param == word)
}

/// The word that is not known, and the known ones, of a message "unknown field `a`, expected `b`".
fn unknown<'m>(message: &'m str, start: &str) -> Option<(&'m str, Vec<&'m str>)> {
    let mut quoted = message.strip_prefix(start)?.split('`').skip(1).step_by(2);
    Some((quoted.next()?, quoted.collect()))
}

/// A value of a kind that does not fit.
fn misfit(kind: &str, found: &str, expected: &str, path: &str) -> String {
    let is_table = |words: &str| words == "a map" || words.starts_with("struct ");
    // `[cloth]` where there may be several, or `[[camera]]` where there is one; the second is seen
    // as a list with one table in it.
    let table = path.strip_suffix(".0").unwrap_or(path);
    match (found, expected) {
        ("map", "a sequence") => {
            return format!("there may be several of these: write [[{path}]] instead of [{path}]");
        }
        ("map", _) | ("sequence", "a map") if table != path && !table.contains('.') => {
            return format!("there is only one of these: write [{table}] instead of [[{table}]]");
        }
        _ => {}
    }
    let expected = match expected {
        words if is_table(words) => "a table of keys",
        "a sequence" => "a list",
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "i64" | "u64" | "u32" | "i32" | "usize" => "a whole number",
        "f64" | "f32" => "a number",
        other => other,
    };
    let found = if kind == "invalid length " {
        format!("a list of {found}")
    } else if let Some(number) =
        found.strip_prefix("integer ").or_else(|| found.strip_prefix("floating point "))
    {
        format!("the number {}", number.trim_matches('`'))
    } else if let Some(text) = found.strip_prefix("string ") {
        format!("the text {text}")
    } else if let Some(word) = found.strip_prefix("boolean ") {
        format!("the word {}", word.trim_matches('`'))
    } else {
        match found {
            "map" => "a table".into(),
            "sequence" => "a list".into(),
            other => other.into(),
        }
    };
    format!("{found} does not fit here; expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn messages_are_in_ordinary_words() {
        let cases = [
            (
                "unknown field `colums`, expected one of `rows`, `columns`",
                "cloth.0.colums",
                "there is no key `colums` in `cloth.0`; did you mean `columns`? known: columns, rows",
            ),
            (
                "unknown field `iteratons`, expected `name` or `steps`",
                "iteratons",
                "there is no key `iteratons` in a scene; did you mean `params.iterations`?",
            ),
            (
                "unknown field `dt`, expected `name` or `steps`",
                "dt",
                "there is no key `dt` in a scene; did you mean `params.dt`?",
            ),
            (
                "unknown field `step`, expected `name` or `steps`",
                "step",
                "there is no key `step` in a scene; did you mean `steps`? known: name, steps",
            ),
            (
                "unknown variant `spere`, expected one of `plane`, `sphere`",
                "collider.0.shape",
                "`spere` is not known here; did you mean `sphere`? known: plane, sphere",
            ),
            ("missing field `spacing`", "cloth.0", "the key `spacing` is missing"),
            (
                "invalid type: map, expected a sequence",
                "cloth",
                "there may be several of these: write [[cloth]] instead of [cloth]",
            ),
            (
                "invalid type: sequence, expected a map",
                "params.0",
                "there is only one of these: write [params] instead of [[params]]",
            ),
            (
                "invalid type: map, expected a list of 3",
                "camera.0",
                "there is only one of these: write [camera] instead of [[camera]]",
            ),
            (
                "invalid type: integer `3`, expected struct ClothFile",
                "cloth.0",
                "the number 3 does not fit here; expected a table of keys",
            ),
            (
                "invalid type: string \"big\", expected a finite number",
                "cloth.0.radius",
                "the text \"big\" does not fit here; expected a finite number",
            ),
            (
                "invalid length 4, expected a list of 3",
                "cloth.0.origin",
                "a list of 4 does not fit here; expected a list of 3",
            ),
            (
                "invalid type: floating point `1.5`, expected a whole number",
                "cloth.0.rows",
                "the number 1.5 does not fit here; expected a whole number",
            ),
            ("duplicate key", "dt", "duplicate key"),
        ];
        for (message, path, words) in cases {
            assert_eq!(plain(message, path), words);
        }
    }
}
