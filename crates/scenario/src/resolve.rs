//! Resolves a scenario as written into one that can be run: looks up names, reads files, and draws random values.
//!
//! Errors are collected and returned together. Resolving stops early if the estimated size or cost of the run exceeds a
//! limit, or if the infrastructure cannot be built.

mod applications;
mod calls;
mod carried;
mod churn;
mod cost;
mod drawn;
mod groups;
mod infrastructure;
mod models;
mod node_table;
mod recorded;
mod updates;
mod users;

use std::collections::BTreeMap;
use std::fmt::Display;

use mario_domain::{Fact, FactValue, Id};
use mario_settings::{At, MISTAKES_MAX, Mistake, Place, shown};

use crate::cost::{Cost, Extent, first_request};
use crate::document::Document;
use crate::error::ScenarioError;
use crate::index::NodeIndex;
use crate::layers::Files;
use crate::policies::asks_for;
use crate::settings::{
    ArbitrationStrategy, CarriedFiles, FidelityKind, ManagementStrategy, MemoryStrategy, NumberingStrategy,
    ObservationStrategy, OccupancyKind, RoutingMetric, RoutingStrategy, Settings,
};
use crate::topology::Topology;
use crate::{
    AgentTiming, Arbitration, Fidelity, Management, Measures, Memory, Metric, Network, Numbering, Observation,
    Occupancy, Routing, Scenario, Search,
};
use carried::Noted;

/// A resolved document: the scenario, with its settings, files, and estimated cost.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The settings, with all defaults filled in.
    pub settings: Settings,
    /// The scenario.
    pub scenario: Scenario,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// For each deploy of the scenario, its place in the text.
    pub deploy_places: Vec<Place>,
    /// The estimated cost.
    pub cost: Cost,
    /// The texts of the files that were read, by the path as written in the scenario. `left_out` lists what is missing.
    pub files: CarriedFiles,
    /// The paths of files whose content is not in `files`: it is not UTF-8, it is longer than 8 MiB, or another content
    /// was read under the same path.
    pub left_out: Vec<String>,
    /// The names of policies that differ from the paths under which they are written, by these paths. A policy is called
    /// by its path from the current directory, and a path is written relative to the scenario.
    pub names: BTreeMap<String, String>,
}

impl Document {
    /// Resolves the scenario, or returns the errors in it.
    pub fn resolve(&self, files: &mut dyn Files) -> Result<Resolved, ScenarioError> {
        let (settings, notes) = self.settings_and_notes()?;
        let resolving = Resolving {
            document: self,
            settings: &settings,
            files,
            noted: Noted::default(),
            mistakes: Vec::new(),
            notes,
        };
        resolving.resolved().map_err(|mistakes| self.error(mistakes))
    }
}

/// A scenario that is being resolved.
struct Resolving<'a> {
    document: &'a Document,
    settings: &'a Settings,
    files: &'a mut dyn Files,
    noted: Noted,
    mistakes: Vec<Mistake>,
    notes: Vec<String>,
}

