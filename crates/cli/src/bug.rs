//! Reports panics, which are bugs in mario itself.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use mario_diagnostics::{Diagnostic, Renderer};

use crate::console::to_stderr;

/// Whether panics print nothing; set by [`quietly`].
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Runs `body`, during which panics print nothing. `body` must catch its panics: after one that escapes, later panics
/// would print nothing either.
pub(crate) fn quietly<T>(body: impl FnOnce() -> T) -> T {
    IS_QUIET.store(true, Ordering::Relaxed);
    let result = body();
    IS_QUIET.store(false, Ordering::Relaxed);
    result
}

/// Installs a panic hook that prints that the panic is a bug, and how to report it. A panic in the main thread ends the
/// process with the code of [`crate::Exit::Bug`], which is Rust's own.
pub(crate) fn report_panics() {
    panic::set_hook(Box::new(|panic| {
        if IS_QUIET.load(Ordering::Relaxed) || mario_live::contains_panics() {
            return;
        }
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(ToString::to_string);
        let diagnostic = describe(message, place.as_deref());
        to_stderr(&Renderer::plain().render(&diagnostic));
    }));
}

fn describe(message: &str, place: Option<&str>) -> Diagnostic {
    let place = place.unwrap_or("an unknown place");
    let mut diagnostic = Diagnostic::error(format!("mario {} has a bug at {place}", env!("CARGO_PKG_VERSION")));
    diagnostic.causes.push(message.to_owned());
    diagnostic.hint("no input should do this; please report it with the command line and the files that led here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_position_and_asks_for_a_report() {
        let rendered = Renderer::plain().render(&describe("index out of bounds", Some("src/machine.rs:1:2")));
        for part in ["src/machine.rs:1:2", "index out of bounds", "please report"] {
            assert!(rendered.contains(part), "{rendered}");
        }
    }
}
