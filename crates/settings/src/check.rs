//! Reads a tree as settings, and collects all errors: of structure and of ranges.

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::mistake::{Mistake, Place};
use crate::ranges::check_ranges;
use crate::read::{Vocabulary, read};
use crate::tree::Table;

/// Reads a tree as settings whose JSON schema is `schema`. Adds the errors to `mistakes`, except for those at a place
/// that already has one; returns `None` if the structure is wrong. `whole` is the place of errors about the tree as a
/// whole.
pub fn settings<T: DeserializeOwned>(
    tree: &Table,
    whole: &Place,
    vocabulary: Vocabulary,
    schema: &Json,
    mistakes: &mut Vec<Mistake>,
) -> Option<T> {
    let read = read(tree, whole, vocabulary);
    let settings = match read {
        Ok(settings) => Some(settings),
        Err(more) => {
            add_where_none_is(mistakes, more);
            None
        }
    };
    // A type of numbers may check its range itself, so `read` may have reported the same error.
    add_where_none_is(mistakes, check_ranges(tree, schema));
    settings
}

/// Adds the errors at places without one. Several errors of `more` may have the same place.
fn add_where_none_is(mistakes: &mut Vec<Mistake>, more: Vec<Mistake>) {
    let known = mistakes.len();
    for mistake in more {
        if !mistakes[..known].iter().any(|known| known.place == mistake.place) {
            mistakes.push(mistake);
        }
    }
}
