//! Tests of the report, many of them in a browser.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod accessibility;
mod browser;
mod counts;
mod data;
mod figures;
mod input;
mod live;
mod page;
mod replay;
mod server;
