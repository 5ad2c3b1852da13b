//! Numbers of a run other than the figures of groups: figures of single applications, calls, tiers and rules, costs,
//! and user-defined metrics.

use std::collections::BTreeMap;

use super::Values;
use crate::figures::{ApplicationFigures, Measurements};

/// The description of a number that is not a figure of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtraMeasure {
    /// The name shown to users.
    pub title: String,
    /// The name of what is measured, without the application, tier, call or rule that it is measured for.
    pub quantity: String,
    /// The application, tier, call or rule that it is measured for; empty if it is measured for the whole run.
    pub of: String,
    /// Its unit; empty when it has none.
    pub unit: &'static str,
    /// The number of decimals for values that are not small; see [`ExtraMeasure::decimals_for`].
    pub decimals: usize,
    /// Whether a smaller value is better. If `false`, neither a smaller nor a larger value is judged better.
    pub is_cost: bool,
    /// Whether policies are compared by it.
    pub is_compared: bool,
}

impl ExtraMeasure {
    /// Returns the number of decimals to show for a value: `decimals`, or enough for three significant digits if the
    /// value is below 0.1, but at most 15. If `decimals` is less than 3, always returns `decimals`.
    pub fn decimals_for(&self, value: f64) -> usize {
        const DECIMALS_MAX: f64 = 15.0;
        let size = value.abs();
        if self.decimals < 3 || size >= 0.1 || size.is_nan() || size == 0.0 {
            return self.decimals;
        }
        self.decimals.max((2.0 - size.log10().floor()).min(DECIMALS_MAX) as usize)
    }
}

/// The prefix of the names of user-defined metrics.
pub const METRIC: &str = "metric/";

/// The name of the measure that counts the client requests that were neither served nor lost by the end of the run.
pub const UNANSWERED: &str = "unanswered";

const APPLICATION: &str = "application/";
const TIER: &str = "tier/";
const RULE: &str = "rule/";
const CALL: &str = "call/";

/// The numbers of an application: name in files, name for users, unit, decimals, whether smaller is better, and whether
/// policies are compared by it. Counts of operations and the mean number of instances are not compared, because those
/// of groups already are.
const OF_APPLICATION: [(&str, &str, &str, usize, bool, bool); 12] = [
    ("late_share", "share of served requests that were late", "", 4, true, true),
    ("response_p50", "response time p50", "ms", 3, true, false),
    ("response_p95", "response time p95", "ms", 3, true, true),
    ("response_p99", "response time p99", "ms", 3, true, true),
    ("response_max", "longest response time", "ms", 3, true, false),
    ("throughput", "throughput", "requests/s", 3, false, true),
    ("instances_mean", "instances, mean", "", 2, true, false),
    ("instances_max", "instances, at most", "", 1, true, false),
    ("replicate", "replicate", "", 1, true, false),
    ("migrate", "migrate", "", 1, true, false),
    ("undeploy", "undeploy", "", 1, true, false),
    ("inhibited", "inhibited", "", 1, true, false),
];

/// The costs of a run: name in files, name for users, and unit.
const COSTS: [(&str, &str, &str); 5] = [
    ("energy_joules", "energy", "J"),
    ("node_joules", "energy of nodes", "J"),
    ("link_joules", "energy of links", "J"),
    ("money", "money", ""),
    ("carbon_grams", "carbon", "g"),
];

