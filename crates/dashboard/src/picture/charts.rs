//! The charts of the page: instances, client requests and response times of applications in the last five minutes.

use std::collections::{BTreeMap, BTreeSet};

use mario_page::drawing::{
    Canvas, Chart, Csv, Element, INK, Layout, Part, Room, Stack, Steps, TimeAxis, amount, application_colour, fixed,
    rounded, spread, width_of,
};
use serde::Serialize;

use super::history::{ApplicationSample, History, Point};

/// The maximum number of points that are drawn: five minutes, at one a second.
const POINTS_DRAWN: usize = 300;
/// The maximum number of lines in a chart. More could not be labelled.
const LINES_MAX: usize = 12;
/// The minimum and the maximum width of a chart, in pixels. Other widths are clamped.
const WIDTHS: [f64; 2] = [240.0, 1_600.0];

/// A chart, and the texts around it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ShownChart {
    /// The name of its files, without extension.
    name: &'static str,
    title: &'static str,
    caption: Option<String>,
    #[cfg_attr(test, ts(type = "Chart"))]
    chart: Chart,
}

/// A quantity that is drawn over time.
struct Quantity {
    name: &'static str,
    title: &'static str,
    label: &'static str,
    value: fn(&ApplicationSample) -> Option<f64>,
}

/// Instances are stacked, because their total is meaningful; the other quantities are lines.
const INSTANCES: Quantity = Quantity {
    name: "instances",
    title: "Instances over time",
    label: "instances",
    value: |sample| Some(sample.instances as f64),
};
const REQUESTS: Quantity = Quantity {
    name: "requests",
    title: "Client requests over time",
    label: "requests per second",
    value: |sample| sample.requests_per_s,
};
const RESPONSES: Quantity = Quantity {
    name: "responses",
    title: "Response times over time, 95th percentile",
    label: "ms",
    value: |sample| sample.p95_ms,
};

/// The index of each application's colour in the palette, by application.
pub(super) type Colours = BTreeMap<String, usize>;

/// Draws a chart for each quantity that was measured, at a width in pixels. Empty if there are fewer than two points.
pub(super) fn charts(history: &History, colours: &Colours, width: f64) -> Vec<ShownChart> {
    let width = width.clamp(WIDTHS[0], WIDTHS[1]);
    let points = history.last(POINTS_DRAWN);
    let (Some(first), Some(last), true) = (points.first(), points.last(), points.len() > 1) else { return Vec::new() };
    let seconds = |point: &Point| -(last.time_ms.saturating_sub(point.time_ms) as f64) / 1_000.0;
    let times: Vec<f64> = points.iter().map(|point| seconds(point)).collect();
    let axis = TimeAxis { start: seconds(first), end: 0.0, label: "seconds before now" };
    let mut shown = Vec::new();
    for Quantity { name, title, label, value } in [INSTANCES, REQUESTS, RESPONSES] {
        let lines: Vec<Line> = colours.iter().filter_map(|named| Line::read(&points, named, value)).collect();
        if lines.is_empty() {
            continue;
        }
        let times = times.clone();
        let (chart, caption) = if name == INSTANCES.name {
            let parts = lines.into_iter().map(Line::counts).collect();
            let stack = Stack { label, axis, times, parts };
            (stack.chart(&[width], "", before_now), None)
        } else {
            let lines = Lines::new(label, axis, times, lines);
            (lines.chart(width), lines.caption())
        };
        shown.push(ShownChart { name, title, caption, chart });
    }
    shown
}

/// The data of a chart: all points that are kept. `None` if there is no such chart.
pub(super) fn csv(history: &History, name: &str) -> Option<Csv> {
    let quantity = [INSTANCES, REQUESTS, RESPONSES].into_iter().find(|quantity| quantity.name == name)?;
    let points = history.last(usize::MAX);
    let names: BTreeSet<&String> = points.iter().flat_map(|point| point.applications.keys()).collect();
    let mut csv = Csv::new(std::iter::once("time_ms").chain(names.iter().map(|name| name.as_str())));
    for point in points {
        let value = |name: &&String| point.applications.get(*name).and_then(quantity.value);
        let values = names.iter().map(|name| value(name).map_or_else(String::new, |value| value.to_string()));
        csv.push(std::iter::once(point.time_ms.to_string()).chain(values));
    }
    Some(csv)
}

fn before_now(time: f64) -> String {
    format!("{} s before now", fixed(Some(-time), 0))
}

