//! Checks that the parser accepts the command lines in the README and on the pages of the book, except those that are
//! shown to fail with exit code 2.

use super::page::{Block, blocks};
use super::{pages_in, read};

/// Returns the calls of mario in a block: the text after `mario` or `cargo run --release --` at the start of a line or
/// after `$ `, each with its line number. A line that is continued with a backslash counts once.
fn calls(block: &Block) -> Vec<(usize, String)> {
    let joined = block.text.replace("\\\n", " ");
    let calls = joined.lines().enumerate().filter_map(|(index, line)| {
        let line = line.strip_prefix("$ ").unwrap_or(line);
        let arguments = line.strip_prefix("mario ").or_else(|| line.strip_prefix("cargo run --release -- "))?;
        Some((block.line + index, arguments.to_owned()))
    });
    calls.collect()
}

/// The words of a call, up to a word `|`, `>`, `<`, `&` or `&&`, or up to a comment.
fn words(arguments: &str) -> Vec<String> {
    let words = crate::transcripts::words(arguments);
    let ends = |word: &String| ["|", ">", "<", "&", "&&"].contains(&word.as_str()) || word.starts_with('#');
    let end = words.iter().position(ends).unwrap_or(words.len());
    words[..end].to_vec()
}

#[test]
fn every_call_of_mario_on_every_page_is_accepted_by_its_parser() {
    let pages = ["docs", "docs/book", "docs/book/tutorial", "docs/book/guides", "docs/book/explanation"];
    let mut all: Vec<String> = pages.into_iter().flat_map(pages_in).collect();
    all.push("README.md".to_owned());
    let mut count = 0;
    for page in all {
        let text = read(&page);
        let shown = blocks(&text).into_iter().filter(|block| block.is("sh") || block.is("console"));
        for (line, arguments) in shown.filter(|block| block.value("exit") != Some("2")).flat_map(|block| calls(&block))
        {
            let typed = std::iter::once("mario".to_owned()).chain(words(&arguments));
            let parsed = mario_cli::command().try_get_matches_from(typed);
            let is_accepted = parsed.as_ref().err().is_none_or(|error| !error.use_stderr());
            assert!(is_accepted, "{page}:{line}: {}", parsed.expect_err("just asked"));
            count += 1;
        }
    }
    assert!(count > 50, "only {count} calls were found");
}
