//! The CPU time, memory and evaluated decisions of runs by number of nodes: one line for each file of measurements.

use mario_page::drawing::{
    Anchor, Canvas, Chart, Csv, Element, Layout, Room, Steps, amount, application_colour, plural, rounded, spread,
    text, ticks, whole, width_of,
};

use super::WIDTHS;
use crate::scale::Scale as Measurements;
use mario_experiments::scale::ScaleMeasurement;

/// A measured quantity that is drawn.
pub(super) struct Measure {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    label: &'static str,
    unit: &'static str,
    axis: Axis,
    value: fn(&ScaleMeasurement) -> f64,
}

/// The scale of the vertical axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    Linear,
    Logarithmic,
}

pub(super) const MEASURES: [Measure; 3] = [
    Measure {
        name: "cpu",
        title: "CPU time",
        label: "ns for each agent and cycle",
        unit: "ns for each agent and cycle",
        axis: Axis::Linear,
        value: |point| point.cpu_ns_per_agent_cycle,
    },
    Measure {
        name: "memory",
        title: "Memory",
        label: "MB at most, on a logarithmic axis",
        unit: "MB at most",
        axis: Axis::Logarithmic,
        value: |point| point.peak_bytes as f64 / 1e6,
    },
    Measure {
        name: "evaluated",
        title: "Decisions evaluated",
        label: "% of those asked",
        unit: "% of those asked",
        axis: Axis::Linear,
        value: |point| 100.0 * point.evaluated as f64 / point.asked.max(1) as f64,
    },
];

/// The maximum length of a name; longer ones are truncated.
const NAME_MAX: usize = 20;

pub(super) fn chart(all: &[Measurements], measure: &Measure) -> Chart {
    Chart::still(WIDTHS.iter().map(|width| layout(all, measure, *width)))
}

/// Draws a measure over the number of nodes, which is on a logarithmic axis.
fn layout(all: &[Measurements], measure: &Measure, width: f64) -> Layout {
    let is_named = all.len() > 1;
    let names: Vec<String> = all.iter().map(|one| short(&one.name)).collect();
    let longest = names.iter().map(|name| width_of(name)).fold(0.0, f64::max);
    let right = if is_named { (14.0 + longest).min(width * 0.35) } else { 22.0 };
    let mut canvas = Canvas::new(width, 236.0, Room { left: 48.0, right, top: 36.0, bottom: 38.0 });
    let points = || all.iter().flat_map(|one| &one.points);
    let mut sizes: Vec<u64> = points().map(|point| point.nodes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let ends = [sizes.first(), sizes.last()].map(|size| (size.copied().unwrap_or(1) as f64).log10());
    let scale = canvas.x_scale(ends[0] - 0.06, ends[1] + 0.06);
    let x = |nodes: u64| scale.at((nodes as f64).log10());
    let values: Vec<f64> = points().map(measure.value).collect();
    let y = vertical(&mut canvas, measure, &values);
    for (index, one) in all.iter().enumerate() {
        let colour = application_colour(index * 4);
        let at = |point: &ScaleMeasurement| [x(point.nodes), y((measure.value)(point))];
        let corners = one.points.iter().map(|point| at(point).map(|place| rounded(place).to_string()).join(" "));
        let path = format!("M{}", corners.collect::<Vec<String>>().join("L"));
        canvas.add(Element::line(path, &colour, 2.0));
        for point in &one.points {
            let circle = Element::circle(at(point), 4.0, &colour).with("class", "scale-point");
            let circle = circle.with("stroke", "var(--card)").with("stroke-width", 1.5);
            canvas.add(circle.tip(tip(is_named.then_some(one.name.as_str()), measure, point)));
        }
    }
    if is_named {
        let lasts = all.iter().filter_map(|one| one.points.last()).map(|last| y((measure.value)(last)));
        let heights = spread(&lasts.collect::<Vec<f64>>(), canvas.top, canvas.bottom);
        for (index, (name, height)) in names.iter().zip(heights).enumerate() {
            let place = [canvas.right + 8.0, height + 4.0];
            canvas.add(text(place, name, Anchor::Start, &application_colour(index * 4)));
        }
    }
    let numbers = apart(&sizes, x);
    canvas.x_axis(numbers, "nodes");
    canvas.finish()
}

fn short(name: &str) -> String {
    if name.chars().count() <= NAME_MAX {
        return name.to_owned();
    }
    name.chars().take(NAME_MAX - 1).chain(['\u{2026}']).collect()
}

/// The positions and labels of sizes, without those whose label would overlap the previous one.
fn apart(sizes: &[u64], x: impl Fn(u64) -> f64) -> Vec<(f64, String)> {
    let mut free = f64::NEG_INFINITY;
    let mut shown = Vec::new();
    for size in sizes {
        let (place, number) = (x(*size), whole(*size as f64));
        let room = width_of(&number) / 2.0 + 5.0;
        if place - room >= free {
            free = place + room;
            shown.push((place, number));
        }
    }
    shown
}

fn tip(name: Option<&str>, measure: &Measure, point: &ScaleMeasurement) -> String {
    let world = [(point.nodes, "node"), (point.users, "user"), (point.agents, "agent")];
    let mut lines: Vec<String> = name.map(str::to_owned).into_iter().collect();
    lines.push(world.map(|(many, what)| plural(many, what)).join(", "));
    lines.push(format!("{} {}", amount((measure.value)(point)), measure.unit));
    lines.push(format!("{} in {} s", plural(point.cycles, "cycle"), amount(point.wall_s)));
    lines.join("\n")
}

/// Draws the vertical axis. Returns a function from a value to its vertical position.
fn vertical(canvas: &mut Canvas, measure: &Measure, values: &[f64]) -> impl Fn(f64) -> f64 + use<> {
    let most = values.iter().copied().fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let least = values.iter().copied().filter(|value| *value > 0.0).fold(most, f64::min);
    let (first, last) = (least.log10().floor(), most.log10().ceil().max(least.log10().floor() + 1.0));
    let axis = measure.axis;
    let scale = match axis {
        Axis::Linear => canvas.y_scale(0.0, most),
        Axis::Logarithmic => canvas.y_scale(first, last),
    };
    let height = move |value: f64| match axis {
        Axis::Linear => scale.at(value),
        Axis::Logarithmic => scale.at(value.max(10_f64.powf(first)).log10()),
    };
    let numbers = match axis {
        Axis::Linear => ticks(0.0, most, 4, Steps::Any),
        Axis::Logarithmic => (first as i32..=last as i32).map(|power| 10_f64.powi(power)).collect(),
    };
    for element in canvas.grid(height, &numbers) {
        canvas.add(element);
    }
    canvas.y_label(measure.label);
    height
}

pub(super) fn csv(all: &[Measurements]) -> Csv {
    let mut csv = Csv::new([
        "measurements",
        "nodes",
        "users",
        "agents",
        "cycles",
        "asked",
        "evaluated",
        "cpu_ns_per_agent_cycle",
        "peak_bytes",
        "wall_s",
    ]);
    for one in all {
        for point in &one.points {
            let whole = [point.nodes, point.users, point.agents, point.cycles, point.asked, point.evaluated];
            let mut row = vec![one.name.clone()];
            row.extend(whole.map(|number| number.to_string()));
            row.extend([
                point.cpu_ns_per_agent_cycle.to_string(),
                point.peak_bytes.to_string(),
                point.wall_s.to_string(),
            ]);
            csv.push(row);
        }
    }
    csv
}
