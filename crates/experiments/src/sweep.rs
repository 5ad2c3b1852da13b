//! Parameter sweeps: all combinations of values of some keys of a scenario, and the results as text, CSV and JSON.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::{self, Write};

use mario_scenario::with_spaced_unit;
use serde_json::{Value, json};

use crate::comparison::{note_on_rates, shown_estimate};
use crate::measures::{LOST, METRIC, Measure, Values, extra, groups, key};
use crate::runs::split_list;
use crate::statistics::Estimate;
use crate::study::{Results, cell};

/// Why the keys of a sweep are invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeyError {
    /// A text has no `=`.
    NoValues(String),
    /// A value is empty.
    Empty(String),
    /// The key is given twice.
    Twice(String),
    /// A value of the key is given twice.
    ValueTwice(String, String),
    /// The key is the seed, which has its own option.
    Seed,
}

/// Returns all combinations of the values in texts `KEY=VALUE,VALUE,…`, each as a list of `KEY=VALUE`. The last key
/// changes fastest. Without keys, there is one empty combination.
pub fn variants(keys: &[String]) -> Result<Vec<Vec<String>>, KeyError> {
    let mut variants: Vec<Vec<String>> = vec![Vec::new()];
    let mut known: Vec<&str> = Vec::new();
    for text in keys {
        let Some((name, list)) = text.split_once('=') else { return Err(KeyError::NoValues(text.clone())) };
        let (name, values) = (name.trim(), split_list(list));
        if name == "seed" {
            return Err(KeyError::Seed);
        }
        if known.contains(&name) {
            return Err(KeyError::Twice(name.to_owned()));
        }
        known.push(name);
        if values.is_empty() || values.iter().any(|value| value.trim().is_empty()) {
            return Err(KeyError::Empty(text.clone()));
        }
        // `10ms` and `10 ms` are one value.
        let values: Vec<String> = values.iter().map(|value| with_spaced_unit(value.trim())).collect();
        if let Some(place) = (1..values.len()).find(|&place| values[..place].contains(&values[place])) {
            return Err(KeyError::ValueTwice(name.to_owned(), values[place].clone()));
        }
        let longer = |variant: &Vec<String>| -> Vec<Vec<String>> {
            values.iter().map(|value| [variant.clone(), vec![format!("{name}={value}")]].concat()).collect()
        };
        variants = variants.iter().flat_map(longer).collect();
    }
    Ok(variants)
}

/// One row of a table: the result of a policy in a variant.
struct Row<'a> {
    variant: &'a [String],
    policy: &'a str,
    /// The name and the estimate of each figure; `None` if it is undefined in all runs of the policy in the variant.
    estimates: Vec<(String, Option<Estimate>)>,
}

fn rows(results: &Results) -> Vec<Row<'_>> {
    let names = figure_names(results);
    let mut rows = Vec::new();
    for variant in &results.identity.variants {
        for policy in &results.identity.policies {
            let runs = results.of(variant, policy);
            let estimate = |name: &String| {
                let value = |values: &&Values| values.get(name).copied().flatten();
                let series: Vec<f64> = runs.values().filter_map(value).collect();
                (name.clone(), Estimate::of(&series))
            };
            rows.push(Row { variant, policy, estimates: names.iter().map(estimate).collect() });
        }
    }
    rows
}

/// The names of the figures that at least one run has, in alphabetical order.
pub fn figure_names(results: &Results) -> Vec<String> {
    let names: BTreeSet<&String> = results.runs.values().flat_map(|values| values.keys()).collect();
    names.into_iter().cloned().collect()
}

/// The figures that a table shows by default: the response time of each kind of application, the numbers of instances,
/// migrations, inhibitions and lost requests, the costs, and user-defined metrics. Empty without runs.
pub fn usual_figures(results: &Results) -> Vec<String> {
    let Some(values) = results.runs.values().next() else { return Vec::new() };
    let mut groups = groups(values);
    let is_all = |kind: &String| {
        let response = |values: &Values, group: &str| values.get(&key(group, Measure::Response)).copied().flatten();
        results.runs.values().all(|values| response(values, kind) == response(values, "all"))
    };
    // The kinds make up all applications, unless a single kind differs because there are applications without one.
    if groups.len() > 2 || groups.get(1).is_some_and(is_all) {
        groups.remove(0);
    }
    let mut figures: Vec<String> = groups.iter().map(|group| key(group, Measure::Response)).collect();
    figures.extend([Measure::InstancesMean, Measure::Migrate, Measure::Inhibited].map(|measure| key("all", measure)));
    figures.push(LOST.to_owned());
    let is_usual = |name: &&String| {
        name.starts_with(METRIC) || ["energy_joules", "money", "carbon_grams"].contains(&name.as_str())
    };
    figures.extend(figure_names(results).iter().filter(is_usual).cloned());
    figures
}

