//! Random numbers for agents whose policy uses randomness.

use crate::population::AgentIndex;
use mario_domain::{RANDOM_NUMBERS, mixed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Separates the random numbers of this module from other uses of the same seed.
const STREAM: u64 = 0x6365_6c6c_6368_616e;

/// The random number for one evaluation of an agent: an integer from 0 to 999,999. It is a function of the arguments
/// alone, so it does not depend on the evaluation order or on the number of threads.
pub(crate) fn drawn(seed: u64, agent: AgentIndex, evaluation: u32) -> u32 {
    let which = (u64::from(agent.0) << 32) | u64::from(evaluation);
    let state = [mixed(seed ^ STREAM), mixed(which ^ STREAM.rotate_left(32))];
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&mixed(state[0] ^ state[1]).to_le_bytes());
    bytes[8..].copy_from_slice(&mixed(state[1].wrapping_add(state[0])).to_le_bytes());
    Pcg64Mcg::from_seed(bytes).random_range(0..RANDOM_NUMBERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly_over_agents_and_over_evaluations() {
        let share_below = |numbers: &mut dyn Iterator<Item = u32>| {
            let (mut below, mut count) = (0, 0);
            for number in numbers {
                assert!(number < RANDOM_NUMBERS);
                below += u32::from(number < RANDOM_NUMBERS / 5);
                count += 1;
            }
            f64::from(below) / f64::from(count)
        };
        let of_agents = share_below(&mut (0..10_000).map(|agent| drawn(1, AgentIndex(agent), 1)));
        let of_evaluations = share_below(&mut (0..10_000).map(|evaluation| drawn(1, AgentIndex(1), evaluation)));
        let of_seeds = share_below(&mut (0..10_000).map(|seed| drawn(seed, AgentIndex(1), 1)));
        for share in [of_agents, of_evaluations, of_seeds] {
            assert!((share - 0.2).abs() < 0.015, "{share}");
        }
    }
}
