//! Records of regret: the value of the placement compared with that of the best known one.

/// See [`TraceRecord::Regret`](super::TraceRecord::Regret).
#[derive(Clone, PartialEq, Debug)]
pub struct Regret {
    /// The time of the comparison.
    pub time: f64,
    /// How the best placement was searched for.
    pub search: Search,
    /// Connected users.
    pub users: u64,
    /// The value of the placement.
    pub actual: PlacementValue,
    /// The value of the best known placement.
    pub best: PlacementValue,
}

/// How the best placement was searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// Greedily: a better placement may exist.
    Greedy,
    /// Exactly: no better placement exists.
    Exact,
}

/// The value of a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlacementValue {
    /// Applications with at least one instance.
    pub present: u64,
    /// Users whose nearest instances are all within the tolerated latency and not overloaded.
    pub satisfied: u64,
    /// Users who reach an instance.
    pub served: u64,
    /// The total latency of the served users, in millionths of a millisecond.
    pub latency_millionths: u64,
    /// Instances.
    pub instances: u64,
}

impl Search {
    /// The word for the search in a trace.
    pub const fn as_str(self) -> &'static str {
        match self {
            Search::Greedy => "greedy",
            Search::Exact => "exact",
        }
    }
}

impl PlacementValue {
    /// Whether this value is less than another: fewer applications present, then fewer satisfied users, then fewer
    /// served users, then a higher latency, then more instances.
    pub fn is_less_than(&self, other: &PlacementValue) -> bool {
        let first = |value: &PlacementValue| (value.present, value.satisfied, value.served);
        let then = |value: &PlacementValue| (value.latency_millionths, value.instances);
        (first(self), then(other)) < (first(other), then(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_users_outweigh_less_latency_and_fewer_instances() {
        let value = |satisfied, latency_millionths, instances| PlacementValue {
            present: 1,
            satisfied,
            served: 9,
            latency_millionths,
            instances,
        };
        assert!(value(3, 1, 1).is_less_than(&value(4, 9, 9)));
        assert!(value(4, 9, 1).is_less_than(&value(4, 8, 9)));
        assert!(value(4, 8, 9).is_less_than(&value(4, 8, 8)));
        assert!(!value(4, 8, 8).is_less_than(&value(4, 8, 8)));
    }
}
