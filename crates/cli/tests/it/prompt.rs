//! The prompt of `mario prolog`, used through a pseudo terminal.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::mario;

const TIMEOUT: Duration = Duration::from_secs(20);

/// A user of `mario prolog` at a pseudo terminal.
struct Person {
    mario: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    /// The output after the last match of [`Person::sees`].
    unread: String,
    state: PathBuf,
}

impl Person {
    fn sits_down(test: &str, files: &[&str]) -> Self {
        let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prompt").join(test);
        let size = Winsize { ws_row: 25, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(Some(&size), None).expect("there are terminals");
        let end = || Stdio::from(terminal.slave.try_clone().expect("a file can be shared"));
        let mario = mario()
            .arg("prolog")
            .args(files)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts"))
            .env("XDG_STATE_HOME", &state)
            .env("NO_COLOR", "1")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("the binary was built and runs");
        drop(terminal.slave);
        let keyboard = File::from(terminal.master);
        let mut display = keyboard.try_clone().expect("a file can be shared");
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // When mario ends, the terminal is closed, which some systems report as an error.
            while let Ok(count @ 1..) = display.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { mario, keyboard, screen, unread: String::new(), state }
    }

    fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal is open");
    }

    /// Waits until `text` appears on the screen after the last match. Returns the text between the two.
    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let plain = without_escapes(&self.unread);
            if let Some(position) = plain.find(text) {
                plain[position + text.len()..].clone_into(&mut self.unread);
                return plain[..position].to_owned();
            }
            match self.screen.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.unread.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("`{text}` is not on the screen:\n{plain}");
                }
            }
        }
    }

    /// Waits for the prompt, and types a goal.
    #[track_caller]
    fn asks(&mut self, goal: &str) {
        self.sees("?- ");
        self.types(&format!("{goal}\r"));
    }

    /// Waits until mario exits, and returns its exit code.
    #[track_caller]
    fn sees_the_end(mut self) -> Option<i32> {
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline {
            if let Some(status) = self.mario.try_wait().expect("it is our child") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("mario does not end");
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.mario.kill();
        let _ = self.mario.wait();
    }
}

/// Strips escape sequences and carriage returns.
fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                characters.by_ref().find(char::is_ascii_alphabetic);
            }
            '\r' => {}
            _ => plain.push(character),
        }
    }
    plain
}

#[test]
fn shows_one_answer_at_a_time() {
    let mut person = Person::sits_down("answers", &["family.pl"]);
    person.sees("full stop");
    person.asks("ancestor(ann, X).");
    person.sees("X = bob ");
    person.types(";");
    person.sees(";\nX = cid ");
    person.types(" ");
    person.sees(";\nX = dora ");
    person.types("h");
    person.sees("next answer");
    person.sees("X = dora ");
    person.types(";");
    person.sees(";\nfalse.");
    person.asks("parent(bob, X), Y = 1.");
    person.sees("X = cid,\nY = 1 ");
    person.types("\r");
    person.sees(".\n");
    person.asks("halt.");
    assert_eq!(person.sees_the_end(), Some(0));
}

#[test]
fn abbreviates_until_asked_for_all() {
    let mut person = Person::sits_down("abbreviates", &[]);
    person.asks("numlist(1, 20, L) ; true.");
    person.sees("L = [1, 2, 3, 4, 5, 6, 7, 8, 9|...] ");
    person.types("w");
    person.sees("18, 19, 20] ");
    person.types(".");
    person.sees(".\n");
    person.sees("?- ");
    person.types("\u{4}");
    assert_eq!(person.sees_the_end(), Some(0));
}

#[test]
fn reads_a_goal_over_several_lines() {
    let mut person = Person::sits_down("lines", &[]);
    person.asks("X = f(");
    person.sees("|    ");
    person.types("a).\r");
    person.sees("X = f(a).\n");
    person.asks("halt(5).");
    assert_eq!(person.sees_the_end(), Some(5));
}

