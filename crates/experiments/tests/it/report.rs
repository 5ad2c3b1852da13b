//! Tests of the report, many of them in a browser.

mod accessibility;
mod browser;
mod data;
mod figures;
mod input;
mod live;
mod page;
mod replay;
mod server;
