//! Plots of comparisons and sweeps, as SVG and as PDF.
//!
//! Start at [`figures_of`]: it draws one [`Figure`] for each requested number. Each is first drawn as a list of shapes,
//! which is then written in both formats.

mod axis;
mod pdf;
mod scene;
mod study;
mod svg;

pub use study::{Figure, figures_of};
