//! Tests of the report, some of them in a real browser.

mod accessibility;
mod browser;
mod data;
mod figures;
mod input;
mod live;
mod page;
mod replay;
mod server;
