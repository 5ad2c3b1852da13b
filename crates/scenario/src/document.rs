//! A scenario as written: all layers merged, but not interpreted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mario_settings::tree::{Node, Table, Value};
use mario_settings::{At, Mistake, Place, Text, Vocabulary, check, sort};

use crate::dependents::drop_dependents;
use crate::error::ScenarioError;
use crate::layers::{Files, LAYER_KEYS, Layers, override_keys};
use crate::policies::baseline_names;
use crate::presets;
use crate::schema::stored_schema;
use crate::settings::{ManagementStrategy, Settings};
use crate::units::in_plain_numbers;

/// What messages about unknown keys know beside the keys themselves.
const VOCABULARY: Vocabulary =
    Vocabulary { synonyms: &[("hardware", "capacity"), ("capacity", "hardware")], outer_keys: &LAYER_KEYS };

/// The prefix of a policy choice that names a baseline.
pub(crate) const BASELINE: &str = "baseline:";

/// A scenario as written, with its includes and overrides.
#[derive(Clone, Debug)]
pub struct Document {
    name: String,
    pub(crate) tree: Table,
    /// The start of the main text, as the place of errors that have no other place.
    whole: Place,
    pub(crate) layer: u32,
    /// The number of the first layer that was added by [`Document::set`]; `None` if there is none.
    pub(crate) first_override: Option<u32>,
    /// Whether a text is not valid TOML, or an include was skipped at a limit. If so, the tree is not interpreted,
    /// because it is incomplete.
    is_broken: bool,
    /// Whether `files` was added by the run that stored this scenario, and is not part of it.
    pub(crate) has_added_files: bool,
    /// The names of policies in the run that stored this scenario, by their paths as written; `None` unless a run stored
    /// it. A path without a name is a name.
    pub(crate) stored_names: Option<BTreeMap<String, String>>,
    pub(crate) mistakes: Vec<Mistake>,
    notes: Vec<String>,
}

impl Document {
    /// The shipped scenario with this name; an error if there is none.
    pub fn preset(name: &str) -> Result<Document, ScenarioError> {
        match presets::text(name) {
            Some(text) => Ok(Document::new(name, text, None, &mut crate::layers::NoFiles)),
            None => {
                let mistake = Mistake::new(format!("there is no scenario `{name}`"));
                Err(ScenarioError {
                    name: name.to_owned(),
                    mistakes: vec![mistake.known(name, "those that ship are", presets::names())],
                })
            }
        }
    }

    /// Parses the text of a file, and reads the files that it includes. If no text sets `name`, the scenario is named
    /// after the file. Errors are returned later, by [`Document::settings`] and [`Document::resolve`].
    pub fn file(path: &Path, text: impl Into<String>, files: &mut dyn Files) -> Document {
        let directory = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let name = path.display().to_string();
        Document::new(&name, Text { name: name.clone(), text: text.into(), directory }, Some(path), files)
    }

    fn new(name: &str, text: Text, path: Option<&Path>, files: &mut dyn Files) -> Document {
        let text = Arc::new(text);
        let mut layers = Layers::new(files, 0);
        let mut tree = Table::default();
        layers.add(&text, path, &mut tree);
        let Layers { layer, is_broken, mistakes, notes, .. } = layers;
        let (name, whole) = (name.to_owned(), Place { text, span: 0..0 });
        let mut document = Document {
            name,
            tree,
            whole,
            layer,
            first_override: None,
            is_broken,
            has_added_files: false,
            stored_names: None,
            mistakes,
            notes,
        };
        if document.tree.get("name").is_none()
            && let Some(stem) = path.and_then(Path::file_stem)
        {
            document.put("name", Value::String(stem.to_string_lossy().into_owned()), "name");
        }
        document
    }

    /// Marks the texts in `[files]` as added by the run that stored this scenario: they are used, but are not among the
    /// resolved settings.
    #[must_use]
    pub fn with_added_files(self) -> Document {
        Document { has_added_files: true, ..self }
    }

    /// The document with the names that policies had in the run that stored it, by their paths as written. A policy
    /// whose path is not there was called by its path. Otherwise, it would be called by the place of the stored run.
    #[must_use]
    pub fn with_policy_names(self, names: BTreeMap<String, String>) -> Document {
        Document { stored_names: Some(names), ..self }
    }

    /// The name of the preset, or the path of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Overrides keys. Each override is written `key.path=value`, where the value is TOML or an unquoted string. Keys
    /// of the texts that were chosen for an overridden value are dropped, with a note. Errors are returned later, by
    /// [`Document::settings`] and [`Document::resolve`].
    pub fn set(&mut self, overrides: &[String]) {
        self.layer += 1;
        let since = *self.first_override.get_or_insert(self.layer);
        let before = self.tree.clone();
        override_keys(&mut self.tree, overrides, self.layer, &mut self.mistakes);
        self.notes.extend(drop_dependents(&before, &mut self.tree, since));
    }

    /// Overrides the seed.
    pub fn set_seed(&mut self, seed: u64) {
        match i64::try_from(seed) {
            Ok(seed) => self.put("seed", Value::Integer(seed), "--seed"),
            Err(_) => self.put("seed", Value::Large(seed.to_string()), "--seed"),
        }
    }

