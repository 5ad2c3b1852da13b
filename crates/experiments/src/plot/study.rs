//! Draws the mean of a figure for each policy with its 95 % confidence interval: as rows, or as lines over the values
//! of a key.

use mario_scenario::in_one_unit;

use super::axis::{Axis, AxisKind};
use super::lines::{Varied, lines};
use super::names::unit_of;
use super::pdf::{missing, pdf};
use super::rows::rows;
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
    /// The characters that the PDF shows as question marks, because its font does not have them: each with the first
    /// text that has it.
    pub missing: Vec<(char, String)>,
}

/// The width of a figure, unless names need more: a column of a paper.
pub(super) const WIDTH: f64 = 336.0;
/// The space on the right of the plot.
pub(super) const RIGHT: f64 = 14.0;
/// The height of the space above rows.
pub(super) const TOP: f64 = 22.0;
/// The distance of the lines of a text.
pub(super) const LINE: f64 = 12.0;

/// The result of a policy in a variant.
pub(super) struct Point<'a> {
    pub(super) variant: &'a [String],
    /// The index of the policy.
    pub(super) policy: usize,
    pub(super) estimate: Estimate,
}

impl Point<'_> {
    /// The mean, and the ends of its interval.
    pub(super) fn interval(&self) -> (f64, [f64; 2]) {
        (self.estimate.mean, ends(&self.estimate))
    }
}

