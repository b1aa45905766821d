//! `motes bench --broad-phase all`: what it costs to find neighbours, structure by structure.
//! The counterpart of the theses' comparisons: grid against octree over the number of particles
//! ([C], figures 5.1 and 5.2), grid against a tree of boxes for equal and for many sizes, and
//! the ways to walk that tree ([J], tables 6.4 to 6.7).

use crate::cli::BenchArgs;
use crate::commands::summary::write_json;
use crate::commands::table::{Table, number};
use crate::commands::{machine, output};
use crate::failure::Failure;
use glam::Vec3;
use motes::file::write_atomically;
use motes::search::{Reach, Search};
use motes::world::{BroadPhase, BvhStart, BvhVolume, BvhWalk, Params};
use serde::Serialize;
use std::io::Write;

/// Particles above which testing every pair takes too long to wait for.
const MOST_BRUTE: usize = 20_000;
/// Particles of the thesis's figure, of the tables, and of the comparisons.
const SWEEP: [usize; 6] = [500, 1000, 2000, 5000, 10_000, 20_000];
const SIZES: [usize; 5] = [8000, 20_000, 100_000, 216_000, 1_000_000];
const COMPARED: usize = 216_000;
/// Contacts reach this many radii at the default margin, kernels usually this many.
const CONTACTS: f32 = 2.4;
const KERNEL: f32 = 4.0;

/// One measurement.
#[derive(Serialize)]
struct Row {
    table: &'static str,
    device: String,
    particles: usize,
    /// Reach of equal particles in radii.
    reach: Option<f32>,
    order: &'static str,
    structure: String,
    threads: usize,
    build_ms: f64,
    query_ms: f64,
    /// Neighbours of a particle on average: each pair counts twice.
    neighbors: f64,
    structure_bytes: f64,
    list_bytes: f64,
}

impl Row {
    fn ms(&self) -> f64 {
        self.build_ms + self.query_ms
    }
    fn ns_per_particle(&self) -> f64 {
        self.ms() * 1e6 / self.particles as f64
    }
}

