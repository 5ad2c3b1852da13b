//! Compares generated texts with those stored in the repository, and shows how two texts differ.

use std::env;
use std::fs;
use std::path::Path;

/// The number of equal lines shown before the first and after the last difference.
const CONTEXT_LINES: usize = 2;

/// The maximum number of differing lines shown of each text.
const SHOWN_LINES_MAX: usize = 12;

/// The maximum length of a shown line. A longer line is cut around the column of the first difference.
const LINE_CHARACTERS_MAX: usize = 160;

/// Asserts that the content of a file equals `text`. If the environment variable named in `update` is set, writes the
/// file instead.
#[track_caller]
pub fn check_stored(path: &Path, text: &str, update: &str) {
    if env::var_os(update).is_some() {
        fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        return;
    }
    let stored = fs::read_to_string(path).unwrap_or_default();
    let difference = difference(&stored, text);
    assert!(
        difference.is_none(),
        "{} is not up to date: {}{update}=1 writes it",
        path.display(),
        difference.unwrap_or_default()
    );
}

/// Asserts that two texts are equal, and shows where they differ if they are not: `-` is expected, `+` is found.
#[track_caller]
pub fn assert_same_text(found: &str, expected: &str, what: &str) {
    let difference = difference(expected, found);
    assert!(difference.is_none(), "{what}: {}", difference.unwrap_or_default());
}

/// The text, with what is between the first `begin` and the next `end` replaced by `part`. Panics if one of them is
/// missing.
#[track_caller]
pub fn replaced_part(text: &str, begin: &str, end: &str, part: &str) -> String {
    let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("there is no {begin:?}"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("there is no {end:?} after {begin:?}"));
    [before, begin, part, end, after].concat()
}

/// Shows the lines from the first difference to the last, with some context, up to [`SHOWN_LINES_MAX`] of each text;
/// `None` if the texts are equal.
fn difference(expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let [old, new] = [expected, found].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let first = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old[first..].iter().rev().zip(new[first..].iter().rev());
    let last = rest.take_while(|(one, other)| one == other).count();
    let [old_end, new_end] = [old.len() - last, new.len() - last];
    let column = match (old.get(first), new.get(first)) {
        (Some(one), Some(other)) => one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count(),
        _ => 0,
    };
    let mut shown = format!("the first difference is in line {}\n", first + 1);
    let mut show = |mark: char, lines: &[&str]| {
        for line in lines.iter().take(SHOWN_LINES_MAX) {
            shown.extend([mark.to_string(), " ".to_owned(), excerpt(line, column), "\n".to_owned()]);
        }
        if lines.len() > SHOWN_LINES_MAX {
            shown.push_str(&format!("{mark} … {} more lines\n", lines.len() - SHOWN_LINES_MAX));
        }
    };
    show(' ', &old[first.saturating_sub(CONTEXT_LINES)..first]);
    show('-', &old[first..old_end]);
    show('+', &new[first..new_end]);
    show(' ', &old[old_end..(old_end + CONTEXT_LINES).min(old.len())]);
    Some(shown)
}

/// A line without its newline, or with a note that it has none. A line longer than [`LINE_CHARACTERS_MAX`] is cut
/// around `column`.
fn excerpt(line: &str, column: usize) -> String {
    let (text, end) = match line.strip_suffix('\n') {
        Some(text) => (text, ""),
        None => (line, " (no newline)"),
    };
    let count = text.chars().count();
    if count <= LINE_CHARACTERS_MAX {
        return format!("{text}{end}");
    }
    let start = column.saturating_sub(LINE_CHARACTERS_MAX / 2).min(count - LINE_CHARACTERS_MAX);
    let part: String = text.chars().skip(start).take(LINE_CHARACTERS_MAX).collect();
    format!("[from character {}] {part}{end}", start + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;

    #[test]
    fn equal_texts_have_no_difference() {
        for text in ["", "a", "a\nb\n"] {
            assert_eq!(difference(text, text), None);
        }
    }

    #[test]
    fn a_difference_is_shown_with_the_lines_around_it() {
        let expected = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
        let found = "one\ntwo\nthree\n4\nfive\nsix\nseven\n";
        let shown = "the first difference is in line 4\n  two\n  three\n- four\n+ 4\n  five\n  six\n";
        assert_eq!(difference(expected, found).as_deref(), Some(shown));
    }

    #[test]
    fn lines_may_be_missing_or_added_or_have_another_end() {
        let shown = |expected, found| difference(expected, found).unwrap_or_default();
        assert_eq!(shown("a\nb\n", "a\n"), "the first difference is in line 2\n  a\n- b\n");
        assert_eq!(shown("a\n", "a\na\n"), "the first difference is in line 2\n  a\n+ a\n");
        assert_eq!(shown("a\n", "a"), "the first difference is in line 1\n- a\n+ a (no newline)\n");
    }

    #[test]
    fn long_differences_and_long_lines_are_cut() {
        let many = difference(&"a\n".repeat(40), &"b\n".repeat(40)).expect("they differ");
        assert!(many.contains("- … 28 more lines\n") && many.lines().count() == 27, "{many}");
        let long = |at: char| ["x".repeat(1_000), at.to_string(), "x".repeat(1_000)].concat();
        let cut = difference(&long('é'), &long('y')).expect("they differ");
        assert!(cut.contains("- [from character 921] x") && cut.contains('é') && cut.len() < 600, "{cut}");
    }

    #[test]
    fn a_part_between_marks_is_replaced() {
        assert_eq!(replaced_part("a<old>b", "<", ">", "new"), "a<new>b");
    }

    #[test]
    #[should_panic(
        expected = "is not up to date: the first difference is in line 1\n- old\n+ new\nNEVER_SET=1 writes it"
    )]
    fn a_stored_text_that_differs_is_shown_with_what_writes_it() {
        let directory = Scratch::new("stored");
        let path = directory.path().join("text");
        fs::write(&path, "old\n").expect("it is writable");
        check_stored(&path, "old\n", "NEVER_SET");
        check_stored(&path, "new\n", "NEVER_SET");
    }
}
