//! Means, maxima and correlations for the figures.

use super::{MeanAndMax, StepCounts};

/// The mean; `None` without values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u64);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}

/// The mean and the maximum; `None` without values.
pub(super) fn spread(values: &[u64]) -> Option<MeanAndMax> {
    let max = *values.iter().max()?;
    Some(MeanAndMax { mean: values.iter().sum::<u64>() as f64 / values.len() as f64, max })
}

/// Pearson's r between the movements and the operations (migrates, replicates and undeploys) of each step; `None` if
/// either series is constant or empty.
pub(super) fn pearson(steps: &[StepCounts]) -> Option<f64> {
    let count = steps.len() as f64;
    let operations = |step: &StepCounts| step.migrate + step.replicate + step.undeploy;
    let mean_movements = steps.iter().map(|step| step.movements).sum::<u64>() as f64 / count;
    let mean_operations = steps.iter().map(operations).sum::<u64>() as f64 / count;
    let (mut both, mut of_movements, mut of_operations) = (0.0, 0.0, 0.0);
    for step in steps {
        let movements = step.movements as f64 - mean_movements;
        let operations = operations(step) as f64 - mean_operations;
        both += movements * operations;
        of_movements += movements * movements;
        of_operations += operations * operations;
    }
    let scale = (of_movements * of_operations).sqrt();
    (scale > 0.0).then(|| both / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(pairs: &[(u64, u64)]) -> Vec<StepCounts> {
        let step = |(movements, migrate): &(u64, u64)| StepCounts {
            movements: *movements,
            migrate: *migrate,
            ..StepCounts::default()
        };
        pairs.iter().map(step).collect()
    }

    #[test]
    fn pearson_r_equals_the_value_computed_by_hand() {
        // Deviations -1, 0, 1 and -1, 1, 0: the sum of products is 1, the sums of squares are 2 and 2.
        let r = pearson(&steps(&[(1, 2), (2, 4), (3, 3)])).expect("no series is constant");
        assert!((r - 0.5).abs() < 1e-12, "{r}");
    }

    #[test]
    fn pearson_r_is_undefined_for_a_constant_series() {
        assert_eq!(pearson(&steps(&[(1, 2), (1, 4)])), None);
        assert_eq!(pearson(&steps(&[(1, 2), (2, 2)])), None);
        assert_eq!(pearson(&[]), None);
    }
}
