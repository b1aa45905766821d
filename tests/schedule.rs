//! What `motes run SCENE --schedule` prints is what both backends run, dispatch by dispatch, and on a
//! device kernel by kernel. A tree or an engine that lacks one dispatch is noticed.
#![cfg(feature = "cli")]

#[cfg(feature = "vulkan")]
#[path = "vulkan/device.rs"]
mod device;

use motes::{
    Backend, Condition, Engine, ListDescription, ListReach, Node, Pass, Scene, World, schedule,
};
use std::collections::HashSet;
use std::process::Command;

/// Every scene, the large ones in their small variants.
fn specs() -> impl Iterator<Item = String> {
    const LARGE: [&str; 4] = ["boxes_216k", "grains_box", "granular_216k", "sand_heap"];
    Scene::builtin_names().map(|name| {
        let small = if LARGE.contains(&name) { ":small" } else { "" };
        format!("{name}{small}")
    })
}

fn world(spec: &str, sets: &[&str]) -> World {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    Scene::load_with(spec, &sets).and_then(|scene| scene.build()).unwrap()
}

/// What the program prints for a scene.
fn printed(spec: &str, sets: &[&str], backend: &str) -> String {
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let output = Command::new(env!("CARGO_BIN_EXE_motes"))
        .args(["run", spec, "--schedule", "--backend", backend])
        .args(sets)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{spec}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// A line of a printed tree.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    depth: usize,
    text: &'a str,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let text = line.trim_start();
        out.push(Line { number, depth: (line.len() - text.len()) / 2, text });
    }
    out
}

/// Walks through a printed tree beside a log of what was run.
struct Follower<'a> {
    log: &'a [String],
    at: usize,
    /// How often each condition held.
    sorts: u32,
    /// Of the contacts' list alone.
    builds: u32,
    /// The lists that were made, in order.
    made: Vec<String>,
    /// The list that the tree is about.
    list: String,
    /// The lines whose dispatch was run.
    ran: HashSet<usize>,
}

impl<'a> Follower<'a> {
    /// Follows all of the tree; an error says where the log differs from it.
    fn follow(text: &str, log: &'a [String]) -> Result<Self, String> {
        let mut follower = Follower {
            log,
            at: 0,
            sorts: 0,
            builds: 0,
            made: Vec::new(),
            list: String::new(),
            ran: HashSet::new(),
        };
        follower.through(&lines(text))?;
        match log.get(follower.at) {
            None => Ok(follower),
            Some(more) => Err(format!("{more} was run behind the end of the tree")),
        }
    }

    fn through(&mut self, mut nodes: &[Line]) -> Result<(), String> {
        while let [line, rest @ ..] = nodes {
            let inside = rest.iter().take_while(|inner| inner.depth > line.depth).count();
            let (body, after) = rest.split_at(inside);
            nodes = after;
            if let Some((count, _)) = line.text.split_once(" times (") {
                for _ in 0..count.parse::<u32>().unwrap() {
                    self.through(body)?;
                }
            } else if let Some(list) = line.text.strip_prefix("for the list ") {
                self.list = list.trim_matches('"').into();
                self.through(body)?;
            } else if let Some(condition) = line.text.strip_prefix("when ") {
                // It held if what was run next is the first of its passes.
                let first = body.first().map(|first| first.text);
                if first.is_some() && first == self.log.get(self.at).map(String::as_str) {
                    match condition {
                        _ if condition == Condition::SortIsDue.name() => self.sorts += 1,
                        _ if condition == Condition::ListIsStale.name() => {
                            self.builds += u32::from(self.list == "contacts");
                            self.made.push(self.list.clone());
                        }
                        other => panic!("an unknown condition: {other}"),
                    }
                    self.through(body)?;
                }
            } else {
                match self.log.get(self.at) {
                    Some(ran) if ran == line.text => {
                        self.at += 1;
                        self.ran.insert(line.number);
                    }
                    ran => return Err(format!("{ran:?} was run instead of {}", line.text)),
                }
            }
        }
        Ok(())
    }
}

