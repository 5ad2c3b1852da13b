//! Draws the mean of a figure for each policy with its 95 % confidence interval: as rows, or as lines over the values
//! of a key.

use super::axis::Axis;
use super::pdf::pdf;
use super::scene::{Anchor, GRID, INK, SOFT, Scene, TEXT_SIZE, series_colour, text_width};
use super::svg::svg;
use crate::measures::{LOST, Measure, Values, extra};
use crate::statistics::Estimate;
use crate::study::Results;

/// A figure as files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figure {
    /// The name of the files, without extension.
    pub name: String,
    /// As SVG.
    pub svg: String,
    /// As PDF.
    pub pdf: Vec<u8>,
}

const WIDTH: f64 = 336.0;
const ROW: f64 = 16.0;
const HEIGHT: f64 = 230.0;
const TOP: f64 = 22.0;
/// The height of the space below the plot, for the numbers and the label of the axis.
const BELOW: f64 = 34.0;
/// The maximum width of names; longer ones are truncated.
const NAME_WIDTH_MAX: f64 = 170.0;

/// The result of a policy in a variant.
struct Point<'a> {
    variant: &'a [String],
    policy: usize,
    estimate: Estimate,
}

/// Draws a figure for each of the numbers with these names, except those that no run defines: as lines if a single key
/// is varied over numbers, otherwise as rows.
pub fn figures_of(results: &Results, names: &[String]) -> Vec<Figure> {
    let drawn = |name: &String| {
        let points = points(results, name);
        if points.is_empty() {
            return None;
        }
        let title = label(name);
        let scene = match numbers(results) {
            Some((key, values)) => lines(results, &title, (&key, &values), &points),
            None => rows(results, &title, &points),
        };
        Some(Figure { name: file_name(name), svg: svg(&scene), pdf: pdf(&scene) })
    };
    names.iter().filter_map(drawn).collect()
}

fn points<'a>(results: &'a Results, name: &str) -> Vec<Point<'a>> {
    let mut points = Vec::new();
    for variant in &results.identity.variants {
        for (place, policy) in results.identity.policies.iter().enumerate() {
            let value = |values: &&Values| values.get(name).copied().flatten();
            let series: Vec<f64> = results.of(variant, policy).values().filter_map(value).collect();
            points.extend(Estimate::of(&series).map(|estimate| Point { variant, policy: place, estimate }));
        }
    }
    points
}

/// Returns the varied key and its values in the order of variants; `None` unless a single key is varied over at least
/// two values, all of them numbers.
fn numbers(results: &Results) -> Option<(String, Vec<f64>)> {
    let mut key = None;
    let mut values = Vec::new();
    for variant in &results.identity.variants {
        let [setting] = variant.as_slice() else { return None };
        let (name, value) = setting.split_once('=')?;
        if key.get_or_insert(name) != &name {
            return None;
        }
        values.push(value.trim().parse::<f64>().ok().filter(|value| value.is_finite())?);
    }
    (values.len() > 1).then(|| (key.unwrap_or_default().to_owned(), values))
}

/// The label of a figure with this name, with its unit.
fn label(name: &str) -> String {
    let with_unit =
        |title: &str, unit: &str| if unit.is_empty() { title.to_owned() } else { format!("{title}, {unit}") };
    if let Some(extra) = extra(name) {
        return with_unit(&extra.title, extra.unit);
    }
    if name == LOST {
        return "lost client requests".to_owned();
    }
    let Some((group, measure)) = name.rsplit_once('.') else { return name.to_owned() };
    let Some(measure) = Measure::ALL.into_iter().find(|known| known.as_str() == measure) else {
        return name.to_owned();
    };
    let title = if group == "all" { measure.title().to_owned() } else { format!("{}, {group}", measure.title()) };
    with_unit(&title, if measure == Measure::Response { "ms" } else { "" })
}

