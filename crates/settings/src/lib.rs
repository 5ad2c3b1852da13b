//! Reads settings in TOML. Every error has a place in a text and, where one is known, a remedy; all errors are
//! reported at once. Scenarios, configurations of nodes and descriptions of applications are read by this crate.
//!
//! Start at [`File`], which is a text that is read on its own. Settings of several layers are merged as trees
//! ([`tree::Table`], whose values keep their places) and then read by [`check::settings`].
//!
//! ```
//! use mario_settings::{At, File};
//!
//! #[derive(serde::Deserialize)]
//! struct Settings {
//!     period: u64,
//!     names: Vec<String>,
//! }
//!
//! let schema = serde_json::json!({ "properties": { "period": { "minimum": 1, "maximum": 60 } } });
//! let text = "perod = 5\nnames = [\"a\", 7]\n";
//! let mistakes = File::parse("my.toml", text, "".as_ref()).read::<Settings>(&schema).err().expect("three");
//! assert_eq!(mistakes[0].to_string(), "my.toml:1:1: unknown key `perod` (did you mean `period`?)");
//! assert_eq!(mistakes[2].to_string(), "my.toml:2:15: expected a text, found the number 7 (put it in quotes)");
//!
//! let file = File::parse("my.toml", "period = 500\nnames = []\n", "".as_ref());
//! let mistakes = file.read::<Settings>(&schema).err().expect("one");
//! assert_eq!(mistakes[0].message, "`period` must be from 1 to 60, not 500");
//! assert_eq!(file.place(&[At::Key("names")]).position(), (2, 9));
//! ```
//!
//! | module | for |
//! |---|---|
//! | `mistake` | errors with their places; misspelt words |
//! | [`tree`] | TOML as a tree in which every value has its place |
//! | [`read`](mod@read) | a tree becomes a Rust type; words and tables of a kind |
//! | [`ranges`] | numbers are compared with their ranges in a JSON schema |
//! | [`check`] | all of these together |
//! | `file` | a text that is read on its own |
//!
//! **Invariant:** bad input yields a list of errors, never a panic, and their number is bounded.
//!
//! **Invariant:** this crate opens no files.
//!
//! This crate is internal to mario: its interface changes without notice.

pub mod check;
mod file;
mod mistake;
pub mod ranges;
pub mod read;
pub mod tree;

pub use file::File;
pub use mistake::{MISTAKES_MAX, Mistake, Place, Text, did_you_mean, sort};
pub use ranges::shown;
pub use read::{HINT, Vocabulary};
pub use tree::At;
