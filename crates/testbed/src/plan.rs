//! The live form of a scenario.
//!
//! A time unit of a scenario is one millisecond, and latencies keep this scale, up to a minute per link. Everything
//! else (evaluations, movements, the requests of users) is scaled: `speed` time units pass per second, so that 1,000 is
//! real time and smaller values are slower.

use std::collections::BTreeMap;
use std::time::Duration;

use mario_domain::{Capacity, Fact, FactValue, Flavour, Hardware, HardwareKind, Id};
use mario_live::LiveError;
use mario_live::application::{FlavourFile, PlainValue, SleepFile};
use mario_live::identity::{application_id, node_id};
use mario_policy::PolicyText;
use mario_scenario::{Management, NodeIndex, Scenario, UserIndex, Workload};

/// The hardware of a node whose hardware is unbounded in the scenario, in units.
const UNBOUNDED: u64 = 1_000_000;

/// The shortest evaluation period in real time. A speed at which agents would evaluate more often is rejected, whereas
/// a shorter management period is raised to this.
const EVALUATION_MIN: Duration = Duration::from_millis(50);

/// The maximum number of nodes, each of which has its own processes.
pub const NODES_MAX: usize = 400;

/// The live form of a scenario.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the scenario.
    pub name: String,
    /// The seed of the scenario, which also determines when users send requests.
    pub seed: u64,
    /// The nodes, in the order of the scenario.
    pub nodes: Vec<PlannedNode>,
    /// The links: each pair of neighbours once.
    pub links: Vec<PlannedLink>,
    /// The applications.
    pub applications: Vec<PlannedApplication>,
    /// The deploys, by time.
    pub deploys: Vec<PlannedDeploy>,
    /// The users.
    pub users: Vec<PlannedUser>,
    /// The evaluation period of agents, in real time.
    pub evaluation: Duration,
    /// The period at which owners may evict and shrink instances, in real time.
    pub management: Duration,
    /// The number of evaluations that an agent has left when its eviction is announced.
    pub notice: u32,
    /// The time between two steps of users, in real time.
    pub step: Duration,
    /// How long the scenario lasts, in real time.
    pub duration: Duration,
    /// Time units of the scenario that pass in one second.
    pub speed: f64,
    /// Messages for the user: one if the scenario has disturbances, because a live run ignores them. Other ignored
    /// settings, such as bandwidths and service times, have none.
    pub notes: Vec<String>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct PlannedNode {
    /// Its id.
    pub id: String,
    /// Its hardware, in units.
    pub capacity: u64,
    /// Its tier: the distance from the top of the infrastructure. 0 is the cloud.
    pub tier: u16,
    /// Whether users can connect to it.
    pub is_access_point: bool,
    /// Facts about it.
    pub facts: BTreeMap<String, PlainValue>,
    /// The text of its acceptance policy; `None` if it accepts every instance that fits.
    pub acceptance: Option<String>,
}

/// A link between two neighbours, by their indices in [`Plan::nodes`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlannedLink {
    /// One end.
    pub a: usize,
    /// The other end.
    pub b: usize,
    /// The one-way latency.
    pub delay: Duration,
}

/// An application.
#[derive(Clone, Debug)]
pub struct PlannedApplication {
    /// Its id, which is also the first label of the host name in client requests.
    pub id: String,
    /// The group that it belongs to in figures.
    pub kind: String,
    /// The hardware of one instance, in units.
    pub hardware: u64,
    /// The client requests that one instance handles in one evaluation period.
    pub max_rate: f64,
    /// The latency that a client request tolerates, in milliseconds.
    pub max_latency: f64,
    /// The policy of its agents.
    pub policy: PolicyText,
    /// Facts about it.
    pub facts: BTreeMap<String, PlainValue>,
    /// The flavours that it can run in.
    pub flavours: Vec<FlavourFile>,
    /// How its instances sleep; `None` if they never sleep.
    pub sleep: Option<SleepFile>,
    /// Whether deployed instances are anchors, as in the scenario, so that simulated and live runs are alike.
    pub is_anchor: bool,
}