/// Returns a table for users, with a row for each variant and policy and a column for each of these figures.
pub fn text(results: &Results, figures: &[String]) -> String {
    let mut table = vec![vec!["variant".to_owned(), "policy".to_owned(), "seeds".to_owned()]];
    table[0].extend(figures.iter().cloned());
    for row in rows(results) {
        let seeds = results.of(row.variant, row.policy).len();
        let mut line = vec![row.variant.join(" "), row.policy.to_owned(), seeds.to_string()];
        for figure in figures {
            let estimate =
                row.estimates.iter().find(|(name, _)| name == figure).and_then(|(_, estimate)| estimate.as_ref());
            line.push(shown_estimate(estimate, |mean| decimals(figure, mean)));
        }
        table.push(line);
    }
    let widths: Vec<usize> = (0..table[0].len())
        .map(|column| table.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for line in &table {
        let mut written = String::new();
        for (column, (part, width)) in line.iter().zip(&widths).enumerate() {
            let space = " ".repeat(width - part.chars().count());
            // The variant and the policy are left-aligned, numbers are right-aligned.
            let part = if column < 2 { format!("{part}{space}  ") } else { format!("{space}{part}  ") };
            written.push_str(&part);
        }
        text.push_str(written.trim_end());
        text.push('\n');
    }
    if let Some(note) = note_on_rates(&results.identity, figures.iter().map(String::as_str)) {
        let _ = writeln!(text, "note: {note}.");
    }
    text
}

/// The number of decimals to show for a mean of a figure.
fn decimals(figure: &str, mean: f64) -> usize {
    if let Some(extra) = extra(figure) {
        return extra.decimals_for(mean);
    }
    let measure = Measure::ALL.into_iter().find(|measure| figure.ends_with(&format!(".{}", measure.as_str())));
    measure.map_or(1, |measure| measure.decimals().max(1))
}

/// Returns the results as CSV, with one row for each variant, policy and figure.
pub fn csv(results: &Results) -> String {
    let mut text = "variant,policy,figure,seeds,mean,low,high\n".to_owned();
    for row in rows(results) {
        for (figure, estimate) in &row.estimates {
            let (variant, policy, figure) = (cell(&row.variant.join(" ")), cell(row.policy), cell(figure));
            let _ = write!(text, "{variant},{policy},{figure},");
            match estimate {
                None => text.push_str("0,,,"),
                Some(Estimate { count, mean, interval }) => {
                    let ends = interval.map_or_else(|| ",".to_owned(), |[low, high]| format!("{low},{high}"));
                    let _ = write!(text, "{count},{mean},{ends}");
                }
            }
            text.push('\n');
        }
    }
    text
}

/// Returns the results as JSON, with one row for each variant and policy.
pub fn json(results: &Results) -> Value {
    let row = |row: Row<'_>| {
        let figures: serde_json::Map<String, Value> =
            row.estimates.into_iter().map(|(name, estimate)| (name, json!(estimate))).collect();
        json!({"variant": row.variant, "policy": row.policy, "figures": figures})
    };
    json!({"scenario": results.identity.name(), "rows": rows(results).into_iter().map(row).collect::<Vec<_>>()})
}

impl fmt::Display for KeyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::NoValues(text) => write!(formatter, "`--key {text}` has no values"),
            KeyError::Empty(text) => write!(formatter, "`--key {text}` has an empty value"),
            KeyError::Twice(key) => write!(formatter, "the key `{key}` is there twice"),
            KeyError::ValueTwice(key, value) => write!(formatter, "`--key {key}` has the value {value} twice"),
            KeyError::Seed => formatter.write_str("`seed` cannot be swept"),
        }
    }
}

impl Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_a_variant() {
        let keys = ["workload.period=20,40".to_owned(), "a=[1,2],3".to_owned()];
        let found = variants(&keys).expect("two keys");
        let expected = [
            ["workload.period=20", "a=[1,2]"],
            ["workload.period=20", "a=3"],
            ["workload.period=40", "a=[1,2]"],
            ["workload.period=40", "a=3"],
        ];
        assert_eq!(found, expected.map(|variant| variant.map(str::to_owned).to_vec()));
        assert_eq!(variants(&[]).expect("no key is the scenario itself"), [Vec::<String>::new()]);
    }

    #[test]
    fn a_malformed_list_of_values_is_rejected() {
        for (keys, expected) in [
            (&["period"][..], KeyError::NoValues("period".to_owned())),
            (&["period="], KeyError::Empty("period=".to_owned())),
            (&["period=1,,2"], KeyError::Empty("period=1,,2".to_owned())),
            (&["period=1", "period=2"], KeyError::Twice("period".to_owned())),
            (&["seed=1,2"], KeyError::Seed),
        ] {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            assert_eq!(variants(&keys), Err(expected));
        }
    }
}
