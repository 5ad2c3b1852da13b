//! Evaluates the policies of agents, and builds the facts that the acceptance policy of the node sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use mario_domain::{
    ApplicationId, Capacity, Fact, Hardware, Instance, InstanceId, Node as NodeDescription, NodeId, Operation, Rule,
    SELF, Target, Wakefulness,
};
use mario_policy::{
    AcceptanceFailure, Constant, Decider, Ending, KnowledgeBase, ManagerView, MemoryDeclaration, Policy,
    PolicySettings, PolicyText, Solution, SolutionLimit,
};
use mario_prolog::{Allowance, Engine, Machine};

use super::{Agent, Knowledge, State};
use crate::descriptor::Descriptor;
use crate::input::{FirstSolution, Proposal};
use crate::journal::Owned;
use crate::message::TransferKind;
use crate::rules::{Situation, know, visible};

/// Caches and scratch memory for evaluating policies. No decision depends on what they contain.
pub(crate) struct Reasoner {
    engine: Engine,
    decider: Decider,
    machine: Machine,
    facts: KnowledgeBase,
    /// Has no facts; interns names while `facts` is borrowed mutably.
    names: KnowledgeBase,
    /// Compiled policies, by their texts.
    policies: BTreeMap<Vec<(String, String)>, Policy>,
}

/// The maximum number of cached compiled policies. When it is reached, the cache is cleared.
const POLICIES_MAX: usize = 256;

/// The result of evaluating an agent's policy.
pub(super) struct Answer {
    pub(super) proposal: Option<Proposal>,
    pub(super) has_failed: bool,
    /// The first solution; `None` if the policy has none, or could not be loaded.
    pub(super) solution: Option<FirstSolution>,
    /// Why the evaluation did not complete; `None` if it did.
    pub(super) ending: Option<String>,
    /// How much history the policy reads.
    pub(super) remembers: MemoryDeclaration,
}

impl Reasoner {
    pub(crate) fn new(engine: &Engine) -> Reasoner {
        Reasoner {
            engine: engine.clone(),
            decider: Decider::new(engine),
            machine: Machine::new(engine),
            facts: KnowledgeBase::new(engine.symbols()),
            names: KnowledgeBase::new(engine.symbols()),
            policies: BTreeMap::new(),
        }
    }

    /// Checks that agents with this descriptor can run here: the flavours are consistent, and the policy can be
    /// loaded.
    pub(super) fn check(&mut self, state: &State, descriptor: &Descriptor) -> Result<(), Rule> {
        if let Some(cause) = descriptor.application.flavour_fault() {
            return Err(Rule::Descriptor { cause });
        }
        self.policy(state, &descriptor.policy).map(|_| ())
    }

    fn policy(&mut self, state: &State, text: &PolicyText) -> Result<Policy, Rule> {
        let settings = PolicySettings { memory: text.memory, budget: state.config.budget };
        if let Some(policy) = self.policies.get(&text.files) {
            return Ok(policy.with_settings(settings));
        }
        let unusable = |cause: String| Rule::Descriptor { cause };
        let Some((name, main)) = text.main() else { return Err(unusable("its policy has no text".to_owned())) };
        // The text is untrusted, so loading it may cost no more than one decision.
        let allowance = Allowance::new(settings.budget.inferences);
        let policy = Policy::load_within(&self.engine, name, main, Some(text.resolver()), settings, &allowance);
        let policy = policy.map_err(|error| unusable(with_sources(&error)))?;
        if self.policies.len() == POLICIES_MAX {
            self.policies.clear();
        }
        self.policies.insert(text.files.clone(), policy.clone());
        Ok(policy)
    }

