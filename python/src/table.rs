//! Tables that are exported through the Arrow `PyCapsule` interface, which pandas, polars, pyarrow and others can read.

use std::fs;
use std::path::PathBuf;

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use mario_frontend::Diagnostic;
use mario_frontend::Failure;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyFloat, PyString, PyTuple};

use crate::errors::exception;

/// An immutable table of Arrow columns.
#[pyclass(frozen, module = "mario_fog._mario")]
pub(crate) struct Table {
    fields: Fields,
    columns: ArrayData,
}

/// One column under construction.
enum Column {
    Text { ends: Vec<i32>, bytes: Vec<u8> },
    Integer { values: Vec<i64>, valid: Vec<bool> },
    Number { values: Vec<f64>, valid: Vec<bool> },
}

#[pymethods]
impl Table {
    /// Reads a file of comma-separated values with a header. Columns named in `texts` are texts, those in `integers`
    /// are integers, and all others are floating-point numbers. An empty cell in a column of numbers is null.
    #[staticmethod]
    fn read_csv(py: Python<'_>, path: PathBuf, texts: Vec<String>, integers: Vec<String>) -> PyResult<Table> {
        py.detach(|| {
            let content = fs::read_to_string(&path)
                .map_err(|error| Failure::file(format!("cannot read `{}`", path.display()), &error))?;
            table(&content, &texts, &integers).map_err(|(line, why)| {
                let title = format!("`{}` is not a table of a run: {why} in line {line}", path.display());
                Failure::input(Diagnostic::error(title).hint("make the run again"))
            })
        })
        .map_err(|failure| exception(py, &failure))
    }

    /// Like [`Table::read_csv`], from a text.
    #[staticmethod]
    fn parse_csv(text: &str, texts: Vec<String>, integers: Vec<String>) -> PyResult<Table> {
        table(text, &texts, &integers).map_err(|(line, why)| PyValueError::new_err(format!("line {line}: {why}")))
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.fields.iter().map(|field| field.name().clone()).collect()
    }

    /// How many rows there are.
    #[getter]
    fn num_rows(&self) -> usize {
        self.columns.len()
    }

    fn __len__(&self) -> usize {
        self.columns.len()
    }

    fn __repr__(&self) -> String {
        format!("<mario_fog.Table with {} rows: {}>", self.columns.len(), self.column_names().join(", "))
    }

    /// The columns as lists, by name; an empty cell is `None`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, column) in self.fields.iter().zip(self.columns.child_data()) {
            let cells: Vec<_> = (0..column.len()).map(|row| cell(py, column, row)).collect::<PyResult<_>>()?;
            columns.set_item(field.name(), cells)?;
        }
        Ok(columns)
    }

    /// The table as a `DataFrame`, for which pandas must be installed.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pandas")?.call_method1("DataFrame", (self.to_dict(py)?,))
    }

    /// The rows, each as a dictionary from names of columns to cells, so that `pandas.DataFrame(table)` is this table.
    fn __iter__(table: Bound<'_, Table>) -> Rows {
        Rows { table: table.unbind(), next: 0 }
    }

    /// What a notebook shows: the first rows.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 10;
        let rows = self.columns.len();
        let mut html = "<table><thead><tr>".to_owned();
        for name in self.column_names() {
            html.extend(["<th>", &escaped(&name), "</th>"]);
        }
        html.push_str("</tr></thead><tbody>");
        for row in 0..rows.min(SHOWN) {
            html.push_str("<tr>");
            for column in self.columns.child_data() {
                let value = cell(py, column, row)?;
                let text = if value.is_none() { String::new() } else { value.str()?.to_string() };
                html.extend(["<td>", &escaped(&text), "</td>"]);
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody></table>");
        if rows > SHOWN {
            html.push_str(&format!("<p>{SHOWN} of {rows} rows</p>"));
        }
        Ok(html)
    }

    /// The schema, as a capsule of the Arrow `PyCapsule` interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.columns.data_type()).map_err(|error| wrong(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Schema and columns, as capsules of the Arrow `PyCapsule` interface. The memory is shared, not copied.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The interface allows a producer to ignore the requested schema.
        drop(requested_schema);
        let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&self.columns), c"arrow_array")?;
        PyTuple::new(py, [self.__arrow_c_schema__(py)?, array])
    }
}

/// Iterates over the rows of a table.
#[pyclass(module = "mario_fog._mario")]
struct Rows {
    table: Py<Table>,
    next: usize,
}

