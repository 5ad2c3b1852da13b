//! The book of this repository, and small ones with one error each.

mod fixture;
mod small_books;
mod this_book;
