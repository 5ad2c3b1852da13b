//! Scenarios that a user names: presets, files, what they include, and what is wrong with them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use flate2::read::MultiGzDecoder;
use mario_diagnostics::{Diagnostic, Source};
use mario_scenario::{Document, Files, Mistake, Place, Resolved, ScenarioError, Text, preset_names};

use crate::gzip::is_gzip;
use crate::input::read_bytes;
use crate::{Failure, TEXT_SIZE_BYTES_MAX, read_text};

/// Arguments that say which scenario, and what of it is to be different.
#[derive(Clone, Debug, Args)]
pub struct ScenarioArguments {
    /// A scenario that ships (paper, prototype, city) or the path of a scenario file
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Override a key, e.g. topology.size=16; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// The policy of all applications, or with APP=POLICY of one: the path of a file, the name of one that ships, or
    /// baseline:NAME for something to compare with
    #[arg(long = "policy", value_name = "POLICY|APP=POLICY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub policies: Vec<String>,
    /// Draw everything random from this seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stop a decision of an agent after N inferences; the same as --set agents.budget=N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Attach the users as this file says: JSON with `users` and `steps`
    #[arg(long, value_name = "FILE")]
    pub attachments: Option<PathBuf>,
}

impl ScenarioArguments {
    /// What was meant, ready to be run.
    pub(crate) fn resolve(&self) -> Result<Resolved, Failure> {
        let mut document = open(&self.scenario)?;
        document.set(&self.overrides);
        if let Some(budget) = self.budget {
            document.set(&[format!("agents.budget={budget}")]);
        }
        // What is said of one application holds, wherever it stands beside what is said of all.
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
        document.resolve(&mut Disk).map_err(|error| failure(&error))
    }
}

/// The scenario of this name: a preset, or else a file.
pub(crate) fn open(name: &Path) -> Result<Document, Failure> {
    let word = name.to_str().filter(|word| !word.contains(['/', '\\', '.']));
    match word {
        Some(word) if preset_names().any(|preset| preset == word) || !name.exists() => {
            Document::preset(word).map_err(|error| {
                let mut failure = failure(&error);
                if let Failure::Input(diagnostics) = &mut failure {
                    diagnostics.iter_mut().for_each(|diagnostic| {
                        diagnostic
                            .hints
                            .push("a scenario that does not ship is a file, e.g. `scenario.toml`".to_owned());
                    });
                }
                failure
            })
        }
        _ => {
            let source = read_text(name)?;
            Ok(Document::file(name, &*source.text, &mut Disk))
        }
    }
}

/// Files where they are, also those that gzip compressed.
pub(crate) struct Disk;

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
}

/// Everything that is wrong with a scenario.
pub(crate) fn failure(error: &ScenarioError) -> Failure {
    let mut sources = Sources::default();
    Failure::Input(error.mistakes.iter().map(|mistake| diagnostic(mistake, &mut sources)).collect())
}

/// Texts, and what diagnostics point into for them.
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
    diagnostic.hints.extend(mistake.hint.clone());
    diagnostic
}

/// A problem with the place in a scenario where it is.
pub(crate) fn located(diagnostic: Diagnostic, place: &Place) -> Diagnostic {
    diagnostic.at(&source(&place.text, &mut Vec::new()), place.span.clone(), "")
}

fn elsewhere(place: &Place, what: &str) -> String {
    let (line, column) = place.position();
    format!("{what} is in {}:{line}:{column}", place.text.name)
}

fn source(text: &Arc<Text>, sources: &mut Sources) -> Source {
    // Texts that are the same are one text: comparing long ones for each mistake takes long.
    if let Some((_, known)) = sources.iter().find(|(known, _)| Arc::ptr_eq(known, text)) {
        return known.clone();
    }
    let source = Source::new(text.name.as_str(), text.text.as_str());
    sources.push((Arc::clone(text), source.clone()));
    source
}