#[pymethods]
impl Rows {
    fn __iter__(rows: PyRef<'_, Self>) -> PyRef<'_, Self> {
        rows
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let table = self.table.get();
        if self.next == table.columns.len() {
            return Ok(None);
        }
        let cells = PyDict::new(py);
        for (field, column) in table.fields.iter().zip(table.columns.child_data()) {
            cells.set_item(field.name(), cell(py, column, self.next)?)?;
        }
        self.next += 1;
        Ok(Some(cells))
    }
}

/// The value in a row of a column; `None` if the cell is empty.
fn cell<'py>(py: Python<'py>, column: &ArrayData, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Int64 => column.buffer::<i64>(0)[row].into_pyobject(py)?.into_any(),
        DataType::Float64 => PyFloat::new(py, column.buffer::<f64>(0)[row]).into_any(),
        _ => {
            let ends = column.buffer::<i32>(0);
            let text = &column.buffers()[1].as_slice()[ends[row] as usize..ends[row + 1] as usize];
            PyString::new(py, &String::from_utf8_lossy(text)).into_any()
        }
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn wrong(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The number of a malformed row, where the header is row 1, and its error.
type Wrong = (usize, String);

fn table(content: &str, texts: &[String], integers: &[String]) -> Result<Table, Wrong> {
    let mut rows =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(content.as_bytes()).into_records();
    let mut next = |line| rows.next().transpose().map_err(|error: csv::Error| (line, error.to_string()));
    let names = next(1)?.ok_or_else(|| (1, "there is no header".to_owned()))?;
    let names: Vec<String> = names.iter().map(str::to_owned).collect();
    let mut columns: Vec<Column> = names.iter().map(|name| Column::new(name, texts, integers)).collect();
    let mut line = 1;
    while let Some(cells) = next(line + 1)? {
        line += 1;
        if cells.len() != columns.len() {
            return Err((line, format!("{} cells where {} are expected", cells.len(), columns.len())));
        }
        for (column, cell) in columns.iter_mut().zip(&cells) {
            column.push(cell).map_err(|why| (line, why))?;
        }
    }
    build(&names, columns).map_err(|error| (line, error.to_string()))
}

fn build(names: &[String], columns: Vec<Column>) -> Result<Table, ArrowError> {
    let rows = columns.first().map_or(0, Column::len);
    let mut fields = Vec::new();
    let mut children = Vec::new();
    for (name, column) in names.iter().zip(columns) {
        let child = column.build()?;
        fields.push(Field::new(name, child.data_type().clone(), true));
        children.push(child);
    }
    let fields = Fields::from(fields);
    let columns = ArrayData::builder(DataType::Struct(fields.clone())).len(rows).child_data(children).build()?;
    Ok(Table { fields, columns })
}

impl Column {
    fn new(name: &String, texts: &[String], integers: &[String]) -> Column {
        if texts.contains(name) {
            Column::Text { ends: vec![0], bytes: Vec::new() }
        } else if integers.contains(name) {
            Column::Integer { values: Vec::new(), valid: Vec::new() }
        } else {
            Column::Number { values: Vec::new(), valid: Vec::new() }
        }
    }

    fn len(&self) -> usize {
        match self {
            Column::Text { ends, .. } => ends.len() - 1,
            Column::Integer { values, .. } => values.len(),
            Column::Number { values, .. } => values.len(),
        }
    }

    fn push(&mut self, cell: &str) -> Result<(), String> {
        let no_number = || format!("`{cell}` is not a number");
        match self {
            Column::Text { ends, bytes } => {
                bytes.extend_from_slice(cell.as_bytes());
                ends.push(i32::try_from(bytes.len()).map_err(|_| "the texts are longer than 2 GiB".to_owned())?);
            }
            Column::Integer { values, valid } => {
                values.push(if cell.is_empty() { 0 } else { cell.parse().map_err(|_| no_number())? });
                valid.push(!cell.is_empty());
            }
            Column::Number { values, valid } => {
                values.push(if cell.is_empty() { 0.0 } else { cell.parse().map_err(|_| no_number())? });
                valid.push(!cell.is_empty());
            }
        }
        Ok(())
    }

    fn build(self) -> Result<ArrayData, ArrowError> {
        let nulls = |valid: Vec<bool>| (valid.contains(&false)).then(|| NullBuffer::new(BooleanBuffer::from(valid)));
        let length = self.len();
        match self {
            Column::Text { ends, bytes } => {
                let buffers = vec![Buffer::from_vec(ends), Buffer::from_vec(bytes)];
                ArrayData::builder(DataType::Utf8).len(length).buffers(buffers).build()
            }
            Column::Integer { values, valid } => {
                let data = ArrayData::builder(DataType::Int64).len(length).add_buffer(Buffer::from_vec(values));
                data.nulls(nulls(valid)).build()
            }
            Column::Number { values, valid } => {
                let data = ArrayData::builder(DataType::Float64).len(length).add_buffer(Buffer::from_vec(values));
                data.nulls(nulls(valid)).build()
            }
        }
    }
}
