//! A small scene, and what a report says of it.

use serde_json::Value;

pub const PANELS: [&str; 5] = ["run", "parameters", "scenes", "inspector", "graphs"];

/// A sheet pinned at two corners beside a block on the floor: few enough that a report names all.
pub const SCENE: &str = r#"
    title = "a sheet and a block"
    [params]
    iterations = 20
    [[cloth]]
    name = "sheet"
    columns = 10
    rows = 10
    spacing = 0.1
    radius = 0.045
    origin = [-1.2, 1.4, 0.0]
    along = [1, 0, 0]
    across = [0, -1, 0]
    pin = ["top_left", "top_right"]
    [[box]]
    name = "block"
    counts = [4, 4, 4]
    spacing = 0.12
    radius = 0.06
    center = [0.6, 0.3, 0.2]
    [[collider]]
    shape = "plane"
"#;

/// A few grains that fall: particles without a skin.
pub const GRAINS: &str = r#"
    title = "a few grains"
    [[granular]]
    name = "grains"
    origin = [-0.5, 0.3, -0.2]
    counts = [8, 6, 4]
    spacing = 0.14
    radius = 0.06
    density = 2500
    [[collider]]
    shape = "plane"
"#;

pub fn step(report: &Value) -> u64 {
    report["step"].as_u64().unwrap()
}

pub fn particle(report: &Value, id: u64) -> &Value {
    let all = report["particles"].as_array().unwrap();
    all.iter().find(|p| p["id"].as_u64() == Some(id)).unwrap()
}
