//! What mario's pages share: drawings, styles and scripts, and a server for browsers on this machine.
//!
//! Start at [`drawing::Canvas`] to draw a figure, and at [`server::serve`] to serve a page.
//!
//! | module | what is in it |
//! |---|---|
//! | [`drawing`] | figures as trees of SVG elements, for pages and for files |
//! | [`assets`] | the palette, and the styles and scripts of more than one page |
//! | [`server`] | answers browsers on this machine, within limits |
//!
//! A figure is drawn on a [`Canvas`](drawing::Canvas), in as many widths as a page needs:
//!
//! ```
//! use mario_page::drawing::{Canvas, Chart, Element, FileWidth, Room, Steps};
//!
//! let mut canvas = Canvas::new(350.0, 200.0, Room::for_axes(40.0, 12.0));
//! let (x, y) = (canvas.x_scale(0.0, 4.0), canvas.y_scale(0.0, 40.0));
//! canvas.y_axis(y, 40.0, Steps::Whole, "agents");
//! let bar = Element::rectangle([x.at(1.0), y.at(30.0)], [x.factor, y.at(0.0) - y.at(30.0)], "var(--migrate)");
//! canvas.add(bar.tip("30 agents migrated"));
//! let chart = Chart::still([canvas.finish()]);
//! assert!(chart.svg("Migrations", FileWidth::One).contains("<title>30 agents migrated</title>"));
//! ```
//!
//! **Invariant:** no file is read; the same data yields the same drawing.
//!
//! **Invariant:** no client can stop the server, exhaust its memory, or block others for longer than a timeout.
//!
//! **Invariant:** scripts draw no axis and no scale: they build the elements that Rust has drawn.
//!
//! This crate is internal to mario: its interface changes without notice.

pub mod assets;
pub mod drawing;
pub mod server;

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "it compares a file with the types")]
#[path = "../tests/page/declarations.rs"]
mod declarations;
