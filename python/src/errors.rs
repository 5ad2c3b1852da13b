//! Failures as Python exceptions, with the text and the positions that the command line shows.

use mario_diagnostics::Renderer;
use mario_frontend::{Diagnostic, Failure};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::hints::words;

/// The Python module that defines the classes of exceptions.
const CLASSES: &str = "mario_fog.errors";

/// The exception for a failure.
pub(crate) fn exception(py: Python<'_>, failure: &Failure) -> PyErr {
    let class = match failure {
        Failure::Input(_) => "InputError",
        Failure::Environment(_) => "EnvironmentError",
        Failure::Interrupted(_) => "Interrupted",
        Failure::OutputClosed => return PyRuntimeError::new_err("the output was closed"),
    };
    let raised = (|| {
        let diagnostics = places(py, failure.diagnostics())?;
        let made = py.import(CLASSES)?.getattr(class)?.call1((text(failure.diagnostics()), diagnostics))?;
        Ok(PyErr::from_value(made))
    })();
    raised.unwrap_or_else(|error: PyErr| error)
}

/// Diagnostics as the command line prints them, without colour.
pub(crate) fn text(diagnostics: &[Diagnostic]) -> String {
    let renderer = Renderer::plain();
    let texts: Vec<String> = diagnostics.iter().map(|diagnostic| renderer.render(&diagnostic.worded(words))).collect();
    texts.concat().trim_end().to_owned()
}

/// Diagnostics as dictionaries: title, causes, hints, and the position if there is one.
fn places<'py>(py: Python<'py>, diagnostics: &[Diagnostic]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for diagnostic in diagnostics {
        let one = PyDict::new(py);
        one.set_item("title", &diagnostic.title)?;
        one.set_item("causes", &diagnostic.causes)?;
        one.set_item("hints", diagnostic.hints.iter().map(words).collect::<Vec<_>>())?;
        if let Some((file, line, column)) = diagnostic.place() {
            one.set_item("file", file)?;
            one.set_item("line", line)?;
            one.set_item("column", column)?;
        }
        list.append(one)?;
    }
    Ok(list)
}

/// Reports warnings through Python's `warnings` module.
pub(crate) fn warn(py: Python<'_>, diagnostics: &[Diagnostic]) -> PyResult<()> {
    if diagnostics.is_empty() {
        return Ok(());
    }
    let category = py.import(CLASSES)?.getattr("PolicyWarning")?;
    py.import("warnings")?.call_method1("warn", (text(diagnostics), category))?;
    Ok(())
}
