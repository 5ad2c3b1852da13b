//! The correlation of two series of counts.

/// Pearson's r of pairs of counts; `None` if either series is constant.
pub fn pearson(pairs: &[(u64, u64)]) -> Option<f64> {
    let is_constant = |part: fn(&(u64, u64)) -> u64| pairs.windows(2).all(|two| part(&two[0]) == part(&two[1]));
    if is_constant(|pair| pair.0) || is_constant(|pair| pair.1) {
        return None;
    }
    let mean = |part: fn(&(u64, u64)) -> u64| pairs.iter().map(part).sum::<u64>() as f64 / pairs.len() as f64;
    let (mean_x, mean_y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
        pairs.iter().map(|(x, y)| term(*x as f64 - mean_x, *y as f64 - mean_y)).sum()
    };
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    Some(xy / (xx * yy).sqrt())
}
