//! Movements against operations.

use std::collections::BTreeMap;

use super::super::run::Run;
use super::super::series::operations;
use super::canvas::{Anchor, Canvas};

/// One point for each step after the first; several at one place are one larger point.
pub(super) fn scatter(run: &Run, group: usize) -> String {
    let title = format!("Movements and operations, {}, {}", run.label, run.groups[group]);
    let mut canvas = Canvas::new(336.0, 220.0, 12.0);
    let figures = &run.figures[group];
    let mut points: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for (movements, counts, _) in figures.steps.iter().skip(1) {
        *points.entry((*movements, operations(counts))).or_default() += 1;
    }
    if points.is_empty() {
        return canvas.nothing("The run has one step only.", &title);
    }
    let right = points.keys().map(|point| point.0).max().unwrap_or(0).max(1) as f64;
    let top = points.keys().map(|point| point.1).max().unwrap_or(0).max(1) as f64;
    let (x, y) = (canvas.x_scale(-right * 0.04, right * 1.04), canvas.y_scale(0.0, top * 1.05));
    canvas.y_axis(y, top, "operations in the step");
    for ((movements, operations), count) in &points {
        let radius = 2.8 * (*count as f64).sqrt();
        canvas.circle(
            [x.at(*movements as f64), y.at(*operations as f64)],
            radius,
            r##"fill="#4477AA" fill-opacity="0.75" stroke="#ffffff" stroke-width="0.6""##,
        );
    }
    canvas.x_axis(x, right, "movements in the step");
    let r = figures.pearson_r.map_or_else(|| "r n/a".to_owned(), |r| format!("r = {r:.3}").replace('-', "\u{2212}"));
    canvas.text([canvas.right, canvas.top - 12.0], &r, Anchor::End);
    canvas.finish(&title)
}