    /// Replaces the kind of mobility: users move as in a JSON file that lists their access points.
    pub fn set_attachments(&mut self, path: &Path) {
        let text =
            Text { name: "--attachments".to_owned(), text: path.display().to_string(), directory: PathBuf::new() };
        let span = 0..text.text.len();
        let place = Place { text: Arc::new(text), span };
        self.layer += 1;
        let node = |value: &str| self.node(Value::String(value.to_owned()), &place);
        let (kind, file) = (node("attachments"), node(&place.text.text));
        let empty = self.node(Value::Table(Table::default()), &place);
        if !matches!(self.tree.get("mobility"), Some(Node { value: Value::Table(_), .. })) {
            self.tree.remove("mobility");
            self.tree.entries.push(("mobility".to_owned(), empty));
        }
        if let Some(Node { value: Value::Table(mobility), .. }) = self.tree.get_mut("mobility") {
            for (key, node) in [("kind", kind), ("file", file)] {
                mobility.remove(key);
                mobility.entries.push((key.to_owned(), node));
            }
        }
    }

    /// Sets the policy of applications: `POLICY` for all of them, or `APPLICATION=POLICY` for one of those that the
    /// scenario lists. It also replaces the policies of their deploys. A policy is the name of a shipped one or the
    /// path of a file. `baseline:NAME` selects a baseline for all applications: a shipped baseline policy, or a
    /// management strategy. A policy for all applications also selects management by agents.
    ///
    /// In a scenario that resumes from a recorded run, the policy applies from the end of the recorded past on. There,
    /// a baseline that is a management strategy is an error.
    pub fn set_policy(&mut self, choice: &str) {
        if let Some(time) = self.recorded_until() {
            self.update_policy(choice, time);
            return;
        }
        if let Some(name) = choice.strip_prefix(BASELINE) {
            self.set_baseline(choice, name);
            return;
        }
        if !choice.contains('=') {
            self.set_management("agents", choice);
        }
        self.set_policies(choice);
    }

    fn set_baseline(&mut self, choice: &str, name: &str) {
        if ManagementStrategy::WORDS.iter().skip(1).any(|(word, _)| *word == name) {
            self.set_management(name, choice);
        } else if baseline_names().any(|known| known == name) {
            self.set_management("agents", choice);
            self.set_policies(name);
        } else {
            let text = Text { name: "--policy".to_owned(), text: choice.to_owned(), directory: PathBuf::new() };
            let place = Place { text: Arc::new(text), span: BASELINE.len()..choice.len() };
            let mistake = Mistake::new(format!("there is no baseline `{name}`")).at(Some(place));
            self.mistakes.push(mistake.known(name, "known are", baseline_names()));
        }
    }

    /// Replaces the `management` section with one that has only this strategy. If there is no such section, the default
    /// strategy, agents, is not written.
    fn set_management(&mut self, strategy: &str, choice: &str) {
        if strategy == "agents" && self.tree.get("management").is_none() {
            return;
        }
        let text = Text { name: "--policy".to_owned(), text: choice.to_owned(), directory: PathBuf::new() };
        let place = Place { text: Arc::new(text), span: 0..choice.len() };
        self.layer += 1;
        let strategy = self.node(Value::String(strategy.to_owned()), &place);
        let table = Table { entries: vec![("strategy".to_owned(), strategy)] };
        let management = self.node(Value::Table(table), &place);
        self.tree.remove("management");
        self.tree.entries.push(("management".to_owned(), management));
    }

    fn set_policies(&mut self, choice: &str) {
        let text = Text { name: "--policy".to_owned(), text: choice.to_owned(), directory: PathBuf::new() };
        let (application, policy, start) = match choice.split_once('=') {
            Some((application, policy)) => (Some(application), policy, application.len() + 1),
            None => (None, choice, 0),
        };
        let text = Arc::new(text);
        let place = Place { text: Arc::clone(&text), span: start..choice.len() };
        self.layer += 1;
        let node = self.node(Value::String(policy.to_owned()), &place);
        let mut ids = Vec::new();
        let mut is_found = false;
        let mut replaced: Vec<(String, String, Place)> = Vec::new();
        for list in ["application", "deploy"] {
            let Some(Node { value: Value::List(elements), .. }) = self.tree.get_mut(list) else { continue };
            for element in elements {
                let Value::Table(table) = &mut element.value else { continue };
                let id = match table.get(if list == "deploy" { "application" } else { "id" }).map(|node| &node.value) {
                    Some(Value::Integer(number)) => number.to_string(),
                    Some(Value::String(name)) => name.clone(),
                    _ => continue,
                };
                // A deploy without a policy uses that of its application, so nothing has to be replaced.
                let has_policy = list == "application" || table.get("policy").is_some();
                if application.is_none_or(|wanted| wanted == id) && has_policy {
                    is_found = true;
                    if let (true, Some(Node { value: Value::String(before), place, .. })) =
                        (list == "deploy", table.get("policy"))
                        && before != policy
                    {
                        replaced.push((id.clone(), before.clone(), place.clone()));
                    }
                    table.remove("policy");
                    table.entries.push(("policy".to_owned(), node.clone()));
                }
                ids.push(id);
            }
        }
        self.note_replaced_policies(choice, &replaced);
        let draws = self.tree.get("applications").is_some();
        if let (None, Some(Node { value: Value::Table(drawn), .. })) = (application, self.tree.get_mut("applications"))
        {
            drawn.remove("policy");
            drawn.entries.push(("policy".to_owned(), node.clone()));
            if let Some(Node { value: Value::List(sorts), .. }) = drawn.get_mut("mix") {
                for sort in sorts {
                    if let Value::Table(sort) = &mut sort.value {
                        sort.remove("policy");
                    }
                }
            }
        }
        if let (false, Some(wanted)) = (is_found, application) {
            let place = Place { text, span: 0..wanted.len() };
            let mistake = Mistake::new(format!("there is no application `{wanted}`")).at(Some(place));
            let mistake = mistake.known(wanted, "applications", ids.iter().map(String::as_str));
            self.mistakes.push(if draws && ids.is_empty() {
                mistake.hint("applications that are drawn have one policy, or one for each sort in `applications.mix`")
            } else {
                mistake
            });
        }
    }

