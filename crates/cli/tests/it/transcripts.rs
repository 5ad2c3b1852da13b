//! The output of commands, compared with the files in `tests/transcripts`.
//!
//! `UPDATE_TRANSCRIPTS=1` updates the files; review them before committing.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use mario_testing::check_stored;

use crate::mario;

/// The words of a command line, in which single quotes hold words together.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for character in line.chars() {
        match character {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' if !is_quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// The command of a line such as `mario prolog a.pl < goals.txt`.
fn command(line: &str, directory: &Path) -> Command {
    let words = words(line);
    let mut command = mario();
    command.current_dir(directory).stdin(Stdio::null());
    let (arguments, input) = match words.iter().position(|word| word == "<") {
        Some(position) => (&words[1..position], Some(&words[position + 1])),
        None => (&words[1..], None),
    };
    if let Some(input) = input {
        command.stdin(File::open(directory.join(input)).expect("the transcript names files that exist"));
    }
    command.args(arguments);
    command
}

/// Returns the transcript with the output of each command replaced by its current output.
fn replay(transcript: &str, directory: &Path) -> String {
    let mut replayed = String::new();
    let mut is_output = false;
    for line in transcript.lines() {
        let Some(typed) = line.strip_prefix("$ ") else {
            is_output &= !line.starts_with("# ");
            if !is_output {
                replayed.push_str(line);
                replayed.push('\n');
            }
            continue;
        };
        let output = command(typed, directory).output().expect("the binary was built and runs");
        replayed.push_str(line);
        replayed.push('\n');
        replayed.push_str(&String::from_utf8_lossy(&output.stdout));
        if !replayed.ends_with('\n') {
            replayed.push_str("(no newline)\n");
        }
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            replayed += format!("2> {line}").trim_end();
            replayed.push('\n');
        }
        let code = output.status.code().map_or("a signal".to_owned(), |code| code.to_string());
        replayed.extend(["[ends with ", &code, "]\n\n"]);
        is_output = true;
    }
    replayed
}

#[test]
fn prints_what_the_transcripts_show() {
    for name in ["prolog.txt", "first-policies.txt"] {
        compare(name);
    }
}

fn compare(name: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let file = directory.join(name);
    let expected = fs::read_to_string(&file).expect("it belongs to the tests");
    let seen = replay(&expected, &directory);
    check_stored(&file, &seen, "UPDATE_TRANSCRIPTS");
}
