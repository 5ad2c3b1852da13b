//! The distribution of response times: one histogram for each kind of application, on a logarithmic axis. All kinds and
//! all runs share both axes, so that they can be compared.

use std::collections::BTreeMap;

use mario_page::drawing::{
    Anchor, Canvas, Chart, Csv, Element, INK, Layout, Room, SOFT, Scale, Steps, count, nothing, rounded, text, ticks,
    whole,
};

use super::WIDTHS;
use crate::run::Run;
use mario_experiments::figures::{Bins, ResponseTimes};

/// The height of the row of a kind.
const ROW: f64 = 112.0;
/// The height of the text of a row, above its bars.
const HEAD: f64 = 36.0;

/// The name of the row of applications without a kind, if others have one.
const NO_KIND: &str = "no kind";

/// The response times of a kind of application, in buckets. Response times of 0 are counted separately.
#[derive(Default)]
struct Distribution {
    name: String,
    counts: BTreeMap<i64, u64>,
    at_once: u64,
    served: u64,
    lost: u64,
    sum: f64,
    /// For percentiles; `None` without served requests, or if the bins of the applications differ.
    times: Option<ResponseTimes>,
}

/// The shortest response time of a bucket, in milliseconds.
fn time_of(bucket: i64) -> f64 {
    2_f64.powf(bucket as f64 / 4.0)
}

/// One distribution for each kind of application that served a request: kinds in order of first appearance.
fn distributions(run: &Run) -> Vec<Distribution> {
    let mut kinds: Vec<&str> = Vec::new();
    for application in &run.applications {
        if !kinds.contains(&application.kind.as_str()) {
            kinds.push(&application.kind);
        }
    }
    let is_only = kinds.len() == 1;
    let all = kinds.iter().map(|kind| distribution(run, kind, is_only));
    all.filter(|one| one.served > 0).collect()
}

fn distribution(run: &Run, kind: &str, is_only: bool) -> Distribution {
    let name = match kind {
        "all" | "" if is_only => "all",
        "all" | "" => NO_KIND,
        kind => kind,
    };
    let mut all = Distribution { name: name.to_owned(), ..Distribution::default() };
    let members = || run.applications.iter().zip(&run.responses).filter(|(application, _)| application.kind == kind);
    for (_, responses) in members() {
        all.served += responses.served;
        all.lost += responses.lost;
        all.sum += responses.sum;
        for (bucket, count) in &responses.histogram {
            match bucket {
                Some(bucket) => *all.counts.entry(*bucket).or_default() += count,
                None => all.at_once += count,
            }
        }
    }
    all.times = ResponseTimes::sum(members().filter_map(|(_, responses)| responses.times.as_ref()));
    all
}

impl Distribution {
    fn percentile(&self, share: f64) -> Option<f64> {
        self.times.as_ref().and_then(|times| times.percentile(share))
    }

    /// The share of the served requests in each bucket, in percent. Requests that were served at once are in the first
    /// bucket.
    fn shares(&self, low: i64) -> BTreeMap<i64, f64> {
        let mut counts = self.counts.clone();
        if self.at_once > 0 {
            *counts.entry(low).or_default() += self.at_once;
        }
        counts.into_iter().map(|(bucket, count)| (bucket, 100.0 * count as f64 / self.served as f64)).collect()
    }

    fn words(&self) -> String {
        let lost = if self.lost > 0 { format!(", {} lost", count(self.lost)) } else { String::new() };
        let digits = match self.times.as_ref().map(ResponseTimes::bins) {
            Some(Bins::Fine) => 3,
            _ => 2,
        };
        let mean = duration(Some(self.sum / self.served as f64), 3);
        let [half, most] = [0.5, 0.95].map(|share| duration(self.percentile(share), digits));
        format!("mean {mean}, median {half}, 95 % up to {most}{lost}")
    }
}

/// Formats a response time with at most `digits` significant digits, but without rounding its whole part, and with at
/// least one decimal from 1 to 10 ms.
fn duration(value: Option<f64>, digits: usize) -> String {
    match value {
        None => "n/a".to_owned(),
        Some(value) if value >= 1.0 => {
            let decimals = (digits as i64 - 1 - value.log10().floor() as i64).max(0) as usize;
            if decimals == 0 { whole(value) } else { format!("{value:.decimals$}") }
        }
        Some(value) if value > 0.0 => {
            let unit = 10_f64.powf(value.log10().floor() + 1.0 - digits as f64);
            let decimals = (-unit.log10()).round().max(0.0) as usize;
            format!("{:.decimals$}", (value / unit).round() * unit)
        }
        Some(_) => "0".to_owned(),
    }
}

/// The axes that all kinds and all runs share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Axes {
    /// The first and the last bucket.
    low: i64,
    high: i64,
    /// The largest share of a kind's requests in one bucket, in percent.
    share_max: f64,
}

pub(super) fn axes(runs: &[Run]) -> Axes {
    let all = || runs.iter().flat_map(|run| &run.responses).flat_map(|responses| &responses.histogram);
    let known = || all().filter_map(|(bucket, _)| *bucket);
    let (low, high) = (known().min().unwrap_or(0).min(0), known().max().unwrap_or(0).max(4) + 1);
    let rows = runs.iter().flat_map(distributions);
    let shares = rows.flat_map(|row| row.shares(low).into_values().collect::<Vec<f64>>());
    Axes { low, high, share_max: shares.fold(1.0, f64::max) }
}

