//! A drawing in progress: a box for data inside its axes.

use super::chart::{Hover, Layout};
use super::element::{Element, rounded};
use super::numbers::{Steps, amount, ticks, whole};

/// The size of most texts, in pixels.
const TEXT: f64 = 11.0;
/// The approximate mean width of a character.
const CHARACTER: f64 = TEXT * 0.56;
/// The distance between the lines of labels.
const LINE: f64 = 13.0;

/// The colour of the most important texts and lines.
pub const INK: &str = "var(--ink)";
/// The colour of labels.
pub const SOFT: &str = "var(--soft)";
/// The colour of less important texts.
pub const FAINT: &str = "var(--faint)";

/// The approximate width of a text.
pub fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// A drawing with a box for data inside its axes.
#[derive(Debug)]
pub struct Canvas {
    /// The width of the drawing.
    pub width: f64,
    /// The height of the drawing.
    pub height: f64,
    /// The left edge of the box.
    pub left: f64,
    /// The right edge of the box.
    pub right: f64,
    /// The upper edge of the box.
    pub top: f64,
    /// The lower edge of the box.
    pub bottom: f64,
    elements: Vec<Element>,
    hover: Option<Hover>,
}

/// The alignment of a text relative to its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// The text starts there.
    Start,
    /// The text is centred there.
    Middle,
    /// The text ends there.
    End,
}

/// Maps values to positions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    low: f64,
    start: f64,
    /// The change of the position for one unit of a value; negative on a vertical scale.
    pub factor: f64,
}

impl Scale {
    /// Maps the values from `low` to `high` to the positions from `start` to `end`. If `high` is not above `low`, it is
    /// taken as `low + 1`.
    pub fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Scale {
        let span = if high > low { high - low } else { 1.0 };
        Scale { low, start, factor: (end - start) / span }
    }

    /// The position of a value.
    pub fn at(&self, value: f64) -> f64 {
        self.start + (value - self.low) * self.factor
    }
}

/// A horizontal axis of time. Times before 0 are written without their sign.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimeAxis {
    /// The time at the left end.
    pub start: f64,
    /// The time at the right end.
    pub end: f64,
    /// The label below the axis.
    pub label: &'static str,
}

impl TimeAxis {
    /// The axis of a run of this duration in milliseconds.
    pub fn of_run(duration: f64) -> TimeAxis {
        TimeAxis { start: 0.0, end: duration, label: "time, ms" }
    }
}

/// The space for labels around the box.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Room {
    /// On the left of the box.
    pub left: f64,
    /// On its right.
    pub right: f64,
    /// Above it.
    pub top: f64,
    /// Below it.
    pub bottom: f64,
}

impl Room {
    /// Returns the space for the numbers of a left axis up to `most`, for its label above, and for an axis below.
    /// `right` is the space on the right.
    pub fn for_axes(most: f64, right: f64) -> Room {
        Room { left: left_room(most), right, top: 30.0, bottom: 36.0 }
    }
}

/// The space for the numbers of an axis on the left that ends at `most`.
fn left_room(most: f64) -> f64 {
    (14.0 + whole(most).chars().count() as f64 * 7.0).max(32.0)
}

/// A text at a position.
pub fn text([x, y]: [f64; 2], text: &str, anchor: Anchor, fill: &str) -> Element {
    let element = Element::new("text").with("x", x).with("y", y).with("fill", fill);
    let element = match anchor {
        Anchor::Start => element,
        Anchor::Middle => element.with("text-anchor", "middle"),
        Anchor::End => element.with("text-anchor", "end"),
    };
    element.text(text)
}

impl Canvas {
    /// An empty drawing.
    pub fn new(width: f64, height: f64, room: Room) -> Canvas {
        Canvas {
            width,
            height,
            left: room.left,
            right: width - room.right,
            top: room.top,
            bottom: height - room.bottom,
            elements: Vec::new(),
            hover: None,
        }
    }

    /// Maps values to positions from the left edge of the box to its right edge.
    pub fn x_scale(&self, low: f64, high: f64) -> Scale {
        Scale::new((low, high), (self.left, self.right))
    }

    /// Maps values to positions from the lower edge of the box to its upper edge.
    pub fn y_scale(&self, low: f64, high: f64) -> Scale {
        Scale::new((low, high), (self.bottom, self.top))
    }

    /// Adds an element on top of the others.
    pub fn add(&mut self, element: Element) {
        self.elements.push(element);
    }

    /// Draws the label of the left axis, above it.
    pub fn y_label(&mut self, label: &str) {
        self.add(text([0.0, self.top - 14.0], label, Anchor::Start, SOFT));
    }

