//! Mixing of bits, for everything that draws numbers from a seed.

/// Mixes the bits of a number, as the finalizer of `SplitMix64` does: consecutive numbers become unrelated ones. The
/// same on every platform and in every version.
pub fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_published_sequence_of_splitmix64_with_seed_0() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let drawn = [1, 2, 3].map(|count| mixed(step.wrapping_mul(count)));
        assert_eq!(drawn, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }
}
