//! A figure as rows: the mean for each policy in each variant, with its 95 % confidence interval.

use super::axis::{Axis, AxisKind};
use super::names::{in_lines, settings, shortened, wrapped};
use super::scene::GRID;
use super::scene::{Anchor, INK, SOFT, Scene, TEXT_SIZE, room_for, series_colour};
use super::study::{LINE, Point, RIGHT, TOP, WIDTH, axis_title, ends};
use crate::study::Results;

const ROW: f64 = 16.0;
/// The width of names from which their common beginning is left out.
const NAME_WIDTH_MAX: f64 = 150.0;
/// The minimum width of the plot. With long names, the figure is wider.
const PLOT_WIDTH_MIN: f64 = 150.0;

/// A row, or a heading without a point.
struct Row<'a> {
    lines: Vec<String>,
    point: Option<&'a Point<'a>>,
}

impl Row<'_> {
    fn height(&self) -> f64 {
        ROW + LINE * (self.lines.len() - 1) as f64
    }
}

/// Draws a row for each variant and policy in which the figure is defined. With several policies, a heading names each
/// variant; with one, each row does.
pub(super) fn rows(results: &Results, title: &str, points: &[Point<'_>], kind: AxisKind) -> Scene {
    let policies = &results.identity.policies;
    let has_variants = points.iter().any(|point| !point.variant.is_empty());
    let has_headings = has_variants && policies.len() > 1;
    let names = if has_variants && !has_headings {
        points.iter().map(|point| wrapped(&settings(point.variant), ", ", NAME_WIDTH_MAX)).collect()
    } else {
        let short = shortened(policies, NAME_WIDTH_MAX);
        points.iter().map(|point| vec![short[point.policy].clone()]).collect::<Vec<Vec<String>>>()
    };
    let indent = if has_headings { 8.0 } else { 0.0 };
    let widest = names.iter().flatten().map(|name| room_for(name, TEXT_SIZE)).fold(40.0, f64::max);
    let left = indent + widest + 8.0;
    let width = WIDTH.max(left + PLOT_WIDTH_MIN + RIGHT);
    let rows = with_headings(points, names, has_headings, width);
    let bottom = TOP + rows.iter().map(Row::height).sum::<f64>();
    let axis = Axis::of_intervals(points.iter().map(Point::interval), left, width - RIGHT, 4, kind);
    let title = in_lines(&axis_title(title, &axis), width);
    let mut scene = Scene::new(&title.join(" "), width, bottom + 18.0 + LINE * title.len() as f64);
    for (value, word) in axis.ticks() {
        scene.line(&[[axis.at(value), TOP], [axis.at(value), bottom]], 0.6, GRID);
        scene.text([axis.at(value), bottom + 13.0], &word, Anchor::Middle, SOFT);
    }
    let mut top = TOP;
    for row in &rows {
        let y = top + row.height() / 2.0;
        let first = y + 3.0 - LINE * (row.lines.len() - 1) as f64 / 2.0;
        for (nth, line) in row.lines.iter().enumerate() {
            let height = first + LINE * nth as f64;
            match row.point {
                Some(_) => scene.text([left - 6.0, height], line, Anchor::End, INK),
                None => scene.text([0.0, height], line, Anchor::Start, SOFT),
            }
        }
        if let Some(point) = row.point {
            let [low, high] = ends(&point.estimate);
            scene.line(&[[axis.at(low), y], [axis.at(high), y]], 1.2, series_colour(point.policy));
            scene.marker([axis.at(point.estimate.mean), y], 2.8, point.policy);
        }
        top += row.height();
    }
    scene.centred(&title, f64::midpoint(left, width - RIGHT), bottom + 13.0 + LINE);
    let of = if has_variants && policies.len() == 1 { format!(", {}", policies[0]) } else { String::new() };
    scene.text([0.0, 10.0], &format!("mean and 95 % interval{of}"), Anchor::Start, SOFT);
    scene
}

fn with_headings<'a>(points: &'a [Point<'a>], names: Vec<Vec<String>>, has_headings: bool, width: f64) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    let mut variant: Option<&[String]> = None;
    for (point, lines) in points.iter().zip(names) {
        if has_headings && variant != Some(point.variant) {
            variant = Some(point.variant);
            rows.push(Row { lines: wrapped(&settings(point.variant), ", ", width), point: None });
        }
        rows.push(Row { lines, point: Some(point) });
    }
    rows
}
