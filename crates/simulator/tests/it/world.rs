//! Small handmade worlds, a recorder that stores their events, and functions that run and audit them.

use mario_audit::{Audit, AuditReport, Options};
use mario_domain::{Application, ApplicationId, Capacity, Duration, Hardware, Id, NodeId, Quantity, Time};
use mario_prolog::Engine;
use mario_scenario::{
    AgentTiming, ApplicationIndex, ApplicationPlan, Arbitration, Attachments, Deploy, Disturbance, DisturbanceEvent,
    Fidelity, Memory, Metric, MobileUser, Network, NodeDescription, NodeIndex, Numbering, Observation, Occupancy,
    PolicyIndex, PolicyText, Routing, Scenario, Topology, TopologyBuilder, UserIndex, UserPlan, Workload,
};
use mario_simulator::population::{AgentIndex, CycleLabel, Deployed, Outcome, Population};
use mario_simulator::{
    Cause, Detail, Recorder, RunOptions, RunStatistics, Served, Simulation, TableOutputs, Tables, TraceRecorder,
};

/// A policy that proposes nothing.
pub const STILL: &str = ":- dynamic operation/3.\noperation(undeploy, _, _) :- fail.\n";

/// Undeploys without client requests, and replicates to a neighbour that forwards requests.
pub const SPREADS: &str = "\
:- dynamic requests/4.\n\
operation(undeploy, I, self) :- \\+ requests(I, _, _, _).\n\
operation(replicate, I, M) :- requests(I, M, _, _), M \\== self.\n";

pub fn node_id(number: usize) -> NodeId {
    NodeId::name(&format!("n{number}")).expect("a name")
}

/// An application whose instances need this number of units.
pub fn application(number: usize, units: u64) -> Application {
    Application {
        id: ApplicationId::name(&format!("app{number}")).expect("a name"),
        owner: None,
        hardware: Hardware::units(units),
        max_rate: Quantity::whole(5),
        max_latency: Quantity::whole(10),
        flavours: Vec::new(),
        sleep: None,
    }
}

/// An access point with this capacity.
pub fn described(number: usize, capacity: Capacity) -> NodeDescription {
    NodeDescription { id: node_id(number), capacity, tier: 0, position: None, is_access_point: true, facts: Vec::new() }
}

/// Nodes with these units and links with these latencies between them.
pub fn topology(units: &[u64], links: &[(u32, u32, f64)]) -> Topology {
    let mut builder = TopologyBuilder::default();
    for (number, units) in units.iter().enumerate() {
        builder.node(described(number, Capacity::units(*units))).expect("a new node");
    }
    for (one, other, latency) in links {
        builder.link(NodeIndex(*one), NodeIndex(*other), Duration::of(*latency), None).expect("a link");
    }
    builder.build().expect("an infrastructure")
}

/// A world without applications or users, with default settings.
pub fn scenario(topology: Topology) -> Scenario {
    Scenario {
        name: "by hand".to_owned(),
        seed: 1,
        duration: Duration::of(2_000.0),
        acceptance_of: vec![None; topology.node_count()],
        topology,
        applications: Vec::new(),
        policies: Vec::new(),
        acceptances: Vec::new(),
        deploys: Vec::new(),
        attachments: Attachments { users: Vec::new(), steps: vec![Vec::new()], commuters: None },
        users: Vec::new(),
        step: Duration::of(1_000.0),
        agents: AgentTiming { start: Time::at(100.0), period: Duration::of(200.0), budget: None },
        notice: 3,
        management_period: Duration::of(100.0),
        network: Network { message_size: 1.0, occupancy: Occupancy::Latency, fidelity: Fidelity::Messages },
        observation: Observation::Arrivals,
        routing: Routing::Nearest(Metric::Hops),
        management: mario_scenario::Management::Agents,
        arbitration: Arbitration::Managers,
        memory: Memory::Sliding,
        numbering: Numbering::Counted,
        disturbances: Vec::new(),
        redeploy_delay: None,
        updates: Vec::new(),
        past: None,
        measures: mario_scenario::Measures::default(),
    }
}

/// Adds elements to a world, in the style of a builder.
pub trait ScenarioExt: Sized {
    /// Adds an application with its own policy, whose instances need `units` units. It is deployed on `home` at the
    /// start.
    fn with_application(self, units: u64, home: u32, policy: &str) -> Self;
    /// Adds a user of an application, who sends every 40 time units. `steps` has the user's access point in each step.
    fn with_user(self, application: u32, steps: &[Option<u32>]) -> Self;
    fn with_disturbance(self, time: f64, event: DisturbanceEvent) -> Self;
}

impl ScenarioExt for Scenario {
    fn with_application(mut self, units: u64, home: u32, policy: &str) -> Scenario {
        let number = self.applications.len();
        let (place, home) = (PolicyIndex::at(self.policies.len()), NodeIndex(home));
        self.policies.push(policy_text(policy, 0));
        self.applications.push(ApplicationPlan {
            application: application(number + 1, units),
            kind: "any".to_owned(),
            policy: place,
            service_time: Duration::of(0.01),
            facts: Vec::new(),
            home,
            is_anchor: false,
            stages: Vec::new(),
        });
        let application = ApplicationIndex::at(number);
        self.deploys.push(Deploy { time: Time::ZERO, application, node: home, policy: place });
        self
    }

