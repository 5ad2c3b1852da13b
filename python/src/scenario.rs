//! Scenarios that ship, from a file or from text, with overrides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mario_frontend::scenarios::{Choices, Disk, failure, open};
use mario_frontend::warnings::notes;
use mario_frontend::{Failure, runs};
use mario_scenario::{Document, Files, Resolved};
use mario_simulator::RunOptions;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::exception;
use crate::function::{self, Raised};

/// The text of a scenario, before it is resolved.
#[pyclass(frozen, module = "mario_fog._mario")]
pub(crate) struct ScenarioText {
    document: Document,
}

#[pymethods]
impl ScenarioText {
    /// Opens a scenario that ships, by its name, or a scenario file, by its path.
    #[staticmethod]
    fn open(py: Python<'_>, name: PathBuf) -> PyResult<ScenarioText> {
        let document = open(&name).map_err(|failure| exception(py, &failure))?;
        Ok(ScenarioText { document })
    }

    /// A scenario from TOML text. Paths in the text are relative to the directory of `path`.
    #[staticmethod]
    fn read(path: PathBuf, text: String) -> ScenarioText {
        ScenarioText { document: Document::file(&path, text, &mut Disk) }
    }

    /// Converts settings from JSON to TOML.
    #[staticmethod]
    fn toml(settings: &str) -> PyResult<String> {
        let settings: serde_json::Value =
            serde_json::from_str(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        toml::to_string(&settings).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The settings with all defaults filled in, in JSON; notes for the user; and the estimated cost of a run.
    #[pyo3(signature = (overrides, policies, seed, files))]
    fn resolved(
        &self,
        py: Python<'_>,
        overrides: Vec<String>,
        policies: Vec<String>,
        seed: Option<u64>,
        files: BTreeMap<String, String>,
    ) -> PyResult<(String, Vec<String>, String)> {
        let choices = Choices { overrides, policies, seed, ..Choices::default() };
        let resolved = py.detach(|| self.resolve(&choices, &files));
        let resolved = resolved.map_err(|failure| exception(py, &failure))?;
        let settings =
            serde_json::to_string(&resolved.settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((settings, notes(&resolved), resolved.cost.to_string()))
    }

    /// Checks that the scenario can be run, e.g. that its initial deployment fits. Returns notes for the user.
    #[pyo3(signature = (overrides, policies, files, functions))]
    fn check(
        &self,
        py: Python<'_>,
        overrides: Vec<String>,
        policies: Vec<String>,
        files: BTreeMap<String, String>,
        functions: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<String>> {
        let choices = Choices { overrides, policies, ..Choices::default() };
        let functions = function::policies(functions, &Raised::default())?;
        let checked = py.detach(|| {
            let resolved = self.resolve(&choices, &files)?;
            runs::start_with(&resolved, RunOptions::default(), &functions)?;
            Ok(notes(&resolved))
        });
        checked.map_err(|failure: Failure| exception(py, &failure))
    }
}

impl ScenarioText {
    /// The scenario with `choices` applied, ready to be run.
    pub(crate) fn resolve(&self, choices: &Choices, files: &BTreeMap<String, String>) -> Result<Resolved, Failure> {
        let document = self.chosen(choices);
        document.resolve(&mut Texts(files)).map_err(|error| failure(&error))
    }

    /// The scenario with `choices` applied.
    pub(crate) fn chosen(&self, choices: &Choices) -> Document {
        let mut document = self.document.clone();
        choices.apply(&mut document);
        document
    }
}

/// Reads files: from memory if there is a text for the path, otherwise from disk.
pub(crate) struct Texts<'a>(pub(crate) &'a BTreeMap<String, String>);

impl Files for Texts<'_> {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let known = path.to_str().and_then(|name| self.0.get(name));
        known.map_or_else(|| Disk.read(path), |text| Ok(text.clone().into_bytes()))
    }

    fn similar(&mut self, path: &Path) -> Option<PathBuf> {
        Disk.similar(path)
    }
}

/// The names of the scenarios that ship.
#[pyfunction]
pub(crate) fn preset_names() -> Vec<&'static str> {
    mario_scenario::preset_names().collect()
}
