//! The time and memory of runs by number of nodes, from the JSON that `mario bench scale` writes.

use std::error::Error;
use std::fmt;

use serde::Serialize;

use mario_experiments::scale::ScaleMeasurement;

/// The measurements of one file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Scale {
    /// The name on the page.
    pub name: String,
    /// The measurements, sorted by number of nodes.
    pub points: Vec<ScaleMeasurement>,
}

/// Why a text is not a list of measurements.
#[derive(Debug)]
pub enum ScaleError {
    /// It is not JSON, or not of the right shape.
    Json(serde_json::Error),
    /// It has no measurements.
    Empty,
    /// A number is out of range.
    Number {
        /// The position of the measurement in the list, from 1.
        place: usize,
        /// The key of the number.
        key: &'static str,
        /// The reason.
        why: &'static str,
    },
}

impl Scale {
    /// Reads the output of `mario bench scale --format json`.
    pub fn read(name: &str, text: &str) -> Result<Scale, ScaleError> {
        let mut points: Vec<ScaleMeasurement> = serde_json::from_str(text).map_err(ScaleError::Json)?;
        if points.is_empty() {
            return Err(ScaleError::Empty);
        }
        for (place, point) in points.iter().enumerate() {
            let fault = |key, why| Err(ScaleError::Number { place: place + 1, key, why });
            if point.nodes == 0 {
                return fault("nodes", "must be at least 1");
            }
            if point.evaluated > point.asked {
                return fault("evaluated", "must be no more than `asked`");
            }
            for (key, number) in [("cpu_ns_per_agent_cycle", point.cpu_ns_per_agent_cycle), ("wall_s", point.wall_s)] {
                if number < 0.0 {
                    return fault(key, "must not be negative");
                }
            }
        }
        points.sort_by_key(|point| point.nodes);
        Ok(Scale { name: name.to_owned(), points })
    }
}

impl fmt::Display for ScaleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScaleError::Json(_) => formatter.write_str("this is not a list of measurements"),
            ScaleError::Empty => formatter.write_str("there is no measurement in it"),
            ScaleError::Number { place, key, why } => write!(formatter, "`{key}` of measurement {place} {why}"),
        }
    }
}

impl Error for ScaleError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ScaleError::Json(error) => Some(error),
            ScaleError::Empty | ScaleError::Number { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(nodes: u64, evaluated: i64, wall_s: f64) -> String {
        format!(
            r#"{{"nodes":{nodes},"users":3,"agents":2,"cycles":4,"asked":8,"evaluated":{evaluated},"cpu_ns_per_agent_cycle":900.5,"peak_bytes":1000,"wall_s":{wall_s}}}"#
        )
    }

    #[test]
    fn measurements_are_sorted_by_size() {
        let scale = Scale::read("s", &format!("[{},{}]", point(341, 5, 1.0), point(85, 8, 0.5))).expect("measurements");
        assert_eq!(scale.points.iter().map(|point| point.nodes).collect::<Vec<u64>>(), [85, 341]);
    }

    #[test]
    fn errors_in_measurements_are_located() {
        let refusal = |text: &str| {
            let error = Scale::read("s", text).expect_err("it is wrong");
            error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
        };
        assert_eq!(refusal("[]"), "there is no measurement in it");
        assert_eq!(refusal("nodes"), "this is not a list of measurements: expected ident at line 1 column 2");
        assert!(refusal("[{\"nodes\":85}]").contains("missing field `users` at line 1"));
        let wrong = format!("[{},{}]", point(85, 8, 1.0), point(341, 9, 1.0));
        assert_eq!(refusal(&wrong), "`evaluated` of measurement 2 must be no more than `asked`");
        assert_eq!(refusal(&format!("[{}]", point(0, 8, 1.0))), "`nodes` of measurement 1 must be at least 1");
        assert_eq!(refusal(&format!("[{}]", point(1, 8, -1.0))), "`wall_s` of measurement 1 must not be negative");
    }
}
