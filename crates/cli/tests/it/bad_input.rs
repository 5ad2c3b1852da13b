//! Bad input is rejected with exit code 2 or 3, and an error that names the argument at fault.
//!
//! Every new command needs a row in [`rows`]; [`every_command_has_a_row`] checks this.

mod rows;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use mario_cli::every_command;
use mario_testing::empty_directory;

use crate::{mario, run, stderr};

use rows::rows;

/// Input that one command must reject. A command may have several rows.
struct Row {
    /// The name of the command, as typed after `mario`.
    command: &'static str,
    /// Arguments after the command that must be rejected, and the part of them that the error must name.
    refuses: &'static [(&'static [&'static str], &'static str)],
    /// Arguments after the command with `PATH` where a path goes; `None` when the command takes no path.
    path: Option<&'static [&'static str]>,
    /// The things that the command accepts at that path. It must reject all others.
    accepts: &'static [Thing],
}

/// Things that a user may name where a file or a directory is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thing {
    Missing,
    /// A name that is not UTF-8 and does not exist.
    MissingWithBytes,
    Directory,
    EmptyFile,
    /// Every byte value, many times.
    Garbage,
    /// Text with one byte that is not UTF-8.
    InvalidUtf8,
    /// A path below a regular file, which cannot exist.
    BelowAFile,
    /// A symbolic link to itself, which not even root can read.
    LinkToItself,
    DanglingLink,
    NoPermission,
}

impl Thing {
    const ALL: [Self; 10] = [
        Self::Missing,
        Self::MissingWithBytes,
        Self::Directory,
        Self::EmptyFile,
        Self::Garbage,
        Self::InvalidUtf8,
        Self::BelowAFile,
        Self::LinkToItself,
        Self::DanglingLink,
        Self::NoPermission,
    ];

    /// Creates the thing in an empty directory and returns its path. Returns `None` for [`Thing::NoPermission`] if this
    /// user may read every file.
    fn make(self, directory: &Path) -> Option<PathBuf> {
        let path = directory.join(format!("{self:?}.pl"));
        match self {
            Self::Missing => {}
            Self::MissingWithBytes => return Some(directory.join(name_with_bytes())),
            Self::Directory => fs::create_dir(&path).expect("writable"),
            Self::EmptyFile => write(&path, b""),
            Self::Garbage => write(&path, &(0..=255).cycle().take(100_000).collect::<Vec<u8>>()),
            Self::InvalidUtf8 => write(&path, b"a(b).\nc('\xe9').\n"),
            Self::BelowAFile => {
                write(&path, b"a.\n");
                return Some(path.join("below.pl"));
            }
            Self::LinkToItself => link(&path, &path),
            Self::DanglingLink => link(&directory.join("nowhere"), &path),
            Self::NoPermission => {
                write(&path, b"a.\n");
                fs::set_permissions(&path, Permissions::from_mode(0o000)).expect("own file");
                if File::open(&path).is_ok() {
                    eprintln!("skipped `{self:?}`: root may read every file");
                    return None;
                }
            }
        }
        Some(path)
    }
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("the test's own directory is writable");
}

fn name_with_bytes() -> OsString {
    OsString::from_vec(b"bytes-\xff\xfe.pl".to_vec())
}

fn link(target: &Path, path: &Path) {
    symlink(target, path).expect("the test's own directory is writable");
}

fn fresh_directory(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("bad-input/{name}"))
}

/// Runs mario, which must end with code 2 or 3 and an error message that contains `named`.
#[track_caller]
fn refuses(arguments: &[&OsStr], named: &str) {
    let output = mario().args(arguments).output().expect("the binary was built and runs");
    let message = stderr(&output);
    let code = output.status.code();
    assert!(matches!(code, Some(2 | 3)), "{arguments:?} ended with {code:?}\n{message}");
    assert!(message.starts_with("error: "), "{arguments:?}\n{message}");
    assert!(message.contains(named), "{arguments:?} does not name {named}\n{message}");
}

