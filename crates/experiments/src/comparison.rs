//! Statistical tests of the differences between policies.
//!
//! Start at [`Comparison::of`]. For each pair of policies and each figure, the runs of the same seed are paired and
//! tested; Holm's method corrects the p-values of all tests together. [`crate::statistics`] explains the choice of
//! tests.

#[cfg(test)]
mod tests;
mod text;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::measures::{ExtraMeasure, LOST, Measure, Values, extra, groups, key};
use crate::statistics::{Estimate, PairedTest, holm};
use crate::study::Results;

pub use text::DRAWN_FROM_THE_SEED;
pub(crate) use text::shown_estimate;

/// A difference is significant if its corrected p-value is at most this.
pub const LEVEL: f64 = 0.05;

/// A figure that policies are compared by.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Figure {
    /// The name of the figure in files.
    pub name: String,
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
    /// For each figure, the result of each policy.
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
    /// The result of all tests in one sentence.
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
    /// The p-value, corrected for all tests of the comparison; `None` if there is no test.
    pub p_corrected: Option<f64>,
    /// The result of the test in one sentence.
    pub verdict: String,
}

impl FigureTest {
    /// Whether the difference is statistically significant: its corrected p-value is at most [`LEVEL`].
    pub fn is_real(&self) -> bool {
        self.p_corrected.is_some_and(|p| p <= LEVEL)
    }
}

impl Comparison {
    /// Compares the policies of a variant.
    pub fn of(results: &Results, variant: &[String]) -> Comparison {
        let policies = results.identity.policies.clone();
        let runs: Vec<BTreeMap<u64, &Values>> = policies.iter().map(|policy| results.of(variant, policy)).collect();
        let figures = figures(&runs);
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
        let mut comparison = Comparison { variant, policies, seeds, is_seedless, figures: estimates, pairs };
        comparison.correct();
        comparison.judge();
        comparison
    }

    /// Returns the smallest corrected p-value that this number of seeds and tests can reach. It may exceed 1.
    pub fn least_probability(&self) -> f64 {
        let tests = self.pairs.iter().flat_map(|pair| &pair.tests).filter(|test| test.test.is_some()).count();
        2_f64.powi(1 - i32::try_from(self.seeds).unwrap_or(i32::MAX)) * tests as f64
    }

    /// Corrects the p-values of all tests of all pairs together.
    fn correct(&mut self) {
        let mut tests: Vec<&mut FigureTest> = self.pairs.iter_mut().flat_map(|pair| &mut pair.tests).collect();
        let made: Vec<f64> = tests.iter().filter_map(|test| Some(test.test?.p)).collect();
        let corrected = holm(&made);
        for (test, p) in tests.iter_mut().filter(|test| test.test.is_some()).zip(corrected) {
            test.p_corrected = Some(p);
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

/// The figures to compare. With a single kind of application, its figures are omitted, because they equal those of the
/// group `all`.
fn figures(runs: &[BTreeMap<u64, &Values>]) -> Vec<Figure> {
    let Some(values) = runs.iter().find_map(|seeds| seeds.values().next()) else { return Vec::new() };
    let mut groups = groups(values);
    if groups.len() == 2 {
        groups.truncate(1);
    }
    let mut figures = Vec::new();
    for measure in Measure::COMPARED {
        for group in &groups {
            figures.push(Figure {
                name: key(group, measure),
                group: group.clone(),
                measure: Some(measure),
                extra: None,
            });
        }
    }
    let of_run = |name: &str, extra: Option<ExtraMeasure>| Figure {
        name: name.to_owned(),
        group: "all".to_owned(),
        measure: None,
        extra,
    };
    figures.push(of_run(LOST, None));
    // The names are collected from all runs, because some may lack a metric.
    let names: BTreeSet<&String> =
        runs.iter().flat_map(|seeds| seeds.values()).flat_map(|values| values.keys()).collect();
    figures.extend(names.into_iter().filter_map(|name| {
        let extra = extra(name).filter(|extra| extra.is_compared)?;
        Some(of_run(name, Some(extra)))
    }));
    figures
}
