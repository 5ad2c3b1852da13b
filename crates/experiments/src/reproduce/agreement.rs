//! Compares figures with the published ones, to the last published digit.

use serde::Serialize;

use super::ExperimentResults;
use crate::measures::Measure;

/// The number of decimals that the paper prints.
const PAPER_DECIMALS: usize = 3;

/// How many published figures an experiment reproduces.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Agreement {
    /// The comparison with the paper's response times and service usages.
    pub paper: Count,
    /// The comparison with the figures of the prototype's stored run.
    pub run: Count,
}

/// The result of comparing a set of figures.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Count {
    /// The number of published figures that are compared.
    pub of: usize,
    /// The names of the figures that differ.
    pub differing: Vec<String>,
}

impl Count {
    /// Returns how many figures agree, such as `4 of 4`, or `-` if nothing was published.
    pub fn text(&self) -> String {
        match self.of {
            0 => "-".to_owned(),
            of => format!("{} of {of}", of - self.differing.len()),
        }
    }
}

/// Whether `ours`, rounded or truncated to `decimals` decimals, equals the published number. The paper truncates
/// some numbers and rounds others: 3.1047 is printed as 3.104, and 1.1306 as 1.131.
pub fn equals_printed(ours: f64, published: f64, decimals: usize) -> bool {
    let factor = 10_f64.powi(decimals as i32);
    let published = (published * factor).round() as i64;
    [(ours * factor).round(), (ours * factor).trunc()].iter().any(|printed| *printed as i64 == published)
}

/// Whether `ours` rounds to the recorded number, which has `decimals` decimals. If `decimals` is 0, they must be equal.
fn rounds_to(ours: f64, recorded: f64, decimals: usize) -> bool {
    // Half a unit of the last digit, plus a tolerance for floating-point errors.
    (ours - recorded).abs() <= if decimals == 0 { 0.0 } else { 0.5 * 10_f64.powi(-(decimals as i32)) + 1e-9 }
}

/// The measure of a figure `GROUP.MEASURE`; `None` for other figures.
fn measure_of(figure: &str) -> Option<Measure> {
    let (_, name) = figure.rsplit_once('.')?;
    Measure::ALL.into_iter().find(|measure| measure.as_str() == name)
}

impl ExperimentResults {
    /// Compares the stored run with the published results. The paper's operations per movement and correlations are
    /// omitted, because they come from runs that were not preserved.
    pub fn agreement(&self) -> Agreement {
        let mut agreement = Agreement::default();
        for row in self.differences() {
            let Some(measure) = measure_of(&row.figure) else { continue };
            let is_of_stored_run = matches!(measure, Measure::Response | Measure::ServiceUsage);
            let count = |count: &mut Count, is_equal: bool| {
                count.of += 1;
                if !is_equal {
                    count.differing.push(row.figure.clone());
                }
            };
            if let Some(paper) = row.paper.filter(|_| is_of_stored_run) {
                let is_equal = row.ours.is_some_and(|ours| equals_printed(ours, paper, PAPER_DECIMALS));
                count(&mut agreement.paper, is_equal);
            }
            if let Some(run) = row.run {
                let decimals = if is_of_stored_run { 4 } else { measure.decimals() };
                let is_equal = row.ours.is_some_and(|ours| rounds_to(ours, run, decimals));
                count(&mut agreement.run, is_equal);
            }
        }
        agreement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_numbers_match_if_rounded_or_truncated() {
        for (ours, published, is_equal) in [
            (3.104_7, 3.104, true),
            (3.104_7, 3.105, true),
            (1.130_6, 1.131, true),
            (8.750_3, 8.75, true),
            (3.105_1, 3.104, false),
            (3.103_9, 3.104, true),
            (3.103_4, 3.104, false),
        ] {
            assert_eq!(equals_printed(ours, published, 3), is_equal, "{ours} {published}");
        }
    }

    #[test]
    fn recorded_numbers_match_to_their_last_digit() {
        assert!(rounds_to(2.300_4, 2.30, 2) && !rounds_to(2.306, 2.30, 2));
        assert!(rounds_to(735.0, 735.0, 0) && !rounds_to(734.0, 735.0, 0));
    }
}