    /// Evaluates the policy of an instance's agent.
    pub(super) fn decide(&mut self, state: &State, owned: &Owned, agent: &Agent) -> Answer {
        let policy = match self.policy(state, &owned.descriptor.policy) {
            Ok(policy) => policy,
            Err(rule) => {
                let ending = Some(format!("it cannot be loaded: {}", rule.as_str()));
                let remembers = MemoryDeclaration::default();
                return Answer { proposal: None, has_failed: true, solution: None, ending, remembers };
            }
        };
        let remembers = policy.remembers();
        let instance = self.know(state, owned, agent, &policy);
        let decision = self.decider.decide(&policy, &self.facts, instance, SolutionLimit::First);
        let proposed = match decision.solutions.first() {
            Some(Solution::Proposal(proposal)) => proposal.operation(&self.facts),
            _ => None,
        };
        let proposal = proposed.as_ref().and_then(Proposal::of);
        let solution = decision.solutions.first().map(|solution| match (solution, &proposal) {
            (Solution::Proposal(solved), Some(Proposal { operation, target })) => {
                FirstSolution::Proposal { operation: *operation, target: target.clone(), clause: solved.clause }
            }
            (Solution::Proposal(solved), None) => {
                FirstSolution::Invalid { fault: "no operation".to_owned(), clause: solved.clause }
            }
            (Solution::Invalid(invalid), _) => {
                FirstSolution::Invalid { fault: invalid.fault.description().to_owned(), clause: invalid.clause }
            }
        });
        let ending = (decision.ending != Ending::Complete).then(|| decision.ending.to_string());
        Answer { has_failed: decision.has_failed(), proposal, solution, ending, remembers }
    }

    /// Replaces the content of `self.facts` by what an instance's agent knows. Returns the constant that denotes the
    /// instance.
    fn know(&mut self, state: &State, owned: &Owned, agent: &Agent, policy: &Policy) -> Constant {
        self.facts.clear();
        for descriptor in state.descriptors(None) {
            self.facts.push_application(&descriptor.application);
        }
        let (remembers, reads_kinds) = (policy.remembers(), policy.reads_kinds());
        let situation = AgentSituation { state, owned, agent, remembers, reads_kinds, names: &self.names };
        know(&mut self.facts, &situation)
    }

    /// The knowledge of an instance's agent; `None` if its policy cannot be loaded.
    pub(super) fn knowledge(&mut self, state: &State, owned: &Owned, agent: &Agent) -> Option<Knowledge> {
        let policy = self.policy(state, &owned.descriptor.policy).ok()?;
        let instance = self.know(state, owned, agent, &policy);
        Some(Knowledge { facts: self.facts.clone(), instance, descriptor: Arc::clone(&owned.descriptor) })
    }

    /// How much history the policy of an instance reads: none if the policy cannot be loaded.
    pub(super) fn remembers(&mut self, state: &State, owned: &Owned) -> MemoryDeclaration {
        self.policy(state, &owned.descriptor.policy)
            .map_or_else(|_| MemoryDeclaration::default(), |policy| policy.remembers())
    }

