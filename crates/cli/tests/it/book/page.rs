//! The code blocks of a page, and the output that they show.

/// A block between two fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The number of its first line of text in the page, from 1.
    pub line: usize,
    /// The words after the fence: the language, and options for the tests.
    pub words: Vec<String>,
    pub text: String,
}

impl Block {
    pub(super) fn is(&self, language: &str) -> bool {
        self.words.first().is_some_and(|word| word == language)
    }

    /// Whether a `sh` or `console` block is run: it is not marked `not-run`.
    pub(super) fn is_run(&self) -> bool {
        !self.words.iter().any(|word| word == "not-run")
    }

    /// The value of an option `key=value` of the block.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    /// The commands of a `console` block, each with its line and its output.
    pub(super) fn commands(&self) -> Vec<Typed> {
        let mut commands: Vec<Typed> = Vec::new();
        for (index, line) in self.text.lines().enumerate() {
            if let Some(command) = line.strip_prefix("$ ") {
                commands.push(Typed { line: self.line + index, command: command.to_owned(), prints: Vec::new() });
            } else {
                let command = commands.last_mut().unwrap_or_else(|| panic!("line {}: no command", self.line));
                command.prints.push(line.to_owned());
            }
        }
        commands
    }
}

/// A command, and its output according to the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Typed {
    pub line: usize,
    pub command: String,
    pub prints: Vec<String>,
}

/// The blocks of a page, in order.
pub(super) fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(words)) => {
                let words = words.split_whitespace().map(str::to_owned).collect();
                open = Some(Block { line: index + 2, words, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "a fence stays open");
    blocks
}

/// Whether an output matches the one on the page, in which a line `…` stands for any number of lines.
pub(super) fn is_as_promised(promised: &[String], output: &str) -> bool {
    let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
    let parts: Vec<Vec<&str>> =
        promised.split(|line| line == "…").map(|part| part.iter().map(|line| line.trim_end()).collect()).collect();
    let (first, rest) = parts.split_first().expect("there is always one part");
    let Some((last, between)) = rest.split_last() else { return lines == *first };
    if !lines.starts_with(first) {
        return false;
    }
    let mut lines = &lines[first.len()..];
    for part in between.iter().filter(|part| !part.is_empty()) {
        let Some(found) = lines.windows(part.len()).position(|window| window == part.as_slice()) else {
            return false;
        };
        lines = &lines[found + part.len()..];
    }
    lines.ends_with(last)
}

#[test]
fn an_ellipsis_matches_any_lines_and_other_lines_only_themselves() {
    let promised = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    for (text, output, is_right) in [
        ("a\nb", "a\nb\n", true),
        ("a", "a\nb\n", false),
        ("a\n…", "a\nb\n", true),
        ("…\nb", "a\nb\n", true),
        ("…\na", "a\nb\n", false),
        ("a\n…\nc\n…\ne", "a\nb\nc\nd\ne\n", true),
        ("a\n…\nd\n…\nc\n…", "a\nb\nc\nd\ne\n", false),
        ("a\n…\na", "a\n", false),
        ("", "", true),
    ] {
        assert_eq!(is_as_promised(&promised(text), output), is_right, "{text:?} {output:?}");
    }
}

#[test]
fn blocks_have_line_words_and_commands() {
    let page = "# A\n\n```console exit=1\n$ one\nx\n$ two\n```\n\n```sh not-run\nthree\n```\n";
    let blocks = blocks(page);
    assert_eq!((blocks.len(), blocks[0].line, blocks[0].value("exit")), (2, 4, Some("1")));
    assert!(blocks[0].is("console") && blocks[0].is_run() && !blocks[1].is_run());
    let commands = blocks[0].commands();
    assert_eq!(commands[0], Typed { line: 4, command: "one".to_owned(), prints: vec!["x".to_owned()] });
    assert_eq!((commands[1].line, commands[1].prints.len()), (6, 0));
}
