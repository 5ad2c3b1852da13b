//! Measures of single applications, calls, nodes and tiers: percentiles of response times, late requests, throughput,
//! inhibitions and utilisation. Also the cost of the run: energy, money and carbon.

use std::collections::BTreeMap;

use mario_domain::{Capacity, Id, Models};
use mario_trace::reader::{CallOrder, Calls, Detail, Header, Latency, Responses};
use serde::{Deserialize, Serialize};

use super::response_times::ResponseTimes;
use super::{MeanAndMax, OperationCounts};

/// The measures of single applications, calls, nodes and tiers, and the cost of the run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Measurements {
    /// The figures of each application.
    pub applications: Vec<ApplicationFigures>,
    /// Inhibited proposals by rule and node; empty for a trace of counts.
    pub inhibitions: Vec<Inhibitions>,
    /// The figures of each tier, from the top down; empty for a trace of counts.
    pub tiers: Vec<TierFigures>,
    /// The figures of each call of one application by another; empty if there are no calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallFigures>,
    /// The cost of the run; `None` if the scenario has no models of cost, or for a trace of counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumption: Option<Consumption>,
}

/// The figures of one application.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApplicationFigures {
    /// The application.
    pub application: String,
    /// The group that it belongs to.
    pub kind: String,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// Client requests served per second of the run.
    pub throughput: f64,
    /// The share of served requests that took longer than tolerated; `None` if none was served or the trace does not
    /// record it.
    pub late_share: Option<f64>,
    /// The median response time, in milliseconds. Percentiles are midpoints of histogram buckets, but at most
    /// `response_max` if the trace records it; `None` if no request was served.
    pub response_p50: Option<f64>,
    /// The 95th percentile of the response time, in milliseconds.
    pub response_p95: Option<f64>,
    /// The 99th percentile of the response time, in milliseconds.
    pub response_p99: Option<f64>,
    /// The longest response time, in milliseconds; `None` if no request was served or the trace does not record it.
    pub response_max: Option<f64>,
    /// Accepted undeploys, migrations and replications, inhibited proposals, and evaluations that proposed nothing.
    pub operations: OperationCounts,
    /// Mean and maximum number of instances, sampled after each cycle; 0 without cycles.
    pub instances: MeanAndMax,
}

/// The results of the requests that instances of one application sent to another in one stage.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CallFigures {
    /// The application whose instances make the call.
    pub caller: String,
    /// The application that is called.
    pub application: String,
    /// The number of the caller's stage that makes the call, from 1.
    pub stage: u32,
    /// `parallel` if the requests of the stage are sent at once, `sequence` if one after another.
    pub order: String,
    /// The number of requests sent per request that the caller serves.
    pub requests: u64,
    /// Requests sent.
    pub sent: u64,
    /// Requests served.
    pub served: u64,
    /// Requests lost.
    pub lost: u64,
    /// The mean response time of the served requests, including their own calls, in milliseconds; `None` if none was
    /// served.
    pub response_mean: Option<f64>,
}

/// How often the manager of a node inhibited proposals by a rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Inhibitions {
    /// The node of the manager.
    pub node: String,
    /// The rule.
    pub rule: String,
    /// The number of inhibited proposals.
    pub count: u64,
}

/// The figures of one tier.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TierFigures {
    /// The index of the tier, from 0 at the top.
    pub tier: u32,
    /// The name of the tier, or its number if it has no name.
    pub name: String,
    /// Units in use divided by the capacity of the nodes that are up, both integrated over time; `None` if a node of
    /// the tier is unbounded, or if the integral of the capacity is 0.
    pub utilisation: Option<f64>,
    /// The energy of its nodes, in joules; `None` if the scenario has no models of cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_joules: Option<f64>,
}

/// The cost of a run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Consumption {
    /// The energy of all nodes, in joules.
    pub node_joules: f64,
    /// The energy of all links, in joules.
    pub link_joules: f64,
    /// The energy of all nodes and links, in joules.
    pub energy_joules: f64,
    /// The cost of hardware in use and of traffic, in the unit of the scenario's prices.
    pub money: f64,
    /// The carbon emissions of all energy, in grams; `None` if the scenario has no carbon intensities.
    pub carbon_grams: Option<f64>,
}

