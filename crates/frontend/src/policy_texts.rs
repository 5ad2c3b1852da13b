//! The texts of policies that a user names: files and shipped policies.

use std::path::{Path, PathBuf};

use mario_diagnostics::Source;
use mario_policy::PolicyText;
use mario_prolog::{Directories, Resolver};
use mario_scenario::{is_path, shipped_library, shipped_policy, shipped_tests};

use crate::failure::Failure;
use crate::hints::{Diagnostic, Hint};
use crate::input::{directory, read_text};

/// The text of a policy, and where to find the files that it loads.
pub struct Text {
    /// The name and the text of the policy.
    pub source: Source,
    origin: Origin,
}

enum Origin {
    File(PathBuf),
    Shipped(PolicyText),
    Written,
}

impl Text {
    /// Finds a policy: a word with a slash, a backslash or the extension `.pl` is the path of a file. Any other word is
    /// the name of a shipped policy, or `library`; if there is no such policy, it is the name of an existing file.
    pub fn find(written: &Path) -> Result<Text, Failure> {
        match word(written).map(Text::shipped) {
            None => Text::file(written),
            Some(Err(_)) if written.exists() => Text::file(written),
            Some(found) => found,
        }
    }

    /// The shipped policy of this name; `library` is the library that the shipped policies share.
    pub fn shipped(name: &str) -> Result<Text, Failure> {
        let (library, text) = shipped_library();
        let policy = if Some(name) == library.strip_suffix(".pl") {
            let files = vec![(library.to_owned(), text.to_owned())];
            PolicyText { name: name.to_owned(), files, memory: 0 }
        } else {
            shipped_policy(name).map_err(|mistake| {
                let mut diagnostic = Diagnostic::error(mistake.message);
                diagnostic.hints.extend(mistake.hint.map(Hint::Text));
                Failure::input(diagnostic.hint(Hint::ListPolicies))
            })?
        };
        let (name, text) = policy.main().unwrap_or_default();
        Ok(Text { source: Source::new(name, text), origin: Origin::Shipped(policy) })
    }

    /// A text that is not in a file. It may load only the shipped library.
    pub fn written(name: &str, text: &str) -> Text {
        Text { source: Source::new(name, text), origin: Origin::Written }
    }

    fn file(path: &Path) -> Result<Text, Failure> {
        Ok(Text { source: read_text(path)?, origin: Origin::File(path.to_path_buf()) })
    }

    /// Returns a resolver for the files that the policy loads. A policy in a file loads them from its directory, where
    /// a missing `library.pl` is replaced by the shipped one. A shipped policy loads those that ship with it. A text
    /// that is not in a file loads only the shipped `library.pl`.
    pub fn resolver(&self) -> Box<dyn Resolver> {
        match &self.origin {
            Origin::File(path) => Box::new(BesideOrShipped(Directories::new([directory(path)]))),
            Origin::Shipped(policy) => policy.resolver(),
            Origin::Written => Box::new(BesideOrShipped(Directories::new([""; 0]))),
        }
    }
}

/// The tests of a shipped policy; `None` if the word is a path or names an existing file, or if no shipped policy of
/// this name has tests.
pub fn tests_by_name(written: &Path) -> Option<Source> {
    let name = word(written).filter(|_| !written.exists())?;
    shipped_tests(name).map(|(file, text)| Source::new(file, text))
}

/// The argument as a word, if it can be the name of a shipped policy; `None` if it is a path, empty or not UTF-8.
fn word(written: &Path) -> Option<&str> {
    written.to_str().filter(|word| !word.is_empty() && !is_path(word))
}

/// Finds files in directories; a missing `library.pl` is replaced by the shipped one.
struct BesideOrShipped(Directories);

impl Resolver for BesideOrShipped {
    fn resolve(&mut self, from: &str, wanted: &str) -> Result<(String, String), String> {
        let (library, text) = shipped_library();
        let found = self.0.resolve(from, wanted);
        let is_library = wanted == library || library.strip_suffix(".pl") == Some(wanted);
        match found {
            Err(_) if is_library => Ok((library.to_owned(), text.to_owned())),
            found => found,
        }
    }
}
