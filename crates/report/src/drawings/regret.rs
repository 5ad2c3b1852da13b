//! Regret over time: the actual and the best value, and the difference between them.

use mario_page::drawing::{
    Anchor, Canvas, Chart, Csv, Element, FAINT, INK, Layout, Room, Scale, Steps, TimeAxis, amount, count, fixed,
    plural, rounded, spread, text,
};

use super::WIDTHS;
use crate::regret::ShownRegret;
use crate::run::Run;

/// A quantity whose regret is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Measure {
    Satisfied,
    Latency,
    Instances,
}

impl Measure {
    pub(super) const ALL: [Measure; 3] = [Measure::Satisfied, Measure::Latency, Measure::Instances];

    pub(super) fn name(self) -> &'static str {
        match self {
            Measure::Satisfied => "satisfied",
            Measure::Latency => "latency",
            Measure::Instances => "instances",
        }
    }

    /// The label of the option that a reader chooses.
    pub(super) fn title(self) -> &'static str {
        match self {
            Measure::Satisfied => "Satisfied users",
            Measure::Latency => "Latency",
            Measure::Instances => "Instances",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Measure::Satisfied => "satisfied users",
            Measure::Latency => "mean latency, ms",
            Measure::Instances => "instances",
        }
    }

    /// The actual and the best value of each sample; `None` where the latency is undefined.
    fn pairs(self, regret: &ShownRegret) -> Vec<[Option<f64>; 2]> {
        let pair = |columns: &crate::regret::RegretColumns| match self {
            Measure::Satisfied => columns.1.map(|count| Some(count as f64)),
            Measure::Latency => columns.2.map(|latency| latency.map(|latency| latency.0)),
            Measure::Instances => columns.3.map(|count| Some(count as f64)),
        };
        regret.samples.values.iter().map(pair).collect()
    }

    /// Returns by how much the actual mean is worse than that of the best placement; negative if it is better. `None`
    /// if a mean latency is undefined.
    fn mean(self, regret: &ShownRegret) -> Option<f64> {
        let worse = |[actual, best]: [f64; 2]| actual - best;
        match self {
            // More satisfied users are better; for the other measures, less is better.
            Measure::Satisfied => Some(-worse(regret.figures.satisfied)),
            Measure::Latency => Some(worse([regret.figures.latency[0]?, regret.figures.latency[1]?])),
            Measure::Instances => Some(worse(regret.figures.instances)),
        }
    }
}

/// The ends of the axes that all runs share: the largest value, at least 1, and the longest duration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Most {
    value: f64,
    duration: f64,
}

pub(super) fn most(runs: &[Run], measure: Measure) -> Most {
    let mut most = Most { value: 1.0, duration: 1.0 };
    for (run, regret) in runs.iter().filter_map(|run| Some((run, run.regret.as_ref()?))) {
        most.value = measure.pairs(regret).into_iter().flatten().flatten().fold(most.value, f64::max);
        most.duration = most.duration.max(run.about.duration.0);
    }
    most
}

pub(super) fn chart(run: &Run, regret: &ShownRegret, measure: Measure, most: Most) -> Chart {
    let pairs = measure.pairs(regret);
    let layout = |width: &f64| layout(run, (regret, &pairs), measure, most, *width);
    let layouts = WIDTHS.iter().map(layout).collect();
    let tip = |(place, [actual, best]): (usize, &[Option<f64>; 2])| {
        let value = |value: &Option<f64>| value.map_or_else(|| "n/a".to_owned(), amount);
        let users = plural(regret.samples.values[place].0, "user");
        let time = amount(regret.samples.times[place].0);
        format!("time {time}, {users}\nactual {}\nbest {}", value(actual), value(best))
    };
    let edges = edges(regret, run.about.duration.0);
    Chart { parts: Vec::new(), layouts, tips: pairs.iter().enumerate().map(tip).collect(), edges }
}