#[test]
fn every_command_has_a_row() {
    let path_type = clap::builder::ValueParser::path_buf().type_id();
    let mut names = Vec::new();
    for command in every_command() {
        if command.has_subcommands() {
            continue;
        }
        let name = command.get_bin_name().expect("it has a full name");
        let name = name.trim_start_matches("mario ");
        let Some(row) = rows().find(|row| row.command == name) else {
            panic!("`{name}` has no row in this test");
        };
        let takes_path = command.get_arguments().any(|argument| argument.get_value_parser().type_id() == path_type);
        assert_eq!(row.path.is_some(), takes_path, "the row of `{name}` must say how it takes paths, if it does");
        names.push(name.to_owned());
    }
    for row in rows() {
        let exists = names.iter().any(|name| name == row.command);
        assert!(exists, "`{}` has a row and does not exist", row.command);
    }
}

#[test]
fn refuses_bad_arguments_of_mario_itself() {
    for (arguments, named) in [
        (&[][..], "mario"),
        (&[""], "``"),
        (&["nonsense"], "nonsense"),
        (&["--nonsense"], "--nonsense"),
        (&["-x"], "-x"),
        (&["--color"], "--color"),
        (&["--color=", "man"], "--color"),
        (&["--color", "mauve", "man"], "mauve"),
        (&["-q", "-v", "man"], "--quiet"),
        (&["--", "--help"], "--help"),
    ] {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        refuses(&arguments, named);
    }
    let long = "x".repeat(100_000);
    refuses(&[OsStr::new(&long)], &long);
}

#[test]
fn refuses_bad_arguments_of_each_command() {
    for row in rows() {
        let everywhere: [(&[&str], &str); 3] =
            [(&["--nonsense"], "--nonsense"), (&["--color=mauve"], "mauve"), (&["-vq"], "--quiet")];
        for (arguments, named) in row.refuses.iter().chain(&everywhere) {
            let words = row.command.split(' ').chain(arguments.iter().copied());
            let arguments: Vec<&OsStr> = words.map(OsStr::new).collect();
            refuses(&arguments, named);
        }
    }
}

#[test]
fn a_wrong_value_leads_to_the_help_of_its_command() {
    for (line, command) in [
        ("policy decide --policy p.pl --facts f.pl --format xml", "mario policy decide"),
        ("policy decide --policy p.pl --facts f.pl --budget abc", "mario policy decide"),
        ("policy bench --policy check --facts f.pl --repeat 0", "mario policy bench"),
        ("-v policy --color mauve check p.pl", "mario policy check"),
        ("--color mauve", "mario"),
    ] {
        let message = stderr(&run(line.split(' ')));
        assert!(message.ends_with(&format!("hint: `{command} --help` tells more\n")), "{line}\n{message}");
    }
}

#[test]
fn refuses_arguments_that_are_not_unicode() {
    let bytes = name_with_bytes();
    let named = bytes.to_string_lossy();
    let mut option = OsString::from("--");
    option.push(&bytes);
    refuses(&[&bytes], &named);
    refuses(&[&option], &named);
    refuses(&["--color".as_ref(), &bytes], &named);
    for row in rows() {
        let words = row.command.split(' ').map(OsStr::new);
        let arguments: Vec<&OsStr> = words.chain([option.as_os_str()]).collect();
        refuses(&arguments, &named);
    }
}

#[test]
fn rejects_each_unsuitable_thing_at_a_path() {
    for row in rows() {
        let Some(template) = row.path else { continue };
        for thing in Thing::ALL {
            let directory = fresh_directory(&format!("{}-{thing:?}", row.command.replace(' ', "-")));
            let Some(path) = thing.make(&directory) else {
                continue;
            };
            let words = row.command.split(' ').chain(template.iter().copied());
            let arguments: Vec<&OsStr> =
                words.map(|word| if word == "PATH" { path.as_os_str() } else { OsStr::new(word) }).collect();
            if row.accepts.contains(&thing) {
                let output = run(&arguments);
                assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{}", stderr(&output));
            } else {
                refuses(&arguments, &path.to_string_lossy());
            }
        }
    }
}
