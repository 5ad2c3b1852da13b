//! A comparison as text for the terminal, as tables for a page, and as CSV.

use std::fmt::Write;

use super::exploratory;
use super::seeds::drawn_from_the_seed;
use super::words::{listed, overall, verdict};
use super::{Comparison, FigureOfPolicies, FigureTest, LEVEL, Pair, Role};
use crate::statistics::Estimate;
use crate::study::cell;
use crate::table::Table;

impl Comparison {
    /// Returns the means and the verdicts as tables for a page. `id` prefixes their identifiers, so that a page can
    /// have several comparisons.
    pub fn tables(&self, id: &str) -> Vec<Table> {
        let title = if self.variant.is_empty() { "Policies compared".to_owned() } else { self.variant.join(", ") };
        let row = |row: &FigureOfPolicies| {
            let shown =
                |estimate: &Option<Estimate>| shown_estimate(estimate.as_ref(), |mean| row.figure.decimals(mean));
            std::iter::once(row.figure.title_with_unit()).chain(row.estimates.iter().map(shown)).collect()
        };
        let means = Table {
            id: id.to_owned(),
            title,
            lead: format!("Mean of {} and how far the 95 % interval reaches.", many(self.seeds, "seed")),
            head: std::iter::once("figure".to_owned()).chain(self.policies.iter().cloned()).collect(),
            rows: self.figures.iter().map(row).collect(),
            notes: self.notes.iter().map(|note| format!("{note}.")).collect(),
        };
        let pair = |(place, pair): (usize, &Pair)| Table {
            id: format!("{id}-pair-{}", place + 1),
            title: format!("{} against {}", pair.second, pair.first),
            lead: format!("{}.", pair.verdict.trim_end_matches('.')),
            head: ["figure", "outcome", "p", "verdict"].map(str::to_owned).to_vec(),
            rows: pair
                .tests
                .iter()
                .map(|row| {
                    let p = row.p_corrected.or(row.test.map(|test| test.p));
                    let p = p.map_or_else(
                        || "n/a".to_owned(),
                        |p| if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") },
                    );
                    vec![row.figure.title(), row.figure.role.as_str().to_owned(), p, row.verdict.clone()]
                })
                .collect(),
            notes: Vec::new(),
        };
        std::iter::once(means).chain(self.pairs.iter().enumerate().map(pair)).collect()
    }

