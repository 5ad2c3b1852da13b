//! Keys that depend on other keys: a later layer that changes one key may make values of earlier layers unsuitable.
//! Such values are dropped or adapted, and keys without effect are found. The user is informed by notes.
//!
//! Layers have different authors: a user who overrides one key of a preset does not know which other keys the preset
//! chose to match it.

use mario_settings::tree::{Node, Table, Value};

use crate::document::Document;
use crate::settings::{MobilitySettings, Settings};

/// A key whose value was chosen because of another key of the same section.
struct Dependent {
    section: &'static str,
    /// The `kind` of the section for which the dependence holds. It also holds for a section without `kind`.
    kind: &'static str,
    /// The key on which `key` depends.
    of: &'static str,
    key: &'static str,
    /// If the layer that changes `of` also sets one of these keys, `key` is kept.
    beside: &'static [&'static str],
    /// What applies without `key`, as part of the note for the user.
    instead: &'static str,
}

const DEPENDENTS: [Dependent; 1] = [Dependent {
    section: "mobility",
    kind: "generated",
    of: "users",
    key: "first_users",
    beside: &["first_users", "arrivals_per_step"],
    instead: "all of them are there from the first step on",
}];

/// Keys with a different meaning in one kind of a section: the section, the kind, and the keys. With mobility of kind
/// `file`, these keys limit how much of the file is used.
const OTHER_MEANING: [(&str, &str, [&str; 2]); 1] = [("mobility", "file", ["users", "steps"])];

/// Keys that have no effect because of another key of the same section: the section, the key, the other key, and the
/// value of the other key.
const WITHOUT_EFFECT: [(&str, &str, &str, &str); 3] = [
    ("memory", "cycles", "strategy", "periodic"),
    ("memory", "every", "strategy", "sliding"),
    ("routing", "metric", "strategy", "least-used"),
];

/// Removes keys of earlier layers that were chosen for a value or kind that a new layer has changed. Returns a note for
/// each of them. Values in `tree` whose layer number is at least `since` belong to the new layer. For an override, they
/// include all earlier overrides. `before` is the tree before the last text or override was merged.
pub(crate) fn drop_dependents(before: &Table, tree: &mut Table, since: u32) -> Vec<String> {
    let mut notes = Vec::new();
    for Dependent { section, kind, of, key, beside, instead } in DEPENDENTS {
        let Some(old) = before.table(section).and_then(|old| old.get(of)) else { continue };
        let Some(Node { value: Value::Table(table), .. }) = tree.get_mut(section) else { continue };
        let is_of_kind = table.get("kind").is_none_or(|node| is_word(node, kind));
        let is_new = |key: &str| table.get(key).is_some_and(|node| node.layer >= since);
        let new = table.get(of).filter(|new| new.layer >= since && new.value != old.value).map(|new| plain(&new.value));
        let Some(new) = new.filter(|_| is_of_kind && !beside.iter().any(|key| is_new(key))) else { continue };
        if let Some(dropped) = table.remove(key) {
            notes.push(format!(
                "`{section}.{of}` is {new}, and {instead}: `{section}.{key} = {}` was meant for {}",
                plain(&dropped.value),
                plain(&old.value)
            ));
        }
    }
    for (section, kind, keys) in OTHER_MEANING {
        let was_of_kind = before.table(section).and_then(|old| old.get("kind")).is_some_and(|old| is_word(old, kind));
        let Some(Node { value: Value::Table(table), .. }) = tree.get_mut(section) else { continue };
        if was_of_kind || !table.get("kind").is_some_and(|new| new.layer >= since && is_word(new, kind)) {
            continue;
        }
        for key in keys {
            if table.get(key).is_some_and(|node| node.layer < since)
                && let Some(dropped) = table.remove(key)
            {
                let value = plain(&dropped.value);
                notes.push(format!(
                    "`{section}.kind` is `{kind}`: `{section}.{key} = {value}` was meant for another kind"
                ));
            }
        }
    }
    notes.extend(drop_tier_names(before, tree, since));
    notes
}

/// Removes the names of tiers if an earlier layer set them for another kind of topology. Returns a note about it.
fn drop_tier_names(before: &Table, tree: &mut Table, since: u32) -> Option<String> {
    let old = before.table("topology")?.get("kind")?;
    let new = tree.table("topology")?.get("kind")?;
    let is_another = new.layer >= since && new.value != old.value;
    if !is_another || tree.get("tiers")?.layer >= since {
        return None;
    }
    tree.remove("tiers");
    Some("the names in `tiers` are dropped: they were meant for another `topology.kind`".to_owned())
}

fn is_word(node: &Node, word: &str) -> bool {
    matches!(&node.value, Value::String(written) if written == word)
}

/// A value for a note: an integer as written, other values in words.
fn plain(value: &Value) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        other => other.describe(),
    }
}

impl Document {
    /// The number of the layer that sets a key; 0 for a default. All overrides count as one layer.
    fn rank(&self, path: &str) -> u32 {
        let layer = self.written(path).map_or(0, |node| node.layer);
        self.first_override.map_or(layer, |first| layer.min(first))
    }

    /// Extends the steps of generated users to the duration of the run, if a later layer than that of `steps` sets the
    /// duration or the time between steps, and if at most 1,000,000 steps are then needed. Steps that last longer than
    /// the run are kept. Returns a note, or `None` if nothing was changed.
    pub(crate) fn follow_duration(&self, settings: &mut Settings) -> Option<String> {
        const STEPS_MAX: f64 = 1e6;
        let duration = settings.duration.value();
        let MobilitySettings::Generated(users) = &mut settings.mobility else { return None };
        let fitting = (duration / users.step.value()).ceil();
        let is_older = self.rank("mobility.steps") < self.rank("duration").max(self.rank("mobility.step"));
        if !is_older || fitting <= f64::from(users.steps) || fitting > STEPS_MAX {
            return None;
        }
        let before = std::mem::replace(&mut users.steps, fitting as u32);
        let step = users.step.value();
        let ends = f64::from(before) * step;
        Some(format!(
            "users move in {fitting} steps of {step} ms, as long as the run takes: {before} would end at {ends}"
        ))
    }

    /// Notes about keys that have no effect because of the value of another key, which is a default or was set by an
    /// earlier layer.
    pub(crate) fn without_effect(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (section, key, other, value) in WITHOUT_EFFECT {
            let [path, other_path] = [key, other].map(|key| format!("{section}.{key}"));
            let chosen = self.written(&other_path).map(|node| &node.value);
            // `sliding` is the only value in `WITHOUT_EFFECT` that is a default.
            let is_chosen = chosen.map_or(value == "sliding", |chosen| *chosen == Value::String(value.to_owned()));
            if is_chosen && self.written(&path).is_some() && self.rank(&path) > self.rank(&other_path) {
                notes.push(format!("`{path}` has no effect: `{other_path}` is `{value}`"));
            }
        }
        notes
    }
}
