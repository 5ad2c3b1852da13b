//! Points in time and durations.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A point in time, in time units since the start of the run (simulator) or of the daemon (live node, where a unit is a
/// millisecond).
///
/// A separate type, so that it cannot be confused with a system clock and two points in time cannot be added. Ordered
/// as numbers; NaN sorts before or after all numbers, depending on its sign.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(f64);

/// A duration, in the units of [`Time`].
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Duration(f64);

impl Time {
    /// The start of the run or of the daemon.
    pub const ZERO: Time = Time(0.0);

    /// Later than every time of a run: for events that never happen.
    pub const NEVER: Time = Time(f64::INFINITY);

    /// The time `units` units after the start.
    pub const fn at(units: f64) -> Time {
        Time(units)
    }

    /// The units since the start.
    pub const fn units(self) -> f64 {
        self.0
    }

    /// Whether the value is neither infinite nor NaN.
    pub const fn is_finite(self) -> bool {
        self.0.is_finite()
    }
}

impl Duration {
    /// An empty duration.
    pub const ZERO: Duration = Duration(0.0);

    /// A duration longer than every run.
    pub const INFINITE: Duration = Duration(f64::INFINITY);

    /// A duration of `units` units.
    pub const fn of(units: f64) -> Duration {
        Duration(units)
    }

    /// The number of units.
    pub const fn units(self) -> f64 {
        self.0
    }

    /// Whether the value is neither infinite nor NaN.
    pub const fn is_finite(self) -> bool {
        self.0.is_finite()
    }
}

macro_rules! ordered {
    ($($name:ident)*) => { $(
        impl PartialEq for $name {
            #[inline]
            fn eq(&self, other: &$name) -> bool {
                self.cmp(other) == Ordering::Equal
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &$name) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            #[inline]
            fn cmp(&self, other: &$name) -> Ordering {
                // Numbers compare as usual, with -0 equal to 0. Only NaN needs the total order.
                self.0.partial_cmp(&other.0).unwrap_or_else(|| self.0.total_cmp(&other.0))
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                (self.0 + 0.0).to_bits().hash(hasher);
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )* };
}

ordered! { Time Duration }

impl Add<Duration> for Time {
    type Output = Time;

    #[inline]
    fn add(self, span: Duration) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<Duration> for Time {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Duration;

    #[inline]
    fn sub(self, earlier: Time) -> Duration {
        Duration(self.0 - earlier.0)
    }
}

impl Sub<Duration> for Time {
    type Output = Time;

    #[inline]
    fn sub(self, span: Duration) -> Time {
        Time(self.0 - span.0)
    }
}

impl Add for Duration {
    type Output = Duration;

    #[inline]
    fn add(self, other: Duration) -> Duration {
        Duration(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Duration;

    #[inline]
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0 - other.0)
    }
}

impl SubAssign for Duration {
    #[inline]
    fn sub_assign(&mut self, other: Duration) {
        self.0 -= other.0;
    }
}

impl Mul<f64> for Duration {
    type Output = Duration;

    #[inline]
    fn mul(self, factor: f64) -> Duration {
        Duration(self.0 * factor)
    }
}

impl Div<f64> for Duration {
    type Output = Duration;

    #[inline]
    fn div(self, divisor: f64) -> Duration {
        Duration(self.0 / divisor)
    }
}

/// The ratio of two durations.
impl Div for Duration {
    type Output = f64;

    #[inline]
    fn div(self, other: Duration) -> f64 {
        self.0 / other.0
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(spans: I) -> Duration {
        Duration(spans.map(Duration::units).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ordered_and_their_differences_are_durations() {
        let (early, late) = (Time::at(1.5), Time::at(4.0));
        assert!(early < late && early == Time::at(1.5) && Time::at(-0.0) == Time::ZERO);
        assert_eq!(late - early, Duration::of(2.5));
        assert_eq!(early + Duration::of(1.25) * 2.0, late);
        assert!(Time::at(f64::NAN) > Time::at(f64::INFINITY));
        assert_eq!(serde_json::to_string(&late).expect("a number"), "4.0");
    }

    #[test]
    fn durations_support_arithmetic() {
        let (short, long) = (Duration::of(0.1), Duration::of(0.7));
        assert_eq!((long - short).units().to_bits(), (0.7_f64 - 0.1).to_bits());
        assert_eq!((long / short).to_bits(), (0.7_f64 / 0.1).to_bits());
        assert_eq!((long / 3.0).units().to_bits(), (0.7_f64 / 3.0).to_bits());
        let mut sum = Duration::ZERO;
        sum += long;
        sum += short;
        assert_eq!([long, short].into_iter().sum::<Duration>(), sum);
        sum -= short;
        assert_eq!(sum.units().to_bits(), (0.7_f64 + 0.1 - 0.1).to_bits());
        assert_eq!((long.max(short), long.min(short)), (long, short));
    }

    #[test]
    fn never_is_after_every_time() {
        assert!(Time::NEVER > Time::at(f64::MAX) && !Time::NEVER.is_finite() && Time::ZERO.is_finite());
        assert!(Duration::INFINITE > Duration::of(f64::MAX) && !Duration::INFINITE.is_finite());
        assert_eq!(Time::ZERO + Duration::INFINITE, Time::NEVER);
    }
}
