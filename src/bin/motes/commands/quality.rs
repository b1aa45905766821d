//! Looks from time to time how well the steps of a run are solved, and says so once when they stay
//! badly solved.

use motes::{Engine, Quality};
use std::io::Write;

/// Looks at a simulated second.
const LOOKS: f32 = 4.0;
/// So many looks in a row must find the same fault.
const STAYS: u32 = 4;

/// What the looks have found.
#[derive(Default)]
pub struct Watch {
    /// Looks in a row that found something.
    bad: u32,
    told: bool,
}

impl Watch {
    /// Looks after some of the steps.
    pub fn observe(&mut self, step: u32, engine: &mut Engine) -> motes::Result<()> {
        let every = (1.0 / (LOOKS * engine.world().params.dt)).ceil().max(1.0) as u32;
        if self.told || !step.is_multiple_of(every) {
            return Ok(());
        }
        let advice = engine.quality()?.advice(&engine.world().params);
        self.bad = if advice.is_empty() { 0 } else { self.bad + 1 };
        if self.bad == STAYS {
            self.told = true;
            for line in advice {
                // A closed error channel is no reason to end a run.
                let _ = writeln!(std::io::stderr(), "warning: {line}");
            }
        }
        Ok(())
    }
}

/// A line for the table at the end of a run.
pub fn text(quality: &Quality) -> String {
    let percent = |share: f32| match share {
        0.0 => "0 %".to_string(),
        _ => format!("{:.2} %", 100.0 * share),
    };
    let mut words: Vec<String> = Vec::new();
    for of in &quality.residuals {
        words.push(match of.kind {
            motes::Kind::Bend => format!("bend off by {:.3} rad", of.mean),
            kind => format!("{kind} off by {} (largest {})", percent(of.mean), percent(of.largest)),
        });
    }
    if !quality.residuals.is_empty() {
        words.push(format!("largest strain {}", percent(quality.strain)));
    }
    words.push(format!("deepest overlap {} of a radius", percent(quality.overlap)));
    if let Some(fluid) = quality.compression {
        let [mean, largest] = [fluid.mean, fluid.largest].map(percent);
        words.push(format!("fluid too dense by {mean} (largest {largest})"));
    }
    words.join(", ")
}
