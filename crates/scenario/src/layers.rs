//! Layers of a scenario: a preset, included files, the file itself, and command-line overrides, merged into one tree.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use mario_settings::tree::{self, Node, Table, Value};
use mario_settings::{Mistake, Place, Text};

use crate::dependents::drop_dependents;
use crate::presets;

/// The source of files. This crate does not open files itself.
pub trait Files {
    /// Returns the whole content of a file, or why it cannot be read.
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String>;

    /// The path of an existing file with a similar name, for a path that does not exist; `None` by default.
    fn similar(&mut self, _path: &Path) -> Option<PathBuf> {
        None
    }
}

/// The error for a file that cannot be read. The hint names a file with a similar name if there is one, and otherwise
/// is `remedy`.
pub(crate) fn unreadable(files: &mut dyn Files, path: &Path, error: &str, remedy: &str) -> Mistake {
    let hint = match files.similar(path) {
        Some(similar) => format!("did you mean `{}`?", similar.display()),
        None => remedy.to_owned(),
    };
    Mistake::new(format!("cannot read `{}`: {error}", path.display())).hint(hint)
}

/// Reads a file as UTF-8 text.
pub(crate) fn read_text(files: &mut dyn Files, path: &Path) -> Result<String, String> {
    String::from_utf8(files.read(path)?).map_err(|error| {
        let before = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        format!("it is not UTF-8 text in line {}", before.matches('\n').count() + 1)
    })
}

/// A source without files, for presets and self-contained texts: every read fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&mut self, _: &Path) -> Result<Vec<u8>, String> {
        Err("files cannot be read here".to_owned())
    }
}

/// The keys that control how a text is merged with other texts. They are not part of the scenario itself.
pub(crate) const LAYER_KEYS: [&str; 3] = ["preset", "include", "reset"];

/// The top-level lists whose elements have ids. An element of a later layer is merged into the earlier element of the
/// same id. Two elements of one layer with the same id are an error.
const LISTS_BY_ID: [&str; 3] = ["application", "node", "user"];

/// The maximum nesting of includes.
const DEPTH_MAX: usize = 32;

/// The maximum total number of includes.
const INCLUDES_MAX: usize = 1_000;

/// The maximum total size of included files, in bytes.
const INCLUDED_BYTES_MAX: usize = 64 << 20;

/// Merges texts into one tree.
pub(crate) struct Layers<'a> {
    pub(crate) files: &'a mut dyn Files,
    pub(crate) mistakes: Vec<Mistake>,
    /// Notes for the user about how the layers were merged.
    pub(crate) notes: Vec<String>,
    pub(crate) layer: u32,
    /// Whether parts of the tree are missing, because a text is not valid TOML or an include was skipped at a limit.
    pub(crate) is_broken: bool,
    /// The paths of the texts that are being merged, outermost first. The path of a preset is empty.
    open: Vec<PathBuf>,
    /// The number of includes so far.
    includes: usize,
    /// The total size of the included files, in bytes.
    included_bytes: usize,
    /// Whether a limit on includes was reached. After that, no further file is included.
    is_full: bool,
}