/// The description of the number with this name in files; `None` for figures of groups, for `lost` and for unknown
/// names.
pub fn extra(name: &str) -> Option<ExtraMeasure> {
    let new = |quantity: &str, of: &str, unit, decimals, is_cost, is_compared| {
        let separator = match of {
            "" => "",
            _ if quantity.ends_with(" of tier") || quantity.ends_with(" by") || quantity.starts_with("calls") => " ",
            _ => ", ",
        };
        ExtraMeasure {
            title: format!("{quantity}{separator}{of}"),
            quantity: quantity.to_owned(),
            of: of.to_owned(),
            unit,
            decimals,
            is_cost,
            is_compared,
        }
    };
    if let Some(metric) = name.strip_prefix(METRIC) {
        return (!metric.is_empty()).then(|| new(metric, "", "", 3, false, true));
    }
    if name == UNANSWERED {
        return Some(new("unanswered client requests", "", "", 1, true, true));
    }
    if let Some((_, title, unit)) = COSTS.into_iter().find(|(known, ..)| *known == name) {
        // Only the total energy is compared, because it is the sum of the energy of nodes and of links.
        let is_compared = !["node_joules", "link_joules"].contains(&name);
        return Some(new(title, "", unit, 3, true, is_compared));
    }
    let (of, measure) = name.rsplit_once('.')?;
    if let Some(application) = of.strip_prefix(APPLICATION) {
        let (_, title, unit, decimals, is_cost, is_compared) =
            OF_APPLICATION.into_iter().find(|(known, ..)| *known == measure)?;
        return Some(new(title, application, unit, decimals, is_cost, is_compared));
    }
    if let Some(tier) = of.strip_prefix(TIER) {
        return match measure {
            "utilisation" => Some(new("utilisation of tier", tier, "", 4, false, true)),
            "energy_joules" => Some(new("energy of tier", tier, "J", 3, true, false)),
            _ => None,
        };
    }
    if let Some(call) = of.strip_prefix(CALL) {
        return match measure {
            "response_mean" => Some(new("response time", call, "ms", 3, true, true)),
            "served" => Some(new("calls served", call, "", 1, false, false)),
            "lost" => Some(new("calls lost", call, "", 1, true, false)),
            _ => None,
        };
    }
    let rule = of.strip_prefix(RULE).filter(|_| measure == "inhibited")?;
    Some(new("inhibited by", rule, "", 1, true, false))
}

/// The names of figures that are not figures of groups, with `ID`, `NAME` and the like for what they are measured for.
pub fn extra_names() -> Vec<String> {
    let of_applications = OF_APPLICATION.iter().map(|(measure, ..)| format!("{APPLICATION}ID.{measure}"));
    let costs = COSTS.iter().map(|(name, ..)| (*name).to_owned());
    let others = ["tier/NAME.utilisation", "tier/NAME.energy_joules", "call/CALLER>CALLED.response_mean"];
    let others = others.into_iter().chain(["rule/RULE.inhibited", "metric/NAME"]).map(str::to_owned);
    std::iter::once(UNANSWERED.to_owned()).chain(costs).chain(of_applications).chain(others).collect()
}

/// Returns the numbers of applications, calls, tiers, rules and costs, by name.
pub fn measured_values(measured: &Measurements) -> Values {
    let mut values = Values::new();
    for figures in &measured.applications {
        for (measure, ..) in OF_APPLICATION {
            values.insert(format!("{APPLICATION}{}.{measure}", figures.application), of_application(figures, measure));
        }
    }
    // Calls of one application by another are combined over all stages of the caller.
    let mut calls: BTreeMap<(&str, &str), (u64, u64, f64)> = BTreeMap::new();
    for figures in &measured.calls {
        let (served, lost, sum) = calls.entry((&figures.caller, &figures.application)).or_default();
        *served += figures.served;
        *lost += figures.lost;
        *sum += figures.response_mean.unwrap_or(0.0) * figures.served as f64;
    }
    for ((caller, application), (served, lost, sum)) in calls {
        let name = |measure: &str| format!("{CALL}{caller}>{application}.{measure}");
        values.insert(name("response_mean"), (served > 0).then(|| sum / served as f64));
        values.insert(name("served"), Some(served as f64));
        values.insert(name("lost"), Some(lost as f64));
    }
    for tier in &measured.tiers {
        values.insert(format!("{TIER}{}.utilisation", tier.name), tier.utilisation);
        if tier.energy_joules.is_some() {
            values.insert(format!("{TIER}{}.energy_joules", tier.name), tier.energy_joules);
        }
    }
    let mut rules: BTreeMap<&str, u64> = BTreeMap::new();
    for inhibitions in &measured.inhibitions {
        *rules.entry(&inhibitions.rule).or_default() += inhibitions.count;
    }
    // Every run has a value for every rule, so that tables of many runs have the same columns.
    for rule in mario_trace::reader::SIMULATED_RULES {
        let count = rules.get(rule).copied().unwrap_or(0);
        values.insert(format!("{RULE}{rule}.inhibited"), Some(count as f64));
    }
    if let Some(cost) = measured.consumption {
        let amounts = [
            Some(cost.energy_joules),
            Some(cost.node_joules),
            Some(cost.link_joules),
            Some(cost.money),
            cost.carbon_grams,
        ];
        values.extend(COSTS.into_iter().zip(amounts).map(|((name, ..), amount)| (name.to_owned(), amount)));
    }
    values
}

