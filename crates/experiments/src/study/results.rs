//! The results of a study: the figures of its existing runs, and their identity.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use mario_scenario::Files;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fingerprint::fingerprint;
use super::{StudyPlan, managed};
use crate::measures::Values;
use crate::runs::RunError;

/// Describes a set of runs. Runs with compatible identities can be merged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// The name and version of the program that made the runs. Another version may simulate a scenario differently.
    pub program: String,
    /// The content of the scenario, with all defaults filled in.
    pub scenario: Value,
    /// The variants, in the order of tables.
    pub variants: Vec<Vec<String>>,
    /// The policies, in the order of tables.
    pub policies: Vec<String>,
    /// The requested number of seeds.
    pub seeds: u64,
    /// For each policy in each variant, a fingerprint of the resolved scenario; for each metric, its command or the
    /// identity of its function.
    pub inputs: BTreeMap<String, String>,
    /// The names of the declared primary outcomes; empty for the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<String>,
    /// Notes for the user: about the scenario and, after runs were made, [`Results::warnings`].
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// Identifies a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RunKey {
    /// The settings of the variant, as `KEY=VALUE`.
    pub variant: Vec<String>,
    /// The name of the policy.
    pub policy: String,
    /// The seed.
    pub seed: u64,
}

/// The existing runs of a study.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// The identity of the runs.
    pub identity: Identity,
    /// The figures of each run.
    pub runs: BTreeMap<RunKey, Values>,
    /// Warnings about policies that failed in the runs that were just made. They are also among the notes, and are not
    /// stored.
    pub warnings: Vec<String>,
}

/// Why runs cannot be merged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MergeError {
    /// They were made by different versions of the program.
    Program(String, String),
    /// They are of different scenarios, or start at different seeds.
    Scenario,
    /// Their variants set different keys.
    Keys(Vec<String>, Vec<String>),
    /// A policy, a file or a metric differs. Contains the name of the input.
    Inputs(String),
    /// The same run has different results.
    Run(Box<RunKey>),
}

impl Identity {
    /// The identity of the runs of a plan, and warnings about the texts of its policies.
    pub(super) fn of(plan: &StudyPlan<'_>, files: &mut dyn Files) -> Result<(Identity, Vec<String>), RunError> {
        let mut warnings: Vec<String> = Vec::new();
        let settings = plan.document.settings().map_err(RunError::Scenario)?;
        let mut identity = Identity {
            program: concat!("mario ", env!("CARGO_PKG_VERSION")).to_owned(),
            scenario: serde_json::to_value(&settings).expect("settings are plain data"),
            variants: plan.variants.clone(),
            policies: plan.contenders.iter().map(|contender| contender.name.clone()).collect(),
            seeds: plan.seeds,
            inputs: BTreeMap::new(),
            outcomes: plan.outcomes.clone(),
            notes: Vec::new(),
        };
        for (place, variant) in plan.variants.iter().enumerate() {
            for (other, contender) in plan.contenders.iter().enumerate() {
                let resolved = managed(plan, place, other).resolve(files).map_err(RunError::Scenario)?;
                identity.inputs.insert(input_name(variant, &contender.name), fingerprint(&resolved.scenario));
                for warning in resolved.scenario.policy_warnings() {
                    let words = warning.mistake.to_string();
                    if !warnings.contains(&words) {
                        warnings.push(words);
                    }
                }
                // All policies share the scenario and its notes.
                if (place, other) == (0, 0) {
                    identity.notes = resolved.notes;
                }
            }
        }
        for metric in &plan.metrics {
            identity.inputs.insert(format!("metric {}", metric.name), metric.identity());
        }
        Ok((identity, warnings))
    }

    /// The seed of the scenario, which is the first seed of the study.
    pub fn first_seed(&self) -> u64 {
        self.scenario.get("seed").and_then(Value::as_u64).unwrap_or_default()
    }

    /// The name of the scenario.
    pub fn name(&self) -> &str {
        self.scenario.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// The keys that the variants set.
    fn keys(&self) -> Vec<String> {
        let settings = self.variants.iter().flatten();
        let keys: BTreeSet<&str> = settings.filter_map(|setting| Some(setting.split_once('=')?.0)).collect();
        keys.into_iter().map(str::to_owned).collect()
    }

    /// Adds the variants, policies, seeds and inputs of another identity to this one. Fails if they are incompatible.
    pub(super) fn join(&mut self, other: &Identity) -> Result<(), MergeError> {
        if self.program != other.program {
            return Err(MergeError::Program(self.program.clone(), other.program.clone()));
        }
        if self.scenario != other.scenario {
            return Err(MergeError::Scenario);
        }
        let (keys, others) = (self.keys(), other.keys());
        if keys != others {
            return Err(MergeError::Keys(keys, others));
        }
        for (name, print) in &other.inputs {
            if self.inputs.insert(name.clone(), print.clone()).is_some_and(|known| known != *print) {
                return Err(MergeError::Inputs(name.clone()));
            }
        }
        for variant in &other.variants {
            if !self.variants.contains(variant) {
                self.variants.push(variant.clone());
            }
        }
        for policy in &other.policies {
            if !self.policies.contains(policy) {
                self.policies.push(policy.clone());
            }
        }
        // The latest declaration applies; outcomes do not change the runs, so any declaration is compatible.
        if !other.outcomes.is_empty() {
            self.outcomes.clone_from(&other.outcomes);
        }
        self.seeds = self.seeds.max(other.seeds);
        Ok(())
    }
}

fn input_name(variant: &[String], policy: &str) -> String {
    if variant.is_empty() { policy.to_owned() } else { format!("{policy} with {}", variant.join(", ")) }
}

impl Results {
    /// Creates results without runs.
    pub fn new(identity: Identity) -> Results {
        Results { identity, runs: BTreeMap::new(), warnings: Vec::new() }
    }

