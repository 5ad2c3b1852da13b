//! Opens the scenarios that a user names, presets or files, and reports errors in them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use mario_diagnostics::{Severity, Source};
use mario_scenario::{Document, Files, Mistake, Place, ScenarioError, Text, preset_names};

use crate::failure::Failure;
use crate::gzip::is_gzip;
use crate::hints::{Diagnostic, Hint};
use crate::input::{TEXT_SIZE_BYTES_MAX, read_bytes, read_text, similar_file};
use crate::kept_scenario::{is_kept, open_kept};

/// Overrides of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Keys, as `KEY=VALUE`.
    pub overrides: Vec<String>,
    /// Policies: `POLICY` for all applications, `APP=POLICY` for one.
    pub policies: Vec<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// The maximum number of inferences of an agent's decision.
    pub budget: Option<u64>,
    /// A file with the access points of users over time.
    pub attachments: Option<PathBuf>,
}

impl Choices {
    /// Applies the overrides to a scenario.
    pub fn apply(&self, document: &mut Document) {
        document.set(&self.overrides);
        if let Some(budget) = self.budget {
            document.set(&[format!("agents.budget={budget}")]);
        }
        // A policy for one application takes precedence over a policy for all, regardless of their order.
        let (of_one, of_all): (Vec<_>, Vec<_>) = self.policies.iter().partition(|policy| policy.contains('='));
        for policy in of_all.into_iter().chain(of_one) {
            document.set_policy(policy);
        }
        if let Some(seed) = self.seed {
            document.set_seed(seed);
        }
        if let Some(path) = &self.attachments {
            document.set_attachments(path);
        }
    }
}

/// Opens a scenario. A name with a slash, a backslash or a dot is a path. Any other name is that of a preset or, if
/// there is no such preset, of an existing file: a scenario, or the `run.json` of a stored run.
pub fn open(name: &Path) -> Result<Document, Failure> {
    let word = name.to_str().filter(|word| !word.contains(['/', '\\', '.']));
    match word {
        Some(word) if preset_names().any(|preset| preset == word) || !name.exists() => {
            Document::preset(word).map_err(|error| {
                let mut failure = failure(&error);
                if let Failure::Input(diagnostics) = &mut failure {
                    diagnostics.iter_mut().for_each(|diagnostic| {
                        diagnostic.hints.push("a scenario that does not ship is a file, e.g. `scenario.toml`".into());
                    });
                }
                failure
            })
        }
        _ => {
            let source = read_text(name)?;
            if is_kept(&source.text) {
                return open_kept(name, &source.text);
            }
            Ok(Document::file(name, &*source.text, &mut Disk))
        }
    }
}

/// Reads files from disk, and decompresses gzip. A file whose content is larger than [`TEXT_SIZE_BYTES_MAX`] is an
/// error.
pub struct Disk;

impl Files for Disk {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let bytes = read_bytes(path).map_err(|error| error.to_string())?;
        let is_compressed = is_gzip(&bytes);
        let bytes = if is_compressed {
            let mut text = Vec::new();
            let decoder = MultiGzDecoder::new(bytes.as_slice());
            decoder.take(TEXT_SIZE_BYTES_MAX as u64 + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
            text
        } else {
            bytes
        };
        if bytes.len() > TEXT_SIZE_BYTES_MAX {
            let when = if is_compressed { ", decompressed" } else { "" };
            return Err(format!("it is larger than {} MiB{when}", TEXT_SIZE_BYTES_MAX >> 20));
        }
        Ok(bytes)
    }

    fn similar(&mut self, path: &Path) -> Option<PathBuf> {
        similar_file(path)
    }
}

/// The failure with all errors of a scenario.
pub fn failure(error: &ScenarioError) -> Failure {
    Failure::Input(mistakes(&error.mistakes))
}

/// Errors in settings as diagnostics.
pub fn mistakes(mistakes: &[Mistake]) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    mistakes.iter().map(|mistake| diagnostic(mistake, &mut sources)).collect()
}

/// Texts, each with the source that diagnostics point into.
type Sources = Vec<(Arc<Text>, Source)>;

fn diagnostic(mistake: &Mistake, sources: &mut Sources) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(mistake.message.clone());
    if let Some(place) = &mistake.place {
        diagnostic = diagnostic.at(&source(&place.text, sources), place.span.clone(), "");
    }
    match (&mistake.context, &mistake.place) {
        (Some((context, what)), Some(place)) if context.text == place.text => {
            diagnostic = diagnostic.context(context.span.clone(), what.clone());
        }
        (Some((context, what)), _) => diagnostic = diagnostic.hint(elsewhere(context, what)),
        (None, _) => {}
    }
    diagnostic.hints.extend(mistake.hint.clone().map(Hint::Text));
    diagnostic
}

/// A mistake that is no error, as a warning.
pub(crate) fn as_warning(mistake: &Mistake) -> Diagnostic {
    let written = diagnostic(mistake, &mut Sources::default());
    Diagnostic { severity: Severity::Warning, ..written }
}

/// Adds a position in a scenario to a diagnostic.
pub fn located(diagnostic: Diagnostic, place: &Place) -> Diagnostic {
    diagnostic.at(&source(&place.text, &mut Vec::new()), place.span.clone(), "")
}

fn elsewhere(place: &Place, what: &str) -> String {
    let (line, column) = place.position();
    format!("{what} is in {}:{line}:{column}", place.text.name)
}

fn source(text: &Arc<Text>, sources: &mut Sources) -> Source {
    // Compared by pointer: comparing long texts for each error is slow.
    if let Some((_, known)) = sources.iter().find(|(known, _)| Arc::ptr_eq(known, text)) {
        return known.clone();
    }
    let source = Source::new(text.name.as_str(), text.text.as_str());
    sources.push((Arc::clone(text), source.clone()));
    source
}
