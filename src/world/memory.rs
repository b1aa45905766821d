//! How much memory a world will need, and how much this process may still take.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// What an object will hold, counted before it is built.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemoryNeed {
    /// Particles.
    pub particles: u128,
    /// Distance constraints.
    pub edges: u128,
    /// Constraints over four particles.
    pub corners4: u128,
    /// Contact candidates where it starts, each pair twice.
    pub neighbors: u128,
}

/// Bytes a particle takes with everything the CPU backend keeps for it, contact lists included.
const BYTES_PER_PARTICLE: u128 = 600;
/// Bytes a distance constraint takes, with its row in the solver's side arrays.
const BYTES_PER_EDGE: u128 = 136;
/// Bytes a hinge or tetrahedron takes, likewise.
const BYTES_PER_CORNERS4: u128 = 268;
/// Bytes a listed contact candidate takes, with its row among the colours.
const BYTES_PER_NEIGHBOR: u128 = 30;

impl MemoryNeed {
    /// Bytes in all.
    pub fn bytes(self) -> u128 {
        self.particles.saturating_mul(BYTES_PER_PARTICLE)
            + self.edges.saturating_mul(BYTES_PER_EDGE)
            + self.corners4.saturating_mul(BYTES_PER_CORNERS4)
            + self.neighbors.saturating_mul(BYTES_PER_NEIGHBOR)
    }

    /// `None` when `bytes` can be had, else how many there are.
    pub(crate) fn free_for(bytes: usize) -> Option<u64> {
        System::here().available().filter(|&free| bytes as u64 > free)
    }

    /// Refuses what 32-bit indices or this machine's memory cannot hold.
    pub fn check(self, what: &str) -> Result<()> {
        const MOST: u128 = 1 << 31;
        let counted = self.particles.max(self.edges).max(self.corners4);
        if counted > MOST {
            return Err(Error::TooLarge {
                what: what.into(),
                needed: format!("{} particles and {} edges", self.particles, self.edges),
                limit: format!("at most {MOST} of each fit the engine; use fewer"),
            });
        }
        if let Some(available) = System::here().available()
            && self.bytes() > u128::from(available)
        {
            return Err(Error::TooLarge {
                what: what.into(),
                needed: format!("{} particles, about {} MiB", self.particles, self.bytes() >> 20),
                limit: format!("this machine has {} MiB free; use fewer", available >> 20),
            });
        }
        Ok(())
    }
}

/// Where a system tells how much memory there is (Linux); elsewhere the allocator decides.
struct System {
    proc: PathBuf,
    /// The root of the control groups (cgroup v2).
    groups: PathBuf,
}

impl System {
    fn here() -> Self {
        System { proc: "/proc".into(), groups: "/sys/fs/cgroup".into() }
    }

    /// Memory in bytes that this process may still take. The machine, the process's limit and its
    /// group of processes each have a say.
    fn available(&self) -> Option<u64> {
        let told = [self.free_on_the_machine(), self.below_the_limit(), self.left_to_the_group()];
        told.into_iter().flatten().min()
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.proc.join(name)).ok()
    }

    fn free_on_the_machine(&self) -> Option<u64> {
        Some(number_after(&self.read("meminfo")?, "MemAvailable:")? * 1024)
    }

    /// What `ulimit -v` leaves.
    fn below_the_limit(&self) -> Option<u64> {
        let limit = number_after(&self.read("self/limits")?, "Max address space")?;
        let used = number_after(&self.read("self/status")?, "VmSize:")?;
        Some(limit.saturating_sub(used * 1024))
    }

    /// What the control group, or one above it, leaves. A container is such a group.
    fn left_to_the_group(&self) -> Option<u64> {
        let groups = self.read("self/cgroup")?;
        let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let path = self.groups.join(own);
        let inside = path.ancestors().take_while(|folder| folder.starts_with(&self.groups));
        inside.filter_map(left_in).min()
    }
}