impl<'a> Layers<'a> {
    pub(crate) fn new(files: &'a mut dyn Files, layer: u32) -> Layers<'a> {
        Layers {
            files,
            mistakes: Vec::new(),
            notes: Vec::new(),
            layer,
            is_broken: false,
            open: Vec::new(),
            includes: 0,
            included_bytes: 0,
            is_full: false,
        }
    }

    /// Merges a text with all that it names into `below`, in this order: its preset is merged, then the files that it
    /// includes; the lists that its key `reset` names are removed; and its own values, which win, are merged.
    pub(crate) fn add(&mut self, text: &Arc<Text>, path: Option<&Path>, below: &mut Table) {
        self.layer += 1;
        let known = self.mistakes.len();
        let mut own = tree::parse(text, self.layer, &mut self.mistakes);
        self.is_broken |= self.mistakes.len() > known;
        let [preset, include, reset] = LAYER_KEYS.map(|key| own.remove(key));
        self.open.push(path.map(plain).unwrap_or_default());
        if let Some(node) = preset {
            self.preset(&node, below);
        }
        if let Some(node) = include {
            for (wanted, place) in self.words(&node, "include") {
                self.include(text, &wanted, place, below);
            }
        }
        if let Some(node) = reset {
            for (list, place) in self.words(&node, "reset") {
                if below.remove(&list).is_none() && !crate::settings::LISTS.contains(&list.as_str()) {
                    let mistake = Mistake::new(format!("there is no list `{list}` to reset")).at(Some(place));
                    self.mistakes.push(mistake.known(&list, "lists", crate::settings::LISTS));
                }
            }
        }
        self.open.pop();
        // The layers that this text names were merged first. The text is above them, so it gets a higher number.
        self.layer += 1;
        renumber(&mut own, self.layer);
        let before = below.clone();
        self.merge(below, own);
        self.notes.extend(drop_dependents(&before, below, self.layer));
    }

    fn preset(&mut self, node: &Node, below: &mut Table) {
        let Value::String(name) = &node.value else {
            let message = format!("`preset` is the name of a preset, not {}", node.value.describe());
            let mistake = Mistake::new(message).at(Some(node.place.clone()));
            self.mistakes.push(mistake.known("", "presets", presets::names()));
            return;
        };
        match presets::text(name) {
            Some(text) => self.add(&Arc::new(text), None, below),
            None => {
                let mistake = Mistake::new(format!("there is no preset `{name}`")).at(Some(node.place.clone()));
                self.mistakes.push(mistake.known(name, "presets", presets::names()));
            }
        }
    }

    fn include(&mut self, from: &Text, wanted: &str, place: Place, below: &mut Table) {
        let path: PathBuf =
            from.directory.join(wanted).components().filter(|part| *part != Component::CurDir).collect();
        let plain = plain(&path);
        if self.open.contains(&plain) {
            let mistake = Mistake::new(format!("`{wanted}` includes itself"));
            let way: Vec<String> = self.open.iter().chain([&plain]).map(|path| path.display().to_string()).collect();
            self.mistakes.push(mistake.at(Some(place)).hint(format!("break the circle: {}", way.join(" → "))));
            return;
        }
        if self.is_full {
            return;
        }
        self.includes += 1;
        if self.open.len() >= DEPTH_MAX {
            self.stop_including(format!("files include files {DEPTH_MAX} deep here"), place);
            return;
        }
        if self.includes > INCLUDES_MAX {
            self.stop_including(format!("files include files more than {INCLUDES_MAX} times here"), place);
            return;
        }
        match read_text(self.files, &path) {
            Ok(text) => {
                self.included_bytes += text.len();
                if self.included_bytes > INCLUDED_BYTES_MAX {
                    let mebibytes = INCLUDED_BYTES_MAX >> 20;
                    self.stop_including(format!("the included files have more than {mebibytes} MiB together"), place);
                    return;
                }
                let directory = path.parent().map(Path::to_path_buf).unwrap_or_default();
                let text = Text { name: path.display().to_string(), text, directory };
                self.add(&Arc::new(text), Some(&path), below);
            }
            Err(error) => {
                let hint = "the path starts from the directory of the file that includes it";
                self.mistakes.push(unreadable(self.files, &path, &error, hint).at(Some(place)));
            }
        }
    }

    /// Reports that a limit was reached, and stops including files. Otherwise each further include would be reported.
    fn stop_including(&mut self, message: String, place: Place) {
        self.is_full = true;
        // Keys that a skipped include may set must not be reported as missing.
        self.is_broken = true;
        self.mistakes.push(Mistake::new(message).at(Some(place)).hint("include each file once, from one place"));
    }

    /// The strings of a list; a single string counts as a list of one. Reports other values.
    fn words(&mut self, node: &Node, key: &str) -> Vec<(String, Place)> {
        let elements = match &node.value {
            Value::List(elements) => elements.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut words = Vec::new();
        for element in elements {
            match &element.value {
                Value::String(word) => words.push((word.clone(), element.place.clone())),
                other => {
                    let message = format!("`{key}` lists texts, not {}", other.describe());
                    self.mistakes.push(Mistake::new(message).at(Some(element.place.clone())).hint("put it in quotes"));
                }
            }
        }
        words
    }

    /// Merges the top-level table `above` into `below`. Nested tables are merged, the lists in `settings::LISTS` are
    /// extended (elements with the same id are merged), and everything else is replaced.
    pub(crate) fn merge(&mut self, below: &mut Table, above: Table) {
        let known = positions(below);
        for (key, node) in above.entries {
            let is_list = crate::settings::LISTS.contains(&key.as_str());
            let position = known.get(&key).copied();
            match (position.map(|position| &mut below.entries[position].1.value), node.value) {
                (Some(Value::List(below)), Value::List(above)) if is_list => self.merge_list(&key, below, above),
                (None, Value::List(above)) if is_list => {
                    let mut elements = Vec::new();
                    self.merge_list(&key, &mut elements, above);
                    below.entries.push((key, Node { value: Value::List(elements), ..node }));
                }
                (_, value) => merge_entry(below, position, key, Node { value, ..node }),
            }
        }
    }

    fn merge_list(&mut self, key: &str, below: &mut Vec<Node>, above: Vec<Node>) {
        let id = |node: &Node| match &node.value {
            Value::Table(table) if LISTS_BY_ID.contains(&key) => table.get("id").and_then(as_id),
            _ => None,
        };
        let mut known: BTreeMap<String, usize> =
            below.iter().enumerate().filter_map(|(position, node)| Some((id(node)?, position))).collect();
        for node in above {
            let Some(id) = id(&node) else {
                below.push(node);
                continue;
            };
            match known.get(&id) {
                None => {
                    known.insert(id, below.len());
                    below.push(node);
                }
                Some(&position) if id_node(&below[position]).layer == id_node(&node).layer => {
                    let (first, second) = (id_node(&below[position]), id_node(&node));
                    let mistake = Mistake::new(format!("there are two of `{key}` with the id `{id}`"))
                        .at(Some(second.place.clone()))
                        .beside(Some(first.place.clone()), "the first");
                    self.mistakes.push(mistake.hint("give each an id of its own"));
                }
                Some(&position) => {
                    if let (Value::Table(below), Value::Table(above)) = (&mut below[position].value, node.value) {
                        merge_tables(below, above);
                    }
                }
            }
        }
    }
}

/// The positions of the keys of a table. With a linear search for each key, merging would be quadratic.
fn positions(table: &Table) -> BTreeMap<String, usize> {
    table.entries.iter().enumerate().map(|(position, (key, _))| (key.clone(), position)).collect()
}

fn merge_tables(below: &mut Table, above: Table) {
    // The keys of `above` are distinct, so keys that are added here need not be found again.
    let known = positions(below);
    for (key, node) in above.entries {
        merge_entry(below, known.get(&key).copied(), key, node);
    }
}

/// Merges a value into the entry at `position`: two tables are merged, other values are replaced. Without a position,
/// appends the value under `key`.
fn merge_entry(below: &mut Table, position: Option<usize>, key: String, node: Node) {
    let Some(position) = position else {
        below.entries.push((key, node));
        return;
    };
    let known = &mut below.entries[position].1;
    match (&mut known.value, node.value) {
        (Value::Table(below), Value::Table(above)) => {
            // An error in the table as a whole is located where it was last written.
            (known.place, known.key_place) = (node.place, node.key_place);
            merge_tables(below, above);
        }
        (_, value) => *known = Node { value, ..node },
    }
}

/// The `id` of a list element, or the element itself if it has none.
fn id_node(element: &Node) -> &Node {
    match &element.value {
        Value::Table(table) => table.get("id").unwrap_or(element),
        _ => element,
    }
}

/// An id as a text for comparison, in which the number 1 and the text "1" differ; `None` for other values.
fn as_id(node: &Node) -> Option<String> {
    match &node.value {
        Value::Integer(number) => Some(number.to_string()),
        Value::String(name) if name.parse::<i64>().is_ok() => Some(format!("{name:?}")),
        Value::String(name) => Some(name.clone()),
        _ => None,
    }
}

fn renumber(table: &mut Table, layer: u32) {
    for (_, node) in &mut table.entries {
        renumber_node(node, layer);
    }
}

fn renumber_node(node: &mut Node, layer: u32) {
    node.layer = layer;
    match &mut node.value {
        Value::Table(table) => renumber(table, layer),
        Value::List(elements) => elements.iter_mut().for_each(|element| renumber_node(element, layer)),
        _ => {}
    }
}

/// A path without `.` and, where possible, without `..`, to recognise a file under different spellings of its path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            _ => plain.push(component),
        }
    }
    plain
}