    pub(super) fn machine(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// The facts that the node's manager sees: about the node, the known applications, the reservations, and the
    /// instances on the node, including those in custody that may come back and those whose copies drain. `asked` is
    /// the descriptor of the instance that the judged request concerns; `None` if the owner's policy is asked for
    /// evictions and shrinks.
    pub(super) fn manager_view(
        &self,
        state: &State,
        asked: Option<&Arc<Descriptor>>,
    ) -> Result<ManagerView, AcceptanceFailure> {
        let node = &state.config.node;
        let described = NodeDescription::new(node.clone(), state.config.capacity, state.neighbours.clone());
        let described = described.map_err(|error| AcceptanceFailure::new(format!("it was not asked: {error}")))?;
        let mut view = ManagerView::new(self.engine.symbols(), &described, state.manager.unreserved());
        let descriptors = state.descriptors(asked);
        for descriptor in &descriptors {
            view.push_application(&descriptor.application);
        }
        let facts = descriptors.iter().flat_map(|descriptor| &descriptor.facts);
        for fact in facts.chain(&state.config.facts) {
            view.push_fact(fact);
        }
        for (id, application) in state.present() {
            view.push_instance(&Instance { id: id.clone(), application: application.clone(), node: node.clone() });
        }
        for owned in state.kept() {
            if let Some(flavour) = owned.descriptor.application.flavour(owned.flavour) {
                view.push_running(&owned.instance, &flavour.id);
            }
            if owned.is_asleep() {
                view.push_asleep(&owned.instance);
            }
            if let Some(notice) = state.agents.get(&owned.instance).and_then(|agent| agent.notice.as_ref()) {
                view.push_leave(&owned.instance, notice.left);
            }
        }
        for place in state.incoming.values() {
            let application = &place.prepare.descriptor.application;
            let flavour = application.flavour(place.prepare.flavour).map(|flavour| &flavour.id);
            match place.prepare.kind {
                TransferKind::Migrate => {
                    let id = place.prepare.instance.clone();
                    view.push_instance(&Instance { id, application: application.id.clone(), node: node.clone() });
                    if let Some(flavour) = flavour {
                        view.push_running(&place.prepare.instance, flavour);
                    }
                    if place.prepare.wakefulness.is_asleep() {
                        view.push_asleep(&place.prepare.instance);
                    }
                }
                TransferKind::Replicate => view.push_promised(&application.id, flavour, place.prepare.wakefulness),
            }
        }
        Ok(view)
    }
}

impl State {
    /// The descriptors known on this node, one per application: the catalogue, then those of other applications in the
    /// order of their ids. If these have several descriptors, the first of these is listed: that of an owned instance,
    /// of one in custody, of one with a reservation, or `asked`.
    fn descriptors<'a>(&'a self, asked: Option<&'a Arc<Descriptor>>) -> Vec<&'a Arc<Descriptor>> {
        let owned = self.ledger.owned.values().map(|owned| &owned.descriptor);
        let custody = self.ledger.custody.values().map(|custody| &custody.owned.descriptor);
        let incoming = self.incoming.values().map(|place| &place.prepare.descriptor);
        let mut hosted: Vec<&Arc<Descriptor>> = owned.chain(custody).chain(incoming).chain(asked).collect();
        hosted.sort_by(|one, other| one.application.id.cmp(&other.application.id));
        let mut all: Vec<&Arc<Descriptor>> = self.config.catalogue.iter().collect();
        for descriptor in hosted {
            if all.iter().all(|known| known.application.id != descriptor.application.id) {
                all.push(descriptor);
            }
        }
        all
    }

    /// Owned instances, and those in custody that may come back.
    fn kept(&self) -> impl Iterator<Item = &Owned> {
        let custody = self.ledger.custody.values().filter(|custody| !custody.is_ended).map(|custody| &custody.owned);
        self.ledger.owned.values().chain(custody)
    }

    /// The hardware that an instance here holds. A shrinking copy still uses its old amount.
    pub(super) fn held(&self, owned: &Owned) -> Hardware {
        let surplus = self.ledger.shrinking.get(&owned.workload).copied().unwrap_or(Hardware::NONE);
        owned.needed().saturating_add(surplus)
    }

    /// Owned instances, instances in custody that may come back, and instances whose copies drain; each with its
    /// application.
    fn present(&self) -> impl Iterator<Item = (&InstanceId, &ApplicationId)> {
        let owned = self.kept().map(|owned| (&owned.instance, &owned.descriptor.application.id));
        owned.chain(self.ledger.draining.values().map(|draining| (&draining.instance, &draining.application)))
    }
}

/// The state from which the knowledge base of an agent is built.
struct AgentSituation<'a> {
    state: &'a State,
    owned: &'a Owned,
    agent: &'a Agent,
    remembers: MemoryDeclaration,
    reads_kinds: bool,
    /// Interns names as constants.
    names: &'a KnowledgeBase,
}

