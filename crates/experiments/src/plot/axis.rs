//! An axis of a plot, with round numbers or given values as ticks.

/// How positions on an axis depend on values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AxisKind {
    /// Logarithmic if all means are positive and the largest is at least 100 times the smallest; otherwise linear.
    #[default]
    Auto,
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios. Linear if a mean is not positive.
    Logarithmic,
}

/// The ratio of the largest to the smallest mean from which an axis is logarithmic by default.
const SPAN_MIN: f64 = 100.0;

/// About how many ticks a logarithmic axis has on which there are no two of 1, 2 and 5 times a power of ten.
const TICKS_WITHIN_DECADE: usize = 6;

/// Maps values to positions in a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    start: f64,
    factor: f64,
    gap: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Axis {
    /// Creates an axis from the position `start` to `end` that covers these values, with margins and about `ticks`
    /// ticks.
    pub(super) fn over(values: impl Iterator<Item = f64>, start: f64, end: f64, ticks: usize, kind: AxisKind) -> Axis {
        Axis::of_intervals(values.map(|value| (value, [value; 2])), start, end, ticks, kind)
    }

    /// Creates an axis for means and their intervals. The means decide whether it is logarithmic; it then starts at a tenth
    /// of the smallest mean or above, where intervals that reach further down are cut off.
    pub(super) fn of_intervals(
        values: impl Iterator<Item = (f64, [f64; 2])>,
        start: f64,
        end: f64,
        ticks: usize,
        kind: AxisKind,
    ) -> Axis {
        let values: Vec<(f64, [f64; 2])> = values.filter(|(_, ends)| ends.iter().all(|end| end.is_finite())).collect();
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
        };
        let (least, most) = range(&mut values.iter().map(|(mean, _)| *mean));
        let (low, high) = match range(&mut values.iter().flat_map(|(_, ends)| *ends)) {
            (low, high) if low <= high => (low, high),
            _ => (0.0, 1.0),
        };
        match kind {
            AxisKind::Auto if least > 0.0 && most / least >= SPAN_MIN => {}
            AxisKind::Logarithmic if least > 0.0 && most.is_finite() => {}
            _ => return Axis::linear(low, high, start, end, ticks),
        }
        Axis::logarithmic(low.max(least / 10.0), high, start, end)
    }

    /// It starts at zero, without a margin there, if no value is negative and the lowest is at most 60 % of the highest.
    fn linear(mut low: f64, mut high: f64, start: f64, end: f64, ticks: usize) -> Axis {
        if low >= 0.0 && low <= high * 0.6 {
            low = 0.0;
        }
        let span = if high > low { high - low } else { high.abs().max(1.0) };
        (low, high) = if high > low { (low, high) } else { (low - span / 2.0, high + span / 2.0) };
        let gap = round_gap(span, ticks);
        let room = if low == 0.0 { 0.0 } else { span * 0.04 };
        let (low, high) = (low - room, high + span * 0.04);
        let factor = (end - start) / (high - low);
        Axis { low, high, start, factor, gap, is_logarithmic: false }
    }

    fn logarithmic(low: f64, high: f64, start: f64, end: f64) -> Axis {
        let (low, high) = (low.log10(), high.log10());
        let room = ((high - low) * 0.04).max(0.02);
        let (low, high) = (low - room, high + room);
        Axis { low, high, start, factor: (end - start) / (high - low), gap: 1.0, is_logarithmic: true }
    }

    pub(super) fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }

    /// The position of a value. On a logarithmic axis, a value below its start is at the start.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic { value.max(f64::MIN_POSITIVE).log10().max(self.low) } else { value };
        self.start + (value - self.low) * self.factor
    }

    /// Round values on the axis, with their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        if self.is_logarithmic {
            return self.logarithmic_ticks();
        }
        multiples(self.gap, self.low, self.high)
    }

    /// Powers of ten; if fewer than three are on the axis, also their double and their fivefold. If fewer than two of
    /// those are on it, round numbers at equal differences.
    fn logarithmic_ticks(&self) -> Vec<(f64, String)> {
        let powers = || (self.low.floor() as i32..=self.high.ceil() as i32).take(64);
        let on_axis = |value: &f64| (self.low..=self.high).contains(&value.log10());
        let tens: Vec<f64> = powers().map(|power| 10_f64.powi(power)).filter(on_axis).collect();
        let values = if tens.len() > 2 {
            // At most about eight of them.
            tens.iter().copied().step_by(tens.len().div_ceil(8)).collect()
        } else {
            let fine = powers().flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
            fine.filter(on_axis).collect::<Vec<f64>>()
        };
        if values.len() < 2 {
            let [low, high] = [self.low, self.high].map(|power| 10_f64.powf(power));
            return multiples(round_gap(high - low, TICKS_WITHIN_DECADE), low, high);
        }
        values.into_iter().map(|value| (value, number(value))).collect()
    }
}

