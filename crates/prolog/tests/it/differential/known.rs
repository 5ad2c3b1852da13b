//! The list of intended disagreements with SWI-Prolog.
//!
//! `known.txt` is a list of entries separated by blank lines. An entry has five lines, in this order: `goal`, `swipl`
//! and `ours` are patterns in which `*` matches any text, `witness` is a goal that the entry covers, and `because` says
//! why our behaviour is right, with the clause of ISO 13211-1 if there is one. Lines that start with `#` are comments.

use std::fs;
use std::path::Path;

struct Entry {
    goal: String,
    swipl: String,
    ours: String,
    witness: String,
}

pub struct Known {
    entries: Vec<Entry>,
}

impl Known {
    pub fn read() -> Known {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/known.txt");
        let text = fs::read_to_string(path).expect("the list of disagreements can be read");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let entries = lines.split(|line| line.is_empty()).filter(|entry| !entry.is_empty()).map(entry).collect();
        Known { entries }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The witness of each entry.
    pub fn witnesses(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.witness)
    }

    /// The index of the first entry that covers a disagreement.
    pub fn find(&self, goal: &str, swipl: &str, ours: &str) -> Option<usize> {
        self.entries
            .iter()
            .position(|entry| matches(&entry.goal, goal) && matches(&entry.swipl, swipl) && matches(&entry.ours, ours))
    }

    /// The goal patterns of entries that covered no disagreement.
    pub fn unused(&self, used: &[usize]) -> Vec<&str> {
        self.entries.iter().zip(used).filter(|(_, used)| **used == 0).map(|(entry, _)| &*entry.goal).collect()
    }
}

fn entry(lines: &[&str]) -> Entry {
    let field = |index: usize, name: &str| {
        let line = lines.get(index).unwrap_or_else(|| panic!("`{name}` is missing in {lines:?}"));
        line.strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(": "))
            .unwrap_or_else(|| panic!("expected `{name}: ` in {line:?}"))
            .to_owned()
    };
    assert!(!field(4, "because").is_empty(), "a reason is given in {lines:?}");
    Entry { goal: field(0, "goal"), swipl: field(1, "swipl"), ours: field(2, "ours"), witness: field(3, "witness") }
}

/// Whether `text` matches `pattern`, in which `*` matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = pattern.contains('*').then(|| parts.next_back()).flatten() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(position) => rest = &rest[position + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn a_star_matches_any_text() {
    for (pattern, text, expected) in [
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("a*c", "abbc", true),
        ("a*c", "ac", true),
        ("a*c", "acb", false),
        ("*", "", true),
        ("*b*", "abc", true),
        ("*b*b*", "abc", false),
        ("ab*b", "ab", false),
    ] {
        assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
    }
}
