//! Help, completions and manual pages have the same source, and match the parser.

use std::fs;
use std::path::Path;

use mario_cli::{Exit, every_command};

use crate::{run, stderr, stdout};

fn examples(command: &clap::Command) -> Vec<String> {
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let Some((_, examples)) = after.split_once("Examples:\n") else {
        return Vec::new();
    };
    examples.lines().take_while(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

/// The words of a line such as `mario man 'my pages' | man -l -`, up to a pipe or a redirection.
fn words_before_the_pipe(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '\'' => quoted = !quoted,
            '|' | '>' if !quoted => break,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("never empty").push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn shows_an_example_for_every_command_that_the_parser_accepts() {
    for command in every_command() {
        let name = command.get_bin_name().expect("built").to_owned();
        let examples = examples(&command);
        assert!(!examples.is_empty(), "the help of `{name}` has no example");
        for example in examples {
            let words = words_before_the_pipe(&example);
            let starts_with_name = words.join(" ").starts_with(&name);
            assert!(starts_with_name, "`{example}` is no example of `{name}`");
            let parsed = mario_cli::command().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "`{example}`: {}", parsed.expect_err("just asked"));
        }
    }
}

#[test]
fn prints_the_help_of_every_command_on_standard_output() {
    for command in every_command() {
        let name = command.get_bin_name().expect("built").to_owned();
        for flag in ["-h", "--help"] {
            let output = run(name.split(' ').skip(1).chain([flag]));
            let help = stdout(&output);
            assert_eq!(output.status.code(), Some(0), "{name} {flag}");
            assert!(help.contains(&format!("Usage: {name}")), "{help}");
            assert_eq!(stderr(&output), "", "{name} {flag}");
        }
        let help = stdout(&run(name.split(' ').skip(1).chain(["--help"])));
        for example in examples(&command) {
            assert!(help.contains(&example), "{help}");
        }
    }
}

#[test]
fn long_help_is_longer_than_short_help() {
    for (command, told) in [
        ("prolog", "prompt"),
        ("policy decide", r#"{"ops":[["replicate","7","n1"]]}"#),
        ("policy explain", "smallest change of facts"),
        ("policy check", "% mario: allow FINDING, REASON"),
        ("policy bench", "no decision is reused"),
        ("policy test", "inhibited(capacity)"),
    ] {
        let help = stdout(&run(command.split(' ').chain(["--help"])));
        assert!(help.contains(told), "{help}");
        let paragraphs = |help: &str| help.split("Usage:").next().unwrap_or_default().trim().lines().count();
        assert!(paragraphs(&help) > 1, "{help}");
        assert_eq!(paragraphs(&stdout(&run(command.split(' ').chain(["-h"])))), 1);
    }
}

#[test]
fn documents_every_exit_code_in_the_help_and_in_the_readme() {
    let help = stdout(&run(["--help"]));
    let readme = include_str!("../../../../README.md");
    for exit in Exit::ALL {
        let line = format!("{:>3}  {}", exit.code(), exit.meaning());
        assert!(help.contains(&line), "{help}");
        let row = format!("| {} | {} |", exit.code(), exit.meaning());
        assert!(readme.contains(&row), "the README has no row `{row}`");
    }
}

#[test]
fn prints_its_version() {
    let output = run(["--version"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output), format!("mario {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completes_every_command_in_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run(["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        for command in mario_cli::command().get_subcommands() {
            assert!(stdout(&output).contains(command.get_name()), "{shell}");
        }
    }
}

#[test]
fn writes_a_manual_page_for_every_command() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual/man1");
    let output = run(["-v".as_ref(), "man".as_ref(), directory.as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for command in every_command() {
        let name = command.get_bin_name().expect("built").replace(' ', "-");
        let page = fs::read_to_string(directory.join(format!("{name}.1"))).expect(&name);
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
        assert!(page.contains("Examples:"), "{page}");
        assert!(stderr(&output).contains(&format!("{name}.1")), "{}", stderr(&output));
    }
    let printed = run(["man"]);
    assert_eq!(stdout(&printed), fs::read_to_string(directory.join("mario.1")).expect("just written"));
}

#[test]
fn long_help_of_a_command_is_longer_than_short_help() {
    for (command, says) in [("run", "marks a run that is not complete"), ("audit", "replayed from the trace alone")] {
        let help = stdout(&run([command, "--help"])).to_lowercase();
        // Help is wrapped to the width of the terminal.
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(says), "{help}");
    }
}
