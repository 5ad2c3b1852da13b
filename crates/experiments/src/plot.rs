//! Figures of comparisons and sweeps, as SVG and as PDF for a paper.
//!
//! Start at [`figures_of`]: it draws one [`Figure`] for each number that is asked for. A figure is a list of shapes, which is
//! written in both formats by code of our own.

mod axis;
mod pdf;
mod scene;
mod study;
mod svg;

pub use study::{Figure, figures_of};