/// Computes [`Measurements`] record by record.
pub(super) struct Measuring {
    applications: Vec<Application>,
    inhibitions: BTreeMap<(String, &'static str), u64>,
    nodes: Vec<Node>,
    /// For each node, the index of its region in the carbon intensities of the models.
    region: Vec<usize>,
    hops: u64,
    calls: Vec<CallFigures>,
    has_nodes: bool,
}

#[derive(Clone, Default)]
struct Application {
    served: u64,
    lost: u64,
    coarse: BTreeMap<Option<i64>, u64>,
    latency: Option<Latency>,
    operations: OperationCounts,
    cycles: u64,
    instances_sum: u64,
    instances_max: u64,
}

/// The state of a node since the time `since`, and its sums up to that time.
#[derive(Clone)]
struct Node {
    is_up: bool,
    used: u64,
    since: f64,
    /// Time up, in milliseconds.
    up: f64,
    /// Units in use times milliseconds.
    use_time: f64,
    grams: f64,
}

/// Milliseconds in an hour.
const HOUR: f64 = 3_600_000.0;

/// A kilowatt-hour in watt-milliseconds.
const KILOWATT_HOUR: f64 = 1_000.0 * HOUR;

impl Measuring {
    pub(super) fn new(header: &Header) -> Measuring {
        let node = Node { is_up: true, used: 0, since: 0.0, up: 0.0, use_time: 0.0, grams: 0.0 };
        Measuring {
            applications: vec![Application::default(); header.applications.len()],
            inhibitions: BTreeMap::new(),
            nodes: vec![node; header.nodes.len()],
            region: regions(header),
            hops: 0,
            calls: Vec::new(),
            has_nodes: header.detail != Detail::Summary,
        }
    }

    pub(super) fn count(&mut self, application: u32, count: impl Fn(&mut OperationCounts)) {
        count(&mut self.applications[application as usize].operations);
    }

    pub(super) fn inhibited(&mut self, node: &Id, rule: &'static str) {
        *self.inhibitions.entry((node.to_string(), rule)).or_default() += 1;
    }

    /// Samples the number of instances of each application after a cycle.
    pub(super) fn after_cycle(&mut self, instances: &[u64]) {
        for (application, count) in self.applications.iter_mut().zip(instances) {
            application.cycles += 1;
            application.instances_sum += count;
            application.instances_max = application.instances_max.max(*count);
        }
    }

    pub(super) fn responses(&mut self, record: &Responses) {
        let application = &mut self.applications[record.application as usize];
        application.served = application.served.saturating_add(record.served);
        application.lost = application.lost.saturating_add(record.lost);
        for (bucket, count) in &record.histogram {
            let known = application.coarse.entry(*bucket).or_default();
            *known = known.saturating_add(*count);
        }
    }

    pub(super) fn latency(&mut self, record: &Latency) {
        self.applications[record.application as usize].latency = Some(record.clone());
    }

    pub(super) fn traffic(&mut self, hops: u64) {
        self.hops = hops;
    }

    pub(super) fn calls(&mut self, header: &Header, record: &Calls) {
        let call = header.calls[record.call as usize];
        let id = |place: u32| header.applications[place as usize].id.to_string();
        self.calls.push(CallFigures {
            caller: id(call.caller),
            application: id(call.application),
            stage: call.stage + 1,
            order: match call.order {
                CallOrder::Sequence => "sequence",
                CallOrder::Parallel => "parallel",
            }
            .to_owned(),
            requests: call.requests,
            sent: record.sent,
            served: record.served,
            lost: record.lost,
            response_mean: (record.served > 0).then(|| record.sum / record.served as f64),
        });
    }

