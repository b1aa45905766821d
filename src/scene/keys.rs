//! Tables whose keys depend on a word in them: which keys a sphere, a wind or a check takes.

use crate::error::{Error, Result};

/// Refuses keys that mean nothing to `what` and asks for those it needs.
pub(super) fn require(
    path: &str,
    what: &str,
    given: &[(&str, bool)],
    needs: &[&str],
    may: &[&str],
) -> Result<()> {
    for &(key, present) in given {
        if present && !needs.contains(&key) && !may.contains(&key) {
            let takes: Vec<&str> = needs.iter().chain(may).copied().collect();
            let takes = if takes.is_empty() { "nothing more".into() } else { takes.join(", ") };
            return Err(Error::value(
                format!("{path}.{key}"),
                format!("means nothing to `{what}`, which takes {takes}"),
            ));
        }
        if !present && needs.contains(&key) {
            return Err(Error::value(format!("{path}.{key}"), format!("`{what}` needs it")));
        }
    }
    Ok(())
}

/// Refuses two keys that say the same.
pub(super) fn one_of(path: &str, keys: [(&str, bool); 2]) -> Result<()> {
    let [(a, has_a), (b, has_b)] = keys;
    if has_a && has_b {
        return Err(Error::value(format!("{path}.{b}"), format!("give `{a}` or `{b}`, not both")));
    }
    Ok(())
}
