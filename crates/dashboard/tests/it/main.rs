//! Tests the dashboard: its HTTP server, its view of live nodes, and its page in a real browser.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

#[path = "../../../report/tests/it/browser.rs"]
#[allow(dead_code, reason = "the tests of the report use more of it")]
mod browser;

mod canned;
mod http;
mod nodes;
mod page;
