//! Wilcoxon's signed-rank test.

use statrs::distribution::{ContinuousCDF, Normal};

/// Up to this many differences without ties the probability is exact; beyond, and with ties, it is that of the normal
/// distribution.
const EXACT_MAX: usize = 50;

/// The two-sided probability of ranks as uneven as these where there is no difference. Differences of 0 say nothing and are
/// left out; equal ones share their ranks.
pub fn signed_ranks(differences: &[f64]) -> f64 {
    let mut left: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if left.is_empty() {
        return 1.0;
    }
    left.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let count = left.len();
    let (mut positive, mut ties) = (0.0, 0.0);
    let mut start = 0;
    while start < count {
        let size = left[start..].iter().take_while(|other| other.abs() <= left[start].abs()).count();
        // Ranks count from 1.
        let rank = start as f64 + (size as f64 + 1.0) / 2.0;
        positive += rank * left[start..start + size].iter().filter(|difference| **difference > 0.0).count() as f64;
        ties += (size * size * size - size) as f64;
        start += size;
    }
    // All the same in size: the signs are all there is, and their probability is exact.
    let is_one_size = ties as usize == count * count * count - count;
    let signs = left.iter().filter(|difference| **difference > 0.0).count();
    if is_one_size && count <= EXACT_MAX {
        return sign_probability(count, signs.min(count - signs));
    }
    let total = (count * (count + 1)) as f64 / 2.0;
    if ties == 0.0 && count <= EXACT_MAX {
        return exact(count, positive.min(total - positive) as usize);
    }
    let n = count as f64;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let z = (positive - total / 2.0).abs() / variance.sqrt();
    (2.0 * Normal::standard().cdf(-z)).min(1.0)
}

/// Twice the share of all ways to choose among the ranks 1..=count whose sum is at most `sum`.
fn exact(count: usize, sum: usize) -> f64 {
    let total = count * (count + 1) / 2;
    let mut ways = vec![0.0; total + 1];
    ways[0] = 1.0;
    for rank in 1..=count {
        for place in (rank..=total).rev() {
            ways[place] += ways[place - rank];
        }
    }
    let at_most: f64 = ways[..=sum].iter().sum();
    (2.0 * at_most / 2_f64.powi(count as i32)).min(1.0)
}

/// Twice the probability of at most so many heads in so many throws of a fair coin.
fn sign_probability(throws: usize, heads: usize) -> f64 {
    let mut ways = 1.0;
    let mut at_most = 1.0;
    for head in 1..=heads {
        ways *= (throws - head + 1) as f64 / head as f64;
        at_most += ways;
    }
    (2.0 * at_most / 2_f64.powi(throws as i32)).min(1.0)
}
