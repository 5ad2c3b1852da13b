//! The book of this repository, and small ones that are wrong in one place.

mod fixture;
mod small_books;
mod this_book;
