//! One policy: its decisions, their explanations, and its problems.

use std::path::PathBuf;

use mario_frontend::Failure;
use mario_frontend::policies::{
    check_policy, decision_json, facts_failure, find_instance, load_explainer, load_policy, report_json, undecided,
};
use mario_frontend::policy_texts::Text;
use mario_policy::{Decider, KnowledgeBase, Policy, PolicySettings, SolutionLimit};
use mario_prolog::{Budget, Engine};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{exception, warn};

/// The default budget of one decision in the small worlds of a check, in inferences, as on the command line.
const CHECK_INFERENCES: u64 = 1_000_000;

/// A policy that was loaded.
#[pyclass(frozen, module = "mario_fog._mario")]
pub(crate) struct LoadedPolicy {
    text: Text,
    engine: Engine,
    policy: Policy,
    settings: PolicySettings,
}

#[pymethods]
impl LoadedPolicy {
    /// Loads a policy from `text`; without it, loads the shipped policy called `name`, or the file at the path `name`.
    #[new]
    #[pyo3(signature = (name, text, budget))]
    fn new(py: Python<'_>, name: String, text: Option<String>, budget: Option<u64>) -> PyResult<LoadedPolicy> {
        let defaults = PolicySettings::default();
        let inferences = budget.unwrap_or(defaults.budget.inferences);
        let settings = PolicySettings { budget: Budget { inferences, ..defaults.budget }, ..defaults };
        let mut warnings = Vec::new();
        let loaded = py.detach(|| {
            let text = match text {
                Some(text) => Text::written(&name, &text),
                None => Text::find(&PathBuf::from(&name))?,
            };
            let engine = Engine::new();
            let policy = load_policy(&engine, &text, settings, &mut warnings)?;
            Ok(LoadedPolicy { text, engine, policy, settings })
        });
        warn(py, &warnings)?;
        loaded.map_err(|failure: Failure| exception(py, &failure))
    }

    /// The name of the policy in messages.
    #[getter]
    fn name(&self) -> &str {
        &self.text.source.name
    }

    /// The text of the policy.
    #[getter]
    fn text(&self) -> &str {
        &self.text.source.text
    }

    /// Returns the first proposal of an instance's agent, or with `all` every proposal, in the JSON of
    /// `mario policy decide --format json`.
    #[pyo3(signature = (facts, name, instance, all))]
    fn decide(&self, py: Python<'_>, facts: &str, name: &str, instance: Option<&str>, all: bool) -> PyResult<String> {
        let limit = if all { SolutionLimit::All } else { SolutionLimit::First };
        let decided = py.detach(|| {
            let (facts, instance) = self.read(facts, name, instance)?;
            let mut decider = Decider::new(&self.engine);
            let decision = decider.decide(&self.policy, &facts, instance, limit);
            match undecided(&decision.ending, self.policy.name(), Some(&self.text), &self.engine) {
                Some(diagnostic) => Err(Failure::input(diagnostic)),
                None => Ok(decision_json(decision, &self.policy).to_string()),
            }
        });
        decided.map_err(|failure| exception(py, &failure))
    }

    /// Explains the proposal of an instance's agent, in the JSON of `mario policy explain --format json`.
    #[pyo3(signature = (facts, name, instance))]
    fn explain(&self, py: Python<'_>, facts: &str, name: &str, instance: Option<&str>) -> PyResult<String> {
        let explained = py.detach(|| {
            let (facts, instance) = self.read(facts, name, instance)?;
            let mut explainer = load_explainer(&self.engine, &self.text, self.settings, &mut Vec::new())?;
            let explained = explainer.explain(&facts, instance);
            match undecided(&explained.ending, self.policy.name(), Some(&self.text), &self.engine) {
                Some(diagnostic) => Err(Failure::input(diagnostic)),
                None => Ok(serde_json::json!(explained).to_string()),
            }
        });
        explained.map_err(|failure| exception(py, &failure))
    }

    /// Checks the policy. Returns the findings as the JSON that `mario policy check --format json` prints for a file.
    #[pyo3(signature = (budget))]
    fn check(&self, py: Python<'_>, budget: Option<u64>) -> PyResult<String> {
        let inferences = budget.unwrap_or(CHECK_INFERENCES);
        let settings =
            PolicySettings { budget: Budget { inferences, ..self.settings.budget }, ..PolicySettings::default() };
        let checked = py.detach(|| check_policy(&self.engine, &self.text, settings, None, &mut |_| {}));
        let report = checked.map_err(|failure| exception(py, &failure))?;
        serde_json::to_string(&report_json(self.name(), &report))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

impl LoadedPolicy {
    fn read(
        &self,
        text: &str,
        name: &str,
        instance: Option<&str>,
    ) -> Result<(KnowledgeBase, mario_policy::Constant), Failure> {
        let mut facts = KnowledgeBase::new(self.engine.symbols());
        let source = mario_diagnostics::Source::new(name, text);
        facts.read(&self.engine, name, text).map_err(|error| facts_failure(&error, &source, "facts"))?;
        let instance = find_instance(&facts, instance, name)?;
        Ok((facts, instance))
    }
}

/// The names of the policies that ship.
#[pyfunction]
pub(crate) fn policy_names() -> Vec<&'static str> {
    mario_scenario::policy_names().collect()
}
