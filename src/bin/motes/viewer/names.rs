//! Names of the files that the viewer writes: scene, step, and a number where that is needed.

use std::path::{Path, PathBuf};

/// Files of one name with these endings, none of which is there yet; whole paths, so that a message
/// says where they are.
pub fn free<const N: usize>(spec: &str, step: u64, endings: [&str; N]) -> [PathBuf; N] {
    let base = format!("{}_{step:06}", stem(spec));
    let named = |k: u32| {
        endings.map(|ending| {
            let name = PathBuf::from(match k {
                0 => format!("{base}.{ending}"),
                k => format!("{base}_{k}.{ending}"),
            });
            std::path::absolute(&name).unwrap_or(name)
        })
    };
    let is_free = |paths: &[PathBuf; N]| paths.iter().all(|path| !path.exists());
    (0..10_000).map(named).find(is_free).unwrap_or_else(|| named(0))
}

/// The scene's name as part of a file name.
fn stem(spec: &str) -> String {
    let stem = Path::new(spec).file_stem().unwrap_or_default().to_string_lossy();
    let safe = |c: char| if c.is_alphanumeric() { c } else { '_' };
    stem.chars().map(safe).collect()
}