/// A deploy, by indices in [`Plan::applications`] and [`Plan::nodes`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlannedDeploy {
    /// The real time since the clients start; 0 means before they start.
    pub at: Duration,
    /// The index of the application.
    pub application: usize,
    /// The index of the node.
    pub node: usize,
}

/// A user.
#[derive(Clone, Debug)]
pub struct PlannedUser {
    /// The index of the user in the scenario.
    pub index: UserIndex,
    /// The id of the user.
    pub id: Id,
    /// The application used: its index in [`Plan::applications`].
    pub application: usize,
    /// When requests are sent, in time units of the scenario.
    pub workload: Workload,
    /// When the user moves, in time units, and where to: an index in [`Plan::nodes`], or `None` if the user leaves.
    /// Sorted by time.
    pub moves: Vec<(f64, Option<usize>)>,
}

impl PlannedUser {
    /// Returns the access point of the user at a time in units of the scenario; `None` while the user is away.
    pub fn place(&self, units: f64) -> Option<usize> {
        let past = self.moves.partition_point(|(from, _)| *from <= units);
        past.checked_sub(1).and_then(|last| self.moves[last].1)
    }

    /// When the user arrives for the first time, in units of the scenario; `None` if never.
    pub fn arrival(&self) -> Option<f64> {
        self.moves.iter().find(|(_, place)| place.is_some()).map(|(from, _)| *from)
    }
}

impl Plan {
    /// Plans a live run of a scenario. `speed` is the number of time units per second. Fails if the scenario cannot run
    /// live.
    pub fn new(scenario: &Scenario, speed: f64) -> Result<Plan, LiveError> {
        let unfit = |cause: String| {
            LiveError::new(format!("scenario `{}` cannot be a live colony", scenario.name)).caused_by(cause)
        };
        if !(speed.is_finite() && speed > 0.0) {
            return Err(LiveError::new(format!("time cannot run at {speed} units a second"))
                .hint("give a positive number, such as `--speed 200`"));
        }
        let real = |units: f64| Duration::from_secs_f64((units / speed).clamp(0.0, 1e9));
        let evaluation = real(scenario.agents.period.units());
        if evaluation < EVALUATION_MIN {
            let fastest = scenario.agents.period.units() / EVALUATION_MIN.as_secs_f64();
            return Err(LiveError::new(format!("agents cannot evaluate every {} ms", evaluation.as_millis()))
                .hint(format!("give a speed of at most {fastest} units a second")));
        }
        let node_count = scenario.topology.node_count();
        if node_count > NODES_MAX {
            return Err(unfit(format!("it has {node_count} nodes, each of which would be a process"))
                .hint(format!("take one with at most {NODES_MAX}")));
        }
        if scenario.management != Management::Agents {
            return Err(unfit(format!("its strategy of management is `{}`", scenario.management.as_str()))
                .hint("only agents manage live nodes"));
        }
        if scenario.attachments.commuters.is_some() {
            return Err(unfit("its users are generated while it runs".to_owned())
                .hint("take a scenario whose `mobility.kind` lists the steps of users, such as `generated`"));
        }
        if scenario.has_calls() {
            return Err(unfit("its applications call others, and the services of a live colony do not".to_owned())
                .hint("`mario run` simulates calls; for a live colony, leave out `[[application.call]]`"));
        }
        let mut notes = Vec::new();
        if !scenario.disturbances.is_empty() {
            notes.push(format!(
                "the scenario's {} disturbances of nodes and links are not enacted; --chaos draws others",
                scenario.disturbances.len()
            ));
        }
        let applications = applications(scenario).map_err(|fault| unfit(fault.line()))?;
        let deploys = scenario.deploys.iter().map(|deploy| PlannedDeploy {
            at: real(deploy.time.units()),
            application: deploy.application.position(),
            node: deploy.node.position(),
        });
        Ok(Plan {
            name: scenario.name.clone(),
            seed: scenario.seed,
            nodes: nodes(scenario).map_err(|fault| unfit(fault.line()))?,
            links: links(scenario),
            applications,
            deploys: deploys.collect(),
            users: users(scenario),
            evaluation,
            management: real(scenario.management_period.units()).max(EVALUATION_MIN),
            notice: scenario.notice,
            step: real(scenario.step.units()),
            duration: real(scenario.duration.units()),
            speed,
            notes,
        })
    }

