//! A mirror of a simulated world: one separate node for each node, driven by messages.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use mario_colony::{
    Availability, Command, Config, Copies, DeployKey, Descriptor, Effect, Input, JournalId, Ledger, Node, NodeLimits,
    Observation, Proposal, RequestFact, Start, Timing, TraceEvent, Unconfirmed, WorkloadId,
};
use mario_domain::{Inhibition, InstanceId, NodeId, OperationName, Request, Rule, Target, Time, Verdict};
use mario_policy::{Acceptance, Decision, PolicySettings, Solution};
use mario_prolog::Engine;
use mario_scenario::{ApplicationIndex, NodeIndex, PolicyIndex, Scenario};
use mario_simulator::population::{
    AgentIndex, CompactVerdict, CycleLabel, Deployed, Deployment, Judged, Neighbour, Outcome, OwnerActKind, OwnerActs,
    Population,
};
use mario_simulator::{Cause, Recorder};

/// Counts of events in the compared worlds.
#[derive(Clone, Debug, Default)]
pub struct Counts(BTreeMap<&'static str, u64>);

/// The events that must occur often enough for the comparison to be meaningful.
const WANTED: [&str; 13] = [
    "evaluations",
    "proposals",
    "evaluations with memory",
    "undeploy",
    "migrate",
    "replicate",
    "deploy",
    "capacity",
    "acceptance",
    "neighbourhood",
    "down",
    "anchor",
    "crashes",
];

impl Counts {
    fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    pub fn add(&mut self, other: &Counts) {
        for (what, count) in &other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    pub fn is_varied(&self) -> bool {
        WANTED.iter().all(|what| self.of(what) > 20)
    }
}

/// The nodes that mirror a simulation.
pub struct Mirror<'a> {
    scenario: &'a Scenario,
    engine: Engine,
    catalogue: Vec<Arc<Descriptor>>,
    /// For each node of the world, its mirror; `None` while it is down.
    nodes: Vec<Option<Node>>,
    indices: BTreeMap<NodeId, NodeIndex>,
    neighbours: Vec<Vec<NodeIndex>>,
    /// The instance on the mirrored nodes that corresponds to each agent.
    twins: BTreeMap<AgentIndex, InstanceId>,
    journals: u128,
    deploys: u128,
    /// Workloads to stop at the end of the cycle, because freed hardware is available from the next cycle on.
    stopping: Vec<(NodeIndex, WorkloadId)>,
    adapting: Vec<(NodeIndex, WorkloadId)>,
    /// The actions of owners at this activation.
    acted: BTreeMap<NodeIndex, OwnerActs>,
    reports: Vec<TraceEvent>,
    counts: Counts,
}

impl<'a> Mirror<'a> {
    pub fn new(scenario: &'a Scenario) -> Mirror<'a> {
        let engine = Engine::new();
        let all_facts = || scenario.applications.iter().flat_map(|plan| plan.facts.clone()).collect();
        let mut catalogue: Vec<Arc<Descriptor>> = (0..scenario.applications.len())
            .map(ApplicationIndex::at)
            .map(|application| descriptor(scenario, application, scenario.applications[application.position()].policy))
            .collect();
        if let Some(first) = catalogue.first_mut() {
            // Agents of the population see the facts of all applications in this order, so the first descriptor has
            // all.
            let facts = all_facts();
            *first = Arc::new(Descriptor { facts, ..Descriptor::clone(first) });
        }
        let ids = scenario.topology.nodes().map(|(node, described)| (described.id.clone(), node));
        let count = scenario.topology.node_count();
        let mut mirror = Mirror {
            scenario,
            engine,
            catalogue,
            nodes: (0..count).map(|_| None).collect(),
            indices: ids.collect(),
            neighbours: vec![Vec::new(); count],
            twins: BTreeMap::new(),
            journals: 0,
            deploys: 0,
            stopping: Vec::new(),
            adapting: Vec::new(),
            acted: BTreeMap::new(),
            reports: Vec::new(),
            counts: Counts::default(),
        };
        for node in (0..count).map(NodeIndex::at) {
            mirror.start(node);
        }
        mirror
    }

    pub fn counts(&self) -> Counts {
        self.counts.clone()
    }

    /// Starts a node with a new journal.
    fn start(&mut self, node: NodeIndex) {
        self.journals += 1;
        let described = self.scenario.topology.node(node);
        let acceptance = self.scenario.acceptance_of[node.position()];
        let acceptance = acceptance.map(|place| {
            let text = &self.scenario.acceptances[place as usize];
            let (name, main) = &text.files[0];
            let budget = PolicySettings::default().budget;
            Arc::new(Acceptance::load(&self.engine, name, main, Some(text.resolver()), budget).expect("a policy"))
        });
        let config = Config {
            node: described.id.clone(),
            capacity: described.capacity,
            facts: described.facts.clone(),
            acceptance,
            catalogue: self.catalogue.clone(),
            budget: PolicySettings::default().budget,
            timing: Timing { evaluation_period: None, notice: self.scenario.notice, ..Timing::default() },
            limits: NodeLimits { snapshot_bytes_max: u64::MAX, ..NodeLimits::default() },
            unconfirmed: Unconfirmed::NotAsked,
        };
        let start = Start {
            config: Arc::new(config),
            ledger: Ledger::default(),
            new_journal: JournalId(self.journals),
            seed: self.journals as u64,
        };
        let mut effects = Vec::new();
        let started = Node::start(&self.engine, start, Time::ZERO, &mut effects).expect("a new journal");
        self.nodes[node.position()] = Some(started);
        self.neighbours[node.position()] = Vec::new();
        self.perform(node, effects);
    }

    fn handle(&mut self, node: NodeIndex, input: Input) {
        let mut effects = Vec::new();
        if let Some(twin) = &mut self.nodes[node.position()] {
            twin.handle(Time::ZERO, input, &mut effects);
        }
        self.perform(node, effects);
    }

    /// Performs effects, and those that result from them, until none is left. Adapts, drains and stops of
    /// workloads are deferred to `stop_copies`.
    fn perform(&mut self, node: NodeIndex, effects: Vec<Effect>) {
        let mut queue: VecDeque<(NodeIndex, Effect)> = effects.into_iter().map(|effect| (node, effect)).collect();
        while let Some((node, effect)) = queue.pop_front() {
            let (to, input) = match effect {
                Effect::Journal(_) | Effect::Resume { .. } => continue,
                Effect::Send { to, receiver, message } => {
                    let from = self.scenario.topology.node(node).id.clone();
                    let Some(sender) = self.nodes[node.position()].as_ref().map(Node::journal) else { continue };
                    (self.indices[&to], Input::Received { from, sender, receiver, message })
                }
                Effect::Start { workload, .. } => (node, Input::Healthy(workload)),
                Effect::Adapt { workload, .. } => {
                    // Freed hardware is available from the next cycle on, as for workloads that stop.
                    self.adapting.push((node, workload));
                    continue;
                }
                Effect::Drain(workload) | Effect::Stop(workload) => {
                    self.stopping.push((node, workload));
                    continue;
                }
                Effect::Sweep { .. } => (node, Input::Swept),
                Effect::Trace(report) => {
                    self.reports.push(report);
                    continue;
                }
            };
            let mut more = Vec::new();
            if let Some(twin) = &mut self.nodes[to.position()] {
                twin.handle(Time::ZERO, input, &mut more);
            }
            queue.extend(more.into_iter().map(|effect| (to, effect)));
        }
    }

    /// Updates the neighbours of each node to those in the population, and discards all reports.
    fn follow_links(&mut self, population: &Population) {
        for node in (0..self.nodes.len()).map(NodeIndex::at) {
            let now: Vec<NodeIndex> = population.node(node).neighbours().to_vec();
            if self.nodes[node.position()].is_some() && self.neighbours[node.position()] != now {
                self.neighbours[node.position()] = now;
                self.tell_neighbours(node);
            }
        }
        self.reports.clear();
    }

    fn tell_neighbours(&mut self, node: NodeIndex) {
        let neighbours = self.neighbours[node.position()].iter();
        let ids = neighbours.map(|neighbour| self.scenario.topology.node(*neighbour).id.clone()).collect();
        self.handle(node, Input::Neighbours(ids));
    }

    fn stop_copies(&mut self) {
        for (node, workload) in std::mem::take(&mut self.adapting) {
            self.handle(node, Input::Adapted(workload));
        }
        for (node, workload) in std::mem::take(&mut self.stopping) {
            self.handle(node, Input::Stopped(workload));
        }
    }

    fn deploy(&mut self, deployment: &Deployment, created: Option<AgentIndex>) -> Verdict {
        if self.nodes[deployment.node.position()].is_none() {
            // The node is down.
            let node = self.scenario.topology.node(deployment.node).id.clone();
            return Verdict::Inhibited(Inhibition { node, rule: Rule::Down });
        }
        self.deploys += 1;
        let key = DeployKey(self.deploys);
        let descriptor = descriptor(self.scenario, deployment.application, deployment.policy);
        let is_anchor = self.scenario.applications[deployment.application.position()].is_anchor;
        self.handle(deployment.node, Input::Operator(Command::Deploy { key, descriptor, is_anchor }));
        let (_, verdict, twin) = self.judged().expect("a deploy is judged");
        self.adopt(created, twin);
        verdict
    }

    /// The only request judged since the reports were last taken, its verdict, and the instance that was created;
    /// `None` if no request was judged.
    fn judged(&mut self) -> Option<(Request, Verdict, Option<InstanceId>)> {
        let reports = std::mem::take(&mut self.reports);
        let mut judged = reports.into_iter().filter_map(|report| match report {
            TraceEvent::Judged { request, verdict, created } => Some((request, verdict, created)),
            _ => None,
        });
        let first = judged.next();
        assert!(judged.next().is_none(), "one request is judged at a time");
        first
    }

    fn adopt(&mut self, agent: Option<AgentIndex>, twin: Option<InstanceId>) {
        match (agent, twin) {
            (Some(agent), Some(twin)) => assert!(self.twins.insert(agent, twin).is_none(), "a new agent"),
            (None, None) => {}
            (agent, twin) => panic!("the population has {agent:?}, the nodes have {twin:?}"),
        }
    }

    fn judge(&mut self, judged: &Judged, population: &Population) {
        let twin = self.twins[&judged.agent].clone();
        self.handle(judged.from, Input::Judge(twin.clone()));
        let (request, verdict, created) = self.judged().unwrap_or_else(|| panic!("{judged:?} is not judged"));
        let expected = population.request(judged.agent, &judged.proposal);
        let application = population.agent(judged.agent).application();
        let expected_verdict = population.verdict(&judged.verdict, application);
        let asked = (request.operation(), request.application());
        assert_eq!(asked, (expected.operation(), expected.application()), "what {twin} asks for");
        assert_eq!(request.from(), Some(&self.scenario.topology.node(judged.from).id));
        assert_eq!(request.instance(), Some(&twin));
        assert_eq!(verdict, expected_verdict, "what becomes of {request:?}");
        self.adopt(judged.created, created);
        self.count(OperationName::of(judged.proposal.operation), &verdict);
    }

    fn count(&mut self, operation: OperationName, verdict: &Verdict) {
        self.counts.count(match verdict {
            Verdict::Accepted => operation.as_str(),
            Verdict::Inhibited(inhibition) => inhibition.rule.as_str(),
        });
    }

    /// Lets the owner of a mirrored node act, and compares the actions with those in the population.
    fn compare_owner(&mut self, node: NodeIndex, acts: Option<&OwnerActs>, population: &Population) {
        self.handle(node, Input::Evict);
        // The hardware freed by an eviction is free when the owner's policy is evaluated.
        self.stop_copies();
        self.handle(node, Input::Initiative);
        let mut found: Vec<String> = Vec::new();
        for report in std::mem::take(&mut self.reports) {
            found.push(match report {
                TraceEvent::Evicted { instance, reason, is_pinned: false } => format!("evicted {instance} {reason}"),
                TraceEvent::Shrunk { instance, flavour, reason } => format!("shrunk {instance} {} {reason}", flavour.0),
                TraceEvent::Announced { instance, evaluations, reason } => {
                    format!("leave {instance} {evaluations} {reason}")
                }
                TraceEvent::InitiativeFailed { .. } => {
                    self.counts.count("initiative failed");
                    continue;
                }
                other => panic!("an owner does not {other:?}"),
            });
        }
        self.stop_copies();
        let mut expected: Vec<String> = Vec::new();
        for act in acts.into_iter().flat_map(|acts| &acts.acts) {
            let (twin, reason) = (&self.twins[&act.agent], &act.reason);
            let (what, text) = match act.kind {
                OwnerActKind::Evicted => ("evicted", format!("evicted {twin} {reason}")),
                OwnerActKind::Shrunk(flavour) => ("shrunk", format!("shrunk {twin} {} {reason}", flavour.0)),
                OwnerActKind::Announced(left) => ("announced", format!("leave {twin} {left} {reason}")),
            };
            self.counts.count(what);
            expected.push(text);
        }
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "what the owner of {} does", population.node(node).id());
    }

    /// Compares the mirrored nodes with the population: for each agent, whether it sleeps, the length of its memory and
    /// the free hardware of its node, and the number of instances. All transfers must have ended.
    fn compare_states(&self, population: &Population) {
        for (agent, twin) in &self.twins {
            let state = population.agent(*agent);
            let node = self.nodes[state.node().position()].as_ref().expect("an agent's node is up");
            let snapshot = node.snapshot(twin).unwrap_or_else(|| panic!("{twin} is not on {:?}", state.node()));
            assert_eq!(node.is_asleep(twin), state.is_asleep(), "whether {twin} sleeps");
            assert_eq!(snapshot.memory.len(), state.remembered().len(), "what {twin} remembers");
            assert_eq!(
                node.manager().free(),
                population.node(state.node()).manager().free(),
                "what is free around {twin}"
            );
        }
        let count = self.nodes.iter().flatten().map(|node| node.instances().count()).sum::<usize>();
        assert_eq!(count, self.twins.len(), "as many instances");
        assert!(self.nodes.iter().flatten().all(Node::is_quiet), "nothing is open between cycles");
    }
}

impl Recorder for Mirror<'_> {
    fn wants_decisions(&self) -> bool {
        true
    }

    fn deployed(&mut self, _: Time, agent: AgentIndex, population: &Population) {
        self.follow_links(population);
        let state = population.agent(agent);
        let (application, node, policy) = (state.application(), state.node(), state.policy());
        let verdict = self.deploy(&Deployment { application, node, policy }, Some(agent));
        assert_eq!(verdict, Verdict::Accepted);
        self.stop_copies();
    }

    fn evaluation(&mut self, _: Time, agent: AgentIndex, population: &Population, decision: Option<&Decision>) {
        self.follow_links(population);
        let state = population.agent(agent);
        let twin = self.twins[&agent].clone();
        let requests = state.requests().iter().map(|fact| RequestFact {
            neighbour: match fact.neighbour {
                Neighbour::Own => Target::Own,
                Neighbour::Node(node) => Target::Node(self.scenario.topology.node(node).id.clone()),
            },
            rate: fact.rate,
            latency: fact.latency,
        });
        let (requests, random) = (requests.collect(), state.random());
        self.counts.count("evaluations");
        if !state.remembered().is_empty() {
            self.counts.count("evaluations with memory");
        }
        self.handle(state.node(), Input::Observed(Observation { instance: twin.clone(), requests, random }));
        self.handle(state.node(), Input::Evaluate(twin.clone()));
        let report = self.reports.pop();
        let Some(TraceEvent::Evaluated { instance, proposal, has_failed, .. }) = report else {
            panic!("{twin} evaluates")
        };
        assert_eq!(instance, twin);
        if proposal.is_some() {
            self.counts.count("proposals");
        }
        if let Some(decision) = decision {
            assert_eq!(has_failed, decision.has_failed(), "{twin}");
            let expected = matches!(decision.solutions.first(), Some(Solution::Proposal(_)));
            assert_eq!(proposal.is_some(), expected, "what {twin} proposes: {proposal:?}, {decision:?}");
        }
        check(proposal.as_ref());
    }

    fn cycle(&mut self, _: Time, label: &CycleLabel, population: &Population) {
        self.follow_links(population);
        for outcome in label.iter() {
            match outcome {
                Outcome::Nop(agent) => {
                    let twin = self.twins[&agent].clone();
                    let node = population.agent(agent).node();
                    self.handle(node, Input::Judge(twin.clone()));
                    assert!(self.judged().is_none(), "{twin} asks for nothing");
                }
                Outcome::Deployed(Deployed { deployment, verdict, created }) => {
                    let expected = population.verdict(&verdict, deployment.application);
                    assert_eq!(self.deploy(&deployment, created), expected, "{deployment:?}");
                    self.count(OperationName::Deploy, &expected);
                }
                Outcome::Judged(judged) => self.judge(&judged, population),
            }
        }
        self.twins.retain(|agent, _| population.agent(*agent).is_alive());
        self.stop_copies();
        self.compare_states(population);
    }

    fn woken(&mut self, _: Time, agent: AgentIndex, verdict: &CompactVerdict, population: &Population) {
        self.follow_links(population);
        let state = population.agent(agent);
        let twin = self.twins[&agent].clone();
        self.handle(state.node(), Input::Requested(twin.clone()));
        let expected = population.verdict(verdict, state.application());
        self.counts.count(if expected == Verdict::Accepted { "woken" } else { "not woken" });
        let node = self.nodes[state.node().position()].as_ref().expect("a sleeper's node is up");
        assert_eq!(node.is_asleep(&twin), state.is_asleep(), "{twin}");
        assert_eq!(node.wake_refused(&twin).is_some(), state.is_wake_refused(), "{twin}");
        let reports = std::mem::take(&mut self.reports);
        let woken = reports.into_iter().filter(|report| matches!(report, TraceEvent::Woken { .. }));
        assert_eq!(woken.collect::<Vec<_>>(), [TraceEvent::Woken { instance: twin, verdict: expected }]);
    }

    fn owner(&mut self, _: Time, acts: &OwnerActs, _: &Population) {
        self.acted.insert(acts.node, acts.clone());
    }

    fn activation(&mut self, _: Time, population: &Population) {
        let acted = std::mem::take(&mut self.acted);
        if !population.has_owners() {
            return;
        }
        self.follow_links(population);
        for node in (0..self.nodes.len()).map(NodeIndex::at) {
            self.compare_owner(node, acted.get(&node), population);
        }
        self.twins.retain(|agent, _| population.agent(*agent).is_alive());
        self.compare_states(population);
    }

    fn node_down(&mut self, _: Time, node: NodeIndex, _: Cause, gone: &[AgentIndex], _: &Population) {
        self.counts.count("crashes");
        self.nodes[node.position()] = None;
        for agent in gone {
            self.twins.remove(agent);
        }
        // The neighbours' sessions with the node end, even if it is up again before they notice.
        for other in (0..self.nodes.len()).map(NodeIndex::at) {
            if self.neighbours[other.position()].contains(&node) {
                self.neighbours[other.position()].retain(|neighbour| *neighbour != node);
                self.tell_neighbours(other);
            }
        }
    }

    fn node_up(&mut self, _: Time, node: NodeIndex) {
        self.start(node);
    }

    fn node_leaving(&mut self, _: Time, node: NodeIndex) {
        self.handle(node, Input::Availability(Availability::Leaving));
    }
}

/// Checks that a proposed undeploy has the target `self`.
fn check(proposal: Option<&Proposal>) {
    if let Some(proposal) = proposal
        && proposal.operation == mario_domain::AgentOperation::Undeploy
    {
        assert_eq!(proposal.target, Target::Own);
    }
}

fn descriptor(scenario: &Scenario, application: ApplicationIndex, policy: PolicyIndex) -> Arc<Descriptor> {
    let text = &scenario.policies[policy.position()];
    let plan = &scenario.applications[application.position()];
    Arc::new(Descriptor {
        version: 1,
        application: plan.application.clone(),
        policy: text.clone(),
        facts: Vec::new(),
        replications_max: None,
        copies: Copies::MayOverlap,
        document: Arc::default(),
    })
}
