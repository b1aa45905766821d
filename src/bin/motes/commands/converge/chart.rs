//! Two panels: residual against iterations, residual against time.

use super::Curve;
use crate::commands::plot::{Anchor, Drawing, Point, Stroke};

const WIDTH: f32 = 1200.0;
const HEIGHT: f32 = 560.0;
const TOP: f32 = 60.0;
const PANEL: [f32; 2] = [440.0, 420.0];
const LEFTS: [f32; 2] = [70.0, 570.0];
const LEGEND_LEFT: f32 = 1030.0;
/// Points a curve is drawn with at most; more would not be seen.
const POINTS: usize = 600;

const INK: [u8; 3] = [40, 44, 52];
const GRID: [u8; 3] = [222, 225, 230];
/// Blue, orange, green, red: told apart by the colour-blind too.
const COLORS: [[u8; 3]; 4] = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 60, 60]];

/// Draws the curves, residuals as shares of the first.
pub fn draw(title: &str, curves: &[Curve]) -> Drawing {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    drawing.text([LEFTS[0], 30.0], 16.0, Anchor::Start, INK, title);
    let looks = Looks::of(curves);
    let end =
        |values: &dyn Fn(&Curve) -> f64| curves.iter().map(values).fold(0.0, f64::max).max(1e-9);
    let most_iterations = end(&|c| (c.residual.len() - 1) as f64);
    let most_ms = end(&|c| c.ms.last().copied().unwrap_or(0.0));
    let low = lowest(curves);
    let by_iteration = Panel { left: LEFTS[0], most: most_iterations, low };
    by_iteration.frame(&mut drawing, "iterations");
    let by_time = Panel { left: LEFTS[1], most: most_ms, low };
    by_time.frame(&mut drawing, "time, ms");
    for curve in curves {
        let stroke = looks.stroke(curve);
        by_iteration.curve(&mut drawing, curve, |i| i as f64, &stroke);
        by_time.curve(&mut drawing, curve, |i| curve.ms[i], &stroke);
    }
    for (row, curve) in curves.iter().enumerate() {
        let y = TOP + 8.0 + row as f32 * 19.0;
        let line = [[LEGEND_LEFT, y], [LEGEND_LEFT + 30.0, y]];
        drawing.line(&line, &looks.stroke(curve));
        let name = format!("{} x{} w={}", curve.solver, curve.threads, curve.omega);
        drawing.text([LEGEND_LEFT + 36.0, y + 4.0], 12.0, Anchor::Start, INK, &name);
    }
    drawing
}

/// The decade below the lowest residual, as an exponent of ten.
fn lowest(curves: &[Curve]) -> f64 {
    let share = |c: &Curve| c.residual.iter().fold(1.0, |low: f64, r| low.min(r / c.residual[0]));
    let low = curves.iter().map(share).fold(0.1, f64::min);
    // A curve ends a little below its decade; that is no reason to show the next.
    (low.max(1e-6).log10() + 0.1).floor()
}

/// Colour says the solver, dashes the over-relaxation, width the threads.
struct Looks {
    solvers: Vec<&'static str>,
    omegas: Vec<f32>,
    teams: Vec<usize>,
}

impl Looks {
    fn of(curves: &[Curve]) -> Self {
        fn distinct<T: PartialEq + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
            let mut seen = Vec::new();
            for value in values {
                if !seen.contains(&value) {
                    seen.push(value);
                }
            }
            seen
        }
        Looks {
            solvers: distinct(curves.iter().map(|c| c.solver)),
            omegas: distinct(curves.iter().map(|c| c.omega)),
            teams: distinct(curves.iter().map(|c| c.threads)),
        }
    }

    fn stroke(&self, curve: &Curve) -> Stroke {
        let solver = self.solvers.iter().position(|s| *s == curve.solver).unwrap_or(0);
        let omega = self.omegas.iter().position(|w| *w == curve.omega).unwrap_or(0);
        let team = self.teams.iter().position(|t| *t == curve.threads).unwrap_or(0);
        let dash = match omega {
            0 => None,
            1 => Some([7.0, 4.0]),
            _ => Some([2.0, 3.0]),
        };
        Stroke { color: COLORS[solver % COLORS.len()], width: 1.2 + team as f32, dash }
    }
}

struct Panel {
    left: f32,
    most: f64,
    /// Lowest decade shown.
    low: f64,
}

impl Panel {
    fn x(&self, value: f64) -> f32 {
        self.left + (value / self.most) as f32 * PANEL[0]
    }

    /// Logarithmic, from 1 at the top to the lowest decade; what rises above 1 stays at the top.
    fn y(&self, share: f64) -> f32 {
        let exponent = share.max(1e-12).log10().clamp(self.low, 0.0);
        TOP + (exponent / self.low) as f32 * PANEL[1]
    }

    fn frame(&self, drawing: &mut Drawing, label: &str) {
        let thin = Stroke { color: GRID, width: 1.0, dash: None };
        let (right, bottom) = (self.left + PANEL[0], TOP + PANEL[1]);
        for decade in (self.low as i32)..=0 {
            let y = self.y(10f64.powi(decade));
            drawing.line(&[[self.left, y], [right, y]], &thin);
            let name = match decade {
                0 => "100 %".into(),
                -1 => "10 %".into(),
                -2 => "1 %".into(),
                d => format!("1e{} %", d + 2),
            };
            drawing.text([self.left - 6.0, y + 4.0], 12.0, Anchor::End, INK, &name);
        }
        let step = tick_step(self.most);
        let mut tick = 0.0;
        while tick <= self.most * 1.0001 {
            let x = self.x(tick);
            drawing.line(&[[x, TOP], [x, bottom]], &thin);
            let name = format!("{tick:.*}", if step < 1.0 { 2 } else { 0 });
            drawing.text([x, bottom + 18.0], 12.0, Anchor::Middle, INK, &name);
            tick += step;
        }
        let border = Stroke { color: INK, width: 1.0, dash: None };
        let corners = [[self.left, TOP], [self.left, bottom], [right, bottom]];
        drawing.line(&corners, &border);
        let middle = self.left + PANEL[0] / 2.0;
        drawing.text([middle, bottom + 40.0], 13.0, Anchor::Middle, INK, label);
        drawing.text([self.left, TOP - 8.0], 12.0, Anchor::Start, INK, "residual left");
    }

    fn curve(
        &self,
        drawing: &mut Drawing,
        curve: &Curve,
        x_of: impl Fn(usize) -> f64,
        stroke: &Stroke,
    ) {
        let last = curve.residual.len() - 1;
        let stride = last.div_ceil(POINTS).max(1);
        let first = curve.residual[0];
        let at = |i: usize| -> Point { [self.x(x_of(i)), self.y(curve.residual[i] / first)] };
        let mut points: Vec<Point> = (0..last).step_by(stride).map(at).collect();
        points.push(at(last));
        drawing.line(&points, stroke);
    }
}

/// A round step that gives four to nine ticks.
fn tick_step(most: f64) -> f64 {
    let raw = most / 5.0;
    let decade = 10f64.powf(raw.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|n| n * decade >= raw);
    nice.unwrap_or(10.0) * decade
}
