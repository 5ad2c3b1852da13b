//! Checks the size and the estimated cost of a scenario against limits.

use mario_settings::Mistake;

use super::Resolving;
use crate::calls::{REQUESTS_MAX, callers_first, requests_caused};
use crate::cost::{self, Cost, Extent, Part, about};
use crate::mobility::Attachments;
use crate::settings::TopologySettings;
use crate::topology::{LINKS_MAX, NODES_MAX, Topology};
use crate::{ApplicationPlan, UserPlan};

/// The maximum number of evaluations of one agent. The simulator counts them in 32 bits.
const ROUNDS_MAX: f64 = 4e9;

const MIB: f64 = 1_048_576.0;

impl Resolving<'_> {
    /// Whether the size, the number of evaluations of an agent, and the estimated cost are within the limits. Called
    /// before the world is built. Reports errors.
    pub(super) fn is_affordable(&mut self, extent: &Extent) -> bool {
        let reported = self.mistakes.len();
        self.check_size(extent);
        let settings = self.settings;
        let rounds = settings.duration.value() / settings.agents.period.value();
        if rounds > ROUNDS_MAX {
            let message = format!("an agent would evaluate {} times, and 4 billion is the most", about(rounds));
            let mistake = self.because_of(message, &["agents.period", "duration"]);
            self.mistakes.push(mistake.hint("write a longer `agents.period`, or a shorter `duration`"));
        }
        if self.mistakes.len() == reported {
            let parts = cost::parts(settings, extent);
            self.check_limits(&parts);
        }
        self.mistakes.len() == reported
    }

    /// Estimates the cost from the world as built. Reports an error if it exceeds the limits, and adds a note if it is
    /// large.
    pub(super) fn cost(
        &mut self,
        topology: &Topology,
        attachments: &Attachments,
        (applications, users): (&[ApplicationPlan], &[UserPlan]),
    ) -> Cost {
        let estimated = Extent::estimated(self.settings);
        let access_points = topology.access_points().count().max(1) as f64;
        let tiers: f64 = topology.access_points().map(|node| f64::from(topology.node(node).tier)).sum();
        let changes = attachments.steps.iter().map(Vec::len).sum::<usize>() as f64;
        let is_recorded = estimated.steps == 0.0;
        let extent = Extent {
            nodes: topology.node_count() as f64,
            links: topology.link_count() as f64 / 2.0,
            hops: tiers / access_points,
            users: attachments.users.len() as f64,
            steps: if is_recorded { attachments.step_count() as f64 } else { estimated.steps },
            changes,
            caused: mean_caused(applications, users),
        };
        let parts = cost::parts(self.settings, &extent);
        self.check_limits(&parts);
        let cost = Cost::of(&parts);
        if cost.is_large() {
            self.notes.push(format!("the run is expected to take {cost}"));
        }
        cost
    }

    fn check_size(&mut self, extent: &Extent) {
        let (nodes_max, links_max) = (NODES_MAX as f64, LINKS_MAX as f64);
        if extent.nodes > nodes_max {
            let message = format!("there would be {} nodes, and {NODES_MAX} is the most", about(extent.nodes));
            let mistake = self.because_of(message, size_keys(&self.settings.topology));
            self.mistakes.push(mistake.hint("make the topology smaller: more nodes do not fit into memory"));
        } else if extent.links > links_max {
            let message = format!("there would be about {} links, and {LINKS_MAX} is the most", about(extent.links));
            let keys = size_keys(&self.settings.topology);
            let mistake = self.because_of(message, keys);
            let words: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            self.mistakes.push(mistake.hint(format!("make {} smaller", words.join(" or "))));
        }
    }

    fn check_limits(&mut self, parts: &[Part]) {
        let cost = Cost::of(parts);
        let limits = self.settings.limits;
        let (events_max, bytes_max) = (limits.events.value(), limits.memory_mib.value() * MIB);
        if cost.events > events_max {
            let words = format!("{} events, more than the {}", about(cost.events), about(events_max));
            self.refuse(parts, &words, "limits.events", |cost| cost.events);
        }
        if cost.memory_bytes > bytes_max {
            let [all, most] = [cost.memory_bytes, bytes_max].map(cost::memory);
            let words = format!("{all} of memory, more than the {most}");
            self.refuse(parts, &words, "limits.memory_mib", |cost| cost.memory_bytes);
        }
    }

    fn refuse(&mut self, parts: &[Part], words: &str, limit: &str, of: fn(&Cost) -> f64) {
        let Some(largest) = parts.iter().max_by(|one, other| of(&one.cost).total_cmp(&of(&other.cost))) else { return };
        let what = largest.what;
        let message = format!("the run would take about {words} of `{limit}`, most of all for {what}");
        let mistake = self.because_of(message, largest.keys);
        let keys: Vec<String> =
            largest.keys.iter().filter(|key| self.is_known(key)).map(|key| format!("`{key}`")).collect();
        self.mistakes.push(mistake.hint(format!("change {}, or raise `{limit}`", keys.join(" or "))));
    }

    /// Whether the settings of this scenario have the key, given as a path such as `mobility.users`.
    fn is_known(&self, key: &str) -> bool {
        let settings = serde_json::to_value(self.settings).unwrap_or_default();
        settings.pointer(&format!("/{}", key.replace('.', "/"))).is_some()
    }

    /// An error about these keys, placed at the key that the latest layer sets, which is the probable cause. If none is
    /// written, the place is the start of the text.
    fn because_of(&self, message: String, keys: &[&str]) -> Mistake {
        let written = keys.iter().filter_map(|key| self.document.written(key));
        // Reversed, because `max_by_key` returns the last maximum, and the first key in the latest layer is wanted.
        let latest = written.rev().max_by_key(|node| node.layer).map(|node| node.place.clone());
        let place = latest.unwrap_or_else(|| self.document.place(&[]));
        Mistake::new(message).at(Some(place))
    }
}

/// The keys that determine the number of nodes and links of a topology.
fn size_keys(topology: &TopologySettings) -> &'static [&'static str] {
    match topology {
        TopologySettings::TiledTree(_) => &["topology.size"],
        TopologySettings::Tree(_) => &["topology.fan_out", "topology.depth"],
        TopologySettings::Grid(_) => &["topology.width", "topology.height"],
        TopologySettings::RandomGeometric(_) => &["topology.nodes", "topology.radius"],
        TopologySettings::BarabasiAlbert(_) => &["topology.nodes", "topology.links"],
        TopologySettings::File(_) => &["topology.file"],
    }
}

/// The mean number of requests that a user's request causes, itself included. 1 if there are no users, or if the calls
/// are invalid.
fn mean_caused(applications: &[ApplicationPlan], users: &[UserPlan]) -> f64 {
    let Ok(order) = callers_first(applications) else { return 1.0 };
    let caused = requests_caused(applications, &order);
    // Too many requests were already reported as an error.
    if caused.iter().any(|caused| *caused > REQUESTS_MAX) {
        return 1.0;
    }
    let sum: f64 = users.iter().filter_map(|user| caused.get(user.application.position())).sum();
    if users.is_empty() { 1.0 } else { sum / users.len() as f64 }
}
