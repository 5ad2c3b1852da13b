//! The distribution of response times: one histogram for each kind of application, on a logarithmic axis.

use std::collections::BTreeMap;

use mario_page::drawing::{
    Anchor, Canvas, Chart, Csv, Element, INK, Layout, Room, Scale, count, nothing, rounded, text, whole,
};

use super::super::run::Run;
use super::WIDTHS;

/// The height of the row of a kind.
const ROW: f64 = 88.0;

/// The response times of a kind of application, in buckets. Response times of 0 are counted separately.
#[derive(Default)]
struct Distribution<'a> {
    kind: &'a str,
    counts: BTreeMap<i64, u64>,
    at_once: u64,
    served: u64,
    lost: u64,
    sum: f64,
}

/// The shortest response time of a bucket, in milliseconds.
fn time_of(bucket: i64) -> f64 {
    2_f64.powf(bucket as f64 / 4.0)
}

fn distribution<'a>(run: &Run, kind: &'a str) -> Distribution<'a> {
    let mut all = Distribution { kind, ..Distribution::default() };
    let members = run.applications.iter().zip(&run.responses).filter(|(application, _)| application.kind == kind);
    for (_, responses) in members {
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
    all
}

impl Distribution<'_> {
    /// Returns the response time that a share of the served requests does not exceed, rounded up to the end of its
    /// bucket; `None` if the histogram does not have this share of the served requests.
    fn quantile(&self, share: f64) -> Option<f64> {
        let enough = self.served as f64 * share;
        let mut seen = self.at_once;
        if seen as f64 >= enough {
            return Some(0.0);
        }
        for (bucket, count) in &self.counts {
            seen += count;
            if seen as f64 >= enough {
                return Some(time_of(bucket + 1));
            }
        }
        None
    }

    fn words(&self) -> String {
        let lost = if self.lost > 0 { format!(", {} lost", count(self.lost)) } else { String::new() };
        let mean = duration(Some(self.sum / self.served as f64));
        let [half, most] = [0.5, 0.95].map(|share| duration(self.quantile(share)));
        format!("mean {mean}, half below {half}, 95 % below {most}{lost}")
    }
}

/// Formats a response time: from 10 ms without decimals, from 1 ms with one decimal, and below 1 ms with one
/// significant digit.
fn duration(value: Option<f64>) -> String {
    match value {
        None => "n/a".to_owned(),
        Some(value) if value >= 10.0 => whole(value),
        Some(value) if value >= 1.0 => format!("{value:.1}"),
        Some(value) if value > 0.0 => {
            let unit = 10_f64.powf(value.log10().floor());
            let digits = -unit.log10() as usize;
            format!("{:.digits$}", (value / unit).round() * unit)
        }
        Some(_) => "0".to_owned(),
    }
}

pub(super) fn chart(run: &Run) -> Chart {
    let rows = run.groups.iter().skip(1).map(|kind| distribution(run, kind));
    let rows: Vec<Distribution<'_>> = rows.filter(|row| row.served > 0).collect();
    if rows.is_empty() {
        return Chart::still(WIDTHS.iter().map(|width| nothing(*width, "No client request was served.")));
    }
    Chart::still(WIDTHS.iter().map(|width| layout(&rows, *width)))
}

fn layout(rows: &[Distribution<'_>], width: f64) -> Layout {
    let height = 6.0 + rows.len() as f64 * ROW + 38.0;
    let mut canvas = Canvas::new(width, height, Room { left: 10.0, right: 10.0, top: 6.0, bottom: 38.0 });
    let buckets = || rows.iter().flat_map(|row| row.counts.keys());
    let low = buckets().min().copied().unwrap_or(0).min(0);
    let high = buckets().max().copied().unwrap_or(0).max(4) + 1;
    let x = canvas.x_scale(low as f64, high as f64);
    for (index, row) in rows.iter().enumerate() {
        add_row(&mut canvas, row, x, low, 6.0 + (index + 1) as f64 * ROW);
    }
    let bucket_of = |time: f64| time.log2() * 4.0;
    let decades = (-3..=4).map(|power| 10_f64.powi(power));
    let shown = decades.filter(|time| bucket_of(*time) >= low as f64 && bucket_of(*time) <= high as f64);
    let numbers = shown.map(|time| (x.at(bucket_of(time)), if time < 1.0 { format!("{time}") } else { whole(time) }));
    canvas.x_axis(numbers.collect::<Vec<_>>(), "response time, ms");
    canvas.finish()
}

fn add_row(canvas: &mut Canvas, row: &Distribution<'_>, x: Scale, low: i64, floor: f64) {
    let mut counts = row.counts.clone();
    if row.at_once > 0 {
        *counts.entry(low).or_default() += row.at_once;
    }
    let most = counts.values().max().copied().unwrap_or(1) as f64;
    let y = Scale::new((0.0, most), (floor, floor - ROW + 36.0));
    for (bucket, many) in &counts {
        let (left, right) = (x.at(*bucket as f64), x.at((bucket + 1) as f64));
        let top = y.at(*many as f64);
        let size = [(right - left - 1.0).max(1.0), floor - top];
        let [from, to] = [*bucket, bucket + 1].map(|bucket| duration(Some(time_of(bucket))));
        let share = 100.0 * *many as f64 / row.served as f64;
        let tip = format!("{}: {from} to {to}\n{} of {} ({share:.1} %)", row.kind, count(*many), count(row.served));
        canvas.add(Element::rectangle([left + 0.5, top], size, "var(--migrate)").tip(tip));
    }
    let (left, right) = (rounded(canvas.left), rounded(canvas.right));
    canvas.add(Element::line(format!("M{left} {}H{right}", rounded(floor)), "var(--line)", 1.0));
    if let Some(middle) = row.quantile(0.5).filter(|middle| *middle > 0.0) {
        let path =
            format!("M{} {}V{}", rounded(x.at(middle.log2() * 4.0)), rounded(floor - ROW + 30.0), rounded(floor + 3.0));
        canvas.add(Element::line(path, INK, 1.1).dashed("4 3"));
    }
    let name = if row.kind.is_empty() { "all" } else { row.kind };
    let name = Element::new("tspan").with("font-weight", 650.0).text(name);
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
    fn durations_have_only_significant_digits() {
        assert_eq!([12.4, 1.25, 0.04, 0.0].map(|value| duration(Some(value))), ["12", "1.2", "0.04", "0"]);
    }

    #[test]
    fn quantiles_are_the_upper_end_of_a_bucket() {
        let counts = BTreeMap::from([(0, 2), (4, 1)]);
        let row = Distribution { kind: "", counts, at_once: 1, served: 4, lost: 0, sum: 0.0 };
        assert_eq!((row.quantile(0.25), row.quantile(0.5)), (Some(0.0), Some(time_of(1))));
        assert_eq!(row.quantile(0.95), Some(time_of(5)));
    }
}
