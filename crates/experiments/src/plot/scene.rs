//! A drawing as a list of shapes. Sizes and positions are in points; y grows downwards.

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
    /// A line through these points, one after another.
    Line { points: Vec<[f64; 2]>, thickness: f64, colour: Colour },
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

/// The colour of the policy with this index. Colours repeat after seven policies.
pub(super) fn series_colour(place: usize) -> Colour {
    SERIES[place % SERIES.len()]
}

impl Scene {
    pub(super) fn new(title: &str, width: f64, height: f64) -> Scene {
        Scene { title: title.to_owned(), width, height, shapes: Vec::new() }
    }

    pub(super) fn line(&mut self, points: &[[f64; 2]], thickness: f64, colour: Colour) {
        self.shapes.push(Shape::Line { points: points.to_vec(), thickness, colour });
    }

    pub(super) fn dot(&mut self, centre: [f64; 2], radius: f64, colour: Colour) {
        self.shapes.push(Shape::Dot { centre, radius, colour });
    }

    pub(super) fn text(&mut self, at: [f64; 2], text: &str, anchor: Anchor, colour: Colour) {
        self.shapes.push(Shape::Text { at, text: text.to_owned(), anchor, size: TEXT_SIZE, colour });
    }
}

/// Returns the width of a text in Helvetica, in points. Characters other than printable ASCII count as wide as a digit.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    /// The widths of the characters from space to tilde in thousandths of the size, from the metrics of the font.
    const WIDTHS: [u16; 95] = [
        278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556,
        556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667,
        556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556,
        556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722,
        500, 500, 500, 334, 260, 334, 584,
    ];
    const WIDE: u16 = 556;
    let of = |letter: char| {
        let place = (letter as usize).checked_sub(' ' as usize);
        f64::from(place.and_then(|place| WIDTHS.get(place)).copied().unwrap_or(WIDE))
    };
    text.chars().map(of).sum::<f64>() * size / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_of_a_text_follows_the_metrics_of_helvetica() {
        // H is 722, e 556, l 222 and o 556 thousandths wide.
        assert!((text_width("Hello", 10.0) - 22.78).abs() < 1e-9);
        assert!((text_width("±", 1_000.0) - 556.0).abs() < 1e-9);
        assert!((text_width("~ ", 1_000.0) - 862.0).abs() < 1e-9);
    }
}
