//! What runs cost, by the size of their world.

use super::super::scale::Scale;
use super::application_colour;
use super::canvas::{Anchor, Canvas, number};
use crate::scale::Measured;

/// What is drawn: a name for the file, a title with the unit, and the value.
type Measure = (&'static str, &'static str, Axis, fn(&Measured) -> f64);

/// How values go up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    Linear,
    Logarithmic,
}

const MEASURES: [Measure; 3] = [
    ("cpu", "CPU time for each agent and cycle, ns", Axis::Linear, |point| point.cpu_ns_per_agent_cycle),
    ("memory", "memory at most, MB", Axis::Logarithmic, |point| point.peak_bytes as f64 / 1e6),
    ("evaluated", "decisions evaluated of those asked, %", Axis::Linear, |point| {
        100.0 * point.evaluated as f64 / point.asked.max(1) as f64
    }),
];

/// One drawing for each measure: its name and its content.
pub(super) fn drawings(scales: &[Scale]) -> Vec<(&'static str, String)> {
    if scales.is_empty() {
        return Vec::new();
    }
    MEASURES.iter().map(|measure| (measure.0, drawing(scales, measure))).collect()
}

/// Lines over nodes on a logarithmic axis.
fn drawing(scales: &[Scale], (_, title, axis, value): &Measure) -> String {
    let mut canvas = Canvas::new(336.0, 190.0, if scales.len() > 1 { 84.0 } else { 16.0 });
    let points = || scales.iter().flat_map(|scale| &scale.points);
    let low = points().map(|point| point.nodes).min().unwrap_or(1) as f64;
    let high = points().map(|point| point.nodes).max().unwrap_or(1) as f64;
    let x = canvas.x_scale(low.log10() - 0.05, high.log10() + 0.05);
    let height = vertical(&mut canvas, *axis, &points().map(value).collect::<Vec<f64>>(), title);
    let mut floor = f64::NEG_INFINITY;
    for (place, scale) in scales.iter().enumerate() {
        let colour = application_colour(place * 4);
        let at = |point: &Measured| [x.at((point.nodes as f64).log10()), height(value(point))];
        let steps: Vec<String> =
            scale.points.iter().map(|point| at(point).map(|place| format!("{place:.1}")).join(" ")).collect();
        canvas.path(&format!("M{}", steps.join("L")), &format!(r#"fill="none" stroke="{colour}" stroke-width="1.3""#));
        for point in &scale.points {
            canvas.circle(at(point), 2.4, &format!(r##"fill="{colour}" stroke="#ffffff" stroke-width="0.6""##));
        }
        if let (Some(last), true) = (scale.points.last(), scales.len() > 1) {
            let place = at(last)[1].max(floor + 11.0);
            floor = place;
            canvas.text([canvas.right + 5.0, place + 3.0], &scale.name, Anchor::Start);
        }
    }
    let mut sizes: Vec<u64> = points().map(|point| point.nodes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut free = f64::NEG_INFINITY;
    for size in sizes {
        let place = x.at((size as f64).log10());
        if place > free {
            canvas.soft_text([place, canvas.bottom + 14.0], &number(size as f64), Anchor::Middle);
            free = place + 40.0;
        }
    }
    canvas.soft_text([f64::midpoint(canvas.left, canvas.right), canvas.height - 4.0], "nodes", Anchor::Middle);
    canvas.finish(title)
}

/// Draws the axis on the left; returns the height of a value.
fn vertical(canvas: &mut Canvas, axis: Axis, values: &[f64], title: &str) -> impl Fn(f64) -> f64 + use<> {
    let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let least = values.iter().copied().filter(|value| *value > 0.0).fold(most, f64::min);
    let (first, last) = (least.log10().floor(), most.log10().ceil().max(least.log10().floor() + 1.0));
    let scale = match axis {
        Axis::Linear => canvas.y_scale(0.0, most),
        Axis::Logarithmic => canvas.y_scale(first, last),
    };
    match axis {
        Axis::Linear => canvas.y_axis(scale, most, title),
        Axis::Logarithmic => {
            for power in first as i32..=last as i32 {
                canvas.y_tick(scale.at(f64::from(power)), 10_f64.powi(power));
            }
            canvas.soft_text([0.0, canvas.top - 12.0], title, Anchor::Start);
        }
    }
    move |value| match axis {
        Axis::Linear => scale.at(value),
        Axis::Logarithmic => scale.at(value.max(10_f64.powf(first)).log10()),
    }
}
