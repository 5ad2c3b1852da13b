//! Diagnostics about a user's input, and their rendering as text.
//!
//! Start at [`Diagnostic`]: plain data about one problem. [`Renderer::render`] turns it into the text that a user
//! reads:
//!
//! ```
//! use mario_diagnostics::{Diagnostic, Renderer, Source};
//!
//! let source = Source::new("keep-close.pl", "migrate(I, N :- latency(I, N, L).\n");
//! let diagnostic = Diagnostic::error("cannot load policy `keep-close`")
//!     .at(&source, 13..15, "expected `,` or `)`")
//!     .hint("close the argument list before `:-`");
//!
//! assert_eq!(
//!     Renderer::plain().render(&diagnostic),
//!     "\
//! error: cannot load policy `keep-close`
//!  --> keep-close.pl:1:14
//! 1 | migrate(I, N :- latency(I, N, L).
//!   |              ^^ expected `,` or `)`
//! hint: close the argument list before `:-`
//! "
//! );
//! ```
//!
//! Errors in policies, scenarios and traces look alike, because they are all rendered by this crate. The libraries that
//! find them do not depend on it: they return errors with byte spans, and `mario_frontend` turns those into
//! diagnostics.
//!
//! **Invariant:** rendering is total. A span beyond the text, inside a character or backwards is moved to the nearest
//! valid one, so that a wrong span does not hide its error.
//!
//! **Invariant:** control characters in external text, except newlines, never reach the terminal: they are escaped or
//! replaced.
//!
//! **Invariant:** only texts and byte spans are known here, neither Prolog nor TOML. Libraries do not depend on this
//! crate: they return errors with spans, which front ends convert.
//!
//! Not here: exit codes, output streams and the choice of colour (`cli`).
//!
//! This crate is internal to mario: its interface changes without notice.

mod diagnostic;
mod render;

pub use diagnostic::{Diagnostic, Label, Severity, Source};
pub use render::{Renderer, printable_line};
