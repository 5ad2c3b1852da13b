//! The standard output of a running program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mario_prolog::{Interrupt, Sink};

use crate::{Console, Failure};

/// Forwards the output of a program, at the latest at the end of each line, and records a failed write.
///
/// A program cannot be informed of a failed write, so the program is interrupted. [`ProgramOutput::end`] returns the
/// failure.
#[derive(Clone)]
pub(super) struct ProgramOutput {
    console: Console,
    interrupt: Interrupt,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Whether the last output did not end with a line feed.
    is_inside_line: bool,
    failure: Option<Failure>,
}

impl ProgramOutput {
    pub(super) fn new(console: Console) -> Self {
        Self { console, interrupt: Interrupt::new(), state: Arc::default() }
    }

    /// The handle that interrupts the program that writes here.
    pub(super) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Writes a text; a failure is kept for [`ProgramOutput::end`].
    pub(super) fn write_text(&self, text: &str) {
        let mut state = self.state();
        if text.is_empty() || state.failure.is_some() {
            return;
        }
        if let Err(failure) = self.console.write_piece(text) {
            state.failure = Some(failure);
            self.interrupt.request();
        }
        state.is_inside_line = !text.ends_with('\n');
    }

    /// Writes a text at the start of a line.
    pub(super) fn write_on_new_line(&self, text: &str) {
        if self.state().is_inside_line {
            self.write_text("\n");
        }
        self.write_text(text);
    }

    /// Flushes the output. Returns an error if that fails, or if a write has failed since the last call.
    pub(super) fn end(&self) -> Result<(), Failure> {
        if let Some(failure) = self.state().failure.take() {
            return Err(failure);
        }
        self.console.flush()
    }

    /// Like [`ProgramOutput::end`], but also ends the current line, so that messages on standard error start a new one.
    pub(super) fn end_line(&self) -> Result<(), Failure> {
        self.write_on_new_line("");
        self.end()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for ProgramOutput {
    fn write(&mut self, text: &str) {
        self.write_text(text);
    }

    fn write_error(&mut self, text: &str) {
        // Flushes standard output first, so that a terminal shows both streams in the order of writing.
        if self.state().failure.is_none() && self.console.flush().is_ok() {
            self.console.pass_error(text);
        }
    }
}