fn of_application(figures: &ApplicationFigures, measure: &str) -> Option<f64> {
    let whole = |count: u64| Some(count as f64);
    match measure {
        "late_share" => figures.late_share,
        "response_p50" => figures.response_p50,
        "response_p95" => figures.response_p95,
        "response_p99" => figures.response_p99,
        "response_max" => figures.response_max,
        "throughput" => Some(figures.throughput),
        "instances_mean" => Some(figures.instances.mean),
        "instances_max" => whole(figures.instances.max),
        "replicate" => whole(figures.operations.replicate),
        "migrate" => whole(figures.operations.migrate),
        "undeploy" => whole(figures.operations.undeploy),
        "inhibited" => whole(figures.operations.inhibited),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{CallFigures, Consumption, Inhibitions, MeanAndMax, OperationCounts, TierFigures};

    #[test]
    fn small_numbers_are_shown_with_three_digits() {
        let money = extra("money").expect("a cost");
        let shown = |value: f64| format!("{value:.*}", money.decimals_for(value));
        let found = [0.0, 12.34567, 0.25, 0.004_903_1, -1.234_567e-5, 1e-40].map(shown);
        assert_eq!(found, ["0.000", "12.346", "0.250", "0.00490", "-0.0000123", "0.000000000000000"]);
        // Numbers with one decimal keep it, even if the value is small.
        assert_eq!(extra("application/a.instances_max").map(|extra| extra.decimals_for(0.01)), Some(1));
    }

    #[test]
    fn every_value_of_a_run_has_a_description() {
        let application = ApplicationFigures {
            application: "a.b".to_owned(),
            kind: "WS".to_owned(),
            served: 4,
            lost: 0,
            throughput: 2.0,
            late_share: Some(0.25),
            response_p50: Some(1.0),
            response_p95: Some(2.0),
            response_p99: Some(3.0),
            response_max: Some(4.0),
            operations: OperationCounts { migrate: 7, ..OperationCounts::default() },
            instances: MeanAndMax { mean: 1.5, max: 2 },
        };
        let tier = TierFigures { tier: 1, name: "edge".to_owned(), utilisation: None, energy_joules: Some(9.0) };
        let inhibitions = Inhibitions { node: "n".to_owned(), rule: "capacity".to_owned(), count: 3 };
        let call = CallFigures {
            caller: "a.b".to_owned(),
            application: "c".to_owned(),
            stage: 1,
            order: "sequence".to_owned(),
            requests: 2,
            sent: 9,
            served: 1,
            lost: 2,
            response_mean: Some(8.0),
        };
        let consumption =
            Consumption { node_joules: 1.0, link_joules: 2.0, energy_joules: 3.0, money: 4.0, carbon_grams: None };
        let measured = Measurements {
            applications: vec![application],
            inhibitions: vec![inhibitions.clone(), Inhibitions { node: "m".to_owned(), ..inhibitions }],
            calls: vec![call.clone(), CallFigures { served: 3, response_mean: Some(4.0), ..call }],
            tiers: vec![tier],
            consumption: Some(consumption),
        };
        let values = measured_values(&measured);
        assert!(values.keys().all(|name| extra(name).is_some()), "{values:?}");
        assert_eq!(values["application/a.b.migrate"], Some(7.0));
        assert_eq!(values["application/a.b.late_share"], Some(0.25));
        assert_eq!(values["rule/capacity.inhibited"], Some(6.0));
        assert_eq!(values["call/a.b>c.response_mean"], Some(5.0));
        assert_eq!(values["call/a.b>c.lost"], Some(4.0));
        assert_eq!((values["money"], values["carbon_grams"]), (Some(4.0), None));
        assert_eq!(
            extra("application/a.b.response_p95").map(|extra| extra.title),
            Some("response time p95, a.b".to_owned())
        );
        assert_eq!(extra("metric/jain").map(|extra| extra.title), Some("jain".to_owned()));
        for name in ["all.response", "lost", "metric/", "application/a.colour", "tier/x.response"] {
            assert_eq!(extra(name), None, "{name}");
        }
    }
}
