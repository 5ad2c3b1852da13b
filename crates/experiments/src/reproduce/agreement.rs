//! Whether figures are those that were published, digit by digit.

use serde::Serialize;

use super::Reproduced;
use crate::measures::Measure;

/// How many digits after the point the paper prints.
const PAPER_DECIMALS: usize = 3;

/// How many published figures an experiment meets.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Agreement {
    /// The paper's response times and service usages.
    pub paper: Count,
    /// The figures of the stored run.
    pub run: Count,
}

/// Figures that were compared.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Count {
    /// How many were published.
    pub of: usize,
    /// Those of them that are not met, by name.
    pub differing: Vec<String>,
}

impl Count {
    /// `4 of 4`, or `-` where nothing was published.
    pub fn text(&self) -> String {
        match self.of {
            0 => "-".to_owned(),
            of => format!("{} of {of}", of - self.differing.len()),
        }
    }
}

/// Whether a number, printed with these digits after the point, is the published one. The paper cut some numbers where
/// others round: 3.1047 is 3.104 there, and 1.1306 is 1.131.
pub fn equals_printed(ours: f64, published: f64, decimals: usize) -> bool {
    let factor = 10_f64.powi(decimals as i32);
    let published = (published * factor).round() as i64;
    [(ours * factor).round(), (ours * factor).trunc()].iter().any(|printed| *printed as i64 == published)
}

/// Whether a number rounds to the recorded one.
fn rounds_to(ours: f64, recorded: f64, decimals: usize) -> bool {
    // Half a digit, and what the decimal notation of the recorded number may be off.
    (ours - recorded).abs() <= if decimals == 0 { 0.0 } else { 0.5 * 10_f64.powi(-(decimals as i32)) + 1e-9 }
}

/// The measure of a figure `GROUP.MEASURE`.
fn measure_of(figure: &str) -> Option<Measure> {
    let (_, name) = figure.rsplit_once('.')?;
    Measure::ALL.into_iter().find(|measure| measure.as_str() == name)
}

impl Reproduced {
    /// How far the stored run agrees with the published results. Operations per movement and correlations of the paper
    /// are not counted: they come from runs that were not preserved.
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
    fn published_numbers_are_rounded_or_cut() {
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
    fn recorded_numbers_are_met_to_their_last_digit() {
        assert!(rounds_to(2.300_4, 2.30, 2) && !rounds_to(2.306, 2.30, 2));
        assert!(rounds_to(735.0, 735.0, 0) && !rounds_to(734.0, 735.0, 0));
    }
}
