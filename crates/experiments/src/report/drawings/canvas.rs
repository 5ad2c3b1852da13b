//! A drawing that is being made: shapes, texts, axes.

use std::fmt::Write;

const INK: &str = "#1c2128";
const SOFT: &str = "#57606a";
const GRID: &str = "#e3e7ec";

/// A drawing with a box for data inside its axes.
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    body: String,
}

/// Where a text stands relative to its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Values to places.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    start: f64,
    factor: f64,
}

impl Scale {
    pub(super) fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Scale {
        let span = if high > low { high - low } else { 1.0 };
        Scale { low, start, factor: (end - start) / span }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        self.start + (value - self.low) * self.factor
    }
}

impl Canvas {
    /// Sizes in points; the box leaves room for labels on all sides.
    pub(super) fn new(width: f64, height: f64, right_room: f64) -> Canvas {
        Canvas {
            width,
            height,
            left: 38.0,
            right: width - right_room,
            top: 24.0,
            bottom: height - 34.0,
            body: String::new(),
        }
    }

    pub(super) fn x_scale(&self, low: f64, high: f64) -> Scale {
        Scale::new((low, high), (self.left, self.right))
    }

    pub(super) fn y_scale(&self, low: f64, high: f64) -> Scale {
        Scale::new((low, high), (self.bottom, self.top))
    }

    pub(super) fn rectangle(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], colour: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{x:.2}" y="{y:.2}" width="{:.2}" height="{:.2}" fill="{colour}"/>"#,
            width.max(0.0),
            height.max(0.0)
        );
    }

    pub(super) fn path(&mut self, path: &str, style: &str) {
        let _ = writeln!(self.body, r#"<path d="{path}" {style}/>"#);
    }

    pub(super) fn circle(&mut self, [x, y]: [f64; 2], radius: f64, style: &str) {
        let _ = writeln!(self.body, r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius:.2}" {style}/>"#);
    }

    pub(super) fn text(&mut self, [x, y]: [f64; 2], text: &str, anchor: Anchor) {
        self.styled_text([x, y], text, anchor, &format!(r#"fill="{INK}""#));
    }

    pub(super) fn soft_text(&mut self, [x, y]: [f64; 2], text: &str, anchor: Anchor) {
        self.styled_text([x, y], text, anchor, &format!(r#"fill="{SOFT}""#));
    }

    fn styled_text(&mut self, [x, y]: [f64; 2], text: &str, anchor: Anchor, style: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.2}" y="{y:.2}" text-anchor="{anchor}" {style}>{}</text>"#,
            escape(text)
        );
    }

    /// The axis on the left, with its grid.
    pub(super) fn y_axis(&mut self, scale: Scale, most: f64, label: &str) {
        for value in ticks(most, 4) {
            self.y_tick(scale.at(value), value);
        }
        self.soft_text([0.0, self.top - 12.0], label, Anchor::Start);
    }

    /// A line of the grid at a height, with its value.
    pub(super) fn y_tick(&mut self, height: f64, value: f64) {
        let colour = if value == 0.0 { SOFT } else { GRID };
        let (left, right) = (self.left, self.right);
        self.path(&format!("M{left:.2} {height:.2}H{right:.2}"), &format!(r#"stroke="{colour}" stroke-width="0.6""#));
        self.soft_text([left - 6.0, height + 3.0], &number(value), Anchor::End);
    }

    /// The axis below.
    pub(super) fn x_axis(&mut self, scale: Scale, most: f64, label: &str) {
        for value in ticks(most, 6) {
            self.soft_text([scale.at(value), self.bottom + 14.0], &number(value), Anchor::Middle);
        }
        self.soft_text([f64::midpoint(self.left, self.right), self.height - 4.0], label, Anchor::Middle);
    }

    /// A text alone, where there is nothing to draw.
    pub(super) fn nothing(mut self, text: &str, title: &str) -> String {
        self.soft_text([self.width / 2.0, self.height / 2.0], text, Anchor::Middle);
        self.finish(title)
    }

    /// The file.
    pub(super) fn finish(self, title: &str) -> String {
        let Canvas { width, height, body, .. } = self;
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" \
             height=\"{height}pt\" viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\" \
             font-size=\"9\">\n<title>{}</title>\n{body}</svg>\n",
            escape(title)
        )
    }
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number with narrow spaces between thousands.
pub(super) fn number(value: f64) -> String {
    if value.fract() != 0.0 {
        return format!("{value}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digit.is_ascii_digit() {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// Round whole numbers from 0 to `most`, about as many as asked.
pub(super) fn ticks(most: f64, count: usize) -> Vec<f64> {
    let rough = (most / count as f64).max(1.0);
    let power = 10_f64.powf(rough.log10().floor());
    let gap = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|gap| *gap >= rough).unwrap_or(rough);
    let last = (most / gap + 1e-9).floor() as usize;
    (0..=last).map(|place| place as f64 * gap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        assert_eq!(ticks(52_000.0, 6), [0.0, 10_000.0, 20_000.0, 30_000.0, 40_000.0, 50_000.0]);
        assert_eq!(ticks(3.0, 4), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(ticks(0.0, 4), [0.0]);
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(number(52_000.0), "52\u{202f}000");
        assert_eq!(number(999.0), "999");
    }

    #[test]
    fn text_is_escaped() {
        let mut canvas = Canvas::new(10.0, 10.0, 0.0);
        canvas.text([0.0, 0.0], "a<b>&\"", Anchor::Start);
        assert!(canvas.finish("<t>").contains("a&lt;b&gt;&amp;&quot;"));
    }
}