fn ends(estimate: &Estimate) -> [f64; 2] {
    estimate.interval.unwrap_or([estimate.mean, estimate.mean])
}

/// Draws a row for each variant and policy in which the figure is defined.
fn rows(results: &Results, title: &str, points: &[Point<'_>]) -> Scene {
    let name = |point: &Point<'_>| {
        let policy = &results.identity.policies[point.policy];
        let words =
            if point.variant.is_empty() { policy.clone() } else { format!("{policy}, {}", point.variant.join(", ")) };
        fitted(&words, NAME_WIDTH_MAX)
    };
    let names: Vec<String> = points.iter().map(name).collect();
    let left = names.iter().map(|name| text_width(name, TEXT_SIZE)).fold(40.0, f64::max) + 10.0;
    let bottom = TOP + ROW * points.len() as f64;
    let mut scene = Scene::new(title, WIDTH, bottom + BELOW);
    let axis = Axis::over(points.iter().flat_map(|point| ends(&point.estimate)), left, WIDTH - 12.0, 4);
    for (value, word) in axis.ticks() {
        scene.line(&[[axis.at(value), TOP], [axis.at(value), bottom]], 0.6, GRID);
        scene.text([axis.at(value), bottom + 13.0], &word, Anchor::Middle, SOFT);
    }
    for (place, (point, name)) in points.iter().zip(&names).enumerate() {
        let y = TOP + ROW * (place as f64 + 0.5);
        let colour = series_colour(point.policy);
        scene.text([left - 6.0, y + 3.0], name, Anchor::End, INK);
        let [low, high] = ends(&point.estimate);
        scene.line(&[[axis.at(low), y], [axis.at(high), y]], 1.2, colour);
        scene.dot([axis.at(point.estimate.mean), y], 2.8, colour);
    }
    scene.text([f64::midpoint(left, WIDTH - 12.0), bottom + BELOW - 6.0], title, Anchor::Middle, SOFT);
    scene.text([0.0, 10.0], "mean and 95 % interval", Anchor::Start, SOFT);
    scene
}

/// Draws a line for each policy over the values of a key.
fn lines(results: &Results, title: &str, (key, values): (&str, &[f64]), points: &[Point<'_>]) -> Scene {
    let policies = &results.identity.policies;
    let legend = TOP + 12.0 * policies.len() as f64;
    let (left, right, bottom) = (52.0, WIDTH - 12.0, legend + HEIGHT - BELOW);
    let mut scene = Scene::new(title, WIDTH, bottom + BELOW);
    let x = Axis::over(values.iter().copied(), left, right, 6);
    let y = Axis::over(points.iter().flat_map(|point| ends(&point.estimate)), bottom, legend, 5);
    for (value, word) in y.ticks() {
        scene.line(&[[left, y.at(value)], [right, y.at(value)]], 0.6, GRID);
        scene.text([left - 6.0, y.at(value) + 3.0], &word, Anchor::End, SOFT);
    }
    for (value, word) in x.ticks() {
        scene.text([x.at(value), bottom + 13.0], &word, Anchor::Middle, SOFT);
    }
    scene.text([0.0, 10.0], title, Anchor::Start, SOFT);
    scene.text([f64::midpoint(left, right), bottom + BELOW - 6.0], &fitted(key, right - left), Anchor::Middle, SOFT);
    for (place, policy) in policies.iter().enumerate() {
        let colour = series_colour(place);
        let height = TOP + 12.0 * place as f64;
        scene.line(&[[left, height], [left + 14.0, height]], 1.2, colour);
        scene.text([left + 20.0, height + 3.0], &fitted(policy, right - left - 20.0), Anchor::Start, INK);
        let value = |point: &Point<'_>| {
            let variant = results.identity.variants.iter().position(|variant| variant == point.variant);
            values[variant.unwrap_or(0)]
        };
        let mut own: Vec<(f64, &Estimate)> =
            points.iter().filter(|point| point.policy == place).map(|point| (value(point), &point.estimate)).collect();
        own.sort_by(|one, other| one.0.total_cmp(&other.0));
        let line: Vec<[f64; 2]> = own.iter().map(|(value, estimate)| [x.at(*value), y.at(estimate.mean)]).collect();
        if line.len() > 1 {
            scene.line(&line, 1.2, colour);
        }
        for ((value, estimate), centre) in own.iter().zip(&line) {
            let [low, high] = ends(estimate);
            scene.line(&[[x.at(*value), y.at(low)], [x.at(*value), y.at(high)]], 0.8, colour);
            scene.dot(*centre, 2.4, colour);
        }
    }
    scene
}

