//! Records as columns: the name of a field is written once for a whole table, and its values are adjacent, which
//! compresses well.

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::{Map, Value};

/// Records of a type, written as `{"length": 2, "columns": {"node": [4, 5], …}}`.
///
/// A field that a record omits is `null` in its column. A field that all records omit has no column. A column of lists
/// of records is written as a table of all records and the length of each list: `{"lengths": [1, 0], "rows": {…}}`. The
/// script `columns.js` restores the records.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Columns<T>(pub(crate) Vec<T>);

impl<T: Serialize> Serialize for Columns<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let records: Result<Vec<Value>, _> = self.0.iter().map(serde_json::to_value).collect();
        table(records.map_err(S::Error::custom)?).serialize(serializer)
    }
}

fn table(records: Vec<Value>) -> Value {
    let length = records.len();
    let mut columns: Map<String, Value> = Map::new();
    for (row, record) in records.into_iter().enumerate() {
        let Value::Object(fields) = record else { continue };
        for (name, value) in fields {
            let column = columns.entry(name).or_insert_with(|| Value::Array(vec![Value::Null; length]));
            column[row] = value;
        }
    }
    let columns: Map<String, Value> = columns.into_iter().map(|(name, column)| (name, nested(column))).collect();
    Value::Object(Map::from_iter([("length".to_owned(), length.into()), ("columns".to_owned(), columns.into())]))
}

/// Converts a column of lists of records to `lengths` and `rows`. Returns other columns unchanged.
fn nested(column: Value) -> Value {
    let Value::Array(values) = column else { return column };
    let is_list_of_records = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_object));
    let is_missing_or_list = |value: &Value| value.is_null() || is_list_of_records(value);
    if !values.iter().any(is_list_of_records) || !values.iter().all(is_missing_or_list) {
        return Value::Array(values);
    }
    let lists: Vec<Vec<Value>> = values
        .into_iter()
        .map(|value| match value {
            Value::Array(list) => list,
            _ => Vec::new(),
        })
        .collect();
    let lengths: Vec<Value> = lists.iter().map(|list| list.len().into()).collect();
    let rows = table(lists.into_iter().flatten().collect());
    Value::Object(Map::from_iter([("lengths".to_owned(), lengths.into()), ("rows".to_owned(), rows)]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Record {
        node: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        ending: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        never: Option<u32>,
        targets: Vec<Wanted>,
        instances: Vec<u32>,
    }

    #[derive(Clone, Serialize)]
    struct Wanted {
        target: u32,
    }

    #[test]
    fn names_are_written_once_and_lists_of_records_are_tables() {
        let record = |node: u32, ending, many: usize| Record {
            node,
            ending,
            never: None,
            targets: vec![Wanted { target: 7 }; many],
            instances: vec![1; many],
        };
        let columns = Columns(vec![record(4, None, 2), record(5, Some("timeout"), 0)]);
        let written = json!({
            "length": 2,
            "columns": {
                "node": [4, 5],
                "targets": { "lengths": [2, 0], "rows": { "length": 2, "columns": { "target": [7, 7] } } },
                "instances": [[1, 1], []],
                "ending": [null, "timeout"],
            },
        });
        assert_eq!(json!(columns), written);
        assert_eq!(json!(Columns::<Wanted>(Vec::new())), json!({ "length": 0, "columns": {} }));
    }
}
