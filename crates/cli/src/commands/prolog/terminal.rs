//! The terminal of an interactive session: lines with history, and single keys.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mario_frontend::Diagnostic;
use mario_prolog::Interrupt;
use rustyline::error::ReadlineError;
use rustyline::{
    Cmd, ConditionalEventHandler, Config, DefaultEditor, Event, EventContext, EventHandler, KeyCode, KeyEvent,
    Modifiers, RepeatCount,
};
use signal_hook::consts::SIGINT;

use crate::Failure;

const PROMPT: &str = "?- ";
const CONTINUED: &str = "|    ";
const HISTORY_ENTRIES_MAX: usize = 1000;
/// The exit code that shells report for a process ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// The input of a user at the prompt.
pub(super) enum Typed {
    Goal(String),
    /// Ctrl-C: discard what was typed.
    Abandoned,
    /// Ctrl-D.
    End,
}

/// A key that a user types after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Next,
    Stop,
    /// Print the whole answer, without abbreviation.
    Whole,
    Help,
}

impl Key {
    /// Interprets a key event; `None` if it is not a key, such as the start of pasted text.
    fn of(event: &KeyEvent) -> Option<Self> {
        Some(match (event.0, event.1) {
            (KeyCode::Char(';' | ' ' | 'n' | 'r'), Modifiers::NONE) | (KeyCode::Tab, _) => Self::Next,
            (KeyCode::Char('w' | 'p'), Modifiers::NONE) => Self::Whole,
            (KeyCode::Char('.' | 'c' | 'a' | 'q'), Modifiers::NONE) | (KeyCode::Enter, _) => Self::Stop,
            // Ctrl-C, Ctrl-D, and the line feed or carriage return of a line that was typed ahead.
            (KeyCode::Char('c' | 'C' | 'd' | 'D' | 'j' | 'J' | 'm' | 'M'), Modifiers::CTRL) => Self::Stop,
            (KeyCode::BracketedPasteStart | KeyCode::UnknownEscSeq | KeyCode::Null, _) => return None,
            _ => Self::Help,
        })
    }

    /// The text echoed after the answer.
    fn echo(self) -> &'static str {
        match self {
            Self::Next => ";",
            Self::Stop => ".",
            Self::Whole | Self::Help => "",
        }
    }
}

/// How the editor handles keys.
#[derive(Default)]
enum Mode {
    #[default]
    Lines,
    /// Read a single key.
    OneKey(Option<Key>),
}

/// Ends a line at its first key, in single-key mode.
///
/// Keys are read through the editor, because the editor reads ahead: another reader would miss keys that were pasted or
/// typed early.
struct KeyReader(Arc<Mutex<Mode>>);

impl ConditionalEventHandler for KeyReader {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        let mut mode = mode(&self.0);
        let Mode::OneKey(found) = &mut *mode else { return None };
        let key = Key::of(event.get(0)?)?;
        *found = Some(key);
        // The editor then moves to the next line, as it does after every line.
        let _ = io::stdout().write_all(key.echo().as_bytes()).and_then(|()| io::stdout().flush());
        Some(Cmd::AcceptLine)
    }
}

fn mode(mode: &Mutex<Mode>) -> MutexGuard<'_, Mode> {
    mode.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A terminal with a user at it.
pub(super) struct Terminal {
    editor: DefaultEditor,
    mode: Arc<Mutex<Mode>>,
    /// Text that was read after the last goal. A line or a pasted text may contain several goals.
    typed_ahead: String,
    /// The file of the history. `None` if there is no directory for it; the history then ends with the session.
    history: Option<PathBuf>,
}