/// Truncates a text to a width in points. Three dots mark the truncation.
fn fitted(text: &str, width: f64) -> String {
    if text_width(text, TEXT_SIZE) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        short.push(letter);
        if text_width(&format!("{short}..."), TEXT_SIZE) > width {
            short.pop();
            break;
        }
    }
    format!("{short}...")
}

/// Converts the name of a figure to a file name: characters other than ASCII letters, digits and `_` become `-`.
fn file_name(name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Identity, RunKey};

    fn results(variants: &[&[&str]]) -> Results {
        let policies = ["one <&>", "a policy whose name is far too long for the room beside the axis of a figure"];
        let identity = Identity {
            program: "mario".to_owned(),
            scenario: serde_json::json!({"seed": 1}),
            variants: variants.iter().map(|variant| variant.iter().map(|key| (*key).to_owned()).collect()).collect(),
            policies: policies.map(str::to_owned).to_vec(),
            seeds: 3,
            inputs: std::collections::BTreeMap::new(),
            notes: Vec::new(),
        };
        let mut results = Results::new(identity);
        for (variant, keys) in results.identity.variants.clone().into_iter().enumerate() {
            for (place, policy) in policies.into_iter().enumerate() {
                for seed in 1..=3 {
                    let value = 10.0 * variant as f64 + place as f64 + seed as f64;
                    let values = Values::from([("all.response".to_owned(), Some(value)), ("money".to_owned(), None)]);
                    let key = RunKey { variant: keys.clone(), policy: policy.to_owned(), seed };
                    results.runs.insert(key, values);
                }
            }
        }
        results
    }

    #[test]
    fn a_comparison_has_a_row_for_each_policy_and_a_sweep_a_line() {
        let names = ["all.response", "money", "no.such"].map(str::to_owned);
        let rows = figures_of(&results(&[&[]]), &names);
        // Numbers that are undefined in all runs, and unknown names, are not drawn.
        assert_eq!(rows.iter().map(|figure| figure.name.as_str()).collect::<Vec<_>>(), ["all-response"]);
        assert_eq!(rows[0].svg.matches("<circle").count(), 2);
        assert!(
            rows[0].svg.contains("one &lt;&amp;&gt;") && rows[0].svg.contains("response time, ms</text>"),
            "{}",
            rows[0].svg
        );
        assert!(rows[0].svg.contains("...</text>"), "a long name is cut off");
        let lines = figures_of(&results(&[&["a.b=1"], &["a.b=2.5"], &["a.b=10"]]), &names);
        assert_eq!(lines[0].svg.matches("<circle").count(), 6);
        assert!(lines[0].svg.contains(">a.b</text>"), "{}", lines[0].svg);
        let words = figures_of(&results(&[&["a=x"], &["a=y"]]), &names);
        assert!(words[0].svg.contains("one &lt;&amp;&gt;, a=x"), "{}", words[0].svg);
        for figure in rows.iter().chain(&lines).chain(&words) {
            assert!(figure.pdf.starts_with(b"%PDF-1.4\n") && figure.pdf.ends_with(b"%%EOF\n"));
            assert!(!figure.svg.contains("NaN") && !String::from_utf8_lossy(&figure.pdf).contains("NaN"));
        }
    }
}
