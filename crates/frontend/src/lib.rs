//! Code shared by the command line and the Python package: opening the inputs that a user names, driving runs, and
//! reporting failures.
//!
//! Start at [`scenarios::open`] and [`policy_texts::Text::find`], which turn a word or a path into a scenario or a
//! policy, and at [`run()`], which runs a scenario and stores the run. For errors, start at [`Failure`]: the modules
//! turn the errors of the libraries into diagnostics with positions and hints, so that both front ends report an error
//! alike. A [`Hint`] that names an option or a function is data, which each front end words.
//!
//! ```
//! use std::path::Path;
//!
//! use mario_diagnostics::Renderer;
//! use mario_frontend::{Failure, Hint, scenarios};
//!
//! let failure = scenarios::open(Path::new("papr")).expect_err("there is no such scenario");
//! assert!(matches!(failure, Failure::Input(_)), "the input is at fault, and the exit code is 2");
//! let words = |hint: &Hint| if let Hint::Text(text) = hint { text.clone() } else { "see the manual".to_owned() };
//! let text = Renderer::plain().render(&failure.diagnostics()[0].worded(words));
//! assert!(text.starts_with("error: there is no scenario `papr`"), "{text}");
//! assert!(text.contains("paper"), "it says what may have been meant: {text}");
//! ```
//!
//! **Invariant:** this crate writes neither to standard output nor to standard error, and depends on neither an
//! argument parser nor Python.
//!
//! **Invariant:** it does not influence results: everything is computed by the libraries below it.
//!
//! Not here: arguments, exit codes and terminals (crate `mario_cli`), and Python objects (the Python package).
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "this crate may use files, clocks and the environment")]

pub mod failure;
pub mod gzip;
pub mod hints;
pub mod input;
pub mod kept_scenario;

pub mod problems;

pub mod policies;
pub mod policy_texts;
pub mod scenarios;

pub mod checkpoint_interval;
pub mod replay;
pub mod result_directory;
pub mod run;
pub mod runs;
pub mod snapshots;
pub mod studies;
pub mod traces;
pub mod warnings;

pub use failure::Failure;
pub use hints::{Diagnostic, Hint};
pub use input::{TEXT_SIZE_BYTES_MAX, read_text};
pub use run::run;