    /// The time units of the scenario that pass in this real time.
    pub fn units(&self, elapsed: Duration) -> f64 {
        elapsed.as_secs_f64() * self.speed
    }

    /// The real time in which this number of time units passes.
    pub fn real(&self, units: f64) -> Duration {
        Duration::from_secs_f64((units / self.speed).clamp(0.0, 1e9))
    }
}

fn nodes(scenario: &Scenario) -> Result<Vec<PlannedNode>, LiveError> {
    let plan = |(index, node): (NodeIndex, &mario_scenario::NodeDescription)| {
        let id = node.id.to_string();
        node_id(&id)?;
        let capacity = match node.capacity {
            Capacity::Unbounded => UNBOUNDED,
            Capacity::Bounded(hardware) => units(hardware, &format!("node {id}"))?,
        };
        let acceptance = match scenario.acceptance_of.get(index.position()).copied().flatten() {
            None => None,
            Some(place) => Some(acceptance(&scenario.acceptances[place as usize])?),
        };
        let facts = facts(&node.facts);
        Ok(PlannedNode { id, capacity, tier: node.tier, is_access_point: node.is_access_point, facts, acceptance })
    };
    scenario.topology.nodes().map(plan).collect()
}

/// The text of an acceptance policy, which must be a single file, because a node reads only one.
fn acceptance(policy: &PolicyText) -> Result<String, LiveError> {
    match (policy.main(), policy.files.len()) {
        (Some((_, text)), 1) => Ok(text.to_owned()),
        _ => Err(LiveError::new(format!("acceptance policy `{}` loads other files", policy.name))
            .hint("put it into one file: a live node reads one")),
    }
}

fn links(scenario: &Scenario) -> Vec<PlannedLink> {
    let mut links = Vec::new();
    for (from, _) in scenario.topology.nodes() {
        for (_, link) in scenario.topology.links_from(from) {
            if from < link.to {
                let delay = Duration::from_secs_f64((link.latency.units() / 1_000.0).clamp(0.0, 60.0));
                links.push(PlannedLink { a: from.position(), b: link.to.position(), delay });
            }
        }
    }
    links
}

fn applications(scenario: &Scenario) -> Result<Vec<PlannedApplication>, LiveError> {
    let plan = |planned: &mario_scenario::ApplicationPlan| {
        let application = &planned.application;
        let id = application.id.to_string();
        application_id(&id)?;
        let flavour = |flavour: &Flavour| {
            Ok(FlavourFile {
                id: flavour.id.to_string(),
                hardware: units(flavour.hardware, &format!("flavour {} of application {id}", flavour.id))?,
                max_rate: flavour.max_rate.value(),
                max_latency: flavour.max_latency.value(),
                quality: flavour.quality.value(),
            })
        };
        Ok(PlannedApplication {
            sleep: application
                .sleep
                .map(|sleep| {
                    Ok::<_, LiveError>(SleepFile {
                        keeps: units(sleep.keeps, &format!("a sleeper of application {id}"))?,
                    })
                })
                .transpose()?,
            flavours: application.flavours.iter().map(flavour).collect::<Result<_, LiveError>>()?,
            hardware: units(application.hardware, &format!("application {id}"))?,
            id,
            kind: planned.kind.clone(),
            is_anchor: planned.is_anchor,
            max_rate: application.max_rate.value(),
            max_latency: application.max_latency.value(),
            policy: scenario.policies[planned.policy.position()].clone(),
            facts: facts(&planned.facts),
        })
    };
    scenario.applications.iter().map(plan).collect()
}

/// Converts hardware to units. Live nodes support only plain units, so other kinds are an error.
fn units(hardware: Hardware, what: &str) -> Result<u64, LiveError> {
    if hardware.has_further() {
        return Err(LiveError::new(format!("{what} names other hardware than units")));
    }
    Ok(hardware.of(HardwareKind::Units))
}

