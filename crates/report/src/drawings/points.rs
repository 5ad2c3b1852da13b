//! A scatter plot of the movements and operations in each step.

use std::collections::BTreeMap;

use mario_page::drawing::{
    Anchor, Canvas, Chart, Csv, Element, FAINT, INK, Layout, Room, Scale, Steps, amount, fixed, list, nothing, plural,
    rounded, text, ticks,
};

use super::WIDTHS;
use crate::run::Run;
use crate::series::operations;

/// Returns the largest numbers of movements and of operations in a step, over all runs; at least 1.
pub(super) fn most(runs: &[Run], group: usize) -> [f64; 2] {
    let steps = runs.iter().flat_map(|run| run.figures[group.min(run.figures.len() - 1)].steps.iter().skip(1));
    let most = steps.fold([1, 1], |[movements, changes], (moved, counts, _)| {
        [movements.max(*moved), changes.max(operations(counts))]
    });
    most.map(|count| count as f64)
}

/// Draws one point for each step after the first. Several points at one position become one larger point. `most` are
/// the ends of the axes.
pub(super) fn chart(run: &Run, group: usize, most: [f64; 2]) -> Chart {
    let mut points: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
    for (step, (movements, counts, _)) in run.figures[group].steps.iter().enumerate().skip(1) {
        points.entry((*movements, operations(counts))).or_default().push(step.to_string());
    }
    if points.is_empty() {
        return Chart::still(WIDTHS.iter().map(|width| nothing(*width, "The run has one step only.")));
    }
    Chart::still(WIDTHS.iter().map(|width| layout(run, group, &points, most, *width)))
}

fn layout(run: &Run, group: usize, points: &BTreeMap<(u64, u64), Vec<String>>, most: [f64; 2], width: f64) -> Layout {
    let [right, top] = most.map(|most| most * 1.06);
    let mut canvas = Canvas::new(width, 250.0, Room::for_axes(top, 14.0));
    let (x, y) = (Scale::new((0.0, right), (canvas.left + 8.0, canvas.right)), canvas.y_scale(0.0, top));
    canvas.y_axis(y, top, Steps::Whole, "operations in the step");
    let numbers = ticks(0.0, right, 6, Steps::Whole).into_iter().map(|movements| (x.at(movements), amount(movements)));
    canvas.x_axis(numbers, "movements in the step");
    let r = run.figures[group].pearson_r;
    if r.is_some() {
        canvas.add(trend(points, (x, right), (y, top)));
    }
    for ((movements, operations), steps) in points {
        let radius = 3.6 * (steps.len() as f64).sqrt();
        let point = Element::circle([x.at(*movements as f64), y.at(*operations as f64)], radius, "var(--migrate)");
        let point = point.with("fill-opacity", 0.72).with("stroke", "var(--card)").with("stroke-width", 1.0);
        let word = if steps.len() == 1 { "step" } else { "steps" };
        let both = format!("{}, {}", plural(*movements, "movement"), plural(*operations, "operation"));
        canvas.add(point.tip(format!("{both}\n{word} {}", list(steps))));
    }
    let words = if r.is_some() { format!("r = {}", fixed(r, 3)) } else { "r n/a".to_owned() };
    let statistic = text([canvas.right, canvas.top - 12.0], &words, Anchor::End, INK).with("class", "statistic");
    canvas.add(statistic.with("font-size", 15.0).with("font-weight", 600.0));
    canvas.finish()
}

/// Returns the least-squares line through the points, clipped to the box.
fn trend(points: &BTreeMap<(u64, u64), Vec<String>>, (x, right): (Scale, f64), (y, top): (Scale, f64)) -> Element {
    let weighted = || points.iter().map(|((x, y), steps)| (*x as f64, *y as f64, steps.len() as f64));
    let many = weighted().map(|(_, _, weight)| weight).sum::<f64>();
    let middle = weighted().map(|(x, _, weight)| x * weight).sum::<f64>() / many;
    let height = weighted().map(|(_, y, weight)| y * weight).sum::<f64>() / many;
    let across = weighted().map(|(x, _, weight)| (x - middle).powi(2) * weight).sum::<f64>();
    let slope = weighted().map(|(x, y, weight)| (x - middle) * (y - height) * weight).sum::<f64>() / across;
    let at = |movements: f64| height + slope * (movements - middle);
    let (mut start, mut end) = (0.0, right);
    if slope != 0.0 {
        let crossings = [(0.0 - at(0.0)) / slope, (top - at(0.0)) / slope];
        start = crossings[0].min(crossings[1]).clamp(0.0, right);
        end = crossings[0].max(crossings[1]).clamp(0.0, right);
    }
    let place = |movements: f64| format!("{} {}", rounded(x.at(movements)), rounded(y.at(at(movements))));
    Element::line(format!("M{}L{}", place(start), place(end)), FAINT, 1.2).dashed("4 4")
}

pub(super) fn csv(run: &Run) -> Csv {
    let mut csv = Csv::new(["step", "group", "movements", "operations"]);
    for (name, figures) in run.groups.iter().zip(&run.figures) {
        for (step, (movements, counts, _)) in figures.steps.iter().enumerate() {
            csv.push([&step.to_string(), name, &movements.to_string(), &operations(counts).to_string()]);
        }
    }
    csv
}
