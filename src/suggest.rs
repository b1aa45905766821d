//! What to say about a word that is not known: which known word was probably meant, and which
//! there are.

/// The known word that is most like `word`, when one is like enough to be meant by it.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let word = plain(word);
    // A word of three letters may have one wrong, a word of seven two.
    let most = (word.chars().count() + 1) / 4 + usize::from(word.chars().count() == 2);
    let with_distance = known.into_iter().map(|k| (distance(&word, &plain(k), most), k));
    // The first of those that are equally near.
    with_distance.filter(|(d, _)| *d <= most).min_by_key(|(d, _)| *d).map(|(_, k)| k)
}

/// Names that a message lists at most: a scene may have thousands of objects.
const MOST_LISTED: usize = 100;

/// "did you mean `columns`? known: columns, rows", without the question when nothing is like it.
pub(crate) fn instead<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let list = match known.is_empty() {
        true => "there are none".to_string(),
        false => {
            let more = if known.len() > MOST_LISTED { ", ..." } else { "" };
            let listed = &known[..known.len().min(MOST_LISTED)];
            format!("known: {}{more}", listed.join(", "))
        }
    };
    match nearest(word, known) {
        Some(near) => format!("did you mean `{near}`? {list}"),
        None => list,
    }
}

/// How many letters were added, left out, replaced or swapped with the next one; more than `most`
/// when there are too many to be worth counting.
fn distance(a: &str, b: &str, most: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return most + 1;
    }
    // Rows of the table of distances between the beginnings of the words: the last three.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 6] = ["columns", "rows", "radius", "restitution", "dt", "rotation"];

    #[test]
    fn a_misspelt_word_is_found() {
        let meant = [
            ("colums", "columns"),
            ("colunms", "columns"),
            ("Columns", "columns"),
            ("rwos", "rows"),
            ("row", "rows"),
            ("radus", "radius"),
            ("radiuss", "radius"),
            ("restituion", "restitution"),
            ("rotaton", "rotation"),
            ("dt2", "dt"),
            ("td", "dt"),
        ];
        for (word, key) in meant {
            assert_eq!(nearest(word, KEYS), Some(key), "{word}");
        }
    }

    #[test]
    fn another_word_is_not_taken_for_a_misspelling() {
        for word in ["", "colour", "mass", "x", "spacing", "ratio", "columns_of_a_temple"] {
            assert_eq!(nearest(word, KEYS), None, "{word}");
        }
        assert_eq!(nearest("rows", []), None);
        let materials = ["rubber", "ice", "default"];
        let meant = ["ruber", "rubbre", "icy", "steel"].map(|word| nearest(word, materials));
        assert_eq!(meant, [Some("rubber"), Some("rubber"), Some("ice"), None]);
    }

    #[test]
    fn the_message_lists_what_is_known() {
        assert_eq!(instead("rwos", ["dt", "rows"]), "did you mean `rows`? known: dt, rows");
        assert_eq!(instead("mass", ["dt", "rows"]), "known: dt, rows");
        assert_eq!(instead("mass", []), "there are none");
        let many: Vec<String> = (0..1000).map(|k| format!("object{k}")).collect();
        let message = instead("objekt999", many.iter().map(String::as_str));
        assert!(message.starts_with("did you mean `object999`? known: object0, "), "{message}");
        assert!(message.ends_with("object99, ..."), "{message}");
    }
}
