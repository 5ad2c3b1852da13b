//! How long clients waited.

use std::collections::BTreeMap;

use super::super::run::Run;
use super::canvas::{Anchor, Canvas, Scale};

/// The height of the row of a kind.
const ROW: f64 = 70.0;

/// One row for each kind of application, on a logarithmic axis.
pub(super) fn distribution(run: &Run) -> String {
    let title = format!("Response times, {}", run.label);
    let rows: Vec<(&str, BTreeMap<i64, u64>, u64, f64)> =
        run.groups.iter().skip(1).map(|kind| row(run, kind)).filter(|row| row.2 > 0).collect();
    let mut canvas = Canvas::new(336.0, rows.len().max(1) as f64 * ROW + 46.0, 12.0);
    if rows.is_empty() {
        return canvas.nothing("No client request was served.", &title);
    }
    canvas.left = 12.0;
    let buckets = || rows.iter().flat_map(|row| row.1.keys());
    let low = buckets().min().copied().unwrap_or(0).min(0) as f64;
    let high = buckets().max().copied().unwrap_or(0).max(4) as f64 + 1.0;
    let x = canvas.x_scale(low, high);
    for (place, (kind, counts, served, sum)) in rows.iter().enumerate() {
        let floor = 10.0 + (place + 1) as f64 * ROW;
        let most = counts.values().max().copied().unwrap_or(1) as f64;
        let y = Scale::new((0.0, most), (floor, floor - ROW + 22.0));
        for (bucket, count) in counts {
            let (left, right) = (x.at(*bucket as f64), x.at((bucket + 1) as f64));
            let top = y.at(*count as f64);
            canvas.rectangle([left + 0.3, top], [right - left - 0.6, floor - top], "#4477AA");
        }
        let (left, right) = (canvas.left, canvas.right);
        canvas.path(&format!("M{left:.2} {floor:.2}H{right:.2}"), r##"stroke="#57606a" stroke-width="0.6""##);
        let words = format!("{kind}, mean {:.2}", sum / *served as f64);
        canvas.text([left, floor - ROW + 16.0], &words, Anchor::Start);
    }
    canvas.bottom = 10.0 + rows.len() as f64 * ROW;
    for power in -4..=6 {
        let value = 10_f64.powi(power);
        let bucket = value.log2() * 4.0;
        if bucket >= low && bucket <= high {
            canvas.soft_text([x.at(bucket), canvas.bottom + 13.0], &format!("{value}"), Anchor::Middle);
        }
    }
    canvas.soft_text([canvas.width / 2.0, canvas.height - 4.0], "response time", Anchor::Middle);
    canvas.finish(&title)
}

/// A kind, its buckets, how many were served, and the sum of their times. Response times of 0 go with the shortest.
fn row<'a>(run: &Run, kind: &'a str) -> (&'a str, BTreeMap<i64, u64>, u64, f64) {
    let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
    let (mut served, mut sum, mut at_once) = (0, 0.0, 0);
    let members = run.applications.iter().zip(&run.responses).filter(|(application, _)| application.kind == kind);
    for (_, responses) in members {
        served += responses.served;
        sum += responses.sum;
        for (bucket, count) in &responses.histogram {
            match bucket {
                Some(bucket) => *counts.entry(*bucket).or_default() += count,
                None => at_once += count,
            }
        }
    }
    if at_once > 0 {
        let shortest = counts.keys().next().copied().unwrap_or(0);
        *counts.entry(shortest).or_default() += at_once;
    }
    (kind, counts, served, sum)
}
