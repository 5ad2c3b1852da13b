//! The number of cycles with an operation in each step: how long the placement takes to become steady.

use mario_page::drawing::{
    Anchor, Canvas, Chart, Csv, Element, INK, Layout, Room, Steps, amount, nothing, plural, rounded, text, ticks,
};

use super::WIDTHS;
use crate::run::Run;
use mario_experiments::figures::MeanAndMax;

/// The ends of the axes that all runs share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Most {
    steps: usize,
    active_cycles: u64,
}

/// Returns the largest numbers of steps, and of cycles with an operation in a step after the first, over all runs.
pub(super) fn most(runs: &[Run], group: usize) -> Most {
    let mut most = Most { steps: 2, active_cycles: 2 };
    for run in runs {
        let steps = &run.figures[group.min(run.figures.len() - 1)].steps;
        most.steps = most.steps.max(steps.len());
        most.active_cycles = steps.iter().skip(1).map(|step| step.2).fold(most.active_cycles, u64::max);
    }
    most
}

/// Draws the number of cycles with an operation in each step after the first. Steps without a movement are pale.
pub(super) fn chart(run: &Run, group: usize, most: Most) -> Chart {
    if run.figures[group].steps.len() < 2 {
        return Chart::still(WIDTHS.iter().map(|width| nothing(*width, "The run has one step only.")));
    }
    Chart::still(WIDTHS.iter().map(|width| layout(run, group, most, *width)))
}

fn layout(run: &Run, group: usize, most: Most, width: f64) -> Layout {
    let figures = &run.figures[group];
    let last = most.steps as f64;
    let most = most.active_cycles as f64;
    let mut canvas = Canvas::new(width, 180.0, Room::for_axes(most, 12.0));
    let (x, y) = (canvas.x_scale(0.5, last - 0.5), canvas.y_scale(0.0, most));
    canvas.y_axis(y, most, Steps::Whole, "cycles with an operation");
    let breadth = ((x.at(1.0) - x.at(0.0)) * 0.62).max(1.0);
    for (step, (movements, _, active)) in figures.steps.iter().enumerate().skip(1) {
        if *active == 0 {
            continue;
        }
        let top = y.at(*active as f64);
        let bar =
            Element::rectangle([x.at(step as f64) - breadth / 2.0, top], [breadth, y.at(0.0) - top], "var(--migrate)");
        let [movements_in_words, cycles] = [plural(*movements, "movement"), plural(*active, "cycle")];
        let bar = bar.tip(format!("step {step}, {movements_in_words}\n{cycles} with an operation"));
        canvas.add(if *movements > 0 { bar } else { bar.with("opacity", 0.35) });
    }
    if let Some(MeanAndMax { mean, .. }) = figures.cycles_to_steady_state {
        let path = format!("M{} {}H{}", rounded(canvas.left), rounded(y.at(mean)), rounded(canvas.right));
        canvas.add(Element::line(path, INK, 1.1).dashed("4 3"));
        canvas.add(text([canvas.right, canvas.top - 14.0], &format!("mean {mean:.2}"), Anchor::End, INK));
    }
    let about = ((width / 55.0) as usize).min(8);
    let numbers = ticks(1.0, last - 1.0, about, Steps::Whole).into_iter().map(|step| (x.at(step), amount(step)));
    canvas.x_axis(numbers, "step");
    canvas.finish()
}

pub(super) fn csv(run: &Run) -> Csv {
    let mut csv = Csv::new(["step", "group", "movements", "cycles_with_an_operation"]);
    for (name, figures) in run.groups.iter().zip(&run.figures) {
        for (step, (movements, _, active)) in figures.steps.iter().enumerate() {
            csv.push([&step.to_string(), name, &movements.to_string(), &active.to_string()]);
        }
    }
    csv
}