fn layout(
    run: &Run,
    (regret, pairs): (&ShownRegret, &[[Option<f64>; 2]]),
    measure: Measure,
    most: Most,
    width: f64,
) -> Layout {
    let mut canvas = Canvas::new(width, 220.0, Room::for_axes(most.value, 52.0));
    let end = run.about.duration.0;
    let (x, y) = (canvas.x_scale(0.0, most.duration), canvas.y_scale(0.0, most.value));
    canvas.y_axis(y, most.value, if measure == Measure::Latency { Steps::Any } else { Steps::Whole }, measure.label());
    let edges: Vec<f64> = edges(regret, end).into_iter().map(|time| x.at(time)).collect();
    canvas.add(Element::area(between(pairs, &edges, y), "var(--inhibited)").with("fill-opacity", 0.22));
    canvas.add(Element::line(line(pairs, 1, &edges, y), "var(--soft)", 1.2).dashed("4 3"));
    canvas.add(Element::line(line(pairs, 0, &edges, y), "var(--migrate)", 1.8));
    if let Some(last) = pairs.iter().rev().find(|pair| pair.iter().all(Option::is_some)) {
        let places: Vec<f64> = last.iter().flatten().map(|value| y.at(*value)).collect();
        let heights = spread(&places, canvas.top, canvas.bottom);
        let best: &[&str] = if regret.figures.against == "exact" { &["best"] } else { &["best", "known"] };
        for (height, words, ink) in [(heights[0], &["actual"][..], INK), (heights[1], best, FAINT)] {
            for (nth, word) in words.iter().enumerate() {
                let place = [edges[edges.len() - 1] + 6.0, height + 4.0 + nth as f64 * 12.0];
                canvas.add(text(place, word, Anchor::Start, ink).with("class", "direct"));
            }
        }
    }
    let digits = if measure == Measure::Latency { 3 } else { 2 };
    let mean = match measure.mean(regret) {
        Some(mean) => format!("mean regret {}", fixed(Some(mean), digits)),
        None => "regret n/a".to_owned(),
    };
    canvas.add(text([canvas.width, canvas.top - 14.0], &mean, Anchor::End, INK));
    canvas.time_axis(x, &TimeAxis::of_run(most.duration));
    canvas.hover(x);
    canvas.finish()
}

/// Returns the time from which each sample applies, and the end of the last one: it lasts as long as the one before it,
/// but at most until `end`. A single sample lasts until `end`.
fn edges(regret: &ShownRegret, end: f64) -> Vec<f64> {
    let times = &regret.samples.times;
    let last = match times.as_slice() {
        [.., before, last] => (last.0 + last.0 - before.0).min(end),
        _ => end,
    };
    times.iter().map(|time| time.0).chain([last]).collect()
}

/// Returns the path of the actual values (side 0) or of the best (side 1), interrupted where they are undefined.
/// Consecutive equal values are one horizontal line.
fn line(pairs: &[[Option<f64>; 2]], side: usize, edges: &[f64], y: Scale) -> String {
    let mut path = String::new();
    let mut before = None;
    for (place, pair) in pairs.iter().enumerate() {
        let now = pair[side];
        if now != before {
            match (before, now) {
                (None, Some(value)) => path += &format!("M{} {}", rounded(edges[place]), rounded(y.at(value))),
                (Some(_), Some(value)) => path += &format!("H{}V{}", rounded(edges[place]), rounded(y.at(value))),
                (_, None) => path += &format!("H{}", rounded(edges[place])),
            }
        }
        before = now;
    }
    if before.is_some() {
        path += &format!("H{}", rounded(edges[pairs.len()]));
    }
    path
}

/// Returns the path of the areas between both lines, where both are defined and differ.
fn between(pairs: &[[Option<f64>; 2]], edges: &[f64], y: Scale) -> String {
    let mut path = String::new();
    let mut start = 0;
    for place in 0..pairs.len() {
        if place + 1 < pairs.len() && pairs[place + 1] == pairs[place] {
            continue;
        }
        if let [Some(actual), Some(best)] = pairs[place]
            && actual.to_bits() != best.to_bits()
        {
            let (from, to) = (rounded(edges[start]), rounded(edges[place + 1]));
            path += &format!("M{from} {}H{to}V{}H{from}Z", rounded(y.at(actual)), rounded(y.at(best)));
        }
        start = place + 1;
    }
    path
}

/// States how often the placement was as good as the best, and the maximum regret in satisfied users.
pub(super) fn caption(regret: &ShownRegret) -> String {
    let best = if regret.figures.against == "exact" { "best" } else { "best known" };
    let activations = plural(regret.figures.activations, "activation");
    let users = plural(regret.figures.satisfied_regret_max, "user");
    format!(
        "As good as the {best} at {} of {activations} of the managers; at most {users} more could have been satisfied.",
        count(regret.figures.optimal)
    )
}

pub(super) fn csv(regret: &ShownRegret) -> Csv {
    let names =
        ["time", "users", "satisfied", "satisfied_best", "latency", "latency_best", "instances", "instances_best"];
    let mut csv = Csv::new(names);
    for (time, (users, satisfied, latency, instances)) in regret.samples.times.iter().zip(&regret.samples.values) {
        let mut row = vec![rounded(time.0).to_string(), users.to_string()];
        row.extend(satisfied.map(|count| count.to_string()));
        row.extend(latency.map(|latency| latency.map_or_else(String::new, |latency| latency.0.to_string())));
        row.extend(instances.map(|count| count.to_string()));
        csv.push(row);
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stop_where_a_value_is_not_defined() {
        let y = Scale::new((0.0, 10.0), (10.0, 0.0));
        let pairs = [[Some(1.0), Some(2.0)], [Some(1.0), Some(2.0)], [None, Some(2.0)], [Some(3.0), Some(3.0)]];
        let edges = [0.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(line(&pairs, 0, &edges, y), "M0 9H2M3 7H4");
        assert_eq!(line(&pairs, 1, &edges, y), "M0 8H3V7H4");
        assert_eq!(between(&pairs, &edges, y), "M0 9H2V8H0Z");
    }
}
