//! How far the placement was from the best.

/// See [`Record::Regret`](super::Record::Regret).
#[derive(Clone, PartialEq, Debug)]
pub struct Regret {
    /// When.
    pub time: f64,
    /// How the best was looked for.
    pub search: Search,
    /// Connected users.
    pub users: u64,
    /// What the placement is worth.
    pub actual: Worth,
    /// What the best placement known is worth.
    pub best: Worth,
}

/// How the best placement was searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// There may be a better one.
    Greedy,
    /// There is no better one.
    Exact,
}

/// What a placement is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Worth {
    /// Applications with at least one instance.
    pub present: u64,
    /// Users who are satisfied.
    pub satisfied: u64,
    /// Users who reach an instance.
    pub served: u64,
    /// The latency of those users, summed up, in millionths.
    pub latency_millionths: u64,
    /// Instances.
    pub instances: u64,
}

impl Search {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Search::Greedy => "greedy",
            Search::Exact => "exact",
        }
    }
}

impl Worth {
    /// Whether it is worth less than another.
    pub fn is_less_than(&self, other: &Worth) -> bool {
        let first = |worth: &Worth| (worth.present, worth.satisfied, worth.served);
        let then = |worth: &Worth| (worth.latency_millionths, worth.instances);
        (first(self), then(other)) < (first(other), then(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_users_come_before_less_latency_and_fewer_instances() {
        let worth = |satisfied, latency_millionths, instances| Worth {
            present: 1,
            satisfied,
            served: 9,
            latency_millionths,
            instances,
        };
        assert!(worth(3, 1, 1).is_less_than(&worth(4, 9, 9)));
        assert!(worth(4, 9, 1).is_less_than(&worth(4, 8, 9)));
        assert!(worth(4, 8, 9).is_less_than(&worth(4, 8, 8)));
        assert!(!worth(4, 8, 8).is_less_than(&worth(4, 8, 8)));
    }
}