    /// Returns the means, and then for each pair the primary outcomes that differ significantly, those that do not, the
    /// overall verdict, and the exploratory figures. Also states what the tests say nothing about, if all seeds had the
    /// same result, and how many seeds are needed if no difference was found.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.is_seedless {
            let _ = writeln!(
                text,
                "All {} seeds came out the same: nothing in this scenario is drawn from the seed. So there is one run of each\n\
                 policy, and no variation between seeds to test. Settings that draw from the seed, and so make seeds differ:\n{}",
                self.seeds,
                drawn_from_the_seed()
            );
        }
        self.means(&mut text);
        let name = |policy: &String| letter(self.policies.iter().position(|known| known == policy).unwrap_or(0));
        for pair in &self.pairs {
            text.push('\n');
            describe(pair, &name(&pair.first), &name(&pair.second), &mut text);
        }
        let notes = self.notes.iter().map(|note| format!("note: {note}")).chain(self.power());
        for (place, note) in notes.enumerate() {
            let _ = writeln!(text, "{}{note}.", if place == 0 { "\n" } else { "" });
        }
        text
    }

    /// Returns how many seeds it takes to find a difference; `None` if one was found or none can exist.
    fn power(&self) -> Option<String> {
        let is_found = self.pairs.iter().flat_map(|pair| &pair.tests).any(FigureTest::is_real);
        let count = self.test_count();
        if is_found || count == 0 {
            return None;
        }
        let (seeds, tests, needed) = (many(self.seeds, "seed"), many(count, "test"), self.seeds_needed());
        Some(if self.least_probability() > LEVEL {
            format!(
                "With {seeds} no difference can be told from chance, however clear it is: the smallest corrected p of {tests} is {:.2}; \
                 {needed} seeds are needed",
                self.least_probability().min(1.0)
            )
        } else {
            format!(
                "{needed} seeds are enough for {tests} of primary outcomes to find a difference that every seed shows; a difference that \
                 only some seeds show takes more than {seeds}, or there is none"
            )
        })
    }

    fn means(&self, text: &mut String) {
        const WIDTH_MIN: usize = 34;
        let titles: Vec<String> = self.figures.iter().map(|row| row.figure.title_with_unit()).collect();
        let width = titles.iter().map(|title| title.chars().count() + 1).fold(WIDTH_MIN, usize::max);
        let shown: Vec<String> =
            self.policies.iter().enumerate().map(|(place, policy)| format!("{}: {policy}", letter(place))).collect();
        let _ = writeln!(text, "{}\n", shown.join("\n"));
        let _ = write!(text, "{:<width$}", format!("mean of {} and 95 % interval", many(self.seeds, "seed")));
        for place in 0..self.policies.len() {
            let _ = write!(text, "{:>26}", letter(place));
        }
        text.push('\n');
        let mut role = None;
        // A figure that no run has says nothing.
        let is_known =
            |row: &FigureOfPolicies| row.figure.role == Role::Primary || row.estimates.iter().any(Option::is_some);
        for (row, title) in self.figures.iter().zip(&titles).filter(|(row, _)| is_known(row)) {
            if role != Some(row.figure.role) {
                role = Some(row.figure.role);
                let role = row.figure.role;
                let _ = writeln!(text, "{}:", role.as_str());
            }
            let _ = write!(text, "{title:<width$}");
            for estimate in &row.estimates {
                let shown = shown_estimate(estimate.as_ref(), |mean| row.figure.decimals(mean));
                let _ = write!(text, "{shown:>26}");
            }
            text.push('\n');
        }
    }

    /// Returns the tests as CSV, with one row for each pair and figure.
    pub fn csv(&self) -> String {
        const HEAD: &str = "first,second,figure,outcome,seeds,shift,low,high,p,p_corrected,effect,effect_low,effect_high,mean,mean_low,\
                            mean_high,p_of_mean,standardised,standardised_low,standardised_high,verdict\n";
        const EMPTY: &str = ",,,,,,,,,,,,,,,,";
        let mut text = HEAD.to_owned();
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let three = |estimate: Option<Estimate>| {
            let end = |end: usize| estimate.and_then(|estimate| estimate.interval).map(|ends| ends[end]);
            [estimate.map(|estimate| estimate.mean), end(0), end(1)].map(number).join(",")
        };
        for pair in &self.pairs {
            for row in &pair.tests {
                let (first, second, figure) = (cell(&pair.first), cell(&pair.second), cell(&row.figure.name));
                let _ = write!(text, "{first},{second},{figure},{},", row.figure.role.as_str());
                match &row.test {
                    None => text.push_str(EMPTY),
                    Some(test) => {
                        let probabilities = [Some(test.p), row.p_corrected].map(number).join(",");
                        let (shift, effect) = (three(Some(test.shift)), three(Some(test.effect)));
                        let (mean, standardised) = (three(Some(test.difference)), three(test.standardised));
                        let p_of_mean = number(test.p_of_mean);
                        let count = test.shift.count;
                        let _ =
                            write!(text, "{count},{shift},{probabilities},{effect},{mean},{p_of_mean},{standardised},");
                    }
                }
                let _ = writeln!(text, "{}", cell(&row.verdict));
            }
        }
        text
    }
}

fn describe(pair: &Pair, first: &str, second: &str, text: &mut String) {
    let _ = writeln!(text, "{second} against {first}: {} against {}", pair.second, pair.first);
    let primary = || pair.tests.iter().filter(|row| row.figure.role == Role::Primary && row.test.is_some());
    for row in primary().filter(|row| row.is_real()) {
        let _ = writeln!(text, "  {}", verdict(row, second));
    }
    let (equal, unclear): (Vec<&FigureTest>, Vec<&FigureTest>) =
        primary().filter(|row| !row.is_real()).partition(|row| row.test.is_some_and(|test| test.differing == 0));
    for (what, rows) in [("no difference found in", unclear), ("equal in every seed:", equal)] {
        if !rows.is_empty() {
            let _ = writeln!(text, "  {what} {}", listed(rows.into_iter().map(|row| &row.figure)));
        }
    }
    let _ = writeln!(text, "  Overall: {}.", overall(&pair.tests, first, second));
    exploratory::list(pair, text);
}

/// Formats an estimate as `2.345 ± 0.012`, or as the mean alone if it has no interval; `None` becomes `n/a`. `decimals`
/// returns the number of decimals for a mean.
pub(crate) fn shown_estimate(estimate: Option<&Estimate>, decimals: impl Fn(f64) -> usize) -> String {
    let Some(Estimate { mean, interval, .. }) = estimate else { return "n/a".to_owned() };
    let decimals = decimals(*mean);
    match interval {
        None => format!("{mean:.decimals$}"),
        Some([_, high]) => format!("{mean:.decimals$} ± {:.decimals$}", high - mean),
    }
}

/// The label of the policy with this index: `A` to `Z`, then `P27` and so on.
fn letter(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place) if place < 26 => char::from(b'A' + place).to_string(),
        _ => format!("P{}", place + 1),
    }
}

fn many(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
