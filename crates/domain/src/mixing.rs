//! Mixing of bits, for everything that draws numbers from a seed, and a hash for names and fingerprints.

use std::fmt;

/// Mixes the bits of a number, as the finalizer of `SplitMix64` does: consecutive numbers become unrelated ones. The
/// same on every platform and in every version.
pub fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The random number that an agent sees as `fact(Instance, random, Number)` is a whole number from 0 to one less than
/// this.
pub const RANDOM_NUMBERS: u32 = 1_000_000;

/// A 64-bit FNV-1a hash. It detects accidental changes, and is the same on every platform and in every version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// Adds a byte, or a larger unit, which counts as one.
    pub fn add(&mut self, unit: impl Into<u64>) {
        self.0 = (self.0 ^ unit.into()).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// The hash of everything that was added.
    pub fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Fnv1a {
    fn default() -> Fnv1a {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }
}

impl<U: Into<u64>> FromIterator<U> for Fnv1a {
    fn from_iter<I: IntoIterator<Item = U>>(units: I) -> Fnv1a {
        let mut hash = Fnv1a::default();
        units.into_iter().for_each(|unit| hash.add(unit));
        hash
    }
}

impl fmt::Write for Fnv1a {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.add(byte));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    #[test]
    fn fnv1a_equals_its_published_values() {
        for (text, hash) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(text.bytes().collect::<Fnv1a>().finish(), hash, "{text}");
            let mut written = Fnv1a::default();
            write!(written, "{text}").expect("a hash can always be written to");
            assert_eq!(written.finish(), hash, "{text}");
        }
    }

    #[test]
    fn equals_the_published_sequence_of_splitmix64_with_seed_0() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let drawn = [1, 2, 3].map(|count| mixed(step.wrapping_mul(count)));
        assert_eq!(drawn, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }
}
