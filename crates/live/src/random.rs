//! Random bits from the system.

use mario_domain::RANDOM_NUMBERS;
use rustls::crypto::ring;

/// 64 random bits.
pub(crate) fn number() -> u64 {
    let mut bytes = [0; 8];
    // Without system randomness, neither TLS nor anything else here can be secure.
    ring::default_provider().secure_random.fill(&mut bytes).expect("the system has randomness");
    u64::from_be_bytes(bytes)
}

/// The random number for one evaluation of an agent: a whole number from 0 to 999,999, as in the simulator.
pub(crate) fn drawn() -> u32 {
    // 2^64 is so much larger that all remainders are equally likely, up to one in 10^13.
    (number() % u64::from(RANDOM_NUMBERS)) as u32
}

/// 128 random bits: a unique identifier.
pub fn random_id() -> u128 {
    u128::from(number()) << 64 | u128::from(number())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_evaluations_are_spread_evenly_over_the_range_of_the_simulator() {
        let numbers: Vec<u32> = (0..10_000).map(|_| drawn()).collect();
        assert!(numbers.iter().all(|number| *number < RANDOM_NUMBERS));
        for fifth in 1..5 {
            let below = numbers.iter().filter(|number| **number < RANDOM_NUMBERS / 5 * fifth).count();
            // Six standard deviations are 300 or less.
            assert!(below.abs_diff(2_000 * fifth as usize) < 300, "{below} of 10,000 are in the first {fifth} fifths");
        }
    }
}
