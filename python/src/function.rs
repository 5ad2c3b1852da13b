//! Policies and metrics that are Python functions.
//!
//! An exception of a function ends the run, or the whole study: the exception is stored, and raised when all runs have
//! stopped.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use mario_experiments::metric::MetricFunction;
use mario_policy::{Constant, FunctionProposal, KnowledgeBase, PolicyFunction, PolicyFunctions};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::facts::{dictionary, id};

/// The first exception of a function; later ones are dropped.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Stores the exception, unless there is one already. Returns its text.
    pub(crate) fn keep(&self, error: PyErr) -> String {
        let message = error.to_string();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        message
    }

    /// Whether a function has raised.
    pub(crate) fn is_any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes the exception.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A policy that is a Python function of facts.
struct PythonPolicy {
    name: String,
    function: Py<PyAny>,
    raised: Raised,
}

/// Converts a dictionary from names to Python functions, which decide instead of policies.
pub(crate) fn policies(functions: Option<&Bound<'_, PyDict>>, raised: &Raised) -> PyResult<PolicyFunctions> {
    let mut all = PolicyFunctions::default();
    for (name, function) in functions.into_iter().flatten() {
        let name: String = name.extract()?;
        let policy = PythonPolicy { name: name.clone(), function: function.unbind(), raised: raised.clone() };
        all.insert(&name, Arc::new(policy));
    }
    Ok(all)
}

impl PythonPolicy {
    fn ask(&self, py: Python<'_>, facts: &KnowledgeBase, instance: Constant) -> PyResult<Vec<FunctionProposal>> {
        let instance = crate::facts::value(py, facts, instance)?;
        let answer = self.function.bind(py).call1((dictionary(py, facts)?, instance))?;
        let mut proposals = Vec::new();
        for proposal in answer.try_iter()? {
            let proposal = proposal?;
            let wrong = || {
                let what = proposal.repr().map_or_else(|_| "something else".to_owned(), |repr| repr.to_string());
                PyTypeError::new_err(format!("a proposal is a tuple (operation, target), and not {what}"))
            };
            let (operation, target) = proposal.extract::<(String, Bound<'_, PyAny>)>().map_err(|_| wrong())?;
            proposals.push(FunctionProposal { operation, target: id(&target)? });
        }
        Ok(proposals)
    }
}

impl PolicyFunction for PythonPolicy {
    fn decide(&self, facts: &KnowledgeBase, instance: Constant) -> Result<Vec<FunctionProposal>, String> {
        if self.raised.is_any() {
            return Err(format!("the function `{}` has raised an exception before", self.name));
        }
        Python::attach(|py| {
            self.ask(py, facts, instance).map_err(|error| {
                self.raised.keep(noted(py, error, || {
                    format!("in the policy `{}`, asked about instance {}", self.name, facts.text(instance))
                }))
            })
        })
    }
}

/// An exception with a note of where it was raised.
fn noted(py: Python<'_>, error: PyErr, note: impl FnOnce() -> String) -> PyErr {
    // Fails before Python 3.11, which has no notes; the exception then stays unchanged.
    let _ = error.value(py).call_method1("add_note", (note(),));
    error
}

/// A metric that is a Python function of the directory of a run.
pub(crate) struct PythonMetric {
    pub(crate) name: String,
    pub(crate) function: Py<PyAny>,
    /// Its source code, if known, so that the runs of different functions with the same name are not merged.
    pub(crate) identity: String,
    pub(crate) raised: Raised,
}

impl MetricFunction for PythonMetric {
    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn measure(&self, directory: &Path) -> Result<f64, String> {
        Python::attach(|py| {
            let number = self.function.bind(py).call1((directory,)).and_then(|number| number.extract::<f64>());
            number.map_err(|error| self.raised.keep(noted(py, error, || format!("in the metric `{}`", self.name))))
        })
    }
}