/// The control: a tree that lacks any one dispatch that was run is noticed.
fn every_dispatch_counts(text: &str, log: &[String], ran: &HashSet<usize>) {
    for &dropped in ran {
        let left = text.lines().enumerate().filter(|(number, _)| *number != dropped);
        let short: Vec<&str> = left.map(|(_, line)| line).collect();
        let noticed = Follower::follow(&short.join("\n"), log).is_err();
        assert!(noticed, "{:?} was not missed", text.lines().nth(dropped));
    }
}

/// A step's log, one list an attempt, in the words of the printed tree.
fn step(engine: &mut Engine) -> Vec<Vec<String>> {
    engine.start_log();
    let dt = engine.world().params.dt;
    engine.step(dt).unwrap();
    let on_device = engine.device().is_some();
    let word = |(dispatch, kernels): &(motes::Dispatch, Vec<&str>)| match on_device {
        true => format!("{dispatch}: {}", counted(kernels)),
        false => dispatch.to_string(),
    };
    engine.take_log().iter().map(|attempt| attempt.iter().map(word).collect()).collect()
}

fn counted(names: &[&str]) -> String {
    let words = names.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].to_string(),
        count => format!("{} x {count}", run[0]),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Scenes as they are, and what no scene has by itself: gathered bounces, other lists,
/// acceleration, many substeps.
fn cases() -> Vec<(String, Vec<&'static str>)> {
    // A world that begins empty has another schedule when the first particles have come.
    let begins = |spec: &String| !world(spec, &[]).particles().is_empty();
    let mut cases: Vec<_> = specs().filter(begins).map(|spec| (spec, vec![])).collect();
    assert_eq!(cases.len() + 1, specs().count(), "only `fountain` begins empty");
    let jacobi = vec!["solver=jacobi", "restitution=0.5", "broad_phase=octree"];
    cases.push(("stairs".into(), jacobi));
    cases.push(("stairs".into(), vec!["solver=seidel", "restitution=0.5", "broad_phase=bvh"]));
    cases.push(("cloth_hang".into(), vec!["acceleration=chebyshev", "substeps=3"]));
    cases
}

#[test]
fn the_cpu_runs_what_is_printed() {
    let mut sorted = 0;
    for (spec, sets) in cases() {
        let text = printed(&spec, &sets, "cpu");
        let mut engine = Engine::new(world(&spec, &sets), Backend::Cpu { threads: 2 }).unwrap();
        assert_eq!(text.trim_end(), engine.schedule().to_string(), "{spec}");
        for _ in 0..2 {
            let log = step(&mut engine);
            let [log] = &log[..] else { panic!("a step of the CPU is one attempt") };
            let followed = Follower::follow(&text, log).unwrap_or_else(|e| panic!("{spec}: {e}"));
            let report = engine.report();
            assert_eq!(followed.builds, report.list_builds, "{spec}");
            assert_eq!(followed.sorts, report.passes.calls(Pass::SortParticles), "{spec}");
            let calls: u32 = report.passes.ran().map(|(_, calls, _)| calls).sum();
            assert_eq!(log.len() as u32, calls, "{spec}");
            sorted += followed.sorts;
            every_dispatch_counts(&text, log, &followed.ran);
        }
    }
    assert!(sorted > 0, "no scene was sorted");
}

/// The control on the other side: an engine that leaves something out is noticed.
#[test]
fn an_engine_that_drops_a_dispatch_is_noticed() {
    let text = printed("stairs", &[], "cpu");
    let backends = [Some(Backend::Cpu { threads: 1 }), vulkan()];
    for backend in backends.into_iter().flatten() {
        let text = match backend {
            Backend::Cpu { .. } => text.clone(),
            _ => printed("stairs", &[], "vulkan"),
        };
        for name in ["sleep", "remember_contacts", "solve_environment", "solve_contacts(count)"] {
            let mut engine = Engine::new(world("stairs", &[]), backend.clone()).unwrap();
            assert_eq!(drop_from(&mut engine.schedule_mut().nodes, name), 1, "{name}");
            for log in step(&mut engine) {
                assert!(Follower::follow(&text, &log).is_err(), "{name} was not missed");
            }
        }
    }
}

