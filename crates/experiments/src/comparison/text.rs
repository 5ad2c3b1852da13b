//! A comparison for people, and as a table for programs.

use std::fmt::Write;

use super::words::probability;
use super::{Comparison, Pair};
use crate::statistics::Estimate;
use crate::study::cell;

impl Comparison {
    /// The means, then each pair: what differs, what does not, and what that means.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.is_seedless {
            let _ = writeln!(
                text,
                "All {} seeds came out the same: nothing in this scenario is drawn from the seed. So there is one run of each\n\
                 policy, and no chance to reckon with.\n",
                self.seeds
            );
        }
        self.means(&mut text);
        for pair in &self.pairs {
            text.push('\n');
            describe(pair, &mut text);
        }
        text
    }

    fn means(&self, text: &mut String) {
        const NAME: usize = 34;
        let shown: Vec<String> =
            self.policies.iter().enumerate().map(|(place, policy)| format!("{}: {policy}", letter(place))).collect();
        let _ = writeln!(text, "{}\n", shown.join("\n"));
        let _ = write!(text, "{:<NAME$}", format!("mean of {} and 95 % interval", many(self.seeds, "seed")));
        for place in 0..self.policies.len() {
            let _ = write!(text, "{:>26}", letter(place));
        }
        text.push('\n');
        for row in &self.figures {
            let _ = write!(text, "{:<NAME$}", row.figure.title());
            for estimate in &row.estimates {
                let _ = write!(text, "{:>26}", shown_estimate(estimate.as_ref(), row.figure.decimals()));
            }
            text.push('\n');
        }
    }

    /// One row for each pair and figure.
    pub fn csv(&self) -> String {
        let mut text = "first,second,figure,seeds,difference,low,high,p,p_corrected,p_signed_ranks,effect,effect_low,\
                        effect_high,verdict\n"
            .to_owned();
        for pair in &self.pairs {
            for row in &pair.tests {
                let _ = write!(text, "{},{},{},", cell(&pair.first), cell(&pair.second), row.figure.name);
                match &row.test {
                    None => text.push_str("0,,,,,,,,,,"),
                    Some(test) => {
                        let ends = test.difference.interval.unwrap_or([f64::NAN; 2]);
                        let p = row.p_corrected.unwrap_or(f64::NAN);
                        let Estimate { count, mean, .. } = test.difference;
                        let _ = write!(
                            text,
                            "{count},{mean},{},{},{},{p},{},",
                            ends[0], ends[1], test.p, test.p_signed_ranks
                        );
                        match test.effect {
                            None => text.push_str(",,,"),
                            Some(effect) => {
                                let ends = effect.interval.unwrap_or([f64::NAN; 2]);
                                let _ = write!(text, "{},{},{},", effect.mean, ends[0], ends[1]);
                            }
                        }
                    }
                }
                let _ = writeln!(text, "{}", cell(&row.verdict));
            }
        }
        text
    }
}

fn describe(pair: &Pair, text: &mut String) {
    let _ = writeln!(text, "{} against {}", pair.second, pair.first);
    for row in pair.tests.iter().filter(|row| row.is_real()) {
        let _ = writeln!(text, "  {}", row.verdict);
    }
    let same: Vec<String> = pair
        .tests
        .iter()
        .filter(|row| !row.is_real())
        .filter_map(|row| Some(format!("{} ({})", row.figure.title(), probability(row.p_corrected?))))
        .collect();
    if !same.is_empty() {
        let _ = writeln!(text, "  no difference found in {}", same.join("; "));
    }
    let _ = writeln!(text, "  Overall: {}.", pair.verdict);
}

/// `2.345 ± 0.012`, or the mean alone.
pub(crate) fn shown_estimate(estimate: Option<&Estimate>, decimals: usize) -> String {
    match estimate {
        None => "n/a".to_owned(),
        Some(Estimate { mean, interval: None, .. }) => format!("{mean:.decimals$}"),
        Some(Estimate { mean, interval: Some([_, high]), .. }) => {
            format!("{mean:.decimals$} ± {:.decimals$}", high - mean)
        }
    }
}

/// A, B, C and so on.
fn letter(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place) if place < 26 => char::from(b'A' + place).to_string(),
        _ => format!("P{}", place + 1),
    }
}

fn many(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
