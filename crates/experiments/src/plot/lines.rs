//! A figure as lines: the mean for each policy over the values of a key, with its 95 % confidence interval.

use super::axis::{Axis, AxisKind};
use super::names::{in_lines, shortened};
use super::scene::{Anchor, GRID, INK, SOFT, Scene, TEXT_SIZE, room_for, series_colour, series_dash};
use super::study::{LINE, Point, RIGHT, WIDTH, axis_title, ends};
use crate::statistics::Estimate;
use crate::study::Results;

const PLOT_HEIGHT: f64 = 190.0;
/// The length of a line in the legend.
const SAMPLE: f64 = 26.0;

/// The values of a key, in the order of variants.
pub(super) struct Varied {
    pub(super) key: String,
    /// The labels of the values.
    pub(super) texts: Vec<String>,
    pub(super) values: Vec<f64>,
    /// The unit of the values; empty if they have none.
    pub(super) unit: String,
}

/// Draws a line for each policy over the values of a key.
pub(super) fn lines(results: &Results, title: &str, varied: &Varied, points: &[Point<'_>], kind: AxisKind) -> Scene {
    let y_values = || points.iter().map(Point::interval);
    let widest =
        |ticks: Vec<(f64, String)>| ticks.iter().map(|(_, word)| room_for(word, TEXT_SIZE)).fold(20.0, f64::max);
    let left = widest(Axis::of_intervals(y_values(), 1.0, 0.0, 5, kind).ticks()) + 10.0;
    let policies = shortened(&results.identity.policies, WIDTH - left - SAMPLE - 6.0);
    let name_width = policies.iter().map(|name| room_for(name, TEXT_SIZE)).fold(0.0, f64::max);
    let width = WIDTH.max(left + SAMPLE + 6.0 + name_width);
    let right = width - RIGHT;
    let is_logarithmic = Axis::of_intervals(y_values(), 1.0, 0.0, 5, kind).is_logarithmic();
    let title = if is_logarithmic { format!("{title} (logarithmic axis)") } else { title.to_owned() };
    let head = in_lines(&title, width);
    let legend = 12.0 + LINE * head.len() as f64;
    let top = legend + 12.0 * policies.len() as f64 + 2.0;
    let bottom = top + PLOT_HEIGHT;
    let x = Axis::over(varied.values.iter().copied(), left + 6.0, right, 6, AxisKind::Auto);
    let y = Axis::of_intervals(y_values(), bottom, top, 5, kind);
    let unit = &varied.unit;
    let key = if unit.is_empty() { varied.key.clone() } else { format!("{}, {unit}", varied.key) };
    let foot = in_lines(&axis_title(&key, &x), width);
    let mut scene = Scene::new(&title, width, bottom + 18.0 + LINE * foot.len() as f64);
    for (value, word) in y.ticks() {
        scene.line(&[[left, y.at(value)], [right, y.at(value)]], 0.6, GRID);
        scene.text([left - 6.0, y.at(value) + 3.0], &word, Anchor::End, SOFT);
    }
    add_x_axis(&mut scene, varied, &x, bottom);
    for (nth, line) in head.iter().enumerate() {
        scene.text([0.0, 10.0 + LINE * nth as f64], line, Anchor::Start, SOFT);
    }
    scene.centred(&foot, f64::midpoint(left, right), bottom + 14.0 + LINE);
    for (place, name) in policies.iter().enumerate() {
        let height = legend + 12.0 * place as f64;
        let sample = [[left, height], [left + SAMPLE, height]];
        scene.dashed(&sample, 1.2, series_colour(place), series_dash(place));
        scene.marker([left + SAMPLE / 2.0, height], 2.4, place);
        scene.text([left + SAMPLE + 6.0, height + 3.0], name, Anchor::Start, INK);
        let value = |point: &Point<'_>| {
            let variant = results.identity.variants.iter().position(|variant| variant == point.variant);
            varied.values[variant.unwrap_or(0)]
        };
        let own = points.iter().filter(|point| point.policy == place);
        add_line(&mut scene, place, own.map(|point| (value(point), &point.estimate)).collect(), (&x, &y));
    }
    scene
}

/// Draws a tick at each value of the key, with its number unless that would touch the one before it. The last value
/// always has its number.
fn add_x_axis(scene: &mut Scene, varied: &Varied, x: &Axis, bottom: f64) {
    let mut ticks: Vec<(f64, &str)> =
        varied.values.iter().map(|value| x.at(*value)).zip(varied.texts.iter().map(String::as_str)).collect();
    ticks.sort_by(|one, other| one.0.total_cmp(&other.0));
    ticks.dedup_by(|one, other| one.0.to_bits() == other.0.to_bits());
    let half = |word: &str| room_for(word, TEXT_SIZE) / 2.0 + 2.0;
    let end = ticks.last().map_or(f64::INFINITY, |(place, word)| place - half(word));
    let mut free = f64::NEG_INFINITY;
    for (nth, (place, word)) in ticks.iter().enumerate() {
        scene.line(&[[*place, bottom], [*place, bottom + 3.0]], 0.6, SOFT);
        let is_last = nth + 1 == ticks.len();
        if is_last || (place - half(word) >= free && place + half(word) <= end) {
            scene.text([*place, bottom + 13.0], word, Anchor::Middle, SOFT);
            free = place + half(word);
        }
    }
}

fn add_line(scene: &mut Scene, place: usize, mut own: Vec<(f64, &Estimate)>, (x, y): (&Axis, &Axis)) {
    let colour = series_colour(place);
    own.sort_by(|one, other| one.0.total_cmp(&other.0));
    let line: Vec<[f64; 2]> = own.iter().map(|(value, estimate)| [x.at(*value), y.at(estimate.mean)]).collect();
    if line.len() > 1 {
        scene.dashed(&line, 1.2, colour, series_dash(place));
    }
    for ((value, estimate), centre) in own.iter().zip(&line) {
        let [low, high] = ends(estimate);
        scene.line(&[[x.at(*value), y.at(low)], [x.at(*value), y.at(high)]], 0.8, colour);
        scene.marker(*centre, 2.4, place);
    }
}
