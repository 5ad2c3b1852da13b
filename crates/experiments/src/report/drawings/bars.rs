//! Operations over time, and the cycles to the steady state.

use super::super::run::Run;
use super::super::series::{NOP, OUTCOMES};
use super::OUTCOME_COLOURS;
use super::canvas::{Anchor, Canvas, number, ticks};

/// The order in which outcomes are stacked: what changed something first. What changed nothing is left out.
const STACK: [usize; 4] = [3, 2, 0, 4];

/// Stacked bars, one for each cycle, with the handovers of each step as a line on a second axis.
pub(super) fn operations(run: &Run, group: usize) -> String {
    let title = format!("Operations, {}, {}", run.label, run.groups[group]);
    let mut canvas = Canvas::new(504.0, 190.0, 34.0);
    let height = |counts: &[u64; 5]| counts.iter().sum::<u64>() - counts[NOP];
    let most = run.bars.counts.iter().map(|groups| height(&groups[group])).max().unwrap_or(0).max(1) as f64;
    if run.bars.times.is_empty() {
        return canvas.nothing("No cycle has happened.", &title);
    }
    let (x, y) = (canvas.x_scale(0.0, run.about.duration.0), canvas.y_scale(0.0, most));
    canvas.y_axis(y, most, "agents per cycle");
    let period = run.about.evaluation_period.0 * f64::from(run.bars.cycles_per_bar);
    for (time, groups) in run.bars.times.iter().zip(&run.bars.counts) {
        let breadth = (x.at(time.0 + period) - x.at(time.0)).max(0.5) * 0.86;
        let mut base = 0;
        for outcome in STACK {
            let count = groups[group][outcome];
            if count > 0 {
                let (top, bottom) = (y.at((base + count) as f64), y.at(base as f64));
                canvas.rectangle([x.at(time.0), top], [breadth, bottom - top], OUTCOME_COLOURS[outcome]);
            }
            base += count;
        }
    }
    handovers(run, group, &mut canvas);
    canvas.x_axis(x, run.about.duration.0, "time, ms");
    for (place, outcome) in STACK.into_iter().enumerate() {
        let left = 150.0 + place as f64 * 62.0;
        canvas.rectangle([left, 5.0], [7.0, 7.0], OUTCOME_COLOURS[outcome]);
        canvas.soft_text([left + 10.0, 12.0], OUTCOMES[outcome], Anchor::Start);
    }
    canvas.finish(&title)
}

/// The first connections, in step 0, are left out: they would dwarf the rest.
fn handovers(run: &Run, group: usize, canvas: &mut Canvas) {
    let steps = &run.figures[group].steps;
    let most = steps.iter().skip(1).map(|step| step.0).max().unwrap_or(0).max(1) as f64;
    let (x, y) = (canvas.x_scale(0.0, run.about.duration.0), canvas.y_scale(0.0, most * 2.4));
    let mut path = String::new();
    for (place, step) in steps.iter().enumerate().skip(1) {
        let start = place as f64 * run.about.step.0;
        let end = (start + run.about.step.0).min(run.about.duration.0);
        let word = if path.is_empty() { 'M' } else { 'L' };
        path += &format!("{word}{:.2} {:.2}H{:.2}", x.at(start), y.at(step.0 as f64), x.at(end));
    }
    if !path.is_empty() {
        canvas.path(&path, r##"fill="none" stroke="#ffffff" stroke-width="2.6""##);
        canvas.path(&path, r##"fill="none" stroke="#1c2128" stroke-width="0.9""##);
    }
    for value in ticks(most, 2) {
        canvas.soft_text([canvas.right + 6.0, y.at(value) + 3.0], &number(value), Anchor::Start);
    }
    canvas.soft_text([canvas.width, canvas.top - 12.0], "handovers per step", Anchor::End);
}

/// For each step, how many cycles had an operation; the steps without a movement are pale.
pub(super) fn steady(run: &Run) -> String {
    let title = format!("Cycles to the steady state, {}", run.label);
    let mut canvas = Canvas::new(336.0, 160.0, 12.0);
    let figures = &run.figures[0];
    if figures.steps.len() < 2 {
        return canvas.nothing("The run has one step only.", &title);
    }
    let most = figures.steps.iter().skip(1).map(|step| step.2).max().unwrap_or(0).max(2) as f64;
    let last = figures.steps.len() as f64;
    let (x, y) = (canvas.x_scale(0.5, last - 0.5), canvas.y_scale(0.0, most));
    canvas.y_axis(y, most, "cycles with an operation");
    let breadth = (x.at(1.0) - x.at(0.0)) * 0.62;
    for (place, (movements, _, active)) in figures.steps.iter().enumerate().skip(1) {
        let top = y.at(*active as f64);
        let colour = if *movements > 0 { "#4477AA" } else { "#c4d3e2" };
        canvas.rectangle([x.at(place as f64) - breadth / 2.0, top], [breadth, y.at(0.0) - top], colour);
    }
    if let Some((mean, _)) = figures.cycles_to_steady_state {
        let (height, left, right) = (y.at(mean), canvas.left, canvas.right);
        canvas.path(
            &format!("M{left:.2} {height:.2}H{right:.2}"),
            r##"stroke="#1c2128" stroke-width="0.8" stroke-dasharray="3 2""##,
        );
        canvas.text([right, canvas.top - 12.0], &format!("mean {mean:.2}"), Anchor::End);
    }
    canvas.x_axis(x, last - 1.0, "step");
    canvas.finish(&title)
}