    /// Adds notes about the policies of deploys that a `--policy` choice replaces. Only the first few are named.
    fn note_replaced_policies(&mut self, choice: &str, replaced: &[(String, String, Place)]) {
        const NOTED_MAX: usize = 3;
        for (application, before, place) in replaced.iter().take(NOTED_MAX) {
            let (line, _) = place.position();
            let origin = &place.text.name;
            self.notes.push(format!(
                "--policy {choice} replaces the policy `{before}` that [[deploy]] has for `{application}` at {origin}:{line}"
            ));
        }
        if let Some(more) = replaced.len().checked_sub(NOTED_MAX).filter(|more| *more > 0) {
            self.notes.push(format!("--policy {choice} replaces the policies of {more} more deploys"));
        }
    }

    /// The settings, with all defaults filled in; or the errors in texts and overrides.
    pub fn settings(&self) -> Result<Settings, ScenarioError> {
        self.settings_and_notes().map(|(settings, _)| settings)
    }

    /// The settings, and notes for the user about how layers changed them.
    pub(crate) fn settings_and_notes(&self) -> Result<(Settings, Vec<String>), ScenarioError> {
        let mut mistakes = self.mistakes.clone();
        if self.is_broken {
            return Err(self.error(mistakes));
        }
        let mut tree = self.tree.clone();
        mistakes.extend(in_plain_numbers(&mut tree));
        // A text with an unknown unit is no number either, and was reported above.
        let read = check::settings::<Settings>(&tree, &self.whole, VOCABULARY, stored_schema(), &mut mistakes);
        match read {
            Some(mut settings) if mistakes.is_empty() => {
                let mut notes = self.notes.clone();
                notes.extend(self.without_effect());
                notes.extend(self.follow_duration(&mut settings));
                Ok((settings, notes))
            }
            _ => Err(self.error(mistakes)),
        }
    }

    pub(crate) fn error(&self, mut mistakes: Vec<Mistake>) -> ScenarioError {
        sort(&mut mistakes);
        ScenarioError { name: self.name.clone(), mistakes }
    }

    pub(crate) fn node(&self, value: Value, place: &Place) -> Node {
        Node { place: place.clone(), key_place: Some(place.clone()), layer: self.layer, value }
    }

    fn put(&mut self, key: &str, value: Value, origin: &str) {
        let written = match &value {
            Value::Integer(number) => number.to_string(),
            Value::Large(word) | Value::String(word) => word.clone(),
            _ => String::new(),
        };
        let span = 0..written.len();
        let text = Text { name: origin.to_owned(), text: written, directory: PathBuf::new() };
        self.layer += 1;
        let node = self.node(value, &Place { text: Arc::new(text), span });
        self.tree.remove(key);
        self.tree.entries.push((key.to_owned(), node));
    }

    /// The main text: that of the file or preset itself, without includes.
    pub(crate) fn text(&self) -> &Arc<Text> {
        &self.whole.text
    }

    /// The value at a path such as `mobility.users`; `None` if no layer sets it.
    pub(crate) fn written(&self, path: &str) -> Option<&Node> {
        let (tables, key) = path.rsplit_once('.').map_or((None, path), |(tables, key)| (Some(tables), key));
        let table = tables.into_iter().flat_map(|tables| tables.split('.'));
        table.into_iter().try_fold(&self.tree, |table, key| table.table(key))?.get(key)
    }

    /// Where a value is written. For a default, the place of the nearest table around it, or else the start of the main
    /// text.
    pub(crate) fn place(&self, path: &[At<'_>]) -> Place {
        self.tree.nearest(path).map_or_else(|| self.whole.clone(), |node| node.place.clone())
    }

    /// Resolves a path relative to the directory of the text in which it is written.
    pub(crate) fn path(&self, at: &[At<'_>], written: &str) -> PathBuf {
        self.place(at).text.directory.join(written)
    }
}
