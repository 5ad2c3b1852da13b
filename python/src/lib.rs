//! The module `mario_fog._mario`: the native part of the Python package `mario_fog`.
//!
//! Start at [`run::run`]: it runs a [`scenario::ScenarioText`] and stores the run in a directory, as `mario run` does.
//! [`mod@replay`] continues a stored run under another policy, [`study`] makes many runs, [`policy`] evaluates one policy, [`table`] exports tables through the Arrow `PyCapsule`
//! interface, and [`environment`] lets learning agents decide. The public classes are written in Python, in
//! `python/mario_fog`; those here are thin wrappers.
//!
//! **Invariant:** no simulation, decision or statistic is computed here: a binding calls a library or the front end,
//! and converts values.
//!
//! **Invariant:** the GIL is released while a simulation runs, except to convert facts, to call Python functions, and
//! to poll for signals.
//!
//! **Invariant:** a failure of the front end is an exception with the text that the command line prints, except that
//! [`hints`] name functions and keyword arguments of the package. Wrong arguments are a `ValueError` or a `TypeError`.
//!
//! Not here: what the package offers to its users (`python/mario_fog/__init__.py`).

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]
#![allow(clippy::needless_pass_by_value, reason = "Python hands arguments over by value")]

mod errors;
mod hints;

mod facts;
mod function;
mod policy;
mod scenario;

mod progress;
mod replay;
mod run;
mod study;

mod environment;
mod table;

use pyo3::prelude::*;

#[pymodule]
fn _mario(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<environment::Session>()?;
    module.add_class::<policy::LoadedPolicy>()?;
    module.add_class::<scenario::ScenarioText>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(policy::policy_names, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::preset_names, module)?)?;
    module.add_function(wrap_pyfunction!(facts::fact_predicates, module)?)?;
    module.add_function(wrap_pyfunction!(hints::hints, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::resume, module)?)?;
    module.add_function(wrap_pyfunction!(replay::snapshot, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    module.add_function(wrap_pyfunction!(study::study, module)?)?;
    module.add_function(wrap_pyfunction!(study::merge, module)?)?;
    Ok(())
}
