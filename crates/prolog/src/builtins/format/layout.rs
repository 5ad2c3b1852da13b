//! The layout of the output of one `format` call: column stops and fill points.

use crate::output::column_after;

/// Text written so far, and the fill points before the next column stop.
pub(super) struct Layout {
    text: String,
    column: usize,
    /// The column of the last stop.
    stop: usize,
    /// The offset in `text` at which the part since the last stop starts.
    segment: usize,
    /// The offsets in `text` at which padding goes, and the fill characters.
    fills: Vec<(usize, char)>,
}

impl Layout {
    /// An empty layout that starts in `column` of the current line.
    pub(super) fn new(column: usize) -> Layout {
        Layout { text: String::new(), column, stop: 0, segment: 0, fills: Vec::new() }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.column = column_after(self.column, text);
    }

    /// The number of bytes so far.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// The column of the last stop; 0 before the first.
    pub(super) fn last_stop(&self) -> usize {
        self.stop
    }

    /// Adds a fill point, which receives padding at the next column stop.
    pub(super) fn fill(&mut self, with: char) {
        self.fills.push((self.text.len(), with));
    }

    /// Pads the text since the last stop so that it ends at `column`: at the fill points, or with spaces at its end if
    /// there are none. Text that is too long stays unchanged and counts as if it ended there, so that later columns
    /// keep their widths.
    pub(super) fn stop_at(&mut self, column: usize) {
        if let Some(pad) = column.checked_sub(self.column).filter(|&pad| pad > 0) {
            if self.fills.is_empty() {
                self.text.extend(std::iter::repeat_n(' ', pad));
            } else {
                self.spread(pad);
            }
        }
        self.column = column;
        self.stop = column;
        self.segment = self.text.len();
        self.fills.clear();
    }

    fn spread(&mut self, pad: usize) {
        let rest = self.text.split_off(self.segment);
        let mut from = 0;
        for (&(at, with), share) in self.fills.iter().zip(shares(pad, self.fills.len())) {
            let at = at - self.segment;
            self.text.push_str(&rest[from..at]);
            self.text.extend(std::iter::repeat_n(with, share));
            from = at;
        }
        self.text.push_str(&rest[from..]);
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Splits `pad` into a share for each of `points` fill points. The shares differ by at most one. The larger shares go
/// first to the middle point, then to the points 1 to its right, 2 to its left, 3 to its right and so on, then to the
/// others from right to left.
fn shares(pad: usize, points: usize) -> Vec<usize> {
    let mut shares = vec![pad / points; points];
    let mut left = pad % points;
    let middle = points / 2;
    let outward = (0..points).map(|step| if step % 2 == 0 { middle.checked_sub(step) } else { Some(middle + step) });
    let favoured: Vec<usize> = outward.flatten().filter(|&point| point < points).collect();
    let others = (0..points).rev().filter(|point| !favoured.contains(point));
    for point in favoured.iter().copied().chain(others) {
        if left == 0 {
            break;
        }
        shares[point] += 1;
        left -= 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::{Layout, shares};

    #[test]
    fn left_over_space_goes_to_the_middle_first() {
        for (pad, points, expected) in [
            (7, 1, &[7][..]),
            (7, 2, &[3, 4]),
            (10, 3, &[3, 4, 3]),
            (11, 3, &[3, 4, 4]),
            (6, 4, &[1, 1, 2, 2]),
            (7, 4, &[2, 1, 2, 2]),
            (4, 7, &[0, 1, 0, 1, 1, 0, 1]),
        ] {
            assert_eq!(shares(pad, points), expected, "{pad} over {points}");
        }
        for points in 1..20 {
            for pad in 0..60 {
                assert_eq!(shares(pad, points).iter().sum::<usize>(), pad);
            }
        }
    }

    #[test]
    fn text_without_fill_points_is_padded_at_its_end() {
        let mut layout = Layout::new(2);
        layout.push("abc");
        layout.stop_at(8);
        layout.fill('-');
        layout.push("xyz");
        layout.stop_at(14);
        layout.push("too long");
        layout.stop_at(15);
        layout.push("x");
        layout.stop_at(18);
        assert_eq!(layout.finish(), "abc   ---xyztoo longx  ");
    }
}
