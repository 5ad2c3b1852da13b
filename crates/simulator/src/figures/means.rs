//! Means; `None` without values.

use super::Spread;

pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u64);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}

pub(super) fn spread(values: &[u64]) -> Option<Spread> {
    let max = *values.iter().max()?;
    Some(Spread { mean: values.iter().sum::<u64>() as f64 / values.len() as f64, max })
}
