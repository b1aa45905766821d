//! `motes scenes`: what there is to run.

use crate::cli::ScenesArgs;
use crate::commands::table::Table;
use crate::failure::Failure;
use motes::scene::Scene;
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    particles: usize,
    title: String,
    source: String,
    variants: Vec<String>,
    steps: u32,
    checks: usize,
}

pub fn run(args: &ScenesArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let entries = Scene::builtin_names().map(entry).collect::<Result<Vec<_>, _>>()?;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &entries).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    let mut table = Table::new(["name", "variants", "particles", "shows", "from"]).align("<<><<");
    for e in &entries {
        table.row([
            e.name.to_string(),
            e.variants.join(" "),
            e.particles.to_string(),
            e.title.clone(),
            e.source.clone(),
        ]);
    }
    write!(out, "{table}")?;
    writeln!(out, "\nmotes run NAME, motes run NAME:VARIANT, motes render NAME -o FILE.png")?;
    Ok(())
}

/// Builds the world to count its particles: nothing else knows how many a shape leaves of a lattice.
fn entry(name: &'static str) -> motes::Result<Entry> {
    let scene = Scene::load(name)?;
    Ok(Entry {
        name,
        particles: scene.build()?.particles().len(),
        title: scene.title().into(),
        source: scene.source().into(),
        variants: scene.variants().to_vec(),
        steps: scene.steps(),
        checks: scene.check_count(),
    })
}