    /// Sets the number of units in use on a node, from `time` on.
    pub(super) fn uses(&mut self, header: &Header, node: u32, time: f64, used: u64) {
        self.settle(header, node, time);
        self.nodes[node as usize].used = used;
    }

    /// Sets whether a node is up from `time` on.
    pub(super) fn is_up(&mut self, header: &Header, node: u32, time: f64, is_up: bool) {
        self.settle(header, node, time);
        self.nodes[node as usize].is_up = is_up;
    }

    /// Updates the sums of a node up to `time`, at most to the end of the run.
    fn settle(&mut self, header: &Header, place: u32, time: f64) {
        let node = &mut self.nodes[place as usize];
        let (from, to) = (node.since, time.clamp(node.since, header.duration.max(node.since)));
        node.since = to;
        if !node.is_up {
            return;
        }
        node.up += to - from;
        node.use_time += (to - from) * node.used as f64;
        if let Some(models) = &header.models
            && let Some(intensity) = models.carbon.get(self.region[place as usize])
        {
            let tier = header.nodes[place as usize].tier;
            let watts = by_tier(&models.idle_watts, tier) + by_tier(&models.unit_watts, tier) * node.used as f64;
            node.grams += watts * integral(&intensity.grams_per_kwh, from, to) / KILOWATT_HOUR;
        }
    }

    /// Computes the measures at the end of the run.
    pub(super) fn finish(mut self, header: &Header) -> Measurements {
        for node in 0..self.nodes.len() as u32 {
            self.settle(header, node, header.duration);
        }
        let applications = header.applications.iter().zip(&self.applications).map(|(listed, application)| {
            let (id, kind) = (listed.id.to_string(), listed.kind.clone());
            application.figures(id, kind, header.duration)
        });
        let inhibitions = self.inhibitions.iter().map(|((node, rule), count)| Inhibitions {
            node: node.clone(),
            rule: (*rule).to_owned(),
            count: *count,
        });
        Measurements {
            applications: applications.collect(),
            inhibitions: inhibitions.collect(),
            calls: std::mem::take(&mut self.calls),
            tiers: if self.has_nodes { self.tiers(header) } else { Vec::new() },
            consumption: header
                .models
                .as_ref()
                .filter(|_| self.has_nodes)
                .map(|models| self.consumption(header, models)),
        }
    }

    fn tiers(&self, header: &Header) -> Vec<TierFigures> {
        let mut tiers: BTreeMap<u32, (f64, f64, bool, f64)> = BTreeMap::new();
        for (listed, node) in header.nodes.iter().zip(&self.nodes) {
            let (used, all, is_unbounded, joules) = tiers.entry(listed.tier).or_default();
            match listed.capacity {
                Capacity::Bounded(hardware) => *all += hardware.as_units() as f64 * node.up,
                Capacity::Unbounded => *is_unbounded = true,
            }
            *used += node.use_time;
            *joules += header.models.as_ref().map_or(0.0, |models| node.joules(models, listed.tier));
        }
        let figures = |(tier, (used, all, is_unbounded, joules)): (u32, (f64, f64, bool, f64))| TierFigures {
            tier,
            name: header.tiers.get(tier as usize).cloned().unwrap_or_else(|| tier.to_string()),
            utilisation: (!is_unbounded && all > 0.0).then(|| used / all),
            energy_joules: header.models.is_some().then_some(joules),
        };
        tiers.into_iter().map(figures).collect()
    }

