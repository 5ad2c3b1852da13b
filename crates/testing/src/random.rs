//! Random numbers from a seed.

/// A generator of random numbers: `SplitMix64`, a counter and a mixing function.
///
/// Implemented here because stored results depend on the numbers, and a new version of a library might draw different
/// ones.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// An integer type that [`Random::below`] draws.
pub trait Whole: Copy {
    /// The number as a bound; it must be positive.
    fn bound(self) -> u64;
    /// Converts a number that is below a bound of this type.
    fn drawn(number: u64) -> Self;
}

macro_rules! whole {
    ($($type:ty),*) => {
        $(impl Whole for $type {
            #[allow(clippy::cast_lossless, reason = "not all of these types implement `Into<u64>`")]
            fn bound(self) -> u64 {
                assert!(self > 0, "nothing is below {self}");
                self as u64
            }

            fn drawn(number: u64) -> Self {
                number as Self
            }
        })*
    };
}

whole!(u8, u16, u32, u64, usize, i32, i64);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// A number that is uniformly distributed over all values.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number from 0 up to, but not including, `bound`.
    pub fn below<N: Whole>(&mut self, bound: N) -> N {
        N::drawn(self.number() % bound.bound())
    }

    /// A number from `first` to `last`, both included.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// A number from 0 up to, but not including, 1.
    pub fn fraction(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with probability 1 / `count`.
    pub fn one_in(&mut self, count: impl Whole) -> bool {
        self.number().is_multiple_of(count.bound())
    }

    /// True with this probability in percent.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100_u64) < percent
    }

    /// A random item. Panics if there are none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A copy of a random item. Panics if there are none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        *self.choose(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_algorithm() {
        // These numbers come from the reference implementation by Sebastiano Vigna, with seed 1234567.
        let mut random = Random::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([(); 3].map(|()| random.number()), expected);
    }

    #[test]
    fn draws_all_numbers_of_a_range_and_no_other() {
        let mut random = Random::new(1);
        let mut seen = [0_u32; 5];
        for _ in 0..5_000 {
            seen[random.below(5_usize)] += 1;
            assert!((3..=4).contains(&random.between(3, 4)));
            assert!((0.0..1.0).contains(&random.fraction()));
        }
        assert!(seen.iter().all(|count| (900..1_100).contains(count)), "{seen:?}");
    }
}