    /// Returns the grid lines at these values, with their numbers on the left.
    pub fn grid(&self, scale: impl Fn(f64) -> f64, values: &[f64]) -> Vec<Element> {
        let line = |value: &f64| {
            let (height, colour) = (scale(*value), if *value == 0.0 { "var(--line)" } else { "var(--grid)" });
            let path = format!("M{} {}H{}", rounded(self.left), rounded(height), rounded(self.right));
            let number = text([self.left - 6.0, height + 3.5], &amount(*value), Anchor::End, SOFT);
            [Element::line(path, colour, 1.0), number]
        };
        values.iter().flat_map(line).collect()
    }

    /// Draws the left axis from 0 to `most`, with its grid and label.
    pub fn y_axis(&mut self, scale: Scale, most: f64, steps: Steps, label: &str) {
        let grid = self.grid(|value| scale.at(value), &ticks(0.0, most, 4, steps));
        self.elements.extend(grid);
        self.y_label(label);
    }

    /// Draws the horizontal axis: ticks with numbers at these positions, and a label.
    pub fn x_axis(&mut self, numbers: impl IntoIterator<Item = (f64, String)>, label: &str) {
        for (place, number) in numbers {
            let path = format!("M{} {}v4", rounded(place), rounded(self.bottom));
            self.add(Element::line(path, "var(--line)", 1.0));
            self.add(text([place, self.bottom + 16.0], &number, Anchor::Middle, SOFT));
        }
        self.add(text([f64::midpoint(self.left, self.right), self.height - 3.0], label, Anchor::Middle, SOFT));
    }

    /// Draws the horizontal axis of time.
    pub fn time_axis(&mut self, scale: Scale, axis: &TimeAxis) {
        let about = (((self.right - self.left) / 72.0) as usize).max(2);
        let times = ticks(axis.start, axis.end, about, Steps::Any);
        let numbers = times.into_iter().map(|time| (scale.at(time), amount(time.abs())));
        self.x_axis(numbers, axis.label);
    }

    /// Enables tooltips in the data area, selected by the pointer's horizontal position. `scale` maps values to x
    /// coordinates.
    pub fn hover(&mut self, scale: Scale) {
        let Canvas { top, bottom, .. } = *self;
        self.hover = Some(Hover { top, bottom, zero: scale.at(0.0), factor: scale.factor });
    }

    /// Draws a legend entry: a coloured square and a text beside it.
    pub fn key(&mut self, [x, y]: [f64; 2], colour: &str, words: &str, ink: &str) {
        self.add(Element::rectangle([x, y - 4.0], [8.0, 8.0], colour).with("rx", 2.0));
        self.add(text([x + 12.0, y + 4.0], words, Anchor::Start, ink).with("class", "direct"));
    }

    /// The finished drawing.
    pub fn finish(self) -> Layout {
        let Canvas { width, height, elements, hover, .. } = self;
        let drawing = Element::new("svg")
            .with("viewBox", format!("0 0 {} {}", rounded(width), rounded(height)))
            .with("font-size", TEXT)
            .all(elements);
        Layout { width, height, drawing, hover, scrolls: false }
    }
}

/// Returns a layout with a text, for a figure without data.
pub fn nothing(width: f64, words: &str) -> Layout {
    let mut canvas = Canvas::new(width, 96.0, Room { left: 0.0, right: 0.0, top: 0.0, bottom: 0.0 });
    canvas.add(text([width / 2.0, 52.0], words, Anchor::Middle, SOFT));
    canvas.finish()
}

/// Moves labels apart. Returns a position for each, at least one line from the next and not above `high`; if the labels
/// fit, also not below `low`.
pub fn spread(places: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|one, other| places[*one].total_cmp(&places[*other]));
    let mut spread = places.to_vec();
    let mut floor = low;
    for index in &order {
        spread[*index] = spread[*index].max(floor);
        floor = spread[*index] + LINE;
    }
    let mut ceiling = high;
    for index in order.iter().rev() {
        spread[*index] = spread[*index].min(ceiling);
        ceiling = spread[*index] - LINE;
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_a_line_apart_and_keep_their_order() {
        assert_eq!(spread(&[50.0, 10.0, 52.0], 0.0, 100.0), [50.0, 10.0, 63.0]);
        assert_eq!(spread(&[98.0, 99.0], 0.0, 100.0), [87.0, 100.0]);
    }

    #[test]
    fn an_axis_carries_round_numbers() {
        let mut canvas = Canvas::new(300.0, 200.0, Room::for_axes(2_000.0, 10.0));
        let scale = canvas.y_scale(0.0, 2_000.0);
        canvas.y_axis(scale, 2_000.0, Steps::Whole, "agents");
        let json = serde_json::to_string(&canvas.finish()).expect("JSON");
        for number in ["\"0\"", "\"500\"", "\"1\u{202f}500\"", "\"2\u{202f}000\"", "\"agents\""] {
            assert!(json.contains(number), "{json}");
        }
    }
}
