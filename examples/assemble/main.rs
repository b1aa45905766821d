//! Assembles the shaders: `cargo run --example assemble` writes every `spirv/*.spv`, `-- --check`
//! compares them with what the texts give, `-- --expand NAME` prints the whole text of one.

mod assembler;

use assembler::{assembled, expanded, folder, shaders, unused};
use std::fs;
use std::process::ExitCode;

const USAGE: &str = "usage: assemble [--check | --expand NAME]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        [] => every(false),
        ["--check"] => every(true),
        ["--expand", name] => expanded(&folder(), name)
            .map(|text| print!("{}", text.text))
            .map_err(|problem| problem.to_string()),
        _ => Err(USAGE.into()),
    };
    if let Err(why) = done {
        eprintln!("{why}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Writes or compares every module. Goes on after a problem, so that one run tells of all.
fn every(check: bool) -> Result<(), String> {
    let scratch = std::env::temp_dir().join(format!("motes-assemble-{}", std::process::id()));
    fs::create_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
    let mut problems = Vec::new();
    for name in shaders(&folder()) {
        let path = folder().join(format!("{name}.spv"));
        match assembled(&folder(), &name, &scratch) {
            Err(problem) => problems.push(problem.to_string()),
            Ok(module) if fs::read(&path).is_ok_and(|kept| kept == module) => {}
            Ok(_) if check => {
                let remedy = "run `cargo run --example assemble`";
                problems.push(format!("spirv/{name}.spv is not what the text gives; {remedy}"));
            }
            Ok(module) => match fs::write(&path, module) {
                Ok(()) => println!("spirv/{name}.spv"),
                Err(e) => problems.push(format!("{}: {e}", path.display())),
            },
        }
    }
    _ = fs::remove_dir_all(&scratch);
    if problems.is_empty() {
        problems = unused(&folder()).map_err(|problem| problem.to_string())?;
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}