impl AgentSituation<'_> {
    fn node_constant(&self, node: &NodeId) -> Constant {
        self.names.id(node.id())
    }

    fn target_constant(&self, target: &Target) -> Constant {
        match target {
            Target::Own => self.names.constant(SELF),
            Target::Node(node) => self.node_constant(node),
            Target::Flavour(flavour) => self.names.id(flavour.id()),
        }
    }
}

impl Situation for AgentSituation<'_> {
    fn instance(&self) -> Constant {
        self.names.id(self.owned.instance.id())
    }

    fn application(&self) -> Constant {
        self.names.id(self.owned.descriptor.application.id.id())
    }

    fn node(&self) -> Constant {
        self.node_constant(&self.state.config.node)
    }

    fn free(&self) -> Capacity {
        self.state.manager.free()
    }

    fn capacity(&self) -> Option<Capacity> {
        self.reads_kinds.then(|| self.state.manager.capacity())
    }

    fn neighbours(&self) -> impl Iterator<Item = Constant> {
        self.state.neighbours.iter().map(|node| self.node_constant(node))
    }

    fn requests(&self) -> impl Iterator<Item = (Constant, f64, f64)> {
        self.agent.requests.iter().map(|fact| (self.target_constant(&fact.neighbour), fact.rate, fact.latency))
    }

    fn inhibited(&self) -> impl Iterator<Item = (Constant, Constant)> {
        let order = |target: &Target| target.id();
        visible(&self.agent.memory, order).into_iter().map(|remembered| {
            (self.names.constant(remembered.operation.as_str()), self.target_constant(&remembered.target))
        })
    }

    fn earlier(&self) -> impl Iterator<Item = (u32, Constant, f64, f64)> {
        // A neighbour may have sent a longer history than the policy declares.
        let earlier = self.agent.history.earlier().take_while(|(ago, _)| *ago <= self.remembers.requests);
        earlier.map(|(ago, fact)| (ago, self.target_constant(&fact.neighbour), fact.rate, fact.latency))
    }

    fn done(&self) -> impl Iterator<Item = (u32, Constant, Constant)> {
        let done = self.agent.history.done_before(self.agent.evaluations.saturating_add(1));
        let done = done.filter(|(ago, _)| *ago <= self.remembers.operations);
        done.map(|(ago, done)| (ago, self.names.constant(done.operation.as_str()), self.target_constant(&done.target)))
    }

    fn age(&self) -> Option<u32> {
        self.remembers.reads_age.then(|| self.agent.evaluations.saturating_sub(self.agent.history.arrived))
    }

    fn running(&self) -> Option<Constant> {
        let flavour = self.owned.descriptor.application.flavour(self.owned.flavour)?;
        Some(self.names.id(flavour.id.id()))
    }

    fn wakefulness(&self) -> Wakefulness {
        self.owned.wakefulness
    }

    fn leave(&self) -> Option<u32> {
        self.agent.notice.as_ref().map(|notice| notice.left)
    }

    fn random(&self) -> Option<u32> {
        self.agent.random
    }

    fn facts(&self) -> Option<impl Iterator<Item = &Fact>> {
        let neighbours = self.state.neighbours.iter().filter_map(|node| self.state.neighbour_facts.get(node));
        let about_neighbours = neighbours.flat_map(|facts| facts.0.iter());
        let about_applications = self.state.descriptors(None).into_iter().flat_map(|descriptor| &descriptor.facts);
        Some(about_applications.chain(&self.state.config.facts).chain(about_neighbours))
    }
}

impl Proposal {
    /// The proposal for an operation; `None` if agents cannot propose it.
    pub fn of(operation: &Operation) -> Option<Proposal> {
        let (operation, target) = operation.of_agent()?;
        Some(Proposal { operation, target })
    }
}

/// An error and its causes, in one line.
fn with_sources(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<String>>().join(": ")
}