    /// Adds other runs of the same study. Fails if the identities are incompatible, or if a run has different values.
    pub fn merge(&mut self, other: Results) -> Result<(), MergeError> {
        self.identity.join(&other.identity)?;
        for (key, values) in other.runs {
            let known = self.runs.entry(key.clone()).or_default();
            // The run may have been made with other metrics, whose values are added. Values that both have must be
            // equal.
            let is_other = |(name, value): (&String, &Option<f64>)| known.get(name).is_some_and(|known| known != value);
            if values.iter().any(is_other) {
                return Err(MergeError::Run(Box::new(key)));
            }
            known.extend(values);
        }
        Ok(())
    }

    /// The same results with other names of policies, for charts and pages. `labels` has the new names, which must be
    /// distinct; policies without one keep theirs.
    #[must_use]
    pub fn relabelled(&self, labels: &BTreeMap<String, String>) -> Results {
        let label = |policy: &String| labels.get(policy).unwrap_or(policy).clone();
        let mut results = self.clone();
        results.identity.policies = self.identity.policies.iter().map(label).collect();
        let renamed =
            |(key, values): (&RunKey, &Values)| (RunKey { policy: label(&key.policy), ..key.clone() }, values.clone());
        results.runs = self.runs.iter().map(renamed).collect();
        results
    }

    /// The runs in the order of tables: by variant, policy and seed.
    pub fn in_order(&self) -> impl Iterator<Item = (&RunKey, &Values)> {
        let identity = &self.identity;
        let mut rows: Vec<(&RunKey, &Values)> = self.runs.iter().collect();
        rows.sort_by_key(|(key, _)| {
            let variant = identity.variants.iter().position(|variant| *variant == key.variant);
            let policy = identity.policies.iter().position(|policy| *policy == key.policy);
            (variant, policy, key.seed)
        });
        rows.into_iter()
    }

    /// The runs of a policy in a variant, by seed.
    pub fn of(&self, variant: &[String], policy: &str) -> BTreeMap<u64, &Values> {
        let is_meant = |key: &RunKey| key.variant == variant && key.policy == policy;
        self.runs.iter().filter(|(key, _)| is_meant(key)).map(|(key, values)| (key.seed, values)).collect()
    }

    /// The first missing run, in the order in which runs are made; `None` if none is missing.
    pub fn first_missing(&self) -> Option<RunKey> {
        let Identity { variants, policies, seeds, .. } = &self.identity;
        let seeds = (0..*seeds).filter_map(|more| self.identity.first_seed().checked_add(more));
        let mut wanted = variants.iter().flat_map(|variant| {
            seeds.clone().flat_map(move |seed| {
                policies.iter().map(move |policy| RunKey { variant: variant.clone(), policy: policy.clone(), seed })
            })
        });
        wanted.find(|run| !self.runs.contains_key(run))
    }

    /// The number of missing runs.
    pub fn missing(&self) -> u64 {
        let identity = &self.identity;
        let wanted = identity.variants.len() as u64 * identity.policies.len() as u64 * identity.seeds;
        wanted.saturating_sub(self.runs.len() as u64)
    }

    /// Returns the results as CSV, with one row for each run. Undefined values are empty cells.
    pub fn csv(&self) -> String {
        let figures: BTreeSet<&String> = self.runs.values().flat_map(|values| values.keys()).collect();
        let mut text = "variant,policy,seed".to_owned();
        for figure in &figures {
            text.push(',');
            text.push_str(&cell(figure));
        }
        text.push('\n');
        for (key, values) in self.in_order() {
            text.push_str(&format!("{},{},{}", cell(&key.variant.join(" ")), cell(&key.policy), key.seed));
            for figure in &figures {
                text.push(',');
                if let Some(Some(value)) = values.get(*figure) {
                    text.push_str(&value.to_string());
                }
            }
            text.push('\n');
        }
        text
    }
}

/// Formats a text as a CSV cell, quoted if necessary.
pub(crate) fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

impl fmt::Display for RunKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` with seed {}", input_name(&self.variant, &self.policy), self.seed)
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Program(one, other) => write!(formatter, "the runs were made by {one} and by {other}"),
            MergeError::Scenario => formatter.write_str("the runs are of another scenario or begin at another seed"),
            MergeError::Keys(ones, others) => {
                let shown = |keys: &[String]| match keys {
                    [] => "no keys".to_owned(),
                    keys => keys.join(" and "),
                };
                write!(formatter, "some runs differ in {}, others in {}", shown(ones), shown(others))
            }
            MergeError::Inputs(name) => {
                write!(formatter, "what `{name}` is made of has changed: a policy, a file or a command")
            }
            MergeError::Run(key) => {
                write!(formatter, "{key} came out in two ways")
            }
        }
    }
}

impl Error for MergeError {}
