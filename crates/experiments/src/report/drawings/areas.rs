//! Stacked areas over time: instances by application and by tier, sleeping instances, and actions of owners.

use super::super::compact::Compact;
use super::super::run::Run;
use super::super::series::Samples;
use super::canvas::{Canvas, FAINT, INK, Layout, Room, nothing, spread, width_of};
use super::csv::Csv;
use super::element::{Element, rounded};
use super::numbers::{Steps, amount, count};
use super::palette::{application_colour, tier_colour};
use super::{Chart, WIDTHS};

/// The maximum number of parts that can be labelled. The smallest ones are combined into one part.
const PARTS_MAX: usize = 12;

/// The stacked parts of a figure, the lowest first. A value applies from its time on.
pub(super) struct Stack<'a> {
    run: &'a Run,
    label: &'static str,
    times: &'a [Compact],
    parts: Vec<Part>,
}

struct Part {
    name: String,
    colour: String,
    values: Vec<u64>,
}

fn stack<'a, T: AsRef<[u64]>>(
    run: &'a Run,
    label: &'static str,
    samples: &'a Samples<T>,
    named: impl IntoIterator<Item = (String, String)>,
) -> Stack<'a> {
    let part = |(index, (name, colour)): (usize, (String, String))| {
        let values = samples.values.iter().map(|counts| counts.as_ref()[index]).collect();
        Part { name, colour, values }
    };
    Stack { run, label, times: &samples.times, parts: named.into_iter().enumerate().map(part).collect() }
}

fn applications(run: &Run) -> impl Iterator<Item = (String, String)> {
    run.applications.iter().enumerate().map(|(index, application)| (application.id.clone(), application_colour(index)))
}

pub(super) fn by_application(run: &Run) -> Stack<'_> {
    stack(run, "instances", &run.instances, applications(run))
}

/// Returns `None` if no application can sleep, or if the trace has only counts.
pub(super) fn asleep(run: &Run) -> Option<Stack<'_>> {
    run.asleep.as_ref().map(|samples| stack(run, "sleeping instances", samples, applications(run)))
}

/// Returns `None` if no owner of a node evicted or shrank an instance.
pub(super) fn by_owners(run: &Run) -> Option<Stack<'_>> {
    let named = ["evicted", "shrunk"].map(|name| (name.to_owned(), format!("var(--{name})")));
    run.owners.as_ref().map(|samples| stack(run, "instances", samples, named))
}

/// The top tier is drawn at the bottom.
pub(super) fn by_tier(run: &Run) -> Stack<'_> {
    let tiers = run.tiers.values.first().map_or(0, Vec::len);
    let name = |tier: usize| run.tier_names.get(tier).cloned().unwrap_or_else(|| format!("tier {tier}"));
    stack(run, "instances", &run.tiers, (0..tiers).map(|tier| (name(tier), tier_colour(tier, tiers))))
}

