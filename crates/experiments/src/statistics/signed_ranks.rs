//! Wilcoxon's signed-rank test of differences, with two effect sizes: the typical difference, and how one-sided the
//! differences are.

use statrs::distribution::{ContinuousCDF, Normal};

use super::Estimate;

/// Up to this number of differences (for [`signed_ranks`], of differences other than 0), the p-value of
/// [`signed_ranks`] and the interval of [`shift`] use the exact distribution; beyond that, the normal approximation.
const EXACT_MAX: usize = 50;

/// The maximum number of differences for the Hodges-Lehmann estimate, which computes the means of all pairs of them.
const SHIFT_MAX: usize = 2_000;

/// The ranks of the non-zero differences by absolute value. Ranks are doubled, so that shared ranks are whole numbers.
struct Ranked {
    /// Twice the rank of each difference, in ascending order.
    doubled: Vec<usize>,
    /// Twice the sum of the ranks of the positive differences.
    positive: usize,
    /// The reduction of the variance by ties, times 48.
    ties: f64,
}

impl Ranked {
    fn of(differences: &[f64]) -> Ranked {
        let mut left: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
        left.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let mut ranked = Ranked { doubled: Vec::with_capacity(left.len()), positive: 0, ties: 0.0 };
        let mut start = 0;
        while start < left.len() {
            let size = left[start..].iter().take_while(|other| other.abs() <= left[start].abs()).count();
            // The mean of the ranks start + 1 to start + size, doubled.
            let doubled = 2 * start + size + 1;
            ranked.doubled.extend(std::iter::repeat_n(doubled, size));
            ranked.positive += doubled * left[start..start + size].iter().filter(|one| **one > 0.0).count();
            ranked.ties += (size as f64).powi(3) - size as f64;
            start += size;
        }
        ranked
    }

    fn total(&self) -> usize {
        self.doubled.iter().sum()
    }
}

/// Returns the two-sided p-value of the signed-rank test. Differences of 0 are dropped. Differences with the same
/// absolute value share the mean of their ranks, which the distribution accounts for.
pub fn signed_ranks(differences: &[f64]) -> f64 {
    let ranked = Ranked::of(differences);
    let count = ranked.doubled.len();
    let less = ranked.positive.min(ranked.total() - ranked.positive);
    if count <= EXACT_MAX {
        let ways = ways(&ranked.doubled);
        let at_most: f64 = ways[..=less].iter().sum();
        return (2.0 * at_most / 2_f64.powi(count as i32)).min(1.0);
    }
    let n = count as f64;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ranked.ties / 48.0;
    let z = (less as f64 - ranked.total() as f64 / 2.0) / 2.0 / variance.sqrt();
    (2.0 * Normal::standard().cdf(z)).min(1.0)
}

/// Returns for each sum the number of subsets of `numbers` that add up to it.
fn ways(numbers: &[usize]) -> Vec<f64> {
    let mut ways = vec![0.0; numbers.iter().sum::<usize>() + 1];
    ways[0] = 1.0;
    for number in numbers {
        for sum in (*number..ways.len()).rev() {
            ways[sum] += ways[sum - number];
        }
    }
    ways
}

/// The rank-biserial correlation of the non-zero differences: -1 if all are negative, 1 if all are positive. Its
/// interval is computed with Fisher's transformation. Returns 0 without an interval if all differences are 0.
/// `quantile` is that of the standard normal distribution for the wanted confidence.
pub(super) fn one_sidedness(differences: &[f64], quantile: f64) -> Estimate {
    let ranked = Ranked::of(differences);
    let (count, total) = (ranked.doubled.len(), ranked.total() as f64);
    if count == 0 {
        return Estimate { count: differences.len(), mean: 0.0, interval: None };
    }
    let mean = 2.0 * (ranked.positive as f64 / total) - 1.0;
    let n = count as f64;
    let error = ((2.0 * n.powi(3) + 3.0 * n.powi(2) + n) / 6.0).sqrt() / (n * (n + 1.0) / 2.0);
    let ends = [-1.0, 1.0].map(|side| (mean.atanh() + side * quantile * error).tanh());
    // Fisher's transformation is infinite at -1 and 1, so there the interval is the correlation alone.
    let interval = if mean.abs() < 1.0 { ends } else { [mean, mean] };
    Estimate { count: differences.len(), mean, interval: Some(interval) }
}

/// The Hodges-Lehmann estimate: the median of the means of all pairs of differences, including each difference with
/// itself. Its interval is that of the signed-rank test, with a probability of at most `tail` beyond each end; there is
/// none if there are too few differences for that. Unlike a mean, the estimate is robust against a few extreme runs.
/// `None` for more than [`SHIFT_MAX`] differences.
pub(super) fn shift(differences: &[f64], tail: f64) -> Option<Estimate> {
    let count = differences.len();
    if count > SHIFT_MAX {
        return None;
    }
    let mut means = Vec::with_capacity(count * (count + 1) / 2);
    for (place, first) in differences.iter().enumerate() {
        means.extend(differences[place..].iter().map(|second| first.midpoint(*second)));
    }
    means.sort_by(f64::total_cmp);
    let middle = means.len() / 2;
    let median = if means.len() % 2 == 1 { means[middle] } else { means[middle - 1].midpoint(means[middle]) };
    let outside = outside(count, tail);
    let interval = (outside > 0).then(|| [means[outside - 1], means[means.len() - outside]]);
    Some(Estimate { count, mean: median, interval })
}

/// The rank of the pairwise mean at the lower end of the interval, counted from 1 at the smallest mean. The mean at the
/// upper end has the same rank, counted from the greatest. Returns 0 if there are too few differences for an interval.
fn outside(count: usize, tail: f64) -> usize {
    let n = count as f64;
    if count > EXACT_MAX {
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let quantile = Normal::standard().inverse_cdf(1.0 - tail);
        return (n * (n + 1.0) / 4.0 - quantile * deviation).floor().max(0.0) as usize;
    }
    let ranks: Vec<usize> = (1..=count).collect();
    let all = 2_f64.powi(count as i32);
    let mut below = 0.0;
    let mut is_rare = |number: &f64| {
        below += number;
        below / all <= tail
    };
    ways(&ranks).iter().take_while(|number| is_rare(number)).count()
}