/// The distance of about `ticks` ticks over a span: 1, 2 or 5 times a power of ten.
fn round_gap(span: f64, ticks: usize) -> f64 {
    let rough = span / ticks as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let gaps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    gaps.into_iter().find(|gap| *gap >= rough * 0.999).unwrap_or(rough)
}

/// The multiples of a gap from `low` to `high`, with their labels.
fn multiples(gap: f64, low: f64, high: f64) -> Vec<(f64, String)> {
    let (first, last) = ((low / gap).ceil() as i64, (high / gap + 1e-9).floor() as i64);
    let decimals = (-gap.log10()).ceil().clamp(0.0, 12.0) as usize;
    let label = |place: i64| {
        let value = place as f64 * gap;
        (value, format!("{value:.decimals$}"))
    };
    (first..=last).take(64).map(label).collect()
}

/// A positive number of an axis: very large and very small ones with an exponent.
fn number(value: f64) -> String {
    if (1e-4..1e6).contains(&value) {
        let decimals = (-value.log10().floor()).clamp(0.0, 12.0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.0e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(values: &[f64], kind: AxisKind) -> Axis {
        Axis::over(values.iter().copied(), 0.0, 100.0, 5, kind)
    }

    fn words(values: &[f64], kind: AxisKind) -> Vec<String> {
        axis(values, kind).ticks().into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn ticks_are_round_numbers_within_the_axis() {
        let words = |values: &[f64]| words(values, AxisKind::Auto);
        assert_eq!(words(&[3.0, 9.7]), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(words(&[0.81, 0.84]), ["0.81", "0.82", "0.83", "0.84"]);
        assert_eq!(words(&[]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert!(words(&[5.0]).contains(&"5".to_owned()));
        assert!(words(&[-3.0, 2.0]).contains(&"-2".to_owned()));
    }

    #[test]
    fn a_logarithmic_axis_within_a_decade_has_ticks() {
        for (values, expected) in [
            ([2.3e6, 2.9e6], &["2200000", "2400000", "2600000", "2800000", "3000000"][..]),
            ([11.0, 19.0], &["12", "14", "16", "18"]),
            ([0.61, 0.64], &["0.60", "0.62", "0.64", "0.66"]),
            ([7.0, 7.0], &["6.8", "7.0", "7.2"]),
            ([15.0, 55.0], &["20", "50"]),
        ] {
            assert_eq!(words(&values, AxisKind::Logarithmic), expected);
        }
    }

    #[test]
    fn intervals_that_reach_zero_do_not_keep_an_axis_from_being_logarithmic() {
        let values = [(5.0, [4.0, 6.0]), (900.0, [-200.0, 2_000.0])];
        let axis = Axis::of_intervals(values.into_iter(), 0.0, 100.0, 5, AxisKind::Auto);
        assert!(axis.is_logarithmic());
        assert_eq!(axis.at(-200.0).to_bits(), 0_f64.to_bits());
        assert!(axis.at(4.0) > 5.0 && axis.at(2_000.0) < 100.0);
    }

    #[test]
    fn an_axis_is_logarithmic_if_values_span_two_orders_of_magnitude_or_on_request() {
        assert_eq!(words(&[5.0, 8_000.0], AxisKind::Auto), ["10", "100", "1000", "10000"]);
        assert_eq!(words(&[5.0, 8_000.0], AxisKind::Linear)[0], "0");
        assert_eq!(words(&[3.0, 30.0], AxisKind::Logarithmic), ["5", "10", "20"]);
        assert_eq!(words(&[0.02, 40.0], AxisKind::Auto), ["0.1", "1", "10"]);
        let axis = axis(&[1.0, 100.0], AxisKind::Auto);
        assert!(axis.is_logarithmic() && (axis.at(10.0) - 50.0).abs() < 1e-9);
        for values in [[0.0, 8_000.0], [-1.0, 8_000.0]] {
            let axis = Axis::over(values.into_iter(), 0.0, 100.0, 5, AxisKind::Logarithmic);
            assert!(!axis.is_logarithmic(), "{values:?}");
        }
    }
}
