//! From the text of a shader to its module: `spirv/README.md` tells what the text may say.
//!
//! [`lines`] takes in shared parts, [`repeat`] writes out what is meant for every kind of constraint,
//! [`parts`] finds declarations and functions in the lines, [`names`] knows what the driver declares
//! by itself, [`module`] puts together what the entry points reach, and `spirv-as` does the rest.

pub mod lines;
pub mod module;
pub mod names;
pub mod parts;
pub mod repeat;

use motes::pass::{PASSES, PassInfo};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is wrong with a text, where, and what to do about it.
#[derive(Debug)]
pub struct Problem {
    pub file: String,
    pub line: usize,
    pub what: String,
    pub remedy: String,
}

pub type Result<T> = std::result::Result<T, Problem>;

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { file, line, what, remedy } = self;
        write!(f, "{file}:{line}: {what}; {remedy}")
    }
}

/// The folder of the shaders.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("spirv")
}

/// Every shader: the passes, then those of the viewer's painter.
pub fn shaders(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = PASSES.iter().map(|info| info.name.to_string()).collect();
    let entries = fs::read_dir(folder.join("paint")).into_iter().flatten().flatten();
    let texts = entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "spvasm"));
    let mut painters: Vec<String> =
        texts.map(|p| format!("paint/{}", p.file_stem().unwrap_or_default().display())).collect();
    painters.sort();
    names.extend(painters);
    names
}

/// The row of a shader in the table of passes; the painter's have none.
pub fn pass_of(shader: &str) -> Option<&'static PassInfo> {
    PASSES.iter().find(|info| info.name == shader)
}

/// The whole text of a shader, and which lines of which files it took.
pub fn expanded(folder: &Path, shader: &str) -> Result<module::Text> {
    let lines = lines::of_shader(folder, shader)?;
    let parts = parts::Parts::of(&lines)?;
    let common = parts::Parts::of(&lines::of_shared(folder, "names")?)?;
    module::text(shader, &parts, &common)
}

/// The module of a shader, assembled and found valid.
pub fn assembled(folder: &Path, shader: &str, scratch: &Path) -> Result<Vec<u8>> {
    let text = expanded(folder, shader)?.text;
    module_of(shader, &text, scratch)
}

/// The declarations and functions of shared parts that no shader takes in.
pub fn unused(folder: &Path) -> Result<Vec<String>> {
    let mut used = BTreeSet::new();
    for shader in shaders(folder) {
        used.extend(expanded(folder, &shader)?.used);
    }
    let mut unused = Vec::new();
    let entries = fs::read_dir(folder.join("shared")).into_iter().flatten().flatten();
    let mut parts: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    parts.sort();
    for path in parts {
        let file = format!("spirv/shared/{}", path.file_name().unwrap_or_default().display());
        for (at, line) in fs::read_to_string(&path).unwrap_or_default().lines().enumerate() {
            let begins = ["= OpFunction ", "= OpConstant", "= OpType", "= OpVariable"];
            let declares = begins.iter().any(|word| line.contains(word));
            if declares && !used.contains(&(file.clone(), at + 1)) {
                unused.push(format!("{file}:{}: no shader uses it; leave it out", at + 1));
            }
        }
    }
    Ok(unused)
}

/// Assembles a whole text.
pub fn module_of(shader: &str, text: &str, scratch: &Path) -> Result<Vec<u8>> {
    let problem = |what: String, remedy: &str| Problem {
        file: format!("spirv/{shader}.spvasm, expanded"),
        line: 0,
        what,
        remedy: remedy.into(),
    };
    let (source, module) = (scratch.join("module.spvasm"), scratch.join("module.spv"));
    fs::write(&source, text)
        .map_err(|e| problem(format!("{}: {e}", source.display()), "make room"))?;
    let run = |tool: &str, args: &[&Path]| {
        let out = Command::new(tool).args(["--target-env", "vulkan1.1"]).args(args).output();
        let out = out.map_err(|e| problem(format!("{tool}: {e}"), "install spirv-tools"))?;
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        let look = format!("see `cargo run --example assemble -- --expand {shader}`");
        if out.status.success() { Ok(()) } else { Err(problem(format!("{tool}: {said}"), &look)) }
    };
    run("spirv-as", &["-o".as_ref(), &module, &source])?;
    run("spirv-val", &[&module])?;
    fs::read(&module).map_err(|e| problem(format!("{}: {e}", module.display()), "run it again"))
}