impl Resolving<'_> {
    fn resolved(mut self) -> Result<Resolved, Vec<Mistake>> {
        self.check_times();
        if !self.is_affordable(&Extent::estimated(self.settings)) {
            return Err(self.mistakes);
        }
        let infrastructure = self.infrastructure();
        let Some(mut topology) = infrastructure else { return Err(self.mistakes) };
        self.check_bandwidths(&topology);
        let (applications, mut policies) = self.applications(&topology);
        let (deploys, deploy_places): (Vec<_>, _) =
            self.deploys(&topology, &applications, &mut policies).into_iter().unzip();
        let updates = self.updates(&applications, &deploys, &mut policies);
        let past = self.past();
        let (acceptances, acceptance_of) = self.acceptances(&topology);
        self.check_reachability(&topology, &applications);
        let attachments = self.attachments(&topology, &applications);
        let users = self.users(&topology, &applications, &attachments);
        let disturbances = self.disturbances(&topology);
        let models = self.models();
        let cost = self.cost(&topology, &attachments, (&applications, &users));
        self.note_what_never_happens();
        if !self.mistakes.is_empty() {
            return Err(self.mistakes);
        }
        if policies.texts.iter().any(|policy| asks_for(policy, TIER)) {
            add_tier_facts(&mut topology);
        }
        topology.name_tiers(&self.settings.tiers);
        let settings = self.settings;
        let management = management(settings);
        let scenario = Scenario {
            name: settings.name.clone(),
            seed: settings.seed,
            duration: settings.duration.span(),
            topology,
            applications,
            policies: policies.texts,
            acceptances,
            acceptance_of,
            deploys,
            updates,
            past,
            attachments,
            users,
            step: self.step(),
            agents: AgentTiming {
                start: settings.agents.start.moment(),
                period: settings.agents.period.span(),
                budget: settings.agents.budget,
            },
            management_period: settings.managers.period.span(),
            notice: settings.managers.notice,
            network: network(settings),
            observation: match settings.observation.strategy {
                ObservationStrategy::Arrivals => Observation::Arrivals,
                ObservationStrategy::RouteEntries => Observation::RouteEntries,
            },
            routing: routing(settings),
            management,
            arbitration: match (management, settings.arbitration.strategy) {
                (Management::Central(_), _) => Arbitration::Central,
                (_, ArbitrationStrategy::Managers) => Arbitration::Managers,
                (_, ArbitrationStrategy::Sequential) => Arbitration::Sequential,
            },
            memory: match settings.memory.strategy {
                MemoryStrategy::Sliding => Memory::Sliding,
                MemoryStrategy::Periodic => Memory::Periodic { every: settings.memory.every },
            },
            numbering: match settings.numbering.strategy {
                NumberingStrategy::Counted => Numbering::Counted,
                NumberingStrategy::Shared => Numbering::Shared,
            },
            disturbances,
            measures: Measures { applications: settings.measures.applications, models },
            redeploy_delay: settings.redeploy.delay.map(crate::settings::Time::span),
        };
        Ok(self.noted(scenario, deploy_places, cost))
    }

    /// Adds what is noted about the whole scenario.
    fn noted(mut self, scenario: Scenario, deploy_places: Vec<Place>, cost: Cost) -> Resolved {
        self.note_unasked(&scenario);
        let Noted { texts: files, left_out, names } = self.noted;
        let mut settings = self.settings.clone();
        if self.document.has_added_files {
            settings.files.clear();
        }
        Resolved { settings, scenario, notes: self.notes, deploy_places, cost, files, left_out, names }
    }

    /// Adds a note if nodes have acceptance policies that a central planner does not evaluate.
    fn note_unasked(&mut self, scenario: &Scenario) {
        if scenario.arbitration == Arbitration::Central && scenario.acceptance_of.iter().any(Option::is_some) {
            let strategy = scenario.management.as_str();
            self.notes.push(format!("acceptance policies of nodes are not asked: `{strategy}` goes by hardware alone"));
        }
    }

    fn check_times(&mut self) {
        if self.settings.duration.value() <= 0.0 {
            let mistake = self.mistake("the run must take longer than 0", &["duration".into()]);
            self.mistakes.push(mistake.hint("write a `duration` above 0"));
        }
        let is_flow = self.settings.network.fidelity == FidelityKind::Flow;
        let has_rules = self.settings.observation.strategy == ObservationStrategy::Arrivals
            && self.settings.routing.strategy == RoutingStrategy::Nearest;
        if is_flow && !has_rules {
            let mistake = self.mistake(
                "traffic as rates needs the observation `arrivals` and the routing `nearest`",
                &["network".into(), "fidelity".into()],
            );
            self.mistakes.push(mistake.hint("write `fidelity = \"messages\"`, or choose those strategies"));
        }
    }

    /// Reports the occupancy `transmission` if a link has no bandwidth, because sending over it takes no time.
    fn check_bandwidths(&mut self, topology: &Topology) {
        if self.settings.network.occupancy != OccupancyKind::Transmission {
            return;
        }
        let links = (0..topology.node_count())
            .map(NodeIndex::at)
            .flat_map(|node| topology.links_from(node).map(move |(_, link)| (node, link)));
        let mut unlimited = links.filter(|(_, link)| link.bandwidth.is_none());
        let Some((from, link)) = unlimited.next() else { return };
        let [from, to] = [from, link.to].map(|node| &topology.node(node).id);
        let count = 1 + unlimited.count();
        // Each link is there once in each direction.
        let (count, all) = (count.div_ceil(2), topology.link_count() / 2);
        let message = if count == all {
            "no link has a bandwidth, so sending takes no time, and `transmission` keeps no link busy".to_owned()
        } else {
            format!(
                "{count} of {all} links have no bandwidth, such as that from `{from}` to `{to}`, and `transmission` keeps them busy \
                 for no time"
            )
        };
        let mistake = self.mistake(message, &["network".into(), "occupancy".into()]);
        self.mistakes.push(mistake.hint(
            "add `bandwidth = \"100 Mbps\"` or so to `[network]`, for links without one, or write `occupancy = \"latency\"`",
        ));
    }

    /// Adds notes if no agent evaluates, no manager judges, or no client request is sent, because the first time would
    /// be at or after the end of the run.
    fn note_what_never_happens(&mut self) {
        let settings = self.settings;
        let duration = settings.duration.value();
        let agents = &settings.agents;
        let all = [
            ("no agent evaluates", "agents.start and agents.period", agents.start.value() + agents.period.value()),
            ("no manager judges", "managers.period", settings.managers.period.value()),
            ("no client request is sent", "workload.period and workload.phase", first_request(settings)),
        ];
        for (what, keys, first) in all {
            if first >= duration {
                let first = shown(first);
                self.notes.push(format!("{what}: by {keys} that begins at {first}, and the run ends at {duration}"));
            }
        }
    }

    fn mistake(&self, message: impl Into<String>, at: &[At<'_>]) -> Mistake {
        Mistake::new(message).at(Some(self.document.place(at)))
    }

    /// The error for an unknown id. The hint is a similar known id or a list of known ids, or says that there are none.
    /// After many errors, the hint is omitted, because the search for a similar id is slow.
    fn unknown<I: Display>(&self, what: &str, id: &Id, at: &[At<'_>], known: impl Iterator<Item = I>) -> Mistake {
        // The maximum number of known ids that `id` is compared with.
        const COMPARED_MAX: usize = 10_000;
        let mistake = self.mistake(format!("there is no {what} `{id}`"), at);
        if self.mistakes.len() >= MISTAKES_MAX {
            return mistake;
        }
        let known: Vec<String> = known.take(COMPARED_MAX).map(|id| id.to_string()).collect();
        if known.is_empty() {
            return mistake.hint(format!("there is no {what} at all: omit this"));
        }
        mistake.known(&id.to_string(), &format!("known are the {what}s"), known.iter().map(String::as_str))
    }

    /// Derives a separate seed for each purpose. Callers identify purposes by numbers.
    fn seed_for(&self, purpose: u64) -> u64 {
        self.settings.seed ^ purpose.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

fn management(settings: &Settings) -> Management {
    match settings.management.strategy {
        ManagementStrategy::Agents => Management::Agents,
        ManagementStrategy::EdgeFirstFit => Management::EdgeFirstFit,
        ManagementStrategy::CentralGreedy => Management::Central(Search::Greedy),
        ManagementStrategy::CentralExact => Management::Central(Search::Exact),
    }
}

fn routing(settings: &Settings) -> Routing {
    match (settings.routing.strategy, settings.routing.metric) {
        (RoutingStrategy::Nearest, RoutingMetric::Hops) => Routing::Nearest(Metric::Hops),
        (RoutingStrategy::Nearest, RoutingMetric::Latency) => Routing::Nearest(Metric::Latency),
        (RoutingStrategy::LeastUsed, _) => Routing::LeastUsed,
    }
}

fn network(settings: &Settings) -> Network {
    Network {
        message_size: settings.network.message_size.value(),
        occupancy: match settings.network.occupancy {
            OccupancyKind::Latency => Occupancy::Latency,
            OccupancyKind::Transmission => Occupancy::Transmission,
        },
        fidelity: match settings.network.fidelity {
            FidelityKind::Messages => Fidelity::Messages,
            FidelityKind::Flow => Fidelity::Flow,
        },
    }
}

/// The key of the fact that states the tier of a node.
pub(crate) const TIER: &str = "tier";

/// Adds a fact with the tier number to each node that has no fact with the key [`TIER`].
fn add_tier_facts(topology: &mut Topology) {
    let key = Id::name(TIER).expect("it has characters");
    for node in (0..topology.node_count()).map(NodeIndex::at) {
        let described = topology.node(node);
        if described.facts.iter().any(|fact| fact.key == key) {
            continue;
        }
        let value = FactValue::Id(Id::Number(i64::from(described.tier)));
        let fact = Fact { subject: described.id.id().clone(), key: key.clone(), value };
        topology.add_facts(node, [fact]);
    }
}