    fn with_user(mut self, application: u32, steps: &[Option<u32>]) -> Scenario {
        let user = self.users.len() as u32;
        let id = Id::name(&format!("user{user}")).expect("a name");
        self.attachments.users.push(MobileUser { id, application: None });
        let workload = Workload::Periodic { period: Duration::of(40.0), phase: Duration::of(40.0) };
        self.users.push(UserPlan { application: ApplicationIndex(application), workload });
        let mut now = None;
        for (step, wanted) in steps.iter().enumerate() {
            if self.attachments.steps.len() == step {
                self.attachments.steps.push(Vec::new());
            }
            if *wanted != now {
                self.attachments.steps[step].push((UserIndex(user), wanted.map(NodeIndex)));
                now = *wanted;
            }
        }
        self
    }

    fn with_disturbance(mut self, time: f64, event: DisturbanceEvent) -> Scenario {
        self.disturbances.push(Disturbance { time: Time::at(time), event });
        self.disturbances.sort_by_key(|disturbance| disturbance.time);
        self
    }
}

pub fn policy_text(text: &str, memory: u32) -> PolicyText {
    PolicyText { name: "policy".to_owned(), files: vec![("policy.pl".to_owned(), text.to_owned())], memory }
}

/// A recorder that stores the events of a run.
#[derive(Default)]
pub struct Story {
    pub served: Vec<Served>,
    /// The time and the user.
    pub lost: Vec<(f64, u32)>,
    /// The time, the user, and the access points before and after.
    pub handovers: Vec<(f64, u32, Option<u32>, Option<u32>)>,
    /// Verdicts on deploys: the time, the node, and whether accepted.
    pub deploys: Vec<(f64, u32, bool)>,
    /// The time, the node, and the number of instances lost.
    pub downs: Vec<(f64, u32, usize)>,
    pub leaving: Vec<(f64, u32)>,
    pub ups: Vec<(f64, u32)>,
    pub links: Vec<(f64, bool)>,
    pub cycles: Vec<f64>,
}

impl Recorder for Story {
    fn handover(&mut self, time: Time, user: UserIndex, from: Option<NodeIndex>, to: Option<NodeIndex>) {
        self.handovers.push((time.units(), user.0, from.map(|node| node.0), to.map(|node| node.0)));
    }

    fn cycle(&mut self, time: Time, label: &CycleLabel, _colony: &Population) {
        self.cycles.push(time.units());
        for outcome in label.iter() {
            if let Outcome::Deployed(Deployed { deployment, verdict, .. }) = outcome {
                self.deploys.push((time.units(), deployment.node.0, verdict.is_accepted()));
            }
        }
    }

    fn node_down(&mut self, time: Time, node: NodeIndex, _cause: Cause, gone: &[AgentIndex], _colony: &Population) {
        self.downs.push((time.units(), node.0, gone.len()));
    }

    fn node_up(&mut self, time: Time, node: NodeIndex) {
        self.ups.push((time.units(), node.0));
    }

    fn node_leaving(&mut self, time: Time, node: NodeIndex) {
        self.leaving.push((time.units(), node.0));
    }

    fn link(&mut self, time: Time, _one: NodeIndex, _other: NodeIndex, is_up: bool) {
        self.links.push((time.units(), is_up));
    }

    fn served(&mut self, served: &Served) {
        self.served.push(*served);
    }

    fn lost(&mut self, time: Time, user: UserIndex, _application: ApplicationIndex) {
        self.lost.push((time.units(), user.0));
    }
}

/// Runs a world to its end, audits its trace, and returns its events.
pub fn story(scenario: &Scenario) -> Story {
    let mut recorders = (Story::default(), TraceRecorder::new(Vec::new(), scenario, Detail::Full));
    let mut simulation = Simulation::new(scenario, RunOptions::default()).expect("it can be run");
    simulation.run(&mut recorders);
    let trace = recorders.1.finish(scenario.end()).expect("memory takes everything");
    let report = audited(&trace);
    assert!(report.is_clean(), "{report}");
    recorders.0
}

/// The auditor's report on a trace.
pub fn audited(trace: &[u8]) -> AuditReport {
    static ENGINE: std::sync::OnceLock<Engine> = std::sync::OnceLock::new();
    let reader = mario_audit::reader::TraceReader::new(trace).expect("a header");
    let header = std::sync::Arc::clone(reader.header());
    let audit = Audit::with_engine(header, Options::default(), ENGINE.get_or_init(Engine::new));
    audit.read(reader, &mut |_| ()).expect("a trace")
}

/// The outputs of a run, which are the trace and the four tables, and the statistics.
pub fn outputs(scenario: &Scenario, options: RunOptions, detail: Detail) -> ([Vec<u8>; 5], RunStatistics) {
    let empty = TableOutputs {
        operations: Vec::new(),
        moves: Some(Vec::new()),
        handovers: Some(Vec::new()),
        messages: Some(Vec::new()),
    };
    let mut recorders = (TraceRecorder::new(Vec::new(), scenario, detail), Tables::new(scenario, empty));
    let mut simulation = Simulation::new(scenario, options).expect("it can be run");
    let statistics = simulation.run(&mut recorders);
    let trace = recorders.0.finish(scenario.end()).expect("memory takes everything");
    let tables = recorders.1.finish().expect("memory takes everything");
    let messages = tables.messages.expect("it was wanted");
    let [moves, handovers] = [tables.moves, tables.handovers].map(Option::unwrap_or_default);
    ([trace, tables.operations, moves, handovers, messages], statistics)
}
