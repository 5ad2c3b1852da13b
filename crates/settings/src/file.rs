//! A text of settings that is read on its own, without layers.

use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::check;
use crate::mistake::{Mistake, Place, Text, sort};
use crate::read::Vocabulary;
use crate::tree::{At, Table, parse};

/// A text of settings, with the places of its values.
#[derive(Clone, PartialEq, Debug)]
pub struct File {
    tree: Table,
    /// The start of the text, as the place of errors that have no other.
    whole: Place,
    /// The places where the text is not TOML.
    mistakes: Vec<Mistake>,
}

impl File {
    /// Parses a text. Errors are returned by [`File::read`]. Paths in the text are relative to `directory`.
    pub fn parse(name: &str, text: &str, directory: &Path) -> File {
        let text = Arc::new(Text { name: name.to_owned(), text: text.to_owned(), directory: directory.to_path_buf() });
        let mut mistakes = Vec::new();
        let tree = parse(&text, 0, &mut mistakes);
        File { tree, whole: Place { text, span: 0..0 }, mistakes }
    }

    /// The settings, whose JSON schema is `schema`; or all errors in syntax, structure and ranges, from top to bottom.
    pub fn read<T: DeserializeOwned>(&self, schema: &Json) -> Result<T, Vec<Mistake>> {
        let mut mistakes = self.mistakes.clone();
        // A text that is not TOML has lost keys that would be reported as missing.
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let settings = check::settings(&self.tree, &self.whole, Vocabulary::default(), schema, &mut mistakes);
        match settings {
            Some(settings) if mistakes.is_empty() => Ok(settings),
            _ => {
                sort(&mut mistakes);
                Err(mistakes)
            }
        }
    }

    /// Where a value is written. For a missing value, the place of its nearest ancestor, or the start of the text.
    pub fn place(&self, path: &[At<'_>]) -> Place {
        self.tree.nearest(path).map_or_else(|| self.whole.clone(), |node| node.place.clone())
    }

    /// An error about a value.
    pub fn mistake(&self, path: &[At<'_>], message: impl Into<String>) -> Mistake {
        Mistake::new(message).at(Some(self.place(path)))
    }
}
