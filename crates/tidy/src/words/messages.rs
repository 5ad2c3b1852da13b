//! The texts of messages: the string literals of a Rust file, without those of its tests.

/// A string literal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Literal {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    /// Its text in lower case, with single spaces. Escapes are kept, except for the end of a line.
    pub(super) text: String,
}

/// The string literals of a file of this path and text. Tests at the end of a file have none, nor do files of tests and
/// benchmarks, because they quote what must not be accepted.
pub(super) fn literals(path: &str, text: &str) -> Vec<Literal> {
    let is_test = path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches"));
    let text = if is_test { "" } else { text.split("#[cfg(test)]\nmod ").next().unwrap_or_default() };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['/', '"', '\'', 'r']) {
        let begin = text.len() - rest.len() + start;
        let after_word = text[..begin].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let (before, candidate) = (rest.len(), &rest[start..]);
        rest = if let Some(comment) = candidate.strip_prefix("//") {
            comment.split_once('\n').map_or("", |(_, rest)| rest)
        } else if let Some(comment) = candidate.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, rest)| rest)
        } else if let Some(literal) = candidate.strip_prefix('"') {
            let end = end_of_text(literal);
            found.push((begin, literal[..end].to_owned()));
            literal.get(end + 1..).unwrap_or_default()
        } else if let Some(literal) = candidate.strip_prefix('\'') {
            after_character(literal)
        } else if let (Some((literal, hashes)), false) = (raw(candidate), after_word && !is_byte_prefix(text, begin)) {
            let close = format!("\"{}", "#".repeat(hashes));
            let (content, rest) = literal.split_once(&close).unwrap_or((literal, ""));
            found.push((begin, content.to_owned()));
            rest
        } else {
            &candidate[1..]
        };
        debug_assert!(rest.len() < before, "each step consumes text");
    }
    let line = |begin: usize| text[..begin].matches('\n').count() + 1;
    found.into_iter().map(|(begin, content)| Literal { line: line(begin), text: plain(&content) }).collect()
}

/// The position of the quote that ends a literal.
fn end_of_text(literal: &str) -> usize {
    let mut is_escaped = false;
    for (position, character) in literal.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return position,
            _ => {}
        }
    }
    literal.len()
}

/// What follows a character such as `'"'`; of a lifetime, what follows the quote.
fn after_character(literal: &str) -> &str {
    let mut characters = literal.chars();
    match (characters.next(), characters.next()) {
        (Some('\\'), Some(escaped)) => {
            let rest = &literal[1 + escaped.len_utf8()..];
            rest.split_once('\'').map_or("", |(_, rest)| rest)
        }
        (Some(character), Some('\'')) => &literal[character.len_utf8() + 1..],
        _ => literal,
    }
}

/// What follows the opening quote of a raw string, and its number of hashes.
fn raw(candidate: &str) -> Option<(&str, usize)> {
    let rest = candidate.strip_prefix('r')?;
    let opened = rest.trim_start_matches('#');
    Some((opened.strip_prefix('"')?, rest.len() - opened.len()))
}

/// Whether the text before this position ends in the `b` of a raw byte string.
fn is_byte_prefix(text: &str, begin: usize) -> bool {
    let before = text[..begin].strip_suffix('b');
    before.is_some_and(|before| !before.ends_with(|last: char| last.is_alphanumeric() || last == '_'))
}

fn plain(content: &str) -> String {
    let mut joined = String::with_capacity(content.len());
    for line in content.split("\\\n") {
        joined += if joined.is_empty() { line } else { line.trim_start() };
    }
    // Escaped line breaks and tabs separate words.
    let spaced = joined.replace("\\n", " ").replace("\\t", " ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(usize, String)> {
        literals("src/lib.rs", text).into_iter().map(|Literal { line, text }| (line, text)).collect()
    }

    #[test]
    fn literals_are_read_in_every_form_and_comments_are_not() {
        let text = "// \"no\"\nfn f<'a>(a: &'a str) { let _ = ('\"', '\\'', \"One \\\"two\\\" \\\n    three\"); }\n\
                    /* \"no\" */ const R: &str = r#\"Raw \"text\"\"#; const B: &[u8] = br\"bytes\"; let var = \"last\\nline\";";
        let expected = [(2, "one \\\"two\\\" three"), (4, "raw \"text\""), (4, "bytes"), (4, "last line")];
        assert_eq!(texts(text), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn tests_have_no_messages() {
        assert_eq!(texts("const A: &str = \"a b\";\n#[cfg(test)]\nmod tests { const B: &str = \"b c\"; }\n").len(), 1);
        for path in ["crates/core/tests/it/main.rs", "crates/core/src/text/tests.rs", "crates/core/benches/speed.rs"] {
            assert_eq!(literals(path, "const A: &str = \"a b\";"), []);
        }
    }

    #[test]
    fn a_text_that_does_not_end_is_read_to_its_end() {
        for text in ["\"open", "r#\"open\"", "'\\", "/* open", "//", "'", "r", "\"\\"] {
            let _ = texts(text);
        }
    }
}
