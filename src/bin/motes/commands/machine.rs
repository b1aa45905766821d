//! What this machine is: processor, features, memory, display.

/// The processor's name, or its architecture where the system does not tell.
pub fn cpu_model() -> String {
    proc_field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into())
}

/// Cores the program may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Total and free memory, MiB, where the system tells.
pub fn memory() -> Option<(u64, u64)> {
    let mib = |name| {
        let text = proc_field("/proc/meminfo", name)?;
        Some(text.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
    };
    Some((mib("MemTotal")?, mib("MemAvailable")?))
}

/// Memory this program holds, MiB, where the system tells.
#[cfg(feature = "viewer")]
pub fn own_memory() -> Option<u64> {
    let text = proc_field("/proc/self/status", "VmRSS")?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}

/// The display's name, if a window could be opened on one.
pub fn display() -> Option<String> {
    ["WAYLAND_DISPLAY", "DISPLAY"]
        .iter()
        .filter_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?)))
        .find(|shown| !shown.ends_with('='))
}

/// Whether a Vulkan device can be used.
pub fn has_vulkan() -> bool {
    #[cfg(feature = "vulkan")]
    return motes::vulkan::devices().is_ok_and(|list| list.iter().any(|d| d.refused.is_none()));
    #[cfg(not(feature = "vulkan"))]
    false
}

/// The Vulkan devices, a line each, or why there are none.
pub fn vulkan() -> Vec<String> {
    #[cfg(feature = "vulkan")]
    return match motes::vulkan::devices() {
        Ok(list) => list
            .iter()
            .map(|d| match &d.refused {
                None => format!("{} {} ({})", d.number, d.name, d.kind),
                Some(why) => format!("{} {} ({}): not usable, {why}", d.number, d.name, d.kind),
            })
            .collect(),
        Err(why) => vec![why.to_string()],
    };
    #[cfg(not(feature = "vulkan"))]
    vec!["not in this build; build with --features vulkan".into()]
}

/// Vector instructions of the processor, in the order they came to be.
pub fn cpu_features() -> Vec<&'static str> {
    let mut found = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! look_for {
            ($($name:tt),+) => {
                $(if std::arch::is_x86_feature_detected!($name) { found.push($name); })+
            };
        }
        look_for!("sse2", "sse4.1", "sse4.2", "avx", "avx2", "fma", "avx512f");
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("neon") {
        found.push("neon");
    }
    found
}

fn proc_field(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|l| l.split(':').next().is_some_and(|k| k.trim() == name))?;
    Some(line.split_once(':')?.1.trim().to_string())
}
