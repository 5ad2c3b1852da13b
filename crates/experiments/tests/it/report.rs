//! The report, in a real browser where one is needed.

mod accessibility;
mod browser;
mod data;
mod figures;
mod input;
mod live;
mod page;
mod replay;
mod server;
