//! The data of a figure as CSV.

use serde::{Serialize, Serializer};

/// A table of rows; the first row has the names of the columns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Csv(String);

impl Csv {
    /// A table with these columns and no row.
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Csv {
        let mut csv = Csv::default();
        csv.push(names);
        csv
    }

    /// Adds a row.
    pub fn push<T: AsRef<str>>(&mut self, row: impl IntoIterator<Item = T>) {
        for (index, cell) in row.into_iter().enumerate() {
            if index > 0 {
                self.0.push(',');
            }
            let cell = cell.as_ref();
            if cell.contains(['"', ',', '\n', '\r']) {
                self.0.push('"');
                self.0.push_str(&cell.replace('"', "\"\""));
                self.0.push('"');
            } else {
                self.0.push_str(cell);
            }
        }
        self.0.push('\n');
    }

    /// The text of the table.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for Csv {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_separators_are_quoted() {
        let mut csv = Csv::new(["a", "b"]);
        csv.push(["x,\"y\"", "1"]);
        assert_eq!(csv.0, "a,b\n\"x,\"\"y\"\"\",1\n");
    }
}
