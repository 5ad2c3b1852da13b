//! Retired phrases do not return to comments, pages and messages.
//!
//! The comments of Rust files and all Markdown are searched, and the string literals of Rust files outside tests, because
//! users read them as messages. In messages, a few more phrases are retired. Names may contain the phrases; a literal that
//! is nothing but the phrase is a name, too.
//! [`LIST`] has the number of remaining occurrences of each phrase in comments and pages; without this file, none may occur. A number may not
//! grow, and must be lowered when occurrences are removed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use crate::{Finding, SourceFile, Workspace};

mod messages;

/// The file that lists the remaining occurrences of retired phrases.
pub const LIST: &str = "crates/tidy/retired.txt";

const LIST_OPENS: &str = "\
# Retired phrases that still occur in comments and pages, with their number. It may not grow.
# `MARIO_TIDY=update cargo test -p mario-tidy` rewrites this list.
";

/// Retired phrases, each with a replacement.
const RETIRED: [(&str, &str); 22] = [
    ("again and again", "`repeatedly`, or the name of the loop"),
    ("anew", "`again`, or a verb such as reload, restart or recompute"),
    ("by itself", "`alone`, `automatically`, or the name of the cause"),
    ("fewer than none", "`negative`"),
    ("go on", "`continue` or `resume`"),
    ("goes on", "`continues` or `resumes`"),
    ("gone on with", "`resumed` or `continued`"),
    ("in the course of", "`during`"),
    ("in the place of", "`instead of`, or `replaces`"),
    ("its kin", "`related predicates`, `similar functions`, or their names"),
    ("its like", "`similar`, or the names"),
    ("is told", "`receives`, `is informed of`, or the message"),
    ("left away", "`omitted`"),
    ("of one's own", "`your own` or `user-defined`"),
    ("so many", "the number: `N nodes`, `count`, `at most`"),
    ("so-manieth", "`every Nth`"),
    ("somebody", "the subject: a user, an operator, a peer, a process"),
    ("their kin", "`related predicates`, `similar functions`, or their names"),
    ("there is none of", "`unknown`, `missing` or `does not exist`"),
    ("to and fro", "`back and forth`"),
    ("what it came to", "`the result`"),
    ("whoever", "the subject: the caller, the reader, the holder"),
];

/// Phrases that are retired in messages only, each with a replacement.
const RETIRED_IN_MESSAGES: [(&str, &str); 4] = [
    ("broken off", "`interrupted`"),
    ("comes out otherwise", "`differs`"),
    ("is no", "`is not a`, `unknown`, or what was expected"),
    ("nobody", "the subject, or `unknown`"),
];

/// Words before a retired phrase that make it plain English, as in `there is no file`.
const PLAIN_BEFORE: &str = "there ";

/// Messages that traces record, with a retired phrase: the auditor compares the texts, so a trace of an earlier version
/// would differ. For each, the file and the phrase.
const RECORDED: [(&str, &str); 1] = [("crates/prolog/src/explain.rs", "nobody")];

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let allowed = read_list(workspace.text(LIST).unwrap_or_default());
    let mut findings = Vec::new();
    for (phrase, instead) in RETIRED {
        let files = files_with(workspace, phrase);
        let count: usize = files.values().sum();
        let allowed = allowed.get(phrase).copied().unwrap_or(0);
        if count > allowed {
            let files: Vec<String> = files.iter().map(|(path, count)| format!("{path} ({count})")).collect();
            let message = format!(
                "`{phrase}` occurs {count} times in comments and pages, more than {allowed}: write {instead}, in {}",
                files.join(", ")
            );
            findings.push(Finding::new(LIST, message));
        } else if count < allowed {
            findings
                .push(Finding::new(LIST, format!("`{phrase}` occurs {count} times, not {allowed}: lower its entry")));
        }
    }
    findings.extend(workspace.files.iter().filter(|file| file.is_rust()).flat_map(retired_messages));
    findings
}

/// The messages of a Rust file that have a retired phrase.
fn retired_messages(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for literal in messages::literals(&file.path, &file.text) {
        for (phrase, instead) in RETIRED.iter().chain(&RETIRED_IN_MESSAGES) {
            let plain = format!("{PLAIN_BEFORE}{phrase}");
            let count = occurrences(&literal.text, phrase) - occurrences(&literal.text, &plain);
            let is_recorded = RECORDED.contains(&(file.path.as_str(), *phrase));
            if count > 0 && literal.text != *phrase && !is_recorded {
                let message = format!("`{phrase}` is retired in messages: write {instead}");
                findings.push(Finding::new(format!("{}:{}", file.path, literal.line), message));
            }
        }
    }
    findings
}

/// Rewrites the list to the current numbers.
pub fn update(workspace: &Workspace) -> io::Result<()> {
    let mut list = LIST_OPENS.to_owned();
    for (phrase, _) in RETIRED {
        let count: usize = files_with(workspace, phrase).values().sum();
        if count > 0 {
            writeln!(list, "{count} {phrase}").expect("writing into memory does not fail");
        }
    }
    fs::write(workspace.root.join(LIST), list)
}

fn read_list(list: &str) -> BTreeMap<&str, usize> {
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let (count, phrase) = line.split_once(' ')?;
            Some((phrase, count.parse().ok()?))
        })
        .collect()
}

/// The files whose prose has the phrase, each with the number of occurrences.
fn files_with<'a>(workspace: &'a Workspace, phrase: &str) -> BTreeMap<&'a str, usize> {
    let counted = workspace.files.iter().filter_map(|file| {
        let count = occurrences(&prose(file)?, phrase);
        (count > 0).then_some((file.path.as_str(), count))
    });
    counted.collect()
}

/// The prose of a Rust or Markdown file in lower case, with single spaces; `None` for other files.
fn prose(file: &SourceFile) -> Option<String> {
    let lines: Vec<&str> = if file.is_rust() {
        file.text.lines().filter_map(comment).flat_map(str::split_whitespace).collect()
    } else if Path::new(&file.path).extension().is_some_and(|extension| extension == "md") {
        file.text.split_whitespace().collect()
    } else {
        return None;
    };
    Some(lines.join(" ").to_lowercase())
}

/// The comment in a line of Rust. The `//` of a web address does not begin a comment.
fn comment(line: &str) -> Option<&str> {
    let (start, _) = line.match_indices("//").find(|(start, _)| !line[..*start].ends_with(':'))?;
    Some(line[start..].trim_start_matches(['/', '!']))
}

/// How often the phrase occurs as whole words.
fn occurrences(prose: &str, phrase: &str) -> usize {
    let is_whole = |start: usize| {
        let before = prose[..start].chars().next_back();
        let after = prose[start + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    };
    prose.match_indices(phrase).filter(|(start, _)| is_whole(*start)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose_of(path: &str, text: &str) -> String {
        prose(&SourceFile { path: path.to_owned(), text: text.to_owned() }).expect("it has prose")
    }

    #[test]
    fn comments_are_prose_and_strings_are_not() {
        // Phrases are split, because the rule applies to this file, too.
        let text =
            concat!("/// Sees s", "o\n    /// many things.\nlet url = \"http://so ma", "ny\"; // Who", "ever asks.\n");
        let prose = prose_of("src/lib.rs", text);
        assert_eq!(prose, "sees so many things. whoever asks.");
    }

    #[test]
    fn phrases_are_found_as_whole_words() {
        let prose = prose_of("docs/page.md", "So many; also many, and so\nmany. Not so manyfold.");
        assert_eq!(occurrences(&prose, "so many"), 2);
    }
}
