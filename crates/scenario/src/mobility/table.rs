//! Reads tables of comma- or semicolon-separated values, with the place of each field in the text.

use std::ops::Range;

use csv::{ReaderBuilder, StringRecord};

use super::reading::{TrajectoryError, TrajectoryProblem};

/// A table that is read row by row.
pub(crate) struct Table<'t> {
    text: &'t str,
    reader: csv::Reader<&'t [u8]>,
    columns: Vec<String>,
    separator: Separator,
    row: StringRecord,
}

/// The separator of fields.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Comma,
    /// Used by spreadsheets in locales with a decimal comma.
    Semicolon,
}

/// One row of a table.
pub(crate) struct Row<'r> {
    text: &'r str,
    record: &'r StringRecord,
    separator: Separator,
}

impl<'t> Table<'t> {
    /// Starts to read a table whose first line names the columns. Fields are separated by semicolons if that line has a
    /// semicolon and no comma, otherwise by commas.
    pub(crate) fn new(text: &'t str) -> Result<Table<'t>, TrajectoryError> {
        let head = &text[first_line(text)];
        let separator = if head.contains(';') && !head.contains(',') { Separator::Semicolon } else { Separator::Comma };
        let delimiter = if separator == Separator::Semicolon { b';' } else { b',' };
        let mut reader = ReaderBuilder::new().flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
        let columns = match reader.headers() {
            Ok(headers) => {
                headers.iter().map(|name| name.trim_matches(['\u{feff}', ' ', '\t']).to_lowercase()).collect()
            }
            Err(_) => return Err(TrajectoryError::new(first_line(text), TrajectoryProblem::NotUtf8)),
        };
        Ok(Table { text, reader, columns, separator, row: StringRecord::new() })
    }

    /// The index of the first column that has one of `names`, or an error that mentions the first name. `names` must be
    /// in lower case; the names in the table may be in any case.
    pub(crate) fn column(&self, names: &[&'static str]) -> Result<usize, TrajectoryError> {
        self.known_column(names).ok_or_else(|| self.head_error(TrajectoryProblem::NoColumn(names[0])))
    }

    /// The index of the first column that has one of `names`, which must be in lower case; `None` if there is none.
    pub(crate) fn known_column(&self, names: &[&str]) -> Option<usize> {
        self.columns.iter().position(|column| names.contains(&column.as_str()))
    }

    /// The names of all columns, without surrounding spaces, in lower case.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The error for a table without rows.
    pub(crate) fn empty(&self) -> TrajectoryError {
        self.head_error(TrajectoryProblem::Expected("at least one row after this line"))
    }

    /// An error in the line that names the columns.
    pub(super) fn head_error(&self, problem: TrajectoryProblem) -> TrajectoryError {
        TrajectoryError::new(first_line(self.text), problem)
    }

    /// The next row; `None` at the end. A row with another number of fields than the table has columns is an error.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, TrajectoryError> {
        let more = self.reader.read_record(&mut self.row).map_err(|error| {
            let start = error.position().map_or(0, |position| position.byte() as usize).min(self.text.len());
            TrajectoryError::new(start..self.text.len(), TrajectoryProblem::Expected("a row of the table"))
        })?;
        if !more {
            return Ok(None);
        }
        let row = Row { text: self.text, record: &self.row, separator: self.separator };
        let (expected, found) = (self.columns.len(), self.row.len());
        if expected != found {
            return Err(TrajectoryError::new(row.line(), TrajectoryProblem::Fields { expected, found }));
        }
        Ok(Some(row))
    }
}

impl<'r> Row<'r> {
    /// A field, without surrounding spaces.
    pub(crate) fn field(&self, column: usize) -> &'r str {
        self.record[column].trim()
    }

    /// A field as a number; `None` if it is not a finite number. With semicolons as separators, a comma is a decimal
    /// point.
    pub(crate) fn number(&self, column: usize) -> Option<f64> {
        let field = self.field(column);
        let number = match self.separator {
            Separator::Comma => field.parse(),
            Separator::Semicolon => field.replacen(',', ".", 1).parse(),
        };
        number.ok().filter(|number: &f64| number.is_finite())
    }

    /// The place of a field in the text, or of its line if the field is not found because this row has quotes.
    pub(crate) fn span(&self, column: usize) -> Range<usize> {
        let line = self.line();
        let Some(range) = self.record.range(column) else { return line };
        let start = line.start + range.start + column;
        let span = start..start + range.len();
        if self.text.get(span.clone()) == Some(&self.record[column]) { span } else { line }
    }

    /// The error for a field that should be `what`.
    pub(crate) fn expected(&self, column: usize, what: &'static str) -> TrajectoryError {
        TrajectoryError::new(self.span(column), TrajectoryProblem::Expected(what))
    }

    /// The place of the first line of the row in the text, without its line ending.
    fn line(&self) -> Range<usize> {
        let start = self.record.position().map_or(0, |position| position.byte() as usize).min(self.text.len());
        let rest = self.text.get(start..).unwrap_or_default();
        let skipped = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
        let line = first_line(&rest[skipped..]);
        start + skipped..start + skipped + line.len()
    }
}

fn first_line(text: &str) -> Range<usize> {
    0..text.find(['\r', '\n']).unwrap_or(text.len())
}
