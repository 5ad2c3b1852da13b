//! Stacked areas over time.

use super::canvas::{Canvas, FAINT, INK, Room, TimeAxis, nothing, spread, width_of};
use super::chart::{Chart, Layout};
use super::csv::Csv;
use super::element::{Element, rounded};
use super::numbers::{Steps, count};

/// The maximum number of parts that are drawn. If there are more, the smallest are combined into one.
const PARTS_MAX: usize = 12;

/// Counts over time, stacked. A count applies from its time to the next.
#[derive(Clone, PartialEq, Debug)]
pub struct Stack {
    /// What is counted: the label of the vertical axis.
    pub label: &'static str,
    /// The horizontal axis.
    pub axis: TimeAxis,
    /// The times of the counts, in order.
    pub times: Vec<f64>,
    /// What is stacked, the lowest first.
    pub parts: Vec<Part>,
}

/// One area of a stack.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// Its label.
    pub name: String,
    /// Its colour, e.g. `var(--application-0)`.
    pub colour: String,
    /// Its count at each time of the stack.
    pub counts: Vec<u64>,
}

/// The upper ends of the axes of a stack. Stacks side by side share them, so that they can be compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ends {
    /// The end of the horizontal axis.
    pub time: f64,
    /// The highest count on the vertical axis.
    pub count: u64,
}

impl Ends {
    /// The smallest ends that include both.
    #[must_use]
    pub fn and(self, other: Ends) -> Ends {
        Ends { time: self.time.max(other.time), count: self.count.max(other.count) }
    }
}

impl Stack {
    /// The ends of the axes that this stack needs.
    pub fn ends(&self) -> Ends {
        let total = |place: usize| self.parts.iter().map(|part| part.counts[place]).sum();
        Ends { time: self.axis.end, count: (0..self.times.len()).map(total).max().unwrap_or(0) }
    }

    /// The chart in each of these widths, with the axes that it needs. See [`Stack::chart_to`].
    pub fn chart(&self, widths: &[f64], missing: &str, tip: impl Fn(f64) -> String) -> Chart {
        self.chart_to(self.ends(), widths, missing, tip)
    }

    /// The chart in each of these widths, with axes to these ends. `tip` describes a time, for the start of its tooltip.
    /// Without times, the chart shows `missing` instead.
    pub fn chart_to(&self, ends: Ends, widths: &[f64], missing: &str, tip: impl Fn(f64) -> String) -> Chart {
        if self.times.is_empty() {
            return Chart::still(widths.iter().map(|width| nothing(*width, missing)));
        }
        let parts = self.few_parts();
        let total = |place: usize| parts.iter().map(|part| part.counts[place]).sum();
        let totals: Vec<u64> = (0..self.times.len()).map(total).collect();
        let layouts = widths.iter().map(|width| self.layout(&parts, ends, *width)).collect();
        // One tip for each interval in which no count changes.
        let is_new =
            |place: &usize| *place == 0 || parts.iter().any(|part| part.counts[*place] != part.counts[place - 1]);
        let starts: Vec<usize> = (0..self.times.len()).filter(is_new).collect();
        let tip = |place: &usize| {
            let head = format!("{}: {} in all", tip(self.times[*place]), count(totals[*place]));
            let counted = parts.iter().rev().filter(|part| part.counts[*place] > 0);
            let lines = counted.map(|part| format!("\n{} {}", part.name, count(part.counts[*place])));
            head + &lines.collect::<String>()
        };
        let edges = starts.iter().chain([&self.times.len()]).map(|place| self.edge(*place)).collect();
        Chart { parts: Vec::new(), layouts, tips: starts.iter().map(tip).collect(), edges }
    }

    /// The counts as a table, with one column for each part.
    pub fn csv(&self) -> Csv {
        let mut csv = Csv::new(std::iter::once("time").chain(self.parts.iter().map(|part| part.name.as_str())));
        for (place, time) in self.times.iter().enumerate() {
            let counts = self.parts.iter().map(|part| part.counts[place].to_string());
            csv.push(std::iter::once(rounded(*time).to_string()).chain(counts));
        }
        csv
    }

