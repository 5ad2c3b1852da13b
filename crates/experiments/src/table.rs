//! A table of texts with a title and notes, as results are shown in reports.

use serde::Serialize;

/// A table of texts, which has its own section.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Table {
    /// The id of the section in URLs.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What is in it.
    pub lead: String,
    /// The heads of the columns; the first column names the rows.
    pub head: Vec<String>,
    /// The rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
    /// Notes about it.
    pub notes: Vec<String>,
}
