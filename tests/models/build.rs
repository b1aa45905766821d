//! Copies the source that is modelled, and makes mutants of it: each is one mistake that somebody
//! could make there, and that the model must notice.

use std::path::Path;

const SOURCE: &str = "../../src/cpu/team/claim.rs";

/// Name, what is replaced, and by what.
const MUTANTS: [(&str, &str, &str); 4] = [
    ("not_closed", "self.word.store(region << NEXT_BITS | NEXT_MASK, Release);", ""),
    (
        "opened_relaxed",
        "self.word.store(region << NEXT_BITS, Release);",
        "self.word.store(region << NEXT_BITS, Relaxed);",
    ),
    (
        "looked_relaxed",
        "let word = self.word.load(Acquire);",
        "let word = self.word.load(Relaxed);",
    ),
    (
        "claimed_by_a_store",
        "self.word.compare_exchange_weak(word, word + 1, AcqRel, Relaxed).is_ok()",
        "{ self.word.store(word + 1, Release); true }",
    ),
];

fn main() {
    println!("cargo:rerun-if-changed={SOURCE}");
    let text = std::fs::read_to_string(SOURCE).expect("the source of the team");
    // `include!` takes no comments on the file itself.
    let text: String =
        text.lines().filter(|l| !l.starts_with("//!")).map(|l| format!("{l}\n")).collect();
    let out = std::env::var("OUT_DIR").expect("set by cargo");
    let write = |name: &str, text: &str| {
        std::fs::write(Path::new(&out).join(format!("{name}.rs")), text).expect("a writable folder");
    };
    write("intact", &text);
    for (name, from, to) in MUTANTS {
        assert_eq!(text.matches(from).count(), 1, "{name}: `{from}` must stand there once");
        write(name, &text.replace(from, to));
    }
}
