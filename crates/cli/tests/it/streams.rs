//! Data goes to standard output, everything else to standard error; colour is used as the user wants.

use std::path::Path;

use crate::{mario, run, stderr, stdout};

#[test]
fn prints_only_data_on_standard_output() {
    let output = run(["man"]);
    assert!(stdout(&output).starts_with(".ie"), "{}", stdout(&output));
    assert_eq!(stderr(&output), "");
}

#[test]
fn says_less_when_quiet_and_more_when_verbose() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("verbosity");
    let lines = |flags: &[&str]| {
        let output = mario().arg("man").arg(&directory).args(flags).output().expect("runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output), "", "no data was asked for");
        stderr(&output).lines().count()
    };
    assert_eq!(lines(&["-q"]), 0);
    assert_eq!(lines(&[]), 1);
    assert!(lines(&["-v"]) > 1);
}

#[test]
fn shows_errors_even_when_quiet() {
    let output = run(["-q", "nonsense"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("nonsense"), "{}", stderr(&output));
}

#[test]
fn writes_no_colour_into_a_pipe_unless_asked() {
    let has_colour = |arguments: &[&str]| {
        let output = run(arguments);
        (stdout(&output) + &stderr(&output)).contains('\u{1b}')
    };
    assert!(!has_colour(&["--help"]));
    assert!(!has_colour(&["nonsense"]));
    assert!(has_colour(&["--color", "always", "--help"]));
    assert!(has_colour(&["--color=always", "nonsense"]));
    assert!(has_colour(&["nonsense", "--color=always"]));
    assert!(!has_colour(&["--color=always", "--color=never", "--help"]));
}

#[test]
fn ends_quietly_when_its_output_is_closed() {
    let endless = ["prolog", "--goal", "repeat, format(\"line~n\"), fail"];
    for arguments in [&["completions", "zsh"][..], &["man"], &["--help"], &["prolog", "--goal", "true"], &endless] {
        let (reader, writer) = std::io::pipe().expect("pipes exist");
        drop(reader);
        let output = mario().args(arguments).stdout(writer).output().expect("runs");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn unwritable_output_exits_with_code_3() {
    for arguments in [&["completions", "zsh"][..], &["man"], &["--help"], &["prolog", "--goal", "true"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = mario().args(arguments).stdout(full).output().expect("runs");
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        let message = stderr(&output);
        assert!(message.starts_with("error: cannot write to standard output\ncause: "), "{message}");
    }
}
