//! Checks the output of the Prolog example in the README.

use std::path::Path;

use crate::transcripts::words;
use crate::{mario, stderr, stdout};

const README: &str = include_str!("../../../../README.md");

#[test]
fn the_prolog_example_prints_what_the_readme_says() {
    let line = README
        .lines()
        .find_map(|line| line.strip_prefix("cargo run --release -- ").filter(|line| line.starts_with("prolog")))
        .expect("it has an example");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = mario().args(words(line)).current_dir(root).output().expect("the binary was built and runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let answer = stdout(&output);
    assert!(README.contains(&format!("It answers `{}`", answer.trim_end())), "{answer}");
}
