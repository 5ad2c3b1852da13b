//! The scenario that a run stored in its `run.json`.

use std::collections::BTreeMap;
use std::path::Path;

use mario_scenario::Document;
use serde_json::Value;

use crate::failure::Failure;
use crate::hints::Diagnostic;
use crate::scenarios::Disk;

/// The scenario of a stored run.
pub struct KeptScenario {
    /// The settings, with the texts of the files that they name in `files`.
    pub settings: Value,
    /// The names of files whose texts were not stored.
    pub left_out: Vec<String>,
    /// The names of policies that differ from their paths in the settings, by these paths.
    names: BTreeMap<String, String>,
    /// Whether the scenario itself has `[files]`. Otherwise the run added them to `settings`.
    has_files: bool,
}

/// Whether a text looks like a `run.json`.
pub(crate) fn is_kept(text: &str) -> bool {
    // Parsing a long text of another format would be in vain.
    text.trim_start().starts_with('{')
        && serde_json::from_str::<Value>(text)
            .is_ok_and(|kept| kept["scenario"].is_object() && kept["program"].is_string())
}

/// Reads the text of a `run.json`; `path` is for messages.
pub fn read_kept(path: &Path, text: &str) -> Result<KeptScenario, Failure> {
    let wrong = |what: &str| {
        let diagnostic = Diagnostic::error(format!("`{}` is not what `mario run` writes: {what}", path.display()));
        Failure::input(diagnostic.hint("name the directory of a run that is as it was left"))
    };
    let mut kept: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    let mut settings = kept["scenario"].take();
    if !settings.is_object() {
        return Err(wrong("it has no `scenario`"));
    }
    let has_files = settings["files"].is_object();
    if kept["files"].is_object() {
        settings["files"] = kept["files"].take();
    }
    let left_out = kept["left_out"].as_array().into_iter().flatten();
    let left_out = left_out.filter_map(Value::as_str).map(str::to_owned).collect();
    let names = kept["names"].as_object().into_iter().flatten();
    let names = names.filter_map(|(path, name)| Some((path.clone(), name.as_str()?.to_owned()))).collect();
    Ok(KeptScenario { settings, left_out, names, has_files })
}

/// Opens the scenario of a stored run. Its run has the same bytes as the stored one, `run.json` included.
pub(crate) fn open_kept(path: &Path, text: &str) -> Result<Document, Failure> {
    let kept = read_kept(path, text)?;
    let text = settings_as_toml(&kept.settings, path)?;
    let document = Document::file(path, text, &mut Disk).with_policy_names(kept.names);
    Ok(if kept.has_files { document } else { document.with_added_files() })
}

/// Settings as the text of a scenario file; `about` is for messages.
pub fn settings_as_toml(settings: &Value, about: &Path) -> Result<String, Failure> {
    toml::to_string(settings).map_err(|error| {
        let title = format!("the scenario of `{}` cannot be written as TOML", about.display());
        Failure::input(Diagnostic::error(title).caused_by(&error).hint("a seed must be below 2^63"))
    })
}
