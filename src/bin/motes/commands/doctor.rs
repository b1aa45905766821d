//! `motes doctor`: what works on this machine, and how to get the rest.

use crate::commands::machine;
use crate::commands::table::Table;
use crate::failure::Failure;
use std::io::Write;

pub fn run(out: &mut dyn Write) -> Result<(), Failure> {
    let features = machine::cpu_features();
    let memory = match machine::memory() {
        Some((total, free)) => format!("{total} MiB, {free} MiB free"),
        None => "unknown on this system".into(),
    };
    let display = match machine::display() {
        Some(name) => format!("yes ({name})"),
        None => "no: DISPLAY and WAYLAND_DISPLAY are not set; `motes render` needs none".into(),
    };
    let mut table = Table::new(["motes", env!("CARGO_PKG_VERSION")]).align("<<");
    table.row(["cpu", &machine::cpu_model()]);
    table.row(["features", &features.join(" ")]);
    let used = format!("{} (MOTES_SIMD=scalar|wide|avx2 forces one)", motes::instructions()?);
    table.row(["instructions", &used]);
    let cores = machine::cores();
    table.row(["cores", &cores.to_string()]);
    table.row(["threads", &format!("{cores} unless --threads says otherwise")]);
    table.row(["memory", &memory]);
    table.row(["display", &display]);
    table.row(["viewer", &viewer()]);
    for (k, line) in machine::vulkan().iter().enumerate() {
        table.row([if k == 0 { "vulkan" } else { "" }, line]);
    }
    write!(out, "{table}")?;
    Ok(())
}

/// Whether there is a viewer, and what paints it unless --painter says otherwise.
#[cfg(feature = "viewer")]
fn viewer() -> String {
    match crate::viewer::painter::auto() {
        Ok(device) => format!("yes, painted by {device}; needs a display"),
        Err(why) if machine::has_vulkan() => {
            format!("yes, painted in software ({why}); needs a display")
        }
        // Why there is no Vulkan is in its own line.
        Err(_) => "yes, painted in software; needs a display".into(),
    }
}

#[cfg(not(feature = "viewer"))]
fn viewer() -> String {
    "not in this build (feature `viewer`): `motes view` runs the scene and paints its end".into()
}