#[test]
fn continues_after_errors_and_interrupts() {
    let mut person = Person::sits_down("mistakes", &["family.pl"]);
    person.asks("foo(.");
    person.sees("error: cannot read the goal");
    person.asks("ancester(X, Y).");
    person.sees("did you mean `ancestor/2`?");
    person.asks("format(\"started~n\"), loop.");
    person.sees("started\n");
    kill(Pid::from_raw(person.mario.id().cast_signed()), Signal::SIGINT).expect("it runs");
    person.sees("error: the goal was interrupted");
    person.sees("?- ");
    person.types("half a goal\u{3}");
    person.asks("parent(ann, X).");
    person.sees("X = bob.\n");
}

#[test]
fn remembers_what_was_asserted_and_loaded() {
    let mut person = Person::sits_down("remembers", &["family.pl"]);
    person.asks("visit(ann), assertz(mine(1)).");
    person.sees("true.");
    person.asks("visited(X), mine(Y).");
    person.sees("X = ann,\nY = 1.");
    person.asks("[loads].");
    person.sees("true.");
    person.asks("known(one), mine(Y).");
    person.sees("Y = 1.");
    person.asks("[broken].");
    person.sees("expected `,` or `)`");
    person.asks("known(two), parent(ann, X).");
    person.sees("X = bob.");
    person.asks("make.");
    person.sees("true.");
    person.asks("help.");
    person.sees("Ctrl-C");
}

#[test]
fn keeps_its_history_between_sessions() {
    let mut person = Person::sits_down("history", &[]);
    person.asks("X = remembered.");
    person.sees("X = remembered.\n");
    person.asks("halt.");
    let history = person.state.join("mario/prolog-history");
    assert_eq!(person.sees_the_end(), Some(0));
    let history = fs::read_to_string(history).expect("it was written");
    assert!(history.contains("X = remembered."), "{history}");
    let mut person = Person::sits_down("history", &[]);
    person.sees("?- ");
    // Two entries up, because the last one is `halt.`.
    person.types("\u{1b}[A\u{1b}[A");
    person.sees("X = remembered.");
    person.types("\r");
    person.sees("X = remembered.\n");
}

#[test]
fn works_without_a_writable_history() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prompt/no-directory");
    fs::create_dir_all(file.parent().expect("it has one")).expect("the tests' own directory is writable");
    fs::write(&file, "").expect("the tests' own directory is writable");
    let mut person = Person::sits_down("no-directory", &[]);
    person.asks("X = 1.");
    person.sees("X = 1.\n");
}

#[test]
fn answers_every_goal_of_a_line() {
    let mut person = Person::sits_down("goals-of-a-line", &[]);
    person.asks("X = 1. Y = 2. Z = f(");
    person.sees("X = 1.\n");
    person.sees("Y = 2.\n");
    person.sees("|    ");
    person.types("3).\r");
    person.sees("Z = f(3).\n");
}

/// Types far more lines at once than the editor reads at a time, then types ahead of answers, then pastes.
#[test]
fn answers_what_is_typed_ahead_and_pasted() {
    let mut person = Person::sits_down("typed-ahead", &[]);
    person.sees("?- ");
    let lines: Vec<String> = (0..200).map(|number| format!("X = line({number}).\r")).collect();
    person.types(&lines.concat());
    for number in 0..200 {
        person.sees(&format!("X = line({number}).\n"));
    }
    // Typed while a goal runs, with the keys for its answers.
    person.types("numlist(1, 200000, L), last(L, X), member(Y, [a, b, c]), L = [_|_].\r");
    person.types("; ");
    person.types("Y = behind.\r");
    person.sees("Y = a ;\n");
    person.sees("Y = b ;\n");
    person.sees("Y = c");
    person.sees("Y = behind.\n");
    // A bracketed paste, as terminals send it.
    person.types("\u{1b}[200~member(X, [p, q]).\nX = second.\n\u{1b}[201~\r");
    person.sees("X = p ");
    person.types(";");
    person.sees("X = q.\n");
    person.sees("X = second.\n");
    person.asks("member(X, [s, t]), true.");
    person.sees("X = s ");
    person.types("\u{1b}[200~X = pasted_behind_an_answer.\n\u{1b}[201~.");
    person.sees("X = pasted_behind_an_answer.\n");
    person.asks("halt.");
    assert_eq!(person.sees_the_end(), Some(0));
}
