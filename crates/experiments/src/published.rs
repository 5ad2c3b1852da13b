//! The published results of the experiments.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// Published values by the name of the figure, `GROUP.MEASURE`.
pub type PublishedValues = BTreeMap<String, f64>;

/// The published results of one policy.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct PublishedResults {
    /// The figures in the paper.
    pub paper: PublishedValues,
    /// The figures of the prototype's stored run.
    pub run: PublishedValues,
}

/// The published results of `policy-1`, `policy-2`, `policy-3` or `policy-4`; `None` for other names.
pub fn published(policy: &str) -> Option<&'static PublishedResults> {
    static ALL: OnceLock<BTreeMap<String, PublishedResults>> = OnceLock::new();
    let all =
        ALL.get_or_init(|| toml::from_str(include_str!("../data/published.toml")).expect("a test reads the file"));
    all.get(policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::{Measure, key};

    #[test]
    fn published_values_name_existing_figures() {
        for policy in ["policy-1", "policy-2", "policy-3", "policy-4"] {
            let published = published(policy).expect("it was published");
            for name in published.paper.keys().chain(published.run.keys()) {
                let mut known =
                    ["all", "WS", "LS"].iter().flat_map(|group| Measure::ALL.map(|measure| key(group, measure)));
                assert!(known.any(|known| known == *name), "{policy} has {name}");
            }
        }
    }
}
