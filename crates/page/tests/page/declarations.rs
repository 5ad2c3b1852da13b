//! Generates TypeScript types of the data of a page, for the type checker of its scripts. Included by the tests of this
//! crate, of the report and of the dashboard.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use ts_rs::{Config, TS, TypeVisitor};

/// Declarations by the names of their types.
pub(crate) struct Declarations {
    config: Config,
    found: BTreeMap<String, String>,
}

impl Declarations {
    pub(crate) fn new() -> Declarations {
        // JSON numbers are JavaScript numbers, however large their Rust types are.
        Declarations { config: Config::new().with_large_int("number"), found: BTreeMap::new() }
    }

    /// Adds a type and everything in it.
    pub(crate) fn with<T: TS + 'static + ?Sized>(mut self) -> Declarations {
        self.visit::<T>();
        self
    }

    /// Compares the declarations, followed by `more`, with a file. With `UPDATE_DOCUMENTS=1`, writes the file instead.
    pub(crate) fn compare_with_file(&self, file: &Path, more: &str) {
        let mut text = String::from(
            "// Generated from the structs that are serialised: UPDATE_DOCUMENTS=1 cargo test -p mario-page -p mario-experiments -p mario-dashboard types\n\n",
        );
        for declaration in self.found.values() {
            text.push_str(&without_comments(declaration));
            text.push('\n');
        }
        text.push_str(more);
        if env::var_os("UPDATE_DOCUMENTS").is_some() {
            fs::write(file, text).expect("the file can be written");
            return;
        }
        let kept = fs::read_to_string(file).unwrap_or_default();
        assert!(kept == text, "{} is stale; UPDATE_DOCUMENTS=1 writes it again. It should be:\n{text}", file.display());
    }
}

/// Returns a declaration on one line, without the comments of the struct, so that rewording a comment does not change
/// the file.
fn without_comments(declaration: &str) -> String {
    let mut text = String::new();
    let mut rest = declaration;
    while let Some((before, comment)) = rest.split_once("/**") {
        text.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // A type without a path is built into the language, such as a list, and needs no declaration.
        if T::output_path().is_some() {
            let name = T::ident(&self.config);
            if self.found.contains_key(&name) {
                return;
            }
            self.found.insert(name, T::decl(&self.config));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}