impl Terminal {
    /// Opens the terminal. From now on, Ctrl-C interrupts queries instead of ending the process.
    pub(super) fn open(interrupt: &Interrupt) -> Result<Self, Failure> {
        // The order matters: a second Ctrl-C, before the first one has taken effect, ends the process.
        signal_hook::flag::register_conditional_shutdown(SIGINT, INTERRUPTED, interrupt.flag())
            .map_err(|error| broken(&error))?;
        signal_hook::flag::register(SIGINT, interrupt.flag()).map_err(|error| broken(&error))?;
        let config = Config::builder()
            .max_history_size(HISTORY_ENTRIES_MAX)
            .and_then(|builder| builder.history_ignore_dups(true))
            .map_err(|error| broken(&error))?
            .build();
        let mut editor = DefaultEditor::with_config(config).map_err(|error| broken(&error))?;
        let mode = Arc::<Mutex<Mode>>::default();
        editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(KeyReader(Arc::clone(&mode)))));
        let history = history_file();
        if let Some(file) = &history {
            // A history that does not exist or cannot be read counts as empty.
            let _ = editor.load_history(file);
        }
        Ok(Self { editor, mode, typed_ahead: String::new(), history })
    }

    /// Reads lines until they contain a goal. Text after the goal is kept for the next call. `goal_end` returns the end
    /// of the first goal in a text, or `None` if that goal is incomplete.
    pub(super) fn read_goal(&mut self, mut goal_end: impl FnMut(&str) -> Option<usize>) -> Result<Typed, Failure> {
        let mut text = std::mem::take(&mut self.typed_ahead);
        loop {
            if text.trim().is_empty() {
                text.clear();
            } else if let Some(end) = goal_end(&text) {
                self.typed_ahead = text.split_off(end);
                self.remember(text.trim());
                return Ok(Typed::Goal(text));
            }
            let prompt = if text.is_empty() { PROMPT } else { CONTINUED };
            match self.editor.readline(prompt) {
                Ok(line) => {
                    text.push_str(&line);
                    text.push('\n');
                }
                Err(ReadlineError::Interrupted) => return Ok(Typed::Abandoned),
                Err(ReadlineError::Eof) => return Ok(Typed::End),
                Err(error) => return Err(broken(&error)),
            }
        }
    }

    /// Adds a goal to the history. Failing to write the history does not end the session.
    fn remember(&mut self, goal: &str) {
        let _ = self.editor.add_history_entry(goal);
        if let Some(file) = &self.history {
            let _ = self.editor.append_history(file);
        }
    }

    /// Shows `line`, reads one key after it, and ends the line.
    pub(super) fn read_key(&mut self, line: &str) -> Result<Key, Failure> {
        *mode(&self.mode) = Mode::OneKey(None);
        let typed = self.editor.readline(line);
        let Mode::OneKey(key) = std::mem::take(&mut *mode(&self.mode)) else { return Ok(Key::Stop) };
        match typed {
            // Pasted text is not a key: it is read later, as part of a goal.
            Ok(pasted) => self.typed_ahead.push_str(&pasted),
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => {}
            Err(error) => return Err(broken(&error)),
        }
        Ok(key.unwrap_or(Key::Stop))
    }
}

fn broken(error: &dyn std::error::Error) -> Failure {
    Failure::Environment(vec![Diagnostic::error("cannot use the terminal").caused_by(error)])
}

/// Returns the path of the history file, and creates its directory. `None` if the directory is not configured or cannot
/// be created.
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
    use rustyline::{KeyCode, KeyEvent, Modifiers};

    use super::Key;

    #[test]
    fn accepts_the_keys_of_other_prolog_systems() {
        for (keys, meaning) in [("; nr", Key::Next), (".ca", Key::Stop), ("w", Key::Whole), ("h?x", Key::Help)] {
            for key in keys.chars() {
                let event = KeyEvent(KeyCode::Char(key), Modifiers::NONE);
                assert_eq!(Key::of(&event), Some(meaning), "{key:?}");
            }
        }
        assert_eq!(Key::of(&KeyEvent(KeyCode::Enter, Modifiers::NONE)), Some(Key::Stop));
        assert_eq!(Key::of(&KeyEvent(KeyCode::Tab, Modifiers::NONE)), Some(Key::Next));
        assert_eq!(Key::of(&KeyEvent::ctrl('c')), Some(Key::Stop));
        assert_eq!(Key::of(&KeyEvent(KeyCode::BracketedPasteStart, Modifiers::NONE)), None);
    }
}