/// The values of one application over time.
struct Line {
    name: String,
    colour: String,
    /// `None` where nothing was measured.
    values: Vec<Option<f64>>,
}

impl Line {
    /// The line of one application; `None` if none of its values was measured.
    fn read(
        points: &[&Point],
        (name, colour): (&String, &usize),
        value: fn(&ApplicationSample) -> Option<f64>,
    ) -> Option<Line> {
        let values = points.iter().map(|point| point.applications.get(name).and_then(value));
        let values: Vec<Option<f64>> = values.collect();
        let is_measured = values.iter().any(Option::is_some);
        is_measured.then(|| Line { name: name.clone(), colour: application_colour(*colour), values })
    }

    fn counts(self) -> Part {
        let counts = self.values.into_iter().map(|value| value.unwrap_or(0.0) as u64).collect();
        Part { name: self.name, colour: self.colour, counts }
    }

    fn most(&self) -> f64 {
        self.values.iter().flatten().copied().fold(0.0, f64::max)
    }

    /// The SVG path of the line, with gaps where nothing was measured.
    fn path(&self, places: &[f64], height: impl Fn(f64) -> f64) -> String {
        let mut path = String::new();
        let mut is_down = false;
        for (place, value) in places.iter().zip(&self.values) {
            if let Some(value) = value {
                let word = if is_down { 'L' } else { 'M' };
                path += &format!("{word}{:.1} {:.1}", place, height(*value));
            }
            is_down = value.is_some();
        }
        path
    }
}

/// Lines over time.
struct Lines {
    label: &'static str,
    axis: TimeAxis,
    times: Vec<f64>,
    drawn: Vec<Line>,
    /// The number of lines, including those that are not drawn.
    count: usize,
}

impl Lines {
    /// Keeps at most [`LINES_MAX`] lines, those with the highest maxima.
    fn new(label: &'static str, axis: TimeAxis, times: Vec<f64>, mut lines: Vec<Line>) -> Lines {
        let count = lines.len();
        if count > LINES_MAX {
            // The sort is stable: of lines with equal maxima, the first by name are kept.
            lines.sort_by(|one, other| other.most().total_cmp(&one.most()));
            lines.truncate(LINES_MAX);
            lines.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Lines { label, axis, times, drawn: lines, count }
    }

    fn caption(&self) -> Option<String> {
        let is_short = self.drawn.len() < self.count;
        is_short.then(|| format!("The {LINES_MAX} of {} applications with the highest values.", self.count))
    }

    fn chart(&self, width: f64) -> Chart {
        let tip = |place: usize| {
            let measured = self.drawn.iter().filter_map(|line| Some((line.name.as_str(), line.values[place]?)));
            let lines = measured.map(|(name, value)| format!("\n{name} {}", amount(value)));
            before_now(self.times[place]) + &lines.collect::<String>()
        };
        let tips = (0..self.times.len()).map(tip).collect();
        let edges = self.times.iter().copied().chain([self.axis.end]).collect();
        Chart { parts: Vec::new(), layouts: vec![self.layout(width)], tips, edges }
    }

    fn layout(&self, width: f64) -> Layout {
        let most = self.drawn.iter().map(Line::most).fold(1.0, f64::max);
        let longest = self.drawn.iter().map(|line| width_of(&line.name)).fold(24.0, f64::max);
        let mut canvas = Canvas::new(width, 236.0, Room::for_axes(most, (26.0 + longest).min(width * 0.4)));
        let (x, y) = (canvas.x_scale(self.axis.start, self.axis.end), canvas.y_scale(0.0, most));
        canvas.y_axis(y, most, Steps::Any, self.label);
        let places: Vec<f64> = self.times.iter().map(|time| x.at(*time)).collect();
        for line in &self.drawn {
            let path = line.path(&places, |value| y.at(value));
            canvas.add(Element::line(path, &line.colour, 1.6).with("stroke-linejoin", "round"));
        }
        let ends =
            self.drawn.iter().map(|line| y.at(line.values.iter().rev().flatten().next().copied().unwrap_or(0.0)));
        let heights = spread(&ends.collect::<Vec<f64>>(), canvas.top + 4.0, canvas.bottom - 2.0);
        for (line, height) in self.drawn.iter().zip(heights) {
            canvas.key([rounded(canvas.right) + 8.0, height], &line.colour, &line.name, INK);
        }
        canvas.time_axis(x, &self.axis);
        canvas.hover(x);
        canvas.finish()
    }
}
