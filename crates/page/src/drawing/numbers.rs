//! Formats numbers and counts for people.

/// The thousands separator: a narrow no-break space, which no locale reads as a decimal point.
const THOUSANDS: char = '\u{202f}';

/// Formats a number rounded to an integer, with separated thousands.
pub fn whole(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0
            && (digits.len() - index).is_multiple_of(3)
            && grouped.ends_with(|last: char| last.is_ascii_digit())
        {
            grouped.push(THOUSANDS);
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count with separated thousands.
pub fn count(value: u64) -> String {
    whole(value as f64)
}

/// Formats a number with at most three decimals. Only whole numbers have separated thousands.
pub fn amount(value: f64) -> String {
    if value.fract() == 0.0 { whole(value) } else { format!("{}", (value * 1_000.0).round() / 1_000.0) }
}

/// Formats a number with `digits` decimals and a typographic minus sign; `n/a` for `None`.
pub fn fixed(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.digits$}").replace('-', "\u{2212}"))
}

/// Formats a count with its noun; `one` is the singular, and the plural has an added s.
pub fn plural(many: u64, one: &str) -> String {
    format!("{} {one}{}", count(many), if many == 1 { "" } else { "s" })
}

/// Joins words with commas, and with `and` before the last.
pub fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Which numbers may be ticks of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Steps {
    /// Any number.
    Any,
    /// Whole numbers only.
    Whole,
}

/// Returns evenly spaced round numbers between `low` and `high`, roughly `about` of them.
pub fn ticks(low: f64, high: f64, about: usize, steps: Steps) -> Vec<f64> {
    let rough = (high - low).max(1e-9) / about.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let gaps = [0.5, 1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let place = gaps.iter().position(|gap| *gap >= rough).unwrap_or(gaps.len() - 1);
    let spaced = |gap: f64| {
        let gap = if steps == Steps::Whole { gap.max(1.0) } else { gap };
        let (first, last) = ((low / gap - 1e-9).ceil() as i64, (high / gap + 1e-6).floor() as i64);
        // Uses multiples of the gap, because repeated addition would accumulate rounding errors.
        (first..=last).map(|index| rounded_to(index as f64 * gap, gap)).collect::<Vec<f64>>()
    };
    let found = spaced(gaps[place]);
    // An axis should have at least two numbers, so the next smaller gap is tried.
    if found.len() < 2 { spaced(gaps[place.saturating_sub(1)]) } else { found }
}

/// Removes the rounding error of a multiplication, which would be visible in the digits.
fn rounded_to(value: f64, gap: f64) -> f64 {
    let digits = 10_f64.powf((2.0 - gap.log10().floor()).max(0.0));
    (value * digits).round() / digits + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        assert_eq!(ticks(0.0, 52_000.0, 6, Steps::Whole), [0.0, 1e4, 2e4, 3e4, 4e4, 5e4]);
        assert_eq!(ticks(0.0, 3.0, 4, Steps::Whole), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(ticks(0.0, 0.9, 3, Steps::Any), [0.0, 0.5]);
        assert_eq!(ticks(0.0, 0.45, 4, Steps::Any), [0.0, 0.2, 0.4]);
        assert_eq!(ticks(1.0, 25.0, 8, Steps::Whole), [5.0, 10.0, 15.0, 20.0, 25.0]);
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(whole(52_000.0), "52\u{202f}000");
        assert_eq!(whole(-1_200.0), "-1\u{202f}200");
        assert_eq!(whole(-120.0), "-120");
        assert_eq!(amount(0.12345), "0.123");
        assert_eq!(fixed(Some(-0.5), 2), "\u{2212}0.50");
    }

    #[test]
    fn nouns_agree_with_their_counts() {
        assert_eq!(plural(1, "node"), "1 node");
        assert_eq!(plural(1_000, "user"), "1\u{202f}000 users");
        assert_eq!(list(&["1".to_owned(), "2".to_owned(), "3".to_owned()]), "1, 2 and 3");
    }
}
