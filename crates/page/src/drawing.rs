//! Figures as trees of SVG elements, for pages and for files.
//!
//! Start at [`Canvas`]: a box for data inside its axes. A [`Chart`] holds the finished drawing in a few widths. It is
//! serialised as JSON into a page, whose script `chart.js` builds the same elements, and written as SVG into files by
//! [`Chart::svg`]; `docs/decisions/0025-figures-are-drawn-once.md` has the reasons.

mod canvas;
mod chart;
mod compact;
mod csv;
mod element;
mod names;
mod numbers;
mod palette;
mod stack;
#[cfg(test)]
mod types;

pub use canvas::{Anchor, Canvas, FAINT, INK, Room, SOFT, Scale, TimeAxis, nothing, spread, text, width_of};
pub use chart::{Chart, FileWidth, Hover, Layout};
pub use compact::compact;
pub use csv::Csv;
pub use element::{Attribute, Element, escape, rounded};
pub use names::shortened;
pub use numbers::{Steps, amount, count, fixed, list, plural, ticks, whole};
pub use palette::{APPLICATION_COLOURS, application_colour, light_and_dark, tier_colour};
pub use stack::{Ends, Part, Stack};
