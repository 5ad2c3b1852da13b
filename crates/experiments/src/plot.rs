//! Figures of comparisons and sweeps, as SVG and as PDF for a paper.
//!
//! Start at [`figures_of`]: it draws one [`Figure`] for each requested number. A figure is a list of shapes, which is
//! written in both formats.

mod axis;
mod pdf;
mod scene;
mod study;
mod svg;

pub use study::{Figure, figures_of};
