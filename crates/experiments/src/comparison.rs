//! Statistical tests of the differences between policies.
//!
//! Start at [`Comparison::of`]. For each pair of policies and each figure, the runs of the same seed are paired and
//! tested. The primary outcomes are the figures that the comparison is about; Holm's method corrects the p-values of
//! their tests together. All other figures are exploratory: their p-values are not corrected, because a correction over
//! every figure that a run happens to have would hide clear differences. [`crate::statistics`] explains the choice of
//! tests.

mod exploratory;
mod outcomes;
mod seeds;
#[cfg(test)]
mod tests;
mod text;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::measures::{ExtraMeasure, Measure, Values};
use crate::statistics::{Estimate, PairedTest, holm};
use crate::study::Results;

use outcomes::figures;
pub use seeds::DRAWN_FROM_THE_SEED;
pub(crate) use seeds::note_on_rates;
pub(crate) use text::shown_estimate;

/// A difference is significant if its corrected p-value is at most this.
pub const LEVEL: f64 = 0.05;

/// A figure that policies are compared by.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Figure {
    /// The name of the figure in files.
    pub name: String,
    /// Whether the comparison is about this figure.
    #[serde(rename = "outcome")]
    pub role: Role,
    /// The group of applications that the figure describes; `all` for figures without a group.
    #[serde(skip)]
    group: String,
    /// The measure; `None` for lost client requests and for extra figures.
    #[serde(skip)]
    measure: Option<Measure>,
    /// The description of an extra figure; `None` for measures of groups and for lost client requests.
    #[serde(skip)]
    extra: Option<ExtraMeasure>,
}

/// Whether a comparison is about a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The figure was declared to be an outcome of the comparison. Its tests are corrected together with those of the
    /// other primary outcomes.
    Primary,
    /// The figure is shown for further ideas. Its tests are not corrected.
    Exploratory,
}

impl Role {
    /// The name of the role in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Primary => "primary",
            Role::Exploratory => "exploratory",
        }
    }
}

/// The results of policies, and how they differ.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// The settings of the variant, as `KEY=VALUE`.
    pub variant: Vec<String>,
    /// The names of the compared policies.
    pub policies: Vec<String>,
    /// The largest number of seeds of any policy.
    pub seeds: usize,
    /// Whether each policy has at least two seeds, and the same result with all of them. If so, only the first run of
    /// each policy counts.
    pub is_seedless: bool,
    /// What the intervals and tests say nothing about.
    pub notes: Vec<String>,
    /// For each figure, the result of each policy; primary outcomes first.
    pub figures: Vec<FigureOfPolicies>,
    /// Each policy compared with each earlier one.
    pub pairs: Vec<Pair>,
}

/// The results of all policies in one figure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FigureOfPolicies {
    /// The figure.
    pub figure: Figure,
    /// One estimate for each policy, in the order of [`Comparison::policies`]; `None` if the figure is undefined in all
    /// runs of the policy.
    pub estimates: Vec<Option<Estimate>>,
}

/// The tests between two policies.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Pair {
    /// The name of the first policy.
    pub first: String,
    /// The name of the second policy.
    pub second: String,
    /// For each figure, how the second differs from the first.
    pub tests: Vec<FigureTest>,
    /// The result of the tests of the primary outcomes in one sentence.
    pub verdict: String,
}

/// How two policies differ in a figure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FigureTest {
    /// The figure.
    pub figure: Figure,
    /// The test; `None` if fewer than two seeds define the figure for both policies, or if [`Comparison::is_seedless`]
    /// holds.
    pub test: Option<PairedTest>,
    /// The p-value, corrected for all tests of primary outcomes of the comparison; `None` if there is no test or the
    /// figure is exploratory.
    pub p_corrected: Option<f64>,
    /// The result of the test in one sentence.
    pub verdict: String,
}

impl FigureTest {
    /// Whether the difference is statistically significant: its corrected p-value is at most [`LEVEL`].
    pub fn is_real(&self) -> bool {
        self.p_corrected.is_some_and(|p| p <= LEVEL)
    }

    /// Whether the test of a primary outcome can reject: it exists, and at least one seed differs.
    fn counts(&self) -> bool {
        self.figure.role == Role::Primary && self.test.is_some_and(|test| test.differing > 0)
    }
}