/// States how close the percentiles are to the exact ones; `None` if no request was served.
pub(super) fn caption(run: &Run) -> Option<String> {
    let rows = distributions(run);
    let mut bins: Vec<Bins> = rows.iter().filter_map(|row| Some(row.times.as_ref()?.bins())).collect();
    bins.dedup();
    match bins.as_slice() {
        [] => None,
        [Bins::Fine] => {
            Some(format!("The medians and percentiles are within {} % of the exact ones.", Bins::Fine.error_percent()))
        }
        _ => Some(format!(
            "The medians and percentiles are within {} % of the exact ones; with measures.applications in the scenario, within {} %.",
            Bins::Quarters.error_percent(),
            Bins::Fine.error_percent()
        )),
    }
}

pub(super) fn chart(run: &Run, axes: Axes) -> Chart {
    let rows = distributions(run);
    if rows.is_empty() {
        return Chart::still(WIDTHS.iter().map(|width| nothing(*width, "No client request was served.")));
    }
    Chart::still(WIDTHS.iter().map(|width| layout(&rows, axes, *width)))
}

fn layout(rows: &[Distribution], axes: Axes, width: f64) -> Layout {
    /// The space above the first row, for the label of the vertical axes.
    const TOP: f64 = 20.0;
    let Axes { low, high, .. } = axes;
    let height = TOP + rows.len() as f64 * ROW + 38.0;
    let mut canvas = Canvas::new(width, height, Room { left: 44.0, right: 10.0, top: TOP, bottom: 38.0 });
    let x = canvas.x_scale(low as f64, high as f64);
    canvas.add(text([0.0, 12.0], "served requests of the kind, %", Anchor::Start, SOFT));
    for (index, row) in rows.iter().enumerate() {
        add_row(&mut canvas, row, x, axes, TOP + (index + 1) as f64 * ROW);
    }
    let bucket_of = |time: f64| time.log2() * 4.0;
    let decades = (-3..=4).map(|power| 10_f64.powi(power));
    let shown = decades.filter(|time| bucket_of(*time) >= low as f64 && bucket_of(*time) <= high as f64);
    let numbers = shown.map(|time| (x.at(bucket_of(time)), if time < 1.0 { format!("{time}") } else { whole(time) }));
    canvas.x_axis(numbers.collect::<Vec<_>>(), "response time, ms");
    canvas.finish()
}

fn add_row(canvas: &mut Canvas, row: &Distribution, x: Scale, Axes { low, share_max, .. }: Axes, floor: f64) {
    let y = Scale::new((0.0, share_max), (floor, floor - ROW + HEAD));
    for line in canvas.grid(|value| y.at(value), &ticks(0.0, share_max, 3, Steps::Any)) {
        canvas.add(line);
    }
    for (bucket, share) in row.shares(low) {
        let (left, right) = (x.at(bucket as f64), x.at((bucket + 1) as f64));
        let top = y.at(share);
        let size = [(right - left - 1.0).max(1.0), floor - top];
        let [from, to] = [bucket, bucket + 1].map(|bucket| duration(Some(time_of(bucket)), 2));
        let many = row.counts.get(&bucket).copied().unwrap_or(0) + if bucket == low { row.at_once } else { 0 };
        let tip = format!("{}: {from} to {to}\n{} of {} ({share:.1} %)", row.name, count(many), count(row.served));
        canvas.add(Element::rectangle([left + 0.5, top], size, "var(--migrate)").tip(tip));
    }
    if let Some(middle) = row.percentile(0.5).filter(|middle| *middle > 0.0) {
        let path = format!(
            "M{} {}V{}",
            rounded(x.at(middle.log2() * 4.0)),
            rounded(floor - ROW + HEAD - 6.0),
            rounded(floor + 3.0)
        );
        canvas.add(Element::line(path, INK, 1.1).dashed("4 3"));
    }
    let name = Element::new("tspan").with("font-weight", 650.0).text(&row.name);
    let words = text([0.0, floor - ROW + 20.0], "", Anchor::Start, INK).and(name);
    canvas.add(words.text(&format!("  {}", row.words())));
}

pub(super) fn csv(run: &Run) -> Csv {
    let mut csv = Csv::new(["application", "kind", "from", "to", "count"]);
    for (application, row) in run.applications.iter().zip(&run.responses) {
        for (bucket, count) in &row.histogram {
            let [from, to] = bucket.map_or([0.0; 2], |bucket| [time_of(bucket), time_of(bucket + 1)]);
            csv.push([&application.id, &application.kind, &from.to_string(), &to.to_string(), &count.to_string()]);
        }
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_shares_of_all_served_requests() {
        let row = Distribution {
            counts: BTreeMap::from([(0, 30), (4, 60)]),
            at_once: 10,
            served: 100,
            ..Distribution::default()
        };
        assert_eq!(row.shares(-2), BTreeMap::from([(-2, 10.0), (0, 30.0), (4, 60.0)]));
        assert_eq!(row.shares(0), BTreeMap::from([(0, 40.0), (4, 60.0)]));
    }

    #[test]
    fn durations_have_only_significant_digits() {
        let two = [12.4, 123.4, 1.25, 0.04, 0.0].map(|value| duration(Some(value), 2));
        assert_eq!(two, ["12", "123", "1.2", "0.040", "0"]);
        let three = [12.45, 9_876.5, 1.256, 0.1234].map(|value| duration(Some(value), 3));
        assert_eq!(three, ["12.4", "9\u{202f}876", "1.26", "0.123"]);
    }
}
