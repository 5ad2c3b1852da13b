//! The book of this repository, and small ones with one error each.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod fixture;
mod small_books;
mod this_book;
