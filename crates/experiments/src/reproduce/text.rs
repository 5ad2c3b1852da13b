//! The results of a reproduction as text, in full.

use std::fmt::Write;

use super::results::Difference;
use super::{ExperimentResults, Preset, Reproduction};
use crate::measures::{Measure, key};

impl Reproduction {
    /// Returns tables of our figures beside the published ones, and all claims with their verdicts.
    pub fn text(&self) -> String {
        let mut text = format!("The paper's experiments in the world of the preset `{}`", self.preset.as_str());
        for note in &self.notes {
            let _ = write!(text, "; {note}");
        }
        text.push_str("\n\n");
        for one in &self.experiments {
            self.experiment(one, &mut text);
        }
        let claims = self.claims();
        let _ = writeln!(text, "Published claims about behaviour");
        for judged in &claims {
            let verdict = if judged.claim.holds { "holds        " } else { "does not hold" };
            let seeds =
                if judged.of > 1 { format!("; in {} of {} seeds", judged.holds_in, judged.of) } else { String::new() };
            let _ =
                writeln!(text, "  {verdict}  {}\n                 {}{seeds}", judged.claim.claim, judged.claim.numbers);
        }
        let findings: u64 = self.experiments.iter().map(|one| one.findings).sum();
        let hold = claims.iter().filter(|judged| judged.claim.holds).count();
        let _ = writeln!(
            text,
            "\n{hold} of {} claims hold; the auditor found {findings} mistakes in the traces",
            claims.len()
        );
        text
    }

    fn experiment(&self, one: &ExperimentResults, text: &mut String) {
        let differences = one.differences();
        let many = differences.iter().any(|row| row.seeds.is_some());
        let with_run = self.preset == Preset::Prototype;
        let _ = writeln!(text, "{}, seed {}", one.experiment.title, one.seed);
        let mut head = format!("  {:<36}{:>9}", "", "ours");
        if many {
            let _ = write!(head, "{:>9}  {:<18}", "mean", "95 % interval");
        }
        let _ = write!(head, "{:>9}{:>12}", "paper", "difference");
        if with_run {
            let _ = write!(head, "{:>9}{:>12}", "its run", "difference");
        }
        let _ = writeln!(text, "{}", head.trim_end());
        let groups: Vec<&str> = one.figures.figures.groups.iter().map(|group| group.group.as_str()).collect();
        for measure in Measure::ALL {
            for group in &groups {
                let name = key(group, measure);
                let Some(row) = differences.iter().find(|row| row.figure == name) else { continue };
                let is_shown = row.paper.is_some()
                    || (row.run.is_some() && with_run)
                    || matches!(measure, Measure::Inhibited | Measure::InstancesMean | Measure::PearsonR)
                    || (*group == "all" && matches!(measure, Measure::CyclesMean | Measure::CyclesMax));
                if is_shown {
                    line(text, &format!("{}, {group}", measure.title()), measure, row, many, with_run);
                }
            }
        }
        text.push('\n');
    }
}

fn line(text: &mut String, name: &str, measure: Measure, row: &Difference, many: bool, with_run: bool) {
    let decimals = measure.decimals();
    let number = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.decimals$}"));
    let mut line = format!("  {name:<36}{:>9}", number(row.ours));
    if many {
        let finer = if decimals == 0 { 1 } else { decimals };
        let interval = row.seeds.and_then(|seeds| seeds.interval);
        let interval = interval.map_or_else(String::new, |[low, high]| format!("{low:.finer$} to {high:.finer$}"));
        let mean = row.seeds.map_or_else(|| "n/a".to_owned(), |seeds| format!("{:.finer$}", seeds.mean));
        let _ = write!(line, "{mean:>9}  {interval:<18}");
    }
    let mut beside = |published: Option<f64>| {
        let shown = published.map_or_else(String::new, |value| format!("{value:.decimals$}"));
        let difference = match (row.ours, published) {
            (Some(ours), Some(published)) => without_minus_zero(format!("{:+.decimals$}", ours - published)),
            _ => String::new(),
        };
        let _ = write!(line, "{shown:>9}{difference:>12}");
    };
    beside(row.paper);
    if with_run {
        beside(row.run);
    }
    let _ = writeln!(text, "{}", line.trim_end());
}

/// Removes the sign of a formatted number if all its digits are 0.
fn without_minus_zero(number: String) -> String {
    if number.chars().all(|letter| !letter.is_ascii_digit() || letter == '0') { number[1..].to_owned() } else { number }
}
