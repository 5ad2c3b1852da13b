//! A drawing as a list of shapes. Sizes and positions are in points; y grows downwards.

use super::font::FONT;

/// A drawing.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Scene {
    pub(super) title: String,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

/// Red, green and blue.
pub(super) type Colour = [u8; 3];

/// A shape of a drawing.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Shape {
    /// A line through these points, one after another. `dash` has the lengths of dashes and gaps; empty for a solid line.
    Line { points: Vec<[f64; 2]>, thickness: f64, colour: Colour, dash: &'static [f64] },
    /// A filled area with these corners.
    Polygon { corners: Vec<[f64; 2]>, colour: Colour },
    /// A filled circle.
    Dot { centre: [f64; 2], radius: f64, colour: Colour },
    /// A text on one line.
    Text { at: [f64; 2], text: String, anchor: Anchor, size: f64, colour: Colour },
}

/// The alignment of a text relative to its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The colour of names.
pub(super) const INK: Colour = [0x1c, 0x21, 0x28];
/// The colour of axes and their texts.
pub(super) const SOFT: Colour = [0x57, 0x60, 0x6a];
/// The colour of lines behind the data.
pub(super) const GRID: Colour = [0xe3, 0xe7, 0xec];

/// The default text size.
pub(super) const TEXT_SIZE: f64 = 9.0;

/// The colours of policies, from the palette of Okabe and Ito.
const SERIES: [Colour; 7] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0xe6, 0x9f, 0x00],
    [0x56, 0xb4, 0xe9],
    [0x00, 0x00, 0x00],
];

/// The dashes of the lines of policies, as lengths of dashes and gaps in points.
const DASHES: [&[f64]; 7] =
    [&[], &[5.0, 2.5], &[1.2, 2.2], &[7.0, 2.2, 1.2, 2.2], &[2.6, 1.6], &[9.0, 3.0], &[5.0, 2.0, 1.2, 2.0, 1.2, 2.0]];
/// The number of different markers.
const MARKERS: usize = 7;

/// The colour of the policy with this index. Colours repeat after seven policies; then dashes differ.
pub(super) fn series_colour(place: usize) -> Colour {
    SERIES[place % SERIES.len()]
}

/// The dash of the policy with this index.
pub(super) fn series_dash(place: usize) -> &'static [f64] {
    DASHES[(place + place / SERIES.len()) % DASHES.len()]
}

impl Scene {
    pub(super) fn new(title: &str, width: f64, height: f64) -> Scene {
        Scene { title: title.to_owned(), width, height, shapes: Vec::new() }
    }

    pub(super) fn line(&mut self, points: &[[f64; 2]], thickness: f64, colour: Colour) {
        self.dashed(points, thickness, colour, &[]);
    }

    pub(super) fn dashed(&mut self, points: &[[f64; 2]], thickness: f64, colour: Colour, dash: &'static [f64]) {
        self.shapes.push(Shape::Line { points: points.to_vec(), thickness, colour, dash });
    }

    /// Draws the marker of the policy with this index: a circle, a square, a triangle and so on, all of about the same
    /// area.
    pub(super) fn marker(&mut self, centre: [f64; 2], radius: f64, place: usize) {
        let colour = series_colour(place);
        let corners: &[[f64; 2]] = match place % MARKERS {
            0 => {
                self.shapes.push(Shape::Dot { centre, radius, colour });
                return;
            }
            1 => &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
            2 => &[[0.0, -1.35], [1.25, 0.95], [-1.25, 0.95]],
            3 => &[[0.0, -1.35], [1.35, 0.0], [0.0, 1.35], [-1.35, 0.0]],
            4 => &[[0.0, 1.35], [1.25, -0.95], [-1.25, -0.95]],
            5 => &[
                [-0.45, -1.35],
                [0.45, -1.35],
                [0.45, -0.45],
                [1.35, -0.45],
                [1.35, 0.45],
                [0.45, 0.45],
                [0.45, 1.35],
                [-0.45, 1.35],
                [-0.45, 0.45],
                [-1.35, 0.45],
                [-1.35, -0.45],
                [-0.45, -0.45],
            ],
            _ => &[[-1.5, -0.55], [1.5, -0.55], [1.5, 0.55], [-1.5, 0.55]],
        };
        let corners = corners.iter().map(|[x, y]| [centre[0] + x * radius, centre[1] + y * radius]).collect();
        self.shapes.push(Shape::Polygon { corners, colour });
    }

    /// Draws the lines of a text below each other, centred around `x` but inside the drawing.
    pub(super) fn centred(&mut self, lines: &[String], x: f64, y: f64) {
        let half = lines.iter().map(|line| room_for(line, TEXT_SIZE)).fold(0.0, f64::max) / 2.0;
        let x = x.min(self.width - half).max(half);
        for (nth, line) in lines.iter().enumerate() {
            self.text([x, y + 12.0 * nth as f64], line, Anchor::Middle, SOFT);
        }
    }

    pub(super) fn text(&mut self, at: [f64; 2], text: &str, anchor: Anchor, colour: Colour) {
        self.shapes.push(Shape::Text { at, text: text.to_owned(), anchor, size: TEXT_SIZE, colour });
    }
}

/// Returns the width of a text in Arimo, Helvetica or Arial, in points.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(|letter| FONT.width(FONT.glyph(letter))).sum::<f64>() * size / 1_000.0
}

/// Returns the width to leave for a text, in points: an SVG file may be shown in another font if the preferred ones are
/// not installed. `DejaVu Sans`, the widest of the usual ones, is up to 18 % wider for words and numbers.
pub(super) fn room_for(text: &str, size: f64) -> f64 {
    text_width(text, size) * 1.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_of_a_text_follows_the_metrics_of_helvetica() {
        // H is 722, e 556, l 222 and o 556 thousandths wide.
        assert!((text_width("Hello", 10.0) - 22.78).abs() < 1e-9);
        assert!((text_width("~ ", 1_000.0) - 862.0).abs() < 1e-9);
    }

    #[test]
    fn the_first_policies_differ_in_colour_marker_and_dash_and_the_next_in_dash_or_marker() {
        let look = |place: usize| (series_colour(place), place % MARKERS, series_dash(place));
        for place in 0..7 {
            for other in 0..place {
                let (one, two) = (look(place), look(other));
                assert!(one.0 != two.0 && one.1 != two.1 && one.2 != two.2, "{place} and {other}");
            }
        }
        let all: std::collections::BTreeSet<String> = (0..49).map(|place| format!("{:?}", look(place))).collect();
        assert_eq!(all.len(), 49);
    }
}