pub fn run(
    structures: &[BroadPhase],
    args: &BenchArgs,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    output::check(&[("--json", args.json.as_deref()), ("--csv", args.csv.as_deref())], &[])?;
    let mut bench = Bench { structures, args, rows: Vec::new() };
    writeln!(
        out,
        "{}, {} cores; complete lists, least of {} runs; a block of spheres of radius r, 2 r apart \
         and shaken by 0.2 r",
        machine::cpu_model(),
        machine::cores(),
        args.repeat
    )?;
    bench.sizes("sweep: contacts, 2.4 r", &SWEEP, CONTACTS, out)?;
    bench.sizes("contacts, 2.4 r", &SIZES, CONTACTS, out)?;
    bench.sizes("kernels, 4 r", &SIZES, KERNEL, out)?;
    bench.orders(out)?;
    bench.mixed(out)?;
    if structures.contains(&BroadPhase::Bvh) {
        bench.walks(out)?;
    }
    if let Some(path) = &args.json {
        write_json(path, &bench.rows)?;
    }
    if let Some(path) = &args.csv {
        let text = csv(&bench.rows);
        write_atomically(path, |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

struct Bench<'a> {
    structures: &'a [BroadPhase],
    args: &'a BenchArgs,
    rows: Vec<Row>,
}

/// What is searched.
struct Task<'a> {
    table: &'static str,
    order: &'static str,
    points: &'a [Vec3],
    reach: Reach<'a>,
}

impl Bench<'_> {
    /// Measures a structure and remembers the row.
    fn measure(&mut self, task: &Task, params: Params, threads: usize) -> Result<&Row, Failure> {
        let mut search = Search::new(params.clone(), threads)?;
        search.find(task.points, task.reach)?; // arrays get their size
        let mut best: Option<[f64; 2]> = None;
        for _ in 0..self.args.repeat {
            search.find(task.points, task.reach)?;
            let mut ms = [0.0; 2];
            for (pass, _, took) in search.times().ran() {
                ms[usize::from(pass.finds_neighbors())] += took;
            }
            if best.is_none_or(|b| ms[0] + ms[1] < b[0] + b[1]) {
                best = Some(ms);
            }
        }
        let [build_ms, query_ms] = best.unwrap_or_default();
        let count = task.points.len();
        let each = |total: usize| total as f64 / count as f64;
        let [structure_bytes, list_bytes] = search.bytes().map(each);
        let structure = match (params.broad_phase, search.used()) {
            (BroadPhase::Auto, used) => format!("auto: {used}"),
            (asked, _) => asked.to_string(),
        };
        self.rows.push(Row {
            table: task.table,
            device: machine::cpu_model(),
            particles: count,
            reach: match task.reach {
                Reach::Fixed(reach) => Some(reach),
                Reach::Radii { .. } => None,
            },
            order: task.order,
            structure,
            threads,
            build_ms,
            query_ms,
            neighbors: each(search.neighbor_count()),
            structure_bytes,
            list_bytes,
        });
        Ok(&self.rows[self.rows.len() - 1])
    }

    /// Each structure on blocks of these sizes.
    fn sizes(
        &mut self,
        title: &'static str,
        sizes: &[usize],
        reach: f32,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut table = Table::new([
            "particles",
            "structure",
            "threads",
            "build ms",
            "query ms",
            "ms",
            "ns/particle",
            "neighbours",
            "bytes/particle",
            "of lists",
        ])
        .align("><");
        let mut each = Vec::new();
        for &count in sizes {
            let points = block(count);
            let task = Task {
                table: title,
                order: "created",
                points: &points,
                reach: Reach::Fixed(reach),
            };
            for &structure in self.structures {
                if structure == BroadPhase::Brute && points.len() > MOST_BRUTE {
                    continue;
                }
                for &threads in &self.args.teams() {
                    let row = self.measure(&task, with(structure), threads)?;
                    table.row([
                        row.particles.to_string(),
                        row.structure.clone(),
                        threads.to_string(),
                        number(row.build_ms),
                        number(row.query_ms),
                        number(row.ms()),
                        number(row.ns_per_particle()),
                        number(row.neighbors),
                        number(row.structure_bytes),
                        number(row.list_bytes),
                    ]);
                    each.push((structure, threads, count, row.ns_per_particle()));
                }
            }
        }
        writeln!(out, "\n{title}\n{table}")?;
        for &structure in self.structures {
            for &threads in &self.args.teams() {
                let of = |count| {
                    let row = each.iter().find(|r| (r.0, r.1, r.2) == (structure, threads, count));
                    row.map(|r| r.3)
                };
                if let (Some(small), Some(large)) = (of(100_000), of(1_000_000)) {
                    let ratio = number(large / small);
                    writeln!(
                        out,
                        "{structure} x{threads}: a particle of 1 000 000 costs {ratio} x one of 100 000"
                    )?;
                }
            }
        }
        out.flush()?;
        Ok(())
    }

    /// The same points in order of cell, as created, and shuffled.
    fn orders(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut table =
            Table::new(["order", "structure", "threads", "2.4 r ms", "4 r ms"]).align("<<");
        let created = block(COMPARED);
        let cell = |p: &Vec3| (*p / KERNEL).floor().as_ivec3();
        let mut sorted = created.clone();
        sorted.sort_by_key(|p| (cell(p).z, cell(p).y, cell(p).x));
        let mut shuffled = created.clone();
        let mut seed = 1;
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, (random(&mut seed) * (i + 1) as f32) as usize % (i + 1));
        }
        let orders = [("sorted", &sorted), ("created", &created), ("shuffled", &shuffled)];
        for &structure in self.structures.iter().filter(|&&s| s != BroadPhase::Brute) {
            for &threads in &self.args.teams() {
                for (order, points) in orders {
                    let mut ms = Vec::new();
                    for reach in [CONTACTS, KERNEL] {
                        let reach = Reach::Fixed(reach);
                        let task = Task { table: "orders", order, points, reach };
                        ms.push(number(self.measure(&task, with(structure), threads)?.ms()));
                    }
                    let words = [order.to_string(), structure.to_string(), threads.to_string()];
                    table.row(words.into_iter().chain(ms));
                }
            }
        }
        writeln!(out, "\norder of the input, {} particles\n{table}", created.len())?;
        Ok(())
    }

    /// Radii of 1 : 10 : 100 in one box, and what `auto` makes of it.
    fn mixed(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let (points, radii) = mixture(100_000);
        let reach = Reach::Radii { radii: &radii, margin: 1.2 };
        let task = Task { table: "mixed", order: "random", points: &points, reach };
        let mut table =
            Table::new(["structure", "threads", "build ms", "query ms", "ms", "neighbours"]);
        let asked = self.structures.iter().copied().filter(|&s| s != BroadPhase::Brute);
        for structure in asked.chain([BroadPhase::Auto]) {
            for &threads in &self.args.teams() {
                let row = self.measure(&task, with(structure), threads)?;
                table.row([
                    row.structure.clone(),
                    threads.to_string(),
                    number(row.build_ms),
                    number(row.query_ms),
                    number(row.ms()),
                    number(row.neighbors),
                ]);
            }
        }
        writeln!(out, "\nradii 1 : 10 : 100, {} particles\n{table}", points.len())?;
        Ok(())
    }

    /// The ways to walk a tree of volumes, down to single particles as in the thesis, and as used.
    fn walks(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let points = block(COMPARED);
        let reach = Reach::Fixed(CONTACTS);
        let task = Task { table: "walks", order: "created", points: &points, reach };
        let mut table =
            Table::new(["start", "walk", "volume", "leaf", "build ms", "query ms"]).align("<<<");
        let default = Params::default().bvh_leaf;
        let threads = self.args.teams().into_iter().max().unwrap_or(1);
        for leaf in [1, default] {
            for &start in BvhStart::ALL {
                for &walk in BvhWalk::ALL {
                    for &volume in BvhVolume::ALL {
                        let params = Params {
                            bvh_start: start,
                            bvh_walk: walk,
                            bvh_volume: volume,
                            bvh_leaf: leaf,
                            ..with(BroadPhase::Bvh)
                        };
                        let row = self.measure(&task, params, threads)?;
                        let ms = [row.build_ms, row.query_ms].map(number);
                        let words = [start.to_string(), walk.to_string(), volume.to_string()];
                        table.row(words.into_iter().chain([leaf.to_string()]).chain(ms));
                    }
                }
            }
        }
        writeln!(
            out,
            "\nwalks of the bvh, {} particles, {threads} threads\n{table}",
            points.len()
        )?;
        Ok(())
    }
}