/// Applies the overrides of a command line, each `key.path=value`, to a tree.
pub(crate) fn override_keys(below: &mut Table, overrides: &[String], layer: u32, mistakes: &mut Vec<Mistake>) {
    for line in overrides {
        let text = Text { name: "--set".to_owned(), text: line.clone(), directory: PathBuf::new() };
        if let Err(mistake) = override_key(below, &Arc::new(text), layer) {
            mistakes.push(mistake);
        }
    }
}

fn override_key(below: &mut Table, text: &Arc<Text>, layer: u32) -> Result<(), Mistake> {
    let whole = Place { text: Arc::clone(text), span: 0..text.text.len() };
    let Some((path, _)) = text.text.split_once('=') else {
        let message = format!("`--set {}` has no `=`", text.text);
        return Err(Mistake::new(message)
            .at(Some(whole))
            .hint("write `--set KEY=VALUE`, e.g. `--set topology.size=16`"));
    };
    let written = &text.text[path.len() + 1..];
    let value = override_value(text, path.len() + 1 + (written.len() - written.trim_start().len()), layer)?;
    let mut steps: Vec<(String, Place)> = Vec::new();
    let mut start = 0;
    for step in path.split('.') {
        let word = step.trim();
        let offset = start + (step.len() - step.trim_start().len());
        if word.is_empty() {
            let message = format!("`{path}` is not a path of keys");
            return Err(Mistake::new(message).at(Some(whole)).hint("write `section.key`, e.g. `workload.period`"));
        }
        steps.push((word.to_owned(), Place { text: Arc::clone(text), span: offset..offset + word.len() }));
        start += step.len() + 1;
    }
    if LAYER_KEYS.contains(&steps[0].0.as_str()) {
        let message = format!("`{}` can be set in a file only", steps[0].0);
        return Err(Mistake::new(message).at(Some(steps[0].1.clone())).hint("write a file that has it, and name that"));
    }
    set(below, &steps, value, layer)
}