/// A world with several lists: each is a scope of the tree with its name, and both backends run what
/// the tree says for it.
#[test]
fn every_list_is_a_scope_of_the_tree() {
    let mut world = world("stairs", &["broad_phase=bvh"]);
    let before = schedule(&world).dispatches();
    let kernel = ListDescription::new("kernel", ListReach::Radii(2.0));
    let wide =
        ListDescription { skin: 5.0, ..ListDescription::new("wide", ListReach::Length(0.1)) };
    for list in [&kernel, &wide] {
        world.add_list(list.clone()).unwrap();
    }
    let count =
        |pass: Pass| schedule(&world).dispatches().iter().filter(|d| d.pass == pass).count();
    assert_eq!([Pass::Bounds, Pass::BvhBoxes, Pass::FindNeighborsBvh].map(count), [4, 3, 3]);
    assert_eq!(count(Pass::ColorContacts), 1, "contacts alone are coloured");
    for backend in [Some(Backend::Cpu { threads: 1 }), vulkan()].into_iter().flatten() {
        let on_device = !matches!(backend, Backend::Cpu { .. });
        let mut engine = Engine::new(world.clone(), backend).unwrap();
        let text = match on_device {
            #[cfg(feature = "vulkan")]
            true => {
                let kernels = motes::vulkan::kernels(&world);
                engine.schedule().with_remarks(|d| format!(": {}", counted(&kernels(d))))
            }
            _ => engine.schedule().to_string(),
        };
        for name in ["contacts", "kernel", "wide"] {
            assert_eq!(text.matches(&format!("for the list {name:?}")).count(), 1, "{text}");
        }
        for turn in 0..3 {
            for log in step(&mut engine) {
                let followed = Follower::follow(&text, &log).unwrap_or_else(|e| panic!("{e}"));
                let wide = followed.made.iter().filter(|name| *name == "wide").count();
                // The device decides by itself, so what makes lists is always recorded.
                let substeps = engine.world().params.substeps as usize;
                let expected = if on_device { substeps } else { usize::from(turn == 0) };
                assert_eq!(wide, expected, "{:?}", followed.made);
                every_dispatch_counts(&text, &log, &followed.ran);
            }
        }
        assert_eq!(engine.neighbors("wide").unwrap().builds(), 1);
        // An engine that forgets a list is noticed.
        let nodes = &mut engine.schedule_mut().nodes;
        assert_eq!(drop_list(nodes, "kernel"), 1);
        for log in step(&mut engine) {
            assert!(Follower::follow(&text, &log).is_err(), "the kernel was not missed");
        }
    }
    world.remove_list("kernel").unwrap();
    world.remove_list("wide").unwrap();
    assert_eq!(schedule(&world).dispatches(), before, "a list that is not described costs nothing");
}

/// Leaves out what is done for a list; returns how many it left out.
fn drop_list(nodes: &mut Vec<Node>, wanted: &str) -> usize {
    let before = nodes.len();
    nodes.retain(|node| !matches!(node, Node::ForList { name, .. } if name == wanted));
    let below = nodes.iter_mut().map(|node| match node {
        Node::Times { body, .. } => drop_list(body, wanted),
        _ => 0,
    });
    let below: usize = below.sum();
    before - nodes.len() + below
}