    /// At most [`PARTS_MAX`] parts: those with the largest sums, and one with the sums of all others.
    fn few_parts(&self) -> Vec<Part> {
        let mut kept: Vec<usize> = (0..self.parts.len()).collect();
        if kept.len() > PARTS_MAX {
            // The sort is stable: of parts with equal sums, the first are kept.
            kept.sort_by_key(|index| std::cmp::Reverse(self.parts[*index].counts.iter().sum::<u64>()));
            kept.truncate(PARTS_MAX - 1);
            kept.sort_unstable();
        }
        let mut parts: Vec<Part> = kept.iter().map(|index| self.parts[*index].clone()).collect();
        let rest = self.parts.len() - kept.len();
        if rest > 0 {
            let left_out = self.parts.iter().enumerate().filter(|(index, _)| !kept.contains(index));
            let mut counts = vec![0; self.times.len()];
            for (_, part) in left_out {
                counts.iter_mut().zip(&part.counts).for_each(|(sum, count)| *sum += count);
            }
            parts.push(Part { name: format!("{rest} others"), colour: "var(--nop)".to_owned(), counts });
        }
        parts
    }

    fn layout(&self, parts: &[Part], ends: Ends, width: f64) -> Layout {
        let most = ends.count.max(1) as f64;
        let axis = TimeAxis { end: ends.time, ..self.axis };
        let longest = parts.iter().map(|part| width_of(&part.name)).fold(24.0, f64::max);
        let mut canvas = Canvas::new(width, 236.0, Room::for_axes(most, (26.0 + longest).min(width * 0.4)));
        let (x, y) = (canvas.x_scale(axis.start, axis.end), canvas.y_scale(0.0, most));
        canvas.y_axis(y, most, Steps::Whole, self.label);
        let edges: Vec<f64> = (0..=self.times.len()).map(|place| x.at(self.edge(place))).collect();
        let mut base = vec![0; self.times.len()];
        let mut middles = Vec::new();
        for part in parts {
            let upper: Vec<u64> = base.iter().zip(&part.counts).map(|(base, count)| base + count).collect();
            let path = outline(&upper, &base, &edges, |count| y.at(count as f64));
            let area = Element::area(path, &part.colour).with("class", "area");
            canvas.add(area.with("stroke", "var(--card)").with("stroke-width", 0.6));
            middles.push(y.at((upper[upper.len() - 1] + base[base.len() - 1]) as f64 / 2.0));
            base = upper;
        }
        let heights = spread(&middles, canvas.top + 4.0, canvas.bottom - 2.0);
        for (part, height) in parts.iter().zip(heights) {
            let is_there = part.counts.last().is_some_and(|last| *last > 0);
            canvas.key(
                [edges[edges.len() - 1] + 8.0, height],
                &part.colour,
                &part.name,
                if is_there { INK } else { FAINT },
            );
        }
        canvas.time_axis(x, &axis);
        canvas.hover(x);
        canvas.finish()
    }

    /// Returns the time from which the counts at an index apply. For the index after the last, returns the end of the
    /// last interval: it is as long as the interval before it, but does not extend beyond the axis. If there is only
    /// one time, its interval extends to the end of the axis.
    fn edge(&self, place: usize) -> f64 {
        match (self.times.get(place), self.times.as_slice()) {
            (Some(time), _) => *time,
            (None, [.., before, last]) => (last + last - before).min(self.axis.end),
            (None, _) => self.axis.end,
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

    #[test]
    fn the_smallest_of_many_parts_are_drawn_as_one() {
        let part = |nth: u64| Part { name: format!("p{nth}"), colour: String::new(), counts: vec![nth + 1] };
        let axis = TimeAxis { start: -60.0, end: 0.0, label: "seconds before now" };
        let stack = Stack { label: "instances", axis, times: vec![-30.0], parts: (0..14).map(part).collect() };
        let chart = stack.chart(&[350.0], "", |time| format!("{} s", -time));
        assert_eq!(chart.edges, [-30.0, 0.0]);
        assert!(chart.tips[0].starts_with("30 s: 105 in all\n3 others 6\np13 14\n"), "{:?}", chart.tips);
        assert!(stack.csv().as_str().starts_with("time,p0,p1,"), "the data has all parts");
    }
}
