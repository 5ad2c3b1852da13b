use mario_testing::Random;

use super::*;

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} is not {expected}");
}

// The expected values in this file are those of SciPy 1.17 unless a comment derives them.

const TWELVE: [f64; 12] = [1.5, -0.4, 2.2, 3.1, 0.7, -1.1, 2.9, 1.3, 0.2, 4.0, -0.9, 2.6];

#[test]
fn the_interval_of_a_mean_equals_scipys() {
    let found = Estimate::of(&[2.0, 4.0, 4.0, 5.0, 10.0]).expect("values");
    close(found.mean, 5.0);
    let [low, high] = found.interval.expect("five values");
    close(low, 1.275_008_005_388_707_4);
    close(high, 8.724_991_994_611_292);
    assert_eq!(Estimate::of(&[]), None);
    assert_eq!(Estimate::of(&[7.0]), Some(Estimate { count: 1, mean: 7.0, interval: None }));
    assert_eq!(Estimate::of(&[7.0; 3]).and_then(|same| same.interval), Some([7.0, 7.0]));
}

#[test]
fn the_paired_t_test_equals_scipys() {
    let first = [3.1, 2.7, 4.4, 5.0, 3.9, 4.1, 2.2, 3.3, 4.8, 3.6];
    let second = [2.9, 2.1, 4.5, 4.2, 3.1, 3.6, 2.4, 2.6, 4.1, 2.7];
    let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
    let found = PairedTest::of(&pairs).expect("ten pairs");
    close(found.difference.mean, -0.49);
    let [low, high] = found.difference.interval.expect("ten pairs");
    close(low, -0.768_999_383_411_778_5);
    close(high, -0.211_000_616_588_221_56);
    close(found.p_of_mean.expect("there is spread"), 0.003_240_039_210_725_899);
    close(found.standardised.expect("there is spread").mean, -1.256_364_367_688_519);
}

#[test]
fn the_signed_rank_test_equals_scipys() {
    close(signed_ranks(&TWELVE), 0.026_855_468_75);
    close(signed_ranks(&[-0.21, -0.63, 0.14, -0.85, -0.82, -0.5, 0.25, -0.71, -0.77, -0.93]), 0.013_671_875);
    let sixty: Vec<f64> =
        (1..=60).map(|place| ((f64::from(place).sin() * 3.0 + 0.7) * 1000.0).round() / 1000.0).collect();
    assert!((signed_ranks(&sixty) - 0.006_747_212_202_345_499).abs() < 1e-7);
    // The ranks are 2, 2, 2, 5, 5, 5, 7.5, 7.5. In 37 of the 256 assignments of signs, the negative ranks add up to at
    // most 9.5.
    close(signed_ranks(&[1.0, 1.0, -1.0, 2.0, 2.0, 2.0, -3.0, 3.0]), 74.0 / 256.0);
    close(signed_ranks(&[0.0; 9]), 1.0);
    // Of the 32 assignments of signs to five differences, only the two with equal signs are this extreme.
    close(signed_ranks(&[3.0; 5]), 2.0 / 32.0);
}

#[test]
fn the_hodges_lehmann_estimate_has_the_interval_of_the_signed_rank_test() {
    let pairs = TWELVE.map(|difference| (10.0, 10.0 + difference));
    let found = PairedTest::of(&pairs).expect("twelve pairs");
    close(found.shift.mean, 1.375);
    // For twelve differences, 13 is the greatest sum of ranks w such that a sum of at most w has a probability of at
    // most 0.025.
    let [low, high] = found.shift.interval.expect("twelve pairs");
    close(low, 0.2);
    close(high, 2.6);
    close(found.effect.mean, 0.717_948_717_948_718);
    let few = PairedTest::of(&pairs[..5]).expect("five pairs");
    assert_eq!(few.shift.interval, None, "five seeds cannot be sure by 95 %");
}

#[test]
fn one_extreme_run_does_not_hide_a_difference_in_every_seed() {
    let pairs: Vec<(f64, f64)> =
        (0..20).map(|seed| (4.0, if seed == 7 { 9000.0 } else { 15.0 + f64::from(seed) / 10.0 })).collect();
    let found = PairedTest::of(&pairs).expect("pairs");
    assert!(found.p < 1e-5 && found.p_of_mean.is_some_and(|p| p > 0.2));
    assert!((11.0..14.0).contains(&found.shift.mean));
    close(found.effect.mean, 1.0);
}

#[test]
fn one_pair_has_no_test_and_constant_differences_no_t_test() {
    assert_eq!(PairedTest::of(&[]), None);
    assert_eq!(PairedTest::of(&[(1.0, 2.0)]), None);
    let same = PairedTest::of(&[(1.0, 1.0); 8]).expect("pairs");
    assert_eq!((same.p, same.p_of_mean, same.standardised), (1.0, None, None));
    let shifted = PairedTest::of(&[(1.0, 3.0); 8]).expect("pairs");
    assert_eq!((shifted.p, shifted.p_of_mean), (2.0 / 256.0, None));
}

#[test]
fn holms_correction_equals_the_one_computed_by_hand() {
    // Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.04; the corrected values never decrease.
    let found = holm(&[0.04, 0.01, 0.03, 0.02]);
    for (found, expected) in found.into_iter().zip([0.06, 0.04, 0.06, 0.06]) {
        close(found, expected);
    }
    assert_eq!(holm(&[]), [0.0; 0]);
    assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
}

/// Draws a number from the standard normal distribution (Box-Muller transform).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.fraction()).ln()).sqrt() * (std::f64::consts::TAU * random.fraction()).cos()
}

#[test]
fn the_false_positive_rate_is_five_percent_for_tests_and_for_corrected_families() {
    const FAMILIES: usize = 1000;
    const FIGURES: usize = 10;
    const SEEDS: usize = 20;
    let mut random = Random::new(7);
    let (mut by_ranks, mut by_mean, mut families) = (0, 0, 0);
    for _ in 0..FAMILIES {
        let test = |_| {
            // `common` is the effect of the seed on both policies, which pairing removes.
            let pair = |_| {
                let common = 5.0 * normal(&mut random);
                (common + normal(&mut random), common + normal(&mut random))
            };
            PairedTest::of(&(0..SEEDS).map(pair).collect::<Vec<_>>()).expect("pairs")
        };
        let tests: Vec<PairedTest> = (0..FIGURES).map(test).collect();
        by_ranks += tests.iter().filter(|test| test.p <= 0.05).count();
        by_mean += tests.iter().filter(|test| test.p_of_mean.is_some_and(|p| p <= 0.05)).count();
        let corrected = holm(&tests.iter().map(|test| test.p).collect::<Vec<_>>());
        families += usize::from(corrected.iter().any(|p| *p <= 0.05));
    }
    // Without a real difference, 500 of 10,000 tests are expected to be positive, with a standard deviation of 22, and
    // at most 50 of 1,000 families, with a standard deviation of 7.
    assert!((420..=570).contains(&by_ranks), "{by_ranks} of 10,000");
    assert!((420..=580).contains(&by_mean), "{by_mean} of 10,000");
    assert!((20..=75).contains(&families), "{families} of 1,000");
}
