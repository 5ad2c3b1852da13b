//! The terminal of a conversation: lines with history, and single keys.

use std::env;
use std::fs;
use std::path::PathBuf;

use mario_diagnostics::Diagnostic;
use mario_prolog::Interrupt;
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};
use signal_hook::consts::SIGINT;

use crate::Failure;

const PROMPT: &str = "?- ";
const CONTINUED: &str = "|    ";
const HISTORY_ENTRIES_MAX: usize = 1000;
/// The code with which shells report a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// What a person typed at the prompt.
pub(super) enum Typed {
    Goal(String),
    /// Ctrl-C: what was typed is to be forgotten.
    Abandoned,
    /// Ctrl-D.
    End,
}

/// What a person wants after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Next,
    Stop,
    /// The whole answer.
    Whole,
    Help,
}

impl Key {
    fn of(byte: u8) -> Self {
        match byte {
            b';' | b' ' | b'\t' | b'n' | b'r' => Self::Next,
            b'w' | b'p' => Self::Whole,
            b'\r' | b'\n' | b'.' | b'c' | b'a' | b'q' | CTRL_C | CTRL_D => Self::Stop,
            _ => Self::Help,
        }
    }
}

const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;

/// A terminal that a person sits at.
pub(super) struct Terminal {
    editor: DefaultEditor,
    /// `None` when there is no place for it; the history then ends with the conversation.
    history: Option<PathBuf>,
}

impl Terminal {
    /// Opens the terminal. From now on, Ctrl-C interrupts queries instead of ending the process.
    pub(super) fn open(interrupt: &Interrupt) -> Result<Self, Failure> {
        // In this order: a second Ctrl-C, when the first one is still without effect, ends the process after all.
        signal_hook::flag::register_conditional_shutdown(SIGINT, INTERRUPTED, interrupt.flag())
            .map_err(|error| broken(&error))?;
        signal_hook::flag::register(SIGINT, interrupt.flag()).map_err(|error| broken(&error))?;
        let config = Config::builder()
            .max_history_size(HISTORY_ENTRIES_MAX)
            .and_then(|builder| builder.history_ignore_dups(true))
            .map_err(|error| broken(&error))?
            .build();
        let mut editor = DefaultEditor::with_config(config).map_err(|error| broken(&error))?;
        let history = history_file();
        if let Some(file) = &history {
            // A history that does not exist yet, or cannot be read, is an empty one.
            let _ = editor.load_history(file);
        }
        Ok(Self { editor, history })
    }

    /// Reads lines until `is_complete`.
    pub(super) fn read_goal(&mut self, mut is_complete: impl FnMut(&str) -> bool) -> Result<Typed, Failure> {
        let mut text = String::new();
        loop {
            let prompt = if text.is_empty() { PROMPT } else { CONTINUED };
            match self.editor.readline(prompt) {
                Ok(line) => {
                    if text.is_empty() && line.trim().is_empty() {
                        continue;
                    }
                    text.push_str(&line);
                    text.push('\n');
                }
                Err(ReadlineError::Interrupted) => return Ok(Typed::Abandoned),
                Err(ReadlineError::Eof) => return Ok(Typed::End),
                Err(error) => return Err(broken(&error)),
            }
            if is_complete(&text) {
                self.remember(text.trim_end());
                return Ok(Typed::Goal(text));
            }
        }
    }

    /// Adds a goal to the history. A history that cannot be written is no reason to stop a conversation.
    fn remember(&mut self, goal: &str) {
        let _ = self.editor.add_history_entry(goal);
        if let Some(file) = &self.history {
            let _ = self.editor.append_history(file);
        }
    }

    /// Waits for one key.
    #[cfg(unix)]
    #[allow(clippy::unused_self, reason = "the terminal is one, though its parts do not know each other")]
    pub(super) fn read_key(&mut self) -> Result<Key, Failure> {
        use nix::errno::Errno;
        use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
        use nix::unistd::read;

        let input = std::io::stdin();
        let before = tcgetattr(&input).map_err(|error| broken(&error))?;
        let mut raw = before.clone();
        raw.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG);
        tcsetattr(&input, SetArg::TCSANOW, &raw).map_err(|error| broken(&error))?;
        // Past the buffer of the standard library, which would swallow what is typed ahead of the next prompt.
        let mut byte = [CTRL_D];
        let result = loop {
            match read(&input, &mut byte) {
                Err(Errno::EINTR) => {}
                other => break other,
            }
        };
        tcsetattr(&input, SetArg::TCSANOW, &before).map_err(|error| broken(&error))?;
        result.map(|_| Key::of(byte[0])).map_err(|error| broken(&error))
    }

    /// Waits for one key and Enter, where single keys cannot be had.
    #[cfg(not(unix))]
    pub(super) fn read_key(&mut self) -> Result<Key, Failure> {
        match self.editor.readline("") {
            Ok(line) => Ok(Key::of(line.bytes().next().unwrap_or(b'\n'))),
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => Ok(Key::Stop),
            Err(error) => Err(broken(&error)),
        }
    }
}

fn broken(error: &dyn std::error::Error) -> Failure {
    Failure::Environment(vec![Diagnostic::error("cannot use the terminal").caused_by(error)])
}

/// Where the history is kept, in a directory that exists.
fn history_file() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = variable("XDG_STATE_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(|| variable("HOME").map(|home| home.join(".local/state")))?;
    let directory = state.join("mario");
    fs::create_dir_all(&directory).ok()?;
    Some(directory.join("prolog-history"))
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn knows_the_keys_of_other_prompts() {
        for (keys, meaning) in [(";\t nr", Key::Next), ("\r\n.ca", Key::Stop), ("w", Key::Whole), ("h?x", Key::Help)] {
            for key in keys.bytes() {
                assert_eq!(Key::of(key), meaning, "{:?}", char::from(key));
            }
        }
    }
}