impl Stack<'_> {
    pub(super) fn chart(&self) -> Chart {
        if self.times.is_empty() {
            return Chart::still(WIDTHS.iter().map(|width| nothing(*width, "No cycle has happened.")));
        }
        let parts = self.few_parts();
        let totals: Vec<u64> =
            (0..self.times.len()).map(|place| parts.iter().map(|part| part.values[place]).sum()).collect();
        let layouts = WIDTHS.iter().map(|width| self.layout(&parts, &totals, *width)).collect();
        // One tip for each interval without a change.
        let is_new =
            |place: &usize| *place == 0 || parts.iter().any(|part| part.values[*place] != part.values[place - 1]);
        let starts: Vec<usize> = (0..self.times.len()).filter(is_new).collect();
        let end = self.run.about.duration.0;
        let tip = |place: &usize| {
            let head = format!("from time {}: {} in all", amount(self.times[*place].0), count(totals[*place]));
            let counted = parts.iter().rev().filter(|part| part.values[*place] > 0);
            let lines = counted.map(|part| format!("\n{} {}", part.name, count(part.values[*place])));
            head + &lines.collect::<String>()
        };
        let edges = starts.iter().chain([&self.times.len()]).map(|place| Compact(self.edge(*place, end))).collect();
        Chart { parts: Vec::new(), layouts, tips: starts.iter().map(tip).collect(), edges }
    }

    pub(super) fn csv(&self) -> Csv {
        let mut csv = Csv::new(std::iter::once("time").chain(self.parts.iter().map(|part| part.name.as_str())));
        for (place, time) in self.times.iter().enumerate() {
            let counts = self.parts.iter().map(|part| part.values[place].to_string());
            csv.push(std::iter::once(rounded(time.0).to_string()).chain(counts));
        }
        csv
    }

    /// The largest parts, with the rest as one.
    fn few_parts(&self) -> Vec<Part> {
        let mut kept: Vec<usize> = (0..self.parts.len()).collect();
        if kept.len() > PARTS_MAX {
            // The sort is stable: of equal parts the first are kept.
            kept.sort_by_key(|index| std::cmp::Reverse(self.parts[*index].values.iter().sum::<u64>()));
            kept.truncate(PARTS_MAX - 1);
            kept.sort_unstable();
        }
        let copy = |index: &usize| {
            let Part { name, colour, values } = &self.parts[*index];
            Part { name: name.clone(), colour: colour.clone(), values: values.clone() }
        };
        let mut parts: Vec<Part> = kept.iter().map(copy).collect();
        let rest = self.parts.len() - kept.len();
        if rest > 0 {
            let left_out = self.parts.iter().enumerate().filter(|(index, _)| !kept.contains(index));
            let mut values = vec![0; self.times.len()];
            for (_, part) in left_out {
                values.iter_mut().zip(&part.values).for_each(|(sum, value)| *sum += value);
            }
            parts.push(Part { name: format!("{rest} others"), colour: "var(--nop)".to_owned(), values });
        }
        parts
    }

    fn layout(&self, parts: &[Part], totals: &[u64], width: f64) -> Layout {
        let most = totals.iter().max().copied().unwrap_or(0).max(1) as f64;
        let longest = parts.iter().map(|part| width_of(&part.name)).fold(24.0, f64::max);
        let mut canvas = Canvas::new(width, 236.0, Room::for_axes(most, (26.0 + longest).min(width * 0.4)));
        let end = self.run.about.duration.0;
        let (x, y) = (canvas.x_scale(0.0, end), canvas.y_scale(0.0, most));
        canvas.y_axis(y, most, Steps::Whole, self.label);
        let edges: Vec<f64> = (0..=self.times.len()).map(|place| x.at(self.edge(place, end))).collect();
        let mut base = vec![0; self.times.len()];
        let mut middles = Vec::new();
        for part in parts {
            let upper: Vec<u64> = base.iter().zip(&part.values).map(|(base, value)| base + value).collect();
            let path = outline(&upper, &base, &edges, |value| y.at(value as f64));
            let area = Element::area(path, &part.colour).with("class", "area");
            canvas.add(area.with("stroke", "var(--card)").with("stroke-width", 0.6));
            middles.push(y.at((upper[upper.len() - 1] + base[base.len() - 1]) as f64 / 2.0));
            base = upper;
        }
        let heights = spread(&middles, canvas.top + 4.0, canvas.bottom - 2.0);
        for (part, height) in parts.iter().zip(heights) {
            let is_there = part.values.last().is_some_and(|last| *last > 0);
            canvas.key(
                [edges[edges.len() - 1] + 8.0, height],
                &part.colour,
                &part.name,
                if is_there { INK } else { FAINT },
            );
        }
        canvas.time_axis(x, end);
        canvas.hover(x);
        canvas.finish()
    }

    /// Returns the time from which the values at an index apply. After the last index, it is as far away as the one
    /// before, but not after `end`.
    fn edge(&self, place: usize, end: f64) -> f64 {
        match (self.times.get(place), self.times) {
            (Some(time), _) => time.0,
            (None, [.., before, last]) => (last.0 + last.0 - before.0).min(end),
            (None, _) => end,
        }
    }
}

/// Returns the outline of an area between two step functions. Consecutive steps of the same height are merged.
fn outline(upper: &[u64], lower: &[u64], edges: &[f64], y: impl Fn(u64) -> f64) -> String {
    let mut path = format!("M{:.1} {:.1}", edges[0], y(upper[0]));
    for place in 1..upper.len() {
        if upper[place] != upper[place - 1] {
            path += &format!("H{:.1}V{:.1}", edges[place], y(upper[place]));
        }
    }
    path += &format!("H{:.1}V{:.1}", edges[upper.len()], y(lower[lower.len() - 1]));
    for place in (1..lower.len()).rev() {
        if lower[place] != lower[place - 1] {
            path += &format!("H{:.1}V{:.1}", edges[place], y(lower[place - 1]));
        }
    }
    path + &format!("H{:.1}Z", edges[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_has_a_corner_only_where_a_value_changes() {
        let path = outline(&[2, 2, 3], &[0, 1, 1], &[0.0, 10.0, 20.0, 30.0], |value| 5.0 - value as f64);
        assert_eq!(path, "M0.0 3.0H20.0V2.0H30.0V4.0H10.0V5.0H0.0Z");
    }
}