/// Leaves out the first dispatch of a name; returns how many it left out.
fn drop_from(nodes: &mut Vec<Node>, name: &str) -> usize {
    for at in 0..nodes.len() {
        match &mut nodes[at] {
            Node::Run(dispatch) if dispatch.to_string() == name => {
                nodes.remove(at);
                return 1;
            }
            Node::Run(_) => {}
            Node::Times { body, .. } | Node::When { body, .. } | Node::ForList { body, .. } => {
                if drop_from(body, name) == 1 {
                    return 1;
                }
            }
        }
    }
    0
}

/// The best device, where there is one.
fn vulkan() -> Option<Backend> {
    #[cfg(feature = "vulkan")]
    return device::on_device(World::new()).map(|_| device::device());
    #[cfg(not(feature = "vulkan"))]
    None
}

#[cfg(feature = "vulkan")]
#[test]
fn a_device_runs_what_is_printed() {
    use device::on_device;
    let mut sorted = 0;
    for (spec, sets) in cases() {
        let text = printed(&spec, &sets, "vulkan");
        let Some(mut engine) = on_device(world(&spec, &sets)) else { return };
        let substeps = engine.world().params.substeps;
        for _ in 0..2 {
            let attempts = step(&mut engine);
            for (attempt, log) in attempts.iter().enumerate() {
                let followed =
                    Follower::follow(&text, log).unwrap_or_else(|e| panic!("{spec}: {e}"));
                // Whether lists are stale the device decides, so what makes them is always recorded.
                let lists = u32::from(engine.report().broad_phase.is_some());
                assert_eq!(followed.builds, lists * substeps, "{spec}");
                let calls = engine.report().passes.calls(Pass::SortParticles);
                assert_eq!(followed.sorts, if attempt == 0 { calls } else { 0 }, "{spec}");
                sorted += followed.sorts;
                every_dispatch_counts(&text, log, &followed.ran);
            }
            // An attempt that ran out of room is not in the report.
            let calls: u32 = engine.report().passes.ran().map(|(_, calls, _)| calls).sum();
            if let [log] = &attempts[..] {
                assert_eq!(calls as usize, log.len(), "{spec}");
            }
        }
    }
    assert!(sorted > 0, "no scene was sorted");
}

/// A loop of thousands of turns is recorded once: the same bits as on the CPU where roots and
/// quotients are exact, and few commands.
#[cfg(feature = "vulkan")]
#[test]
fn thousands_of_iterations_are_recorded_once() {
    use device::on_device;
    let recorded = |iterations: &'static str| {
        let sets = [iterations, "cloth.0.columns=8", "cloth.0.rows=8", "substeps=2"];
        let built = || world("cloth_hang", &sets);
        let mut gpu = on_device(built())?;
        let mut cpu = Engine::new(built(), Backend::Cpu { threads: 1 }).unwrap();
        let text = printed("cloth_hang", &sets, "vulkan");
        for _ in 0..2 {
            cpu.step(1.0 / 60.0).unwrap();
            for log in step(&mut gpu) {
                Follower::follow(&text, &log).unwrap();
            }
        }
        if gpu.device().is_some_and(|name| name.contains("llvmpipe")) {
            assert_eq!(cpu.world().hash(), gpu.world().hash(), "{iterations}");
        }
        assert_eq!(gpu.report().iterations, cpu.report().iterations);
        for (pass, calls, ms) in gpu.report().passes.ran() {
            assert_eq!(calls, cpu.report().passes.calls(pass), "{}", pass.name());
            assert!(ms > 0.0, "{}: {ms} ms", pass.name());
        }
        let view = gpu.vulkan().unwrap();
        assert_eq!(view.messages(), Vec::<String>::new());
        Some((view.kernels(), view.dispatches()))
    };
    let Some(once) = recorded("iterations=1") else { return };
    let Some((few, many)) = recorded("iterations=5000") else { return };
    println!("{few} kernels recorded for {many}");
    assert!(few <= once.0 && 3000 * once.0 < many, "{few} recorded, {many} run, {once:?} for one");
    assert_eq!(recorded("iterations=2500").map(|(kernels, _)| kernels), Some(few));
}
