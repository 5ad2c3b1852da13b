//! Confidence intervals of means, and tests of differences.
//!
//! Two policies run with the same seeds, and so with the same users. [`PairedTest`] pairs their runs by seed. It uses
//! Wilcoxon's signed ranks instead of Student's t, because a few seeds in which a policy overloads an instance would
//! dominate the mean difference of response times. The t test is reported as well. [`holm`] corrects for many tests.

mod signed_ranks;
#[cfg(test)]
mod tests;

use serde::Serialize;
use signed_ranks::{one_sidedness, shift};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

pub use signed_ranks::signed_ranks;

/// The confidence level of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// An estimated number, usually a mean, with its confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// The number of values.
    pub count: usize,
    /// The mean, or the other estimated number.
    pub mean: f64,
    /// The ends of the 95 % confidence interval; `None` if there is none, for example because there are too few values.
    pub interval: Option<[f64; 2]>,
}

/// The difference between two policies over the same seeds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PairedTest {
    /// The typical difference, second minus first: the Hodges-Lehmann estimate, or the mean if there are more than
    /// 2,000 pairs.
    pub shift: Estimate,
    /// The number of pairs with a difference other than 0.
    pub differing: usize,
    /// The two-sided p-value of the signed-rank test.
    pub p: f64,
    /// The rank-biserial correlation: -1 if all differences other than 0 are negative, 1 if all are positive.
    pub effect: Estimate,
    /// The mean difference, second minus first.
    pub difference: Estimate,
    /// The two-sided p-value of Student's paired t test; `None` if all differences are the same.
    pub p_of_mean: Option<f64>,
    /// The mean difference divided by the standard deviation of the differences (Cohen's d), with its approximate
    /// interval; `None` if all differences are the same.
    pub standardised: Option<Estimate>,
}

impl Estimate {
    /// The mean of these values, with an interval if there are at least two; `None` without values.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        if values.is_empty() {
            return None;
        }
        let (mean, deviation) = mean_and_deviation(values);
        let count = values.len();
        let interval = (count >= 2).then(|| {
            let half = quantile(count) * deviation / (count as f64).sqrt();
            [mean - half, mean + half]
        });
        Some(Estimate { count, mean, interval })
    }
}

impl PairedTest {
    /// Tests whether the second of each pair differs from the first; `None` for fewer than two pairs.
    pub fn of(pairs: &[(f64, f64)]) -> Option<PairedTest> {
        let differences: Vec<f64> = pairs.iter().map(|(first, second)| second - first).collect();
        if differences.len() < 2 {
            return None;
        }
        let difference = Estimate::of(&differences)?;
        let count = differences.len() as f64;
        let (mean, deviation) = mean_and_deviation(&differences);
        // Without spread, t and d are not defined.
        let has_spread = deviation > f64::EPSILON * mean.abs();
        let t = mean / (deviation / count.sqrt());
        let standardised = has_spread.then(|| {
            let effect = mean / deviation;
            // The large-sample standard error of Hedges and Olkin.
            let half = quantile(differences.len()) * (1.0 / count + effect * effect / (2.0 * count)).sqrt();
            Estimate { count: differences.len(), mean: effect, interval: Some([effect - half, effect + half]) }
        });
        let normal = Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0);
        Some(PairedTest {
            shift: shift(&differences, (1.0 - CONFIDENCE) / 2.0).unwrap_or(difference),
            differing: differences.iter().filter(|difference| **difference != 0.0).count(),
            p: signed_ranks(&differences),
            effect: one_sidedness(&differences, normal),
            difference,
            p_of_mean: has_spread.then(|| (2.0 * student(differences.len()).cdf(-t.abs())).min(1.0)),
            standardised,
        })
    }
}

/// The Holm-Bonferroni correction: with the returned p-values compared with 0.05, the probability of any false finding
/// is at most 0.05. The result has the order of `values`.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut corrected = vec![1.0; values.len()];
    let mut greatest: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        let left = (values.len() - rank) as f64;
        greatest = greatest.max((values[place] * left).min(1.0));
        corrected[place] = greatest;
    }
    corrected
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() })
}

/// Student's t distribution with `count - 1` degrees of freedom.
fn student(count: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, (count - 1) as f64).expect("there are at least two values")
}

fn quantile(count: usize) -> f64 {
    student(count).inverse_cdf(0.5 + CONFIDENCE / 2.0)
}
