//! Plots of comparisons and sweeps, as SVG and as PDF.
//!
//! Start at [`figures_of`]: it draws one [`Figure`] for each requested number. Each is first drawn as a list of shapes,
//! which is then written in both formats.

mod axis;
mod font;
mod lines;
mod names;
mod pdf;
mod rows;
mod scene;
mod study;
mod svg;

pub use axis::AxisKind;
pub use study::{Figure, figures_of};
