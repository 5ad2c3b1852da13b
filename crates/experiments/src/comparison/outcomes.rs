//! Which figures are compared, and which of them are primary outcomes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Figure, Role};
use crate::measures::{LOST, Measure, Values, extra, groups, key};

/// The figures to compare, primary outcomes first. `declared` are the names of the primary outcomes; if it is empty,
/// they are the response times and the lost client requests. If all applications are of one kind, its figures are omitted
/// unless they are declared, because they equal those of the group `all`.
pub(super) fn figures(runs: &[BTreeMap<u64, &Values>], declared: &[String]) -> Vec<Figure> {
    let all = || runs.iter().flat_map(|seeds| seeds.values().copied());
    let Some(values) = all().next() else { return Vec::new() };
    // The names are collected from all runs, because some may lack a metric.
    let names: BTreeSet<&String> = all().flat_map(|values| values.keys()).collect();
    let mut groups = groups(values);
    if let [all_applications, kind] = groups.as_slice() {
        // They differ if there are also applications without a kind.
        let is_equal = |values: &Values| {
            let of = |group: &str| Measure::COMPARED.map(|measure| values.get(&key(group, measure)).copied().flatten());
            of(all_applications) == of(kind)
        };
        if all().all(is_equal) {
            groups.truncate(1);
        }
    }
    let of_groups = |measure: Measure| groups.iter().map(move |group| key(group, measure));
    // A kind that only other applications call has no response times of its own.
    let is_known = |name: &String| all().any(|values| values.get(name).copied().flatten().is_some());
    let usual = || of_groups(Measure::Response).chain([LOST.to_owned()]).filter(is_known).collect();
    let primary: Vec<String> = if declared.is_empty() {
        usual()
    } else {
        declared.iter().filter(|name| names.contains(name)).cloned().collect()
    };
    let of_runs =
        names.iter().filter(|name| extra(name).is_some_and(|extra| extra.is_compared)).map(|name| (*name).clone());
    let others = Measure::COMPARED.into_iter().flat_map(of_groups).chain([LOST.to_owned()]).chain(of_runs);
    let others: Vec<String> = others.filter(|name| !primary.contains(name)).collect();
    let with = |role: Role| move |name: String| figure(name, role);
    primary.into_iter().map(with(Role::Primary)).chain(others.into_iter().map(with(Role::Exploratory))).collect()
}

fn figure(name: String, role: Role) -> Figure {
    let extra = extra(&name);
    let of_group = if extra.is_some() { None } else { name.rsplit_once('.') };
    let measure = of_group.and_then(|(_, word)| Measure::ALL.into_iter().find(|measure| measure.as_str() == word));
    let group = of_group.map_or("all", |(group, _)| group).to_owned();
    Figure { name, role, group, measure, extra }
}
