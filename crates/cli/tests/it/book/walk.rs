//! Runs the commands of the book's pages.
//!
//! | block | what is done with it |
//! |---|---|
//! | `sh` | it is run, and must succeed |
//! | `console` | each line after `$ ` is run, and must print the lines that follow; `…` stands for any lines |
//! | `console exit=N` | the same, but with this exit code; from 2 on, the lines are those of standard error |
//! | any with `file=NAME` | the file is written |
//! | any with `not-run` | it is not run |

use std::fs;
use std::path::Path;

use super::page::{Block, blocks, is_as_promised};
use super::{Shell, pages_in, place, read, shell};

/// Runs the blocks of a page in a directory. Returns the number of `sh` blocks and `console` commands that were run.
pub(super) fn walk(page: &str, directory: &Path, shell: Shell) -> usize {
    let mut count = 0;
    for block in blocks(&read(page)) {
        if let Some(name) = block.value("file") {
            fs::write(directory.join(name), &block.text).expect("the test's own directory is writable");
        }
        if block.is_run() && block.is("sh") {
            run(page, &block, directory, shell);
            count += 1;
        }
        if block.is_run() && block.is("console") {
            count += block.commands().len();
            show(page, &block, directory, shell);
        }
    }
    count
}

fn run(page: &str, block: &Block, directory: &Path, shell: Shell) {
    let output = shell(&block.text, directory).output().expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{page}:{}: this fails:\n{}\n{said}", block.line, block.text);
}

fn show(page: &str, block: &Block, directory: &Path, shell: Shell) {
    let code = block.value("exit").map_or(0, |code| code.parse().expect("a number"));
    for typed in block.commands() {
        let output = shell(&typed.command, directory).output().expect("there is a shell");
        let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        // For an exit code of 2 or more, a page shows standard error.
        let shown = if code >= 2 { &said } else { &printed };
        let place = format!("{page}:{}: `{}`", typed.line, typed.command);
        assert_eq!(output.status.code(), Some(code), "{place}\n{printed}{said}");
        assert!(is_as_promised(&typed.prints, shown), "{place} prints now, to be put into the page:\n{shown}");
    }
}

#[test]
fn the_tutorial_on_memory_can_be_followed() {
    let count = walk("docs/book/tutorial/remembering.md", &place("remembering"), shell);
    assert!(count > 5, "{count} commands");
}

#[test]
fn every_guide_and_explanation_can_be_followed() {
    for page in [pages_in("docs/book/guides"), pages_in("docs/book/explanation")].concat() {
        let name = page.rsplit('/').next().unwrap_or_default();
        let count = walk(&page, &place(name), shell);
        assert!(count > 0 || !page.contains("/guides/"), "{page} has no command");
    }
}