fn facts(facts: &[Fact]) -> BTreeMap<String, PlainValue> {
    let value = |value: &FactValue| match value {
        FactValue::Id(Id::Number(number)) => PlainValue::Integer(*number),
        FactValue::Id(id) => PlainValue::Name(id.to_string()),
        FactValue::Number(number) => PlainValue::Number(*number),
    };
    facts.iter().map(|fact| (fact.key.to_string(), value(&fact.value))).collect()
}

fn users(scenario: &Scenario) -> Vec<PlannedUser> {
    let named = scenario.users.iter().zip(&scenario.attachments.users);
    let planned = named.enumerate().map(|(position, (user, mobile))| PlannedUser {
        index: UserIndex::at(position),
        id: mobile.id.clone(),
        application: user.application.position(),
        workload: user.workload,
        moves: Vec::new(),
    });
    let mut users: Vec<PlannedUser> = planned.collect();
    for (step, changes) in scenario.attachments.steps.iter().enumerate() {
        let at = step as f64 * scenario.step.units();
        for (user, place) in changes {
            users[user.position()].moves.push((at, place.map(NodeIndex::position)));
        }
    }
    users
}

#[cfg(test)]
mod tests {
    use mario_scenario::{Document, NoFiles};

    use super::*;

    fn scenario(overrides: &[&str]) -> Scenario {
        let mut document = Document::preset("paper").expect("it ships");
        document.set(&overrides.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        document.resolve(&mut NoFiles).expect("valid").scenario
    }

    #[test]
    fn the_papers_tree_has_its_latencies_and_scaled_periods() {
        let plan = Plan::new(&scenario(&["topology.size=4"]), 200.0).expect("it can be live");
        assert_eq!((plan.nodes.len(), plan.links.len(), plan.applications.len(), plan.users.len()), (21, 20, 6, 51));
        assert_eq!(plan.evaluation, Duration::from_secs(1));
        assert_eq!(plan.duration, Duration::from_secs(260));
        assert_eq!(plan.nodes.iter().filter(|node| node.is_access_point).count(), 16);
        assert_eq!(plan.nodes[0].capacity, UNBOUNDED);
        let mut delays: Vec<u128> = plan.links.iter().map(|link| link.delay.as_millis()).collect();
        delays.sort_unstable();
        delays.dedup();
        assert_eq!(delays, [2, 3]);
        assert_eq!(plan.deploys.len(), 6);
    }

    #[test]
    fn users_are_where_the_scenario_puts_them() {
        let scenario = scenario(&["topology.size=4"]);
        let plan = Plan::new(&scenario, 200.0).expect("it can be live");
        let first = &scenario.attachments.steps[0];
        assert!(first.len() >= 50);
        for (user, place) in first {
            assert_eq!(plan.users[user.position()].place(0.0), place.map(NodeIndex::position));
        }
        let moves: usize = scenario.attachments.steps.iter().map(Vec::len).sum();
        assert_eq!(plan.users.iter().map(|user| user.moves.len()).sum::<usize>(), moves);
        let late = plan.users.iter().find(|user| user.arrival() != Some(0.0)).expect("one user comes later");
        assert_eq!(late.place(0.0), None);
    }

    #[test]
    fn a_scenario_that_cannot_run_live_is_rejected_with_the_reason() {
        let refused = |overrides: &[&str], speed| Plan::new(&scenario(overrides), speed).expect_err("refused").line();
        assert!(refused(&[], 0.0).contains("positive number"));
        assert!(refused(&[], 1e9).contains("at most 4000 units a second"));
        assert!(refused(&["topology.size=32"], 200.0).contains("1365 nodes"));
        assert!(refused(&["management.strategy=central-greedy"], 200.0).contains("only agents manage"));
        let shop = Document::preset("shop").expect("it ships").resolve(&mut NoFiles).expect("valid").scenario;
        assert!(Plan::new(&shop, 200.0).expect_err("refused").line().contains("its applications call others"));
    }
}