    fn consumption(&self, header: &Header, models: &Models) -> Consumption {
        let (mut node_joules, mut money, mut grams) = (0.0, 0.0, 0.0);
        for (listed, node) in header.nodes.iter().zip(&self.nodes) {
            node_joules += node.joules(models, listed.tier);
            money += node.use_time / HOUR * by_tier(&models.unit_hour_price, listed.tier);
            grams += node.grams;
        }
        let bits = self.hops as f64 * models.message_bits;
        let link_joules = bits * models.joules_per_bit;
        money += bits / 8e9 * models.gigabyte_price;
        if let Some(general) = models.carbon.first() {
            // The trace does not record when messages were in transit, so the energy of links is charged at the default
            // intensity, averaged over the run.
            let mean = integral(&general.grams_per_kwh, 0.0, header.duration) / header.duration;
            grams += link_joules / (KILOWATT_HOUR / 1_000.0) * mean;
        }
        Consumption {
            node_joules,
            link_joules,
            energy_joules: node_joules + link_joules,
            money,
            carbon_grams: (!models.carbon.is_empty()).then_some(grams),
        }
    }
}

impl Node {
    /// The energy up to `since`, in joules: idle power times the time up, plus power per unit times `use_time`.
    fn joules(&self, models: &Models, tier: u32) -> f64 {
        (by_tier(&models.idle_watts, tier) * self.up + by_tier(&models.unit_watts, tier) * self.use_time) / 1_000.0
    }
}

impl Application {
    fn figures(&self, application: String, kind: String, duration: f64) -> ApplicationFigures {
        let times = ResponseTimes::of(&self.coarse, self.latency.as_ref());
        let late = self.latency.as_ref().map(|latency| latency.late);
        ApplicationFigures {
            application,
            kind,
            served: self.served,
            lost: self.lost,
            throughput: self.served as f64 / duration * 1_000.0,
            late_share: late.filter(|_| self.served > 0).map(|late| late as f64 / self.served as f64),
            response_p50: times.percentile(0.5),
            response_p95: times.percentile(0.95),
            response_p99: times.percentile(0.99),
            response_max: times.max().filter(|_| self.served > 0),
            operations: self.operations,
            instances: MeanAndMax {
                mean: self.instances_sum as f64 / self.cycles.max(1) as f64,
                max: self.instances_max,
            },
        }
    }
}

/// The value for a tier in a list indexed by tier. The last value also applies to all further tiers; 0 if the list is
/// empty.
fn by_tier(list: &[f64], tier: u32) -> f64 {
    list.get(tier as usize).or(list.last()).copied().unwrap_or(0.0)
}

/// Returns the integral between two times of a step function, given as pairs of a time and the value from then on. The
/// first value also applies before its time.
fn integral(values: &[(f64, f64)], from: f64, to: f64) -> f64 {
    let mut sum = 0.0;
    for (place, (start, value)) in values.iter().enumerate() {
        let start = if place == 0 { f64::NEG_INFINITY } else { *start };
        let end = values.get(place + 1).map_or(f64::INFINITY, |next| next.0);
        let (from, to) = (from.max(start), to.min(end));
        if to > from {
            sum += (to - from) * value;
        }
    }
    sum
}

/// For each node, the index of its region among the carbon intensities; 0, the default intensity, if the node has no
/// region or its region is not listed.
fn regions(header: &Header) -> Vec<usize> {
    let Some(models) = header.models.as_ref().filter(|models| models.carbon.len() > 1) else {
        return vec![0; header.nodes.len()];
    };
    let mut region_of: BTreeMap<String, usize> = BTreeMap::new();
    for fact in header.facts.iter().filter(|fact| fact.key.to_string() == "region") {
        let named = |region: &Id| fact.value == mario_domain::FactValue::Id(region.clone());
        let place = models.carbon.iter().position(|intensity| intensity.region.as_ref().is_some_and(named));
        region_of.entry(fact.subject.to_string()).or_insert(place.unwrap_or(0));
    }
    let place = |id: String| region_of.get(&id).copied().unwrap_or(0);
    header.nodes.iter().map(|node| place(node.id.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_function_is_integrated_piecewise() {
        let values = [(100.0, 2.0), (200.0, 5.0), (400.0, 1.0)];
        // The first value also applies before its time: 200 ms at 2, 200 ms at 5, and 50 ms at 1.
        assert_eq!(integral(&values, 0.0, 450.0).to_bits(), 1_450_f64.to_bits());
        assert_eq!(integral(&values, 250.0, 300.0).to_bits(), 250_f64.to_bits());
        assert_eq!(integral(&values, 300.0, 300.0).to_bits(), 0_f64.to_bits());
    }
}