/// Draws a figure for each of the numbers with these names, except those that no run defines: as lines if a single key
/// is varied over numbers, otherwise as rows. `kind` is that of the axis of the numbers.
pub fn figures_of(results: &Results, names: &[String], kind: AxisKind) -> Vec<Figure> {
    let drawn = |name: &String| {
        let points = points(results, name);
        if points.is_empty() {
            return None;
        }
        let title = label(name);
        let scene = match varied(results) {
            Some(varied) => lines(results, &title, &varied, &points, kind),
            None => rows(results, &title, &points, kind),
        };
        Some(Figure { name: file_name(name), svg: svg(&scene), pdf: pdf(&scene), missing: missing(&scene) })
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

/// Returns the varied key and its values; `None` unless a single key is varied over at least two values, all of them
/// numbers, or all of them numbers with units of one quantity.
fn varied(results: &Results) -> Option<Varied> {
    let (mut key, mut texts) = (None, Vec::new());
    for variant in &results.identity.variants {
        let [setting] = variant.as_slice() else { return None };
        let (name, value) = setting.split_once('=')?;
        if key.get_or_insert(name) != &name {
            return None;
        }
        texts.push(value.trim().trim_matches('"').to_owned());
    }
    let (values, unit) = in_one_unit(&texts)?;
    let key = key.unwrap_or_default();
    let unit = unit.unwrap_or_else(|| unit_of(key)).to_owned();
    (values.len() > 1).then(|| Varied {
        key: key.to_owned(),
        texts: values.iter().map(f64::to_string).collect(),
        values,
        unit,
    })
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

pub(super) fn ends(estimate: &Estimate) -> [f64; 2] {
    estimate.interval.unwrap_or([estimate.mean, estimate.mean])
}

/// The title of an axis; a logarithmic one says so.
pub(super) fn axis_title(title: &str, axis: &Axis) -> String {
    if axis.is_logarithmic() { format!("{title} (logarithmic axis)") } else { title.to_owned() }
}

/// Converts the name of a figure to a file name: characters other than ASCII letters, digits and `_` become `-`.
fn file_name(name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::scene::room_for;
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
            outcomes: Vec::new(),
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

    fn drawn(variants: &[&[&str]], kind: AxisKind) -> String {
        let figures = figures_of(&results(variants), &["all.response".to_owned()], kind);
        assert!(!figures[0].svg.contains("NaN") && !String::from_utf8_lossy(&figures[0].pdf).contains("NaN"));
        figures[0].svg.clone()
    }

    #[test]
    fn a_comparison_has_a_row_for_each_policy_and_a_sweep_a_line() {
        let names = ["all.response", "money", "no.such"].map(str::to_owned);
        let rows = figures_of(&results(&[&[]]), &names, AxisKind::Auto);
        // Numbers that are undefined in all runs, and unknown names, are not drawn.
        assert_eq!(rows.iter().map(|figure| figure.name.as_str()).collect::<Vec<_>>(), ["all-response"]);
        let markers = |svg: &str| [svg.matches("<circle").count(), svg.matches("<polygon").count()];
        assert_eq!(markers(&rows[0].svg), [1, 1]);
        assert!(rows[0].svg.contains("one &lt;&amp;&gt;</text>") && rows[0].svg.contains("response time, ms</text>"));
        assert!(rows[0].pdf.starts_with(b"%PDF-1.4\n") && rows[0].pdf.ends_with(b"%%EOF\n"));
        let lines = drawn(&[&["a.b=1"], &["a.b=2.5"], &["a.b=10"]], AxisKind::Auto);
        // One marker for each value, and one in the legend.
        assert_eq!(markers(&lines), [4, 4]);
        assert!(lines.contains(">a.b</text>"), "{lines}");
    }

    #[test]
    fn every_row_of_a_sweep_of_two_keys_names_both() {
        let svg = drawn(
            &[&["topology.kind=tiled-tree", "workload.period=20"], &["topology.kind=tiled-tree", "workload.period=40"]],
            AxisKind::Auto,
        );
        for period in [20, 40] {
            assert!(svg.contains(&format!(">kind = tiled-tree, period = {period} ms</text>")), "{svg}");
        }
        assert_eq!(svg.matches(">one &lt;&amp;&gt;</text>").count(), 2);
    }

    #[test]
    fn long_names_are_whole_and_inside_the_figure() {
        for svg in [drawn(&[&[]], AxisKind::Auto), drawn(&[&["a=1"], &["a=2"]], AxisKind::Auto)] {
            let inside = |text: &str| {
                let number = |name: &str| -> f64 {
                    let rest = text.split_once(&format!(" {name}=\"")).expect("an attribute").1;
                    rest.split('"').next().expect("a value").trim_end_matches("pt").parse().expect("a number")
                };
                let words = text.split_once('>').expect("a text").1.split("</text>").next().expect("an end");
                let width = room_for(&words.replace("&lt;", "<").replace("&amp;", "&").replace("&gt;", ">"), 9.0);
                let start = number("x")
                    - match text.split_once("text-anchor=\"").expect("an anchor").1.chars().next() {
                        Some('m') => width / 2.0,
                        Some('e') => width,
                        _ => 0.0,
                    };
                let whole = svg.split_once("viewBox=\"0 0 ").expect("a box").1.split(' ').next().expect("a width");
                start >= 0.0 && start + width <= whole.parse::<f64>().expect("a number")
            };
            let texts: Vec<&str> = svg.split("<text").skip(1).collect();
            assert!(texts.iter().all(|text| inside(text)), "{svg}");
            assert!(
                svg.contains("a policy whose name is far too long for the room beside the axis of a figure</text>")
            );
        }
    }

    #[test]
    fn the_axis_of_a_swept_key_has_its_values_and_its_unit() {
        let periods: Vec<[String; 1]> = [20, 40, 80, 160].map(|period| [format!("workload.period={period}")]).to_vec();
        let variants: Vec<Vec<&str>> = periods.iter().map(|[period]| vec![period.as_str()]).collect();
        let variants: Vec<&[&str]> = variants.iter().map(Vec::as_slice).collect();
        let svg = drawn(&variants, AxisKind::Auto);
        for period in [20, 40, 80, 160] {
            assert!(svg.contains(&format!(">{period}</text>")), "{svg}");
        }
        assert!(svg.contains(">workload.period, ms</text>") && !svg.contains(">100</text>"), "{svg}");
        assert!(svg.contains("stroke-dasharray=\"5 2.5\""), "lines differ in their dash");
    }

    #[test]
    fn a_swept_key_whose_values_have_units_is_drawn_as_lines() {
        let svg =
            drawn(&[&["workload.period=500 ms"], &["workload.period=1 s"], &["workload.period=2s"]], AxisKind::Auto);
        for (label, unit) in [(">500</text>", "ms"), (">1000</text>", "ms"), (">2000</text>", "ms")] {
            assert!(svg.contains(label) && svg.contains(&format!(">workload.period, {unit}</text>")), "{label}: {svg}");
        }
        let mixed = drawn(&[&["network.bandwidth=1 Mbps"], &["network.bandwidth=2 ms"]], AxisKind::Auto);
        assert!(mixed.contains("bandwidth = 2 ms"), "{mixed}");
    }

    #[test]
    fn characters_that_the_font_lacks_are_named_with_their_text() {
        let labels = std::collections::BTreeMap::from([("one <&>".to_owned(), "\u{7b56} \u{e9}\u{3b1}".to_owned())]);
        let results = results(&[&[]]).relabelled(&labels);
        let missing = &figures_of(&results, &["all.response".to_owned()], AxisKind::Auto)[0].missing;
        assert_eq!(missing.iter().map(|(letter, _)| *letter).collect::<String>(), "\u{7b56}\u{3b1}");
        assert_eq!(missing[0].1, "\u{7b56} \u{e9}\u{3b1}");
    }

    #[test]
    fn a_logarithmic_axis_says_so() {
        let svg = drawn(&[&[]], AxisKind::Logarithmic);
        assert!(svg.contains(">response time, ms (logarithmic axis)</text>"), "{svg}");
        assert!(!drawn(&[&[]], AxisKind::Auto).contains("logarithmic"));
    }
}
