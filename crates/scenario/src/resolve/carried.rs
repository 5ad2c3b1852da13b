//! Reads files that are embedded in the scenario, and collects the texts of all files for a self-contained snapshot.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mario_settings::Place;

use super::Resolving;
use crate::PolicyText;
use crate::layers::Files;
use crate::settings::CarriedFiles;

/// The maximum length of a text that is kept in memory to be embedded in a snapshot, in bytes.
const TEXT_BYTES_MAX: usize = 8 << 20;

/// The texts of the files that were read, by the path as written in the scenario.
#[derive(Default)]
pub(super) struct Noted {
    pub(super) texts: CarriedFiles,
    /// The paths of files that cannot be embedded: not text, too long, or different contents under one path.
    pub(super) left_out: Vec<String>,
    /// The names of policies, by the path as written in the scenario, where the name is another.
    pub(super) names: BTreeMap<String, String>,
}

impl Noted {
    fn note(&mut self, path: &str, content: &[u8]) {
        let text = std::str::from_utf8(content).ok().filter(|text| text.len() <= TEXT_BYTES_MAX);
        let is_other = self.texts.get(path).is_some_and(|known| Some(known.as_str()) != text);
        match text {
            Some(text) if !is_other => {
                self.texts.insert(path.to_owned(), text.to_owned());
            }
            _ if self.left_out.iter().any(|known| known == path) => {}
            _ => self.left_out.push(path.to_owned()),
        }
    }
}

/// Reads the files that a key names. If the key is written in the main text, files that are embedded in the scenario
/// are not read from disk.
pub(super) struct FilesOfKey<'a> {
    carried: Option<&'a CarriedFiles>,
    /// The directory of the text in which the key is written. Paths are relative to it.
    directory: PathBuf,
    disk: &'a mut dyn Files,
    noted: &'a mut Noted,
}

impl Files for FilesOfKey<'_> {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let written = path.strip_prefix(&self.directory).unwrap_or(path).display().to_string();
        let content = match self.carried.and_then(|carried| carried.get(&written)) {
            Some(text) => text.clone().into_bytes(),
            None => self.disk.read(path)?,
        };
        self.noted.note(&written, &content);
        Ok(content)
    }

    fn similar(&mut self, path: &Path) -> Option<PathBuf> {
        self.disk.similar(path)
    }
}

impl Resolving<'_> {
    /// Gives a policy the name that it had in the run that stored this scenario, so that the same run has the same
    /// bytes wherever it is repeated; and notes its name.
    pub(super) fn name_policy(&mut self, policy: &mut PolicyText, written: &str, place: &Place) {
        if let Some(names) = self.document.stored_names.as_ref().filter(|_| self.may_be_carried(place)) {
            written.clone_into(&mut policy.name);
            if let Some(name) = names.get(written) {
                policy.name.clone_from(name);
            }
        }
        if policy.name != written {
            self.noted.names.insert(written.to_owned(), policy.name.clone());
        }
    }

    /// Whether a file that a key at this place names may be embedded in the scenario. Files that the command line, a
    /// preset or an included text names are always read from disk.
    pub(super) fn may_be_carried(&self, place: &Place) -> bool {
        !self.settings.files.is_empty() && Arc::ptr_eq(&place.text, self.document.text())
    }

    /// The source of files for a key at this place.
    pub(super) fn files_of(&mut self, place: &Place) -> FilesOfKey<'_> {
        FilesOfKey {
            carried: self.may_be_carried(place).then_some(&self.settings.files),
            directory: place.text.directory.clone(),
            disk: self.files,
            noted: &mut self.noted,
        }
    }
}
