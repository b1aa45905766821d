#[allow(dead_code, unused_imports)]
mod paint;

fn main() {}
