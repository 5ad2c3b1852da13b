//! Facts of agents as Python dictionaries: the name of each predicate, and its facts as tuples.

use mario_domain::{FactPredicate, Id};
use mario_policy::KnowledgeBase;
use mario_prolog::{Relations, Value};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// The facts of an agent, without those of predicates that are aliases, such as `refused/3`.
pub(crate) fn dictionary<'py>(py: Python<'py>, facts: &KnowledgeBase) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    for (position, predicate) in FactPredicate::OF_AGENTS.into_iter().enumerate() {
        let Some(table) = facts.table(position).filter(|_| predicate.own() == predicate) else { continue };
        let rows = PyList::empty(py);
        for row in 0..table.len() {
            let values: Vec<Bound<'py, PyAny>> = (0..predicate.arity())
                .map(|column| value(py, facts, table.value(row, column)))
                .collect::<PyResult<_>>()?;
            rows.append(PyTuple::new(py, values)?)?;
        }
        dictionary.set_item(predicate.name(), rows)?;
    }
    Ok(dictionary)
}

/// The predicates of an agent's facts, each with the numbers of its arguments.
#[pyfunction]
pub(crate) fn fact_predicates(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dictionary = PyDict::new(py);
    for predicate in FactPredicate::OF_AGENTS {
        let same = FactPredicate::OF_AGENTS.into_iter().filter(|other| other.name() == predicate.name());
        let arities: Vec<usize> = same.map(FactPredicate::arity).collect();
        dictionary.set_item(predicate.name(), PyTuple::new(py, arities)?)?;
    }
    Ok(dictionary)
}

/// A value of a fact: a name becomes a `str`, a number an `int` or a `float`, `inf` becomes `float("inf")`, and a list
/// a `list`.
pub(crate) fn value<'py>(py: Python<'py>, facts: &KnowledgeBase, constant: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    match constant {
        Value::Integer(number) => number.into_bound_py_any(py),
        Value::Float(number) => number.into_bound_py_any(py),
        Value::List(values) => {
            let values: Vec<_> = values.iter().map(|one| value(py, facts, *one)).collect::<PyResult<_>>()?;
            PyList::new(py, values)?.into_bound_py_any(py)
        }
        name => match facts.text(name).as_str() {
            "inf" => f64::INFINITY.into_bound_py_any(py),
            name => name.into_bound_py_any(py),
        },
    }
}

/// Converts a target, which is a `str` or an `int`, to an id.
pub(crate) fn id(object: &Bound<'_, PyAny>) -> PyResult<Id> {
    if let Ok(number) = object.extract::<i64>() {
        return Ok(Id::Number(number));
    }
    match object.extract::<String>() {
        Ok(name) => Id::name(&name).map_err(|error| PyTypeError::new_err(error.to_string())),
        Err(_) => Err(PyTypeError::new_err(format!("a target is a str or an int, and not {}", object.repr()?))),
    }
}
