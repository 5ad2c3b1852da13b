//! An axis of a plot, with round numbers as ticks.

/// Maps values to positions in a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    start: f64,
    factor: f64,
    gap: f64,
    high: f64,
}

impl Axis {
    /// Creates an axis from the position `start` to `end` that covers these values, with margins and about `ticks`
    /// ticks. It starts at zero, without a margin there, if no value is negative and the lowest is at most 60 % of the
    /// highest.
    pub(super) fn over(values: impl Iterator<Item = f64>, start: f64, end: f64, ticks: usize) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if low >= 0.0 && low <= high * 0.6 {
            low = 0.0;
        }
        let span = if high > low { high - low } else { high.abs().max(1.0) };
        (low, high) = if high > low { (low, high) } else { (low - span / 2.0, high + span / 2.0) };
        let rough = span / ticks as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let gap = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|gap| *gap >= rough * 0.999);
        let room = if low == 0.0 { 0.0 } else { span * 0.04 };
        let (low, high) = (low - room, high + span * 0.04);
        Axis { low, high, start, factor: (end - start) / (high - low), gap: gap.unwrap_or(rough) }
    }

    /// The position of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.start + (value - self.low) * self.factor
    }

    /// Round values on the axis, with their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let first = (self.low / self.gap).ceil() as i64;
        let last = (self.high / self.gap + 1e-9).floor() as i64;
        let decimals = (-self.gap.log10()).ceil().clamp(0.0, 12.0) as usize;
        (first..=last)
            .take(64)
            .map(|place| {
                let value = place as f64 * self.gap;
                (value, format!("{value:.decimals$}"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_axis() {
        let words = |values: &[f64]| {
            let axis = Axis::over(values.iter().copied(), 0.0, 100.0, 5);
            axis.ticks().into_iter().map(|(_, word)| word).collect::<Vec<_>>()
        };
        assert_eq!(words(&[3.0, 9.7]), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(words(&[0.81, 0.84]), ["0.81", "0.82", "0.83", "0.84"]);
        assert_eq!(words(&[]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert!(words(&[5.0]).contains(&"5".to_owned()));
        assert!(words(&[-3.0, 2.0]).contains(&"-2".to_owned()));
    }
}