fn with(broad_phase: BroadPhase) -> Params {
    Params { broad_phase, ..Params::default() }
}

/// A cheap random number in 0..1.
fn random(seed: &mut u32) -> f32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*seed >> 8) as f32 / (1 << 24) as f32
}

/// The first `count` particles of a cubic block, radius 1.
fn block(count: usize) -> Vec<Vec3> {
    let side = (count as f64).cbrt().ceil() as usize;
    let mut seed = 12345;
    let mut shaken = || 0.4 * (random(&mut seed) - 0.5);
    (0..count)
        .map(|i| Vec3::new((i % side) as f32, (i / side % side) as f32, (i / side / side) as f32))
        .map(|cell| cell * 2.0 + Vec3::new(shaken(), shaken(), shaken()))
        .collect()
}

/// Particles of radius 0.01, 0.1 and 1 m, most of them small, at random in a cube.
fn mixture(count: usize) -> (Vec<Vec3>, Vec<f32>) {
    let mut seed = 99;
    let radii: Vec<f32> = (0..count)
        .map(|i| match i % 1000 {
            0 => 1.0,
            1..=30 => 0.1,
            _ => 0.01,
        })
        .collect();
    let mut at = || 12.0 * random(&mut seed);
    let points = radii.iter().map(|_| Vec3::new(at(), at(), at())).collect();
    (points, radii)
}

fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "table,particles,reach,order,structure,threads,build_ms,query_ms,neighbors,structure_bytes,list_bytes\n",
    );
    for r in rows {
        let reach = r.reach.map_or(String::new(), |v| v.to_string());
        text += &format!(
            "\"{}\",{},{reach},{},{},{},{},{},{},{},{}\n",
            r.table,
            r.particles,
            r.order,
            r.structure,
            r.threads,
            r.build_ms,
            r.query_ms,
            r.neighbors,
            r.structure_bytes,
            r.list_bytes
        );
    }
    text
}
