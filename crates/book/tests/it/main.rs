//! Tests of this repository's book, and of small books with errors.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod fixture;
mod small_books;
mod this_book;
