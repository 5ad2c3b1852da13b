//! A drawing in the widths that a page needs.

use std::fmt::Write;

use serde::Serialize;

use super::compact;
use super::element::{Element, escape};

/// A drawing in several widths, with its tooltips.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Chart {
    /// The parts that the layouts share.
    #[cfg_attr(test, ts(type = "Drawn[]"))]
    pub parts: Vec<Element>,
    /// The drawing in each width, the narrowest first.
    pub layouts: Vec<Layout>,
    /// The tooltips along the horizontal axis, from left to right.
    pub tips: Vec<String>,
    /// The values on the horizontal axis at which tips begin and end: `tips[n]` is shown from `edges[n]` to
    /// `edges[n + 1]`. Empty if there are no tips.
    #[serde(serialize_with = "compact::list")]
    pub edges: Vec<f64>,
}

/// How a figure is drawn at one width.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Layout {
    /// The width in pixels for which it is drawn.
    pub width: f64,
    /// The height at that width.
    pub height: f64,
    /// The element `svg`.
    #[cfg_attr(test, ts(type = "Drawn"))]
    pub drawing: Element,
    /// The area of the tooltips along the horizontal axis; `None` if there are none.
    pub hover: Option<Hover>,
    /// Whether a page that is narrower scrolls the drawing instead of shrinking it.
    pub scrolls: bool,
}

/// The area of a layout in which the pointer shows [`Chart::tips`]. A value of [`Chart::edges`] is at the x coordinate
/// `zero` plus `factor` times the value.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hover {
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) zero: f64,
    pub(super) factor: f64,
}

/// The width of an SVG file, in columns of a paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileWidth {
    /// One column, 336 points wide.
    One,
    /// Two columns, 504 points wide.
    Two,
}

impl Chart {
    /// A drawing whose layouts share nothing and have no tips along an axis.
    pub fn still(layouts: impl IntoIterator<Item = Layout>) -> Chart {
        Chart { parts: Vec::new(), layouts: layouts.into_iter().collect(), tips: Vec::new(), edges: Vec::new() }
    }

    /// The content of an SVG file, sized in points. [`FileWidth::Two`] uses the second layout if there is one. Empty if
    /// there are no layouts.
    pub fn svg(&self, title: &str, columns: FileWidth) -> String {
        let (nth, points) = match columns {
            FileWidth::One => (0, 336.0),
            FileWidth::Two => (1, 504.0),
        };
        let Some(layout) = self.layouts.get(nth).or(self.layouts.last()) else { return String::new() };
        let mut body = String::new();
        layout.drawing.write_svg(&self.parts, &mut body);
        let height = (layout.height * points / layout.width).round();
        let mut svg = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{points}pt\" height=\"{height}pt\" font-family=\"Helvetica, Arial, \
             sans-serif\"{}",
            body.strip_prefix("<svg").unwrap_or(&body).replacen(
                '>',
                &format!(">\n<title>{}</title>\n", escape(title)),
                1
            )
        );
        svg
    }
}
