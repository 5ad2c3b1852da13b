//! The commands of the README and the tutorial, typed word for word in a clean clone.
//!
//! The clone and its build are kept below `target/clean-clone`, so that only what changed is rebuilt. The test first
//! resets the clone to the last commit, without untracked files.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::page::{Block, blocks};
use super::walk::walk;
use super::{pages_in, root};

/// The only `sh` block of the README that is not run here, because it would run this test again.
const ALL_TESTS: &str = "./test\n";

fn base() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target directory");
    target.join("clean-clone")
}

fn git(directory: &Path, arguments: &[&str]) -> Output {
    let output = Command::new("git").args(arguments).current_dir(directory).output().expect("git is installed");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Returns a clean clone of the last commit. Outside of a checkout, panics in CI, and otherwise prints a message and
/// returns `None`.
fn clean_clone() -> Option<PathBuf> {
    let is_ci = env::var_os("CI").is_some_and(|value| value == "true");
    if !root().join(".git").exists() {
        assert!(!is_ci, "this is no git checkout");
        eprintln!("skipped: this is no git checkout, so it cannot be cloned");
        return None;
    }
    let clone = base().join("mario");
    let origin = root();
    let origin = origin.to_str().expect("the path of the checkout is text");
    if !clone.join(".git").exists() {
        fs::create_dir_all(base()).expect("the target directory is writable");
        git(&base(), &["clone", "--quiet", origin, "mario"]);
    }
    git(&clone, &["fetch", "--quiet", origin, "HEAD"]);
    git(&clone, &["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"]);
    git(&clone, &["clean", "-ffdxq"]);
    assert_eq!(git(&clone, &["status", "--porcelain", "--ignored"]).stdout, b"", "the clone is clean");
    Some(clone)
}

/// Returns a command that runs a script as a new user would: without the variables that cargo sets for this test.
/// Builds and installations go into directories of the test.
fn newcomers_shell(script: &str, directory: &Path) -> Command {
    let installed = base().join("installed");
    let mut path = OsString::from(installed.join("bin"));
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-euc", script]).current_dir(directory).env("PATH", path).env("CARGO_INSTALL_ROOT", installed);
    command.env("CARGO_TARGET_DIR", base().join("target")).env_remove("RUSTUP_TOOLCHAIN").env_remove("LD_LIBRARY_PATH");
    // The built binary runs only for seconds, so few optimisations are enabled, which halves the compile time.
    for (setting, value) in [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("OPT_LEVEL", "1"), ("DEBUG", "0")] {
        command.env(format!("CARGO_PROFILE_RELEASE_{setting}"), value);
    }
    let of_this_test =
        ["CARGO_PKG_", "CARGO_BIN_", "CARGO_MANIFEST_", "NEXTEST", "CARGO_TARGET_TMPDIR", "CARGO_CRATE_NAME"];
    for (name, _) in env::vars_os() {
        if name == "CARGO" || name.to_str().is_some_and(|name| of_this_test.iter().any(|start| name.starts_with(start)))
        {
            command.env_remove(name);
        }
    }
    command
}

fn typed(script: &str, clone: &Path) -> (String, String) {
    let output = newcomers_shell(script, clone).output().expect("there is a shell");
    let [printed, said] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "this fails in a clean clone:\n{script}\n{printed}{said}");
    (printed, said)
}

/// Returns the commands that mario suggests next: in the lines from `kept in` on, the text that starts with the path of
/// the binary.
fn next_commands(said: &str) -> Vec<String> {
    let program = base().join("target/release/mario").display().to_string();
    let own_lines = said.lines().skip_while(|line| !line.starts_with("kept in"));
    own_lines.filter_map(|line| line.find(&program).map(|start| line[start..].to_owned())).collect()
}

#[test]
fn commands_of_the_readme_and_the_tutorial_work_in_a_clean_clone() {
    let Some(clone) = clean_clone() else { return };
    let readme = fs::read_to_string(clone.join("README.md")).expect("it has one");
    let shown: Vec<Block> = blocks(&readme).into_iter().filter(|block| block.is("sh")).collect();
    assert_eq!(shown.iter().filter(|block| block.text == ALL_TESTS).count(), 1, "one command runs all tests");
    let mut first = None;
    for block in shown.iter().filter(|block| block.text != ALL_TESTS) {
        let answer = typed(&block.text, &clone);
        first.get_or_insert(answer);
    }

    let (printed, said) = first.expect("the README has commands");
    assert!(printed.contains("16 of 16") && printed.contains("101 of 101"), "{printed}");
    let next = next_commands(&said);
    assert!(next.len() >= 3, "it says what to do next:\n{said}");
    let own_lines = said.lines().skip_while(|line| !line.starts_with("kept in")).count();
    assert!(printed.lines().count() + own_lines < 60, "{printed}{said}");
    for command in next {
        typed(&command, &clone);
    }
    let page =
        fs::read_to_string(clone.join("runs/reproduction-1/report.html")).expect("the page that the README names");
    assert!(page.contains("The paper's experiments, reproduced"));

    for name in ["first-run", "first-policy", "first-comparison", "remembering", "live-colony"] {
        let page = format!("docs/book/tutorial/{name}.md");
        assert!(walk(&page, &clone, newcomers_shell) > 2, "{page}");
    }
    assert_eq!(pages_in("docs/book/tutorial").len(), 5, "all of it is walked through");
}