impl Comparison {
    /// Compares the policies of a variant.
    pub fn of(results: &Results, variant: &[String]) -> Comparison {
        let policies = results.identity.policies.clone();
        let runs: Vec<BTreeMap<u64, &Values>> = policies.iter().map(|policy| results.of(variant, policy)).collect();
        let figures = figures(&runs, &results.identity.outcomes);
        let is_seedless = runs.iter().all(|seeds| {
            let mut values = seeds.values();
            let first = values.next();
            seeds.len() >= 2 && values.all(|other| Some(other) == first)
        });
        let series = |figure: &Figure, policy: usize| -> BTreeMap<u64, f64> {
            let value = |values: &Values| values.get(&figure.name).copied().flatten();
            // Identical runs contain no information about random variation, so only the first one counts.
            let counted = if is_seedless { 1 } else { usize::MAX };
            runs[policy].iter().take(counted).filter_map(|(seed, values)| Some((*seed, value(values)?))).collect()
        };
        let of_policies = |figure: &Figure| FigureOfPolicies {
            figure: figure.clone(),
            estimates: (0..policies.len())
                .map(|policy| Estimate::of(&series(figure, policy).into_values().collect::<Vec<f64>>()))
                .collect(),
        };
        let estimates = figures.iter().map(of_policies).collect();
        let mut pairs = Vec::new();
        for second in 1..policies.len() {
            for first in 0..second {
                let test = |figure: &Figure| {
                    let (before, after) = (series(figure, first), series(figure, second));
                    let pairs: Vec<(f64, f64)> =
                        before.iter().filter_map(|(seed, value)| Some((*value, *after.get(seed)?))).collect();
                    let test = PairedTest::of(&pairs);
                    FigureTest { figure: figure.clone(), test, p_corrected: None, verdict: String::new() }
                };
                let tests = figures.iter().map(test).collect();
                let (first, second) = (policies[first].clone(), policies[second].clone());
                pairs.push(Pair { first, second, tests, verdict: String::new() });
            }
        }
        let seeds = runs.iter().map(BTreeMap::len).max().unwrap_or(0);
        let variant = variant.to_vec();
        let mut notes = seeds::notes(&results.identity, is_seedless);
        notes.extend(note_on_rates(&results.identity, figures.iter().map(|figure| figure.name.as_str())));
        let mut comparison = Comparison { variant, policies, seeds, is_seedless, notes, figures: estimates, pairs };
        comparison.correct();
        comparison.judge();
        comparison
    }

    /// The number of tests that Holm's method corrects: those of primary outcomes that differ in at least one seed. A
    /// test without a difference has a p-value of 1 whatever the correction, so it cannot be a false finding.
    pub fn test_count(&self) -> usize {
        self.pairs.iter().flat_map(|pair| &pair.tests).filter(|test| test.counts()).count()
    }

    /// Returns the smallest corrected p-value that this number of seeds and tests can reach. It may exceed 1.
    pub fn least_probability(&self) -> f64 {
        least_probability(self.seeds, self.test_count())
    }

    /// Returns the smallest number of seeds with which this number of tests can find a difference.
    pub fn seeds_needed(&self) -> usize {
        // The probability halves with each seed, so this is enough for any number of tests.
        const SEEDS_MAX: usize = 128;
        let tests = self.test_count();
        (2..SEEDS_MAX).find(|seeds| least_probability(*seeds, tests) <= LEVEL).unwrap_or(SEEDS_MAX)
    }

    /// Corrects the p-values of the primary outcomes of all pairs together.
    fn correct(&mut self) {
        let tests = || self.pairs.iter().flat_map(|pair| &pair.tests);
        let made: Vec<f64> = tests().filter(|test| test.counts()).filter_map(|test| Some(test.test?.p)).collect();
        let mut corrected = holm(&made).into_iter();
        for test in self.pairs.iter_mut().flat_map(|pair| &mut pair.tests) {
            test.p_corrected = match (&test.test, test.figure.role) {
                (None, _) | (_, Role::Exploratory) => None,
                (Some(_), Role::Primary) if test.counts() => corrected.next(),
                (Some(equal), Role::Primary) => Some(equal.p),
            };
        }
    }

    fn judge(&mut self) {
        for pair in &mut self.pairs {
            for test in &mut pair.tests {
                test.verdict = words::verdict(test, &pair.second);
            }
            pair.verdict = words::overall(&pair.tests, &pair.first, &pair.second);
        }
    }
}

/// The smallest corrected p-value of the signed-rank test with this number of seeds and tests.
fn least_probability(seeds: usize, tests: usize) -> f64 {
    2_f64.powi(1 - i32::try_from(seeds).unwrap_or(i32::MAX)) * tests as f64
}