/// What one group leaves. Pages of files that nobody uses count as taken, but go when others need
/// the room.
fn left_in(group: &Path) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| -> Option<u64> { read(name)?.trim().parse().ok() };
    let (most, used) = (number("memory.max")?, number("memory.current")?);
    let spare = read("memory.stat").and_then(|stat| number_after(&stat, "inactive_file"));
    Some(most.saturating_sub(used.saturating_sub(spare.unwrap_or(0))))
}

/// The number that follows a word at the beginning of a line.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(word))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A made-up system, all of whose files are given.
    fn available(files: &[(&str, &str)]) -> Option<u64> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        System { proc: folder.path().join("proc"), groups: folder.path().join("groups") }
            .available()
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:  8192 kB\n");
    const UNLIMITED: (&str, &str) =
        ("proc/self/limits", "Max address space         unlimited            unlimited bytes\n");

    #[test]
    fn the_machine_has_its_say() {
        assert_eq!(available(&[]), None, "a system that tells nothing");
        assert_eq!(available(&[MACHINE, UNLIMITED]), Some(8 * MIB));
        assert_eq!(available(&[("proc/meminfo", "MemAvailable: many kB\n")]), None);
    }

    #[test]
    fn so_has_the_limit_of_the_process() {
        let limits =
            "Max cpu time unlimited\nMax address space         3145728      4194304 bytes\n";
        let limits = ("proc/self/limits", limits);
        let used =
            |status: &'static str| available(&[MACHINE, limits, ("proc/self/status", status)]);
        assert_eq!(used("VmPeak: 9 kB\nVmSize:   1024 kB\n"), Some(2 * MIB));
        assert_eq!(used("VmSize: 999999 kB\n"), Some(0), "beyond it already");
        assert_eq!(used(""), Some(8 * MIB));
    }

    #[test]
    fn and_so_have_the_groups_it_is_in() {
        let group = ("proc/self/cgroup", "0::/user/job\n");
        let used = ("groups/user/job/memory.current", "1048576\n");
        let most = ("groups/user/job/memory.max", "4194304\n");
        assert_eq!(available(&[MACHINE, group, used, most]), Some(3 * MIB));
        let unlimited = ("groups/user/job/memory.max", "max\n");
        assert_eq!(available(&[MACHINE, group, used, unlimited]), Some(8 * MIB));
        // The group above it has less to give.
        let above =
            [("groups/user/memory.max", "2097152"), ("groups/user/memory.current", "1048576")];
        assert_eq!(available(&[MACHINE, group, used, most, above[0], above[1]]), Some(MIB));
        assert_eq!(available(&[MACHINE, group, used, unlimited, above[0], above[1]]), Some(MIB));
        // Pages of files can be had back.
        let pages =
            ("groups/user/job/memory.stat", "anon 5\ninactive_file 524288\nactive_file 7\n");
        assert_eq!(available(&[MACHINE, group, used, most, pages]), Some(3 * MIB + MIB / 2));
        // More is used than may be: nothing is left.
        let full = ("groups/user/job/memory.max", "1000\n");
        assert_eq!(available(&[MACHINE, group, used, full]), Some(0));
    }

    /// In a container the process sees its own group as the root.
    #[test]
    fn the_root_of_a_container_is_a_group() {
        let group = ("proc/self/cgroup", "12:cpu:/elsewhere\n0::/\n");
        let root = [("groups/memory.max", "2097152\n"), ("groups/memory.current", "1048576\n")];
        assert_eq!(available(&[MACHINE, group, root[0], root[1]]), Some(MIB));
        // A folder above the groups is none of them.
        let outside = [("memory.max", "1\n"), ("memory.current", "1\n")];
        assert_eq!(available(&[MACHINE, group, outside[0], outside[1]]), Some(8 * MIB));
    }

    #[test]
    fn a_world_larger_than_what_is_left_is_refused() {
        let huge = MemoryNeed { particles: 1 << 30, ..MemoryNeed::default() };
        let available = System::here().available();
        assert_eq!(huge.check("sand").is_err(), available.is_some_and(|a| huge.bytes() > a.into()));
    }
}