/// A value of the command line: TOML or, if it is not valid TOML, an unquoted string. An empty value is an error, and
/// so is invalid TOML that starts with a quote, a bracket or a brace.
fn override_value(text: &Arc<Text>, offset: usize, layer: u32) -> Result<Node, Mistake> {
    let written = text.text[offset..].trim();
    match tree::parse_value(text, offset, layer) {
        Ok(node) => Ok(node),
        Err(mistake) if written.is_empty() || written.starts_with(['"', '\'', '[', '{']) => {
            Err(mistake.hint("write a number, a text, or a value as in TOML"))
        }
        Err(_) => {
            let place = Place { text: Arc::clone(text), span: offset..text.text.len() };
            Ok(Node { place, key_place: None, layer, value: Value::String(written.to_owned()) })
        }
    }
}

fn set(below: &mut Table, steps: &[(String, Place)], value: Node, layer: u32) -> Result<(), Mistake> {
    let (key, place) = &steps[0];
    let rest = &steps[1..];
    if rest.is_empty() {
        let node = Node { key_place: Some(place.clone()), ..value };
        match below.get_mut(key) {
            Some(known) => *known = node,
            None => below.entries.push((key.clone(), node)),
        }
        return Ok(());
    }
    if below.get(key).is_none() && crate::settings::LISTS.contains(&key.as_str()) {
        return set_element(key, &mut [], rest, value, layer);
    }
    if below.get(key).is_none() {
        let value = Value::Table(Table::default());
        below.entries.push((key.clone(), Node { place: place.clone(), key_place: Some(place.clone()), layer, value }));
    }
    let node = below.get_mut(key).expect("it was just put there if it was not there");
    match &mut node.value {
        Value::Table(table) => set(table, rest, value, layer),
        Value::List(elements) => set_element(key, elements, rest, value, layer),
        other => {
            let message = format!("`{key}` is {} and has no keys", other.describe());
            Err(Mistake::new(message).at(Some(place.clone())).hint(format!("write `--set {key}=VALUE`")))
        }
    }
}

/// Sets a key of a list element. The element is selected by its id or, in a list whose elements have no ids, by its
/// index from 0.
fn set_element(
    list: &str,
    elements: &mut [Node],
    steps: &[(String, Place)],
    value: Node,
    layer: u32,
) -> Result<(), Mistake> {
    let (name, place) = &steps[0];
    let by_id = elements.iter().position(|element| {
        let id = id_node(element);
        match &id.value {
            Value::Integer(number) => number.to_string() == *name,
            Value::String(id) => id == name,
            _ => false,
        }
    });
    let position = by_id.or_else(|| {
        let has_ids = LISTS_BY_ID.contains(&list);
        name.parse().ok().filter(|position| !has_ids && *position < elements.len())
    });
    let Some(position) = position else {
        let ids: Vec<String> = elements.iter().filter_map(|element| as_id(id_node(element))).collect();
        let mistake = Mistake::new(format!("no `{list}` called `{name}` is listed")).at(Some(place.clone()));
        return Err(if list == "node" {
            // The topology has more nodes than the files list, so a similar name among those is no better guess.
            let id = name.parse::<i64>().map_or_else(|_| format!("\"{name}\""), |number| number.to_string());
            mistake.hint(format!(
                "an override changes a node that a file lists: add `[[node]]` with `id = {id}`, or `[[nodes]]` with `match = \"{name}\"`, where `*` \
                 stands for any characters, to the file"
            ))
        } else if elements.is_empty() {
            mistake.hint(format!("list it in a file, as `[[{list}]]`"))
        } else if ids.is_empty() {
            mistake.hint(format!("there are {} of them, counted from 0", elements.len()))
        } else {
            mistake.known(name, "there are", ids.iter().map(String::as_str))
        });
    };
    match &mut elements[position].value {
        Value::Table(table) if steps.len() > 1 => set(table, &steps[1..], value, layer),
        _ => {
            let message = format!("`{list}.{name}` is one of a list: it cannot be replaced as a whole");
            Err(Mistake::new(message)
                .at(Some(place.clone()))
                .hint(format!("set one of its keys: `{list}.{name}.KEY=VALUE`")))
        }
    }
}
