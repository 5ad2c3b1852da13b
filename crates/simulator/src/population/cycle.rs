//! Rule r1: one management cycle.

use mario_colony::rules::{self, Concern, HardwareChange};
use mario_domain::{
    AgentId, AgentOperation, FlavourId, Hardware, Inhibition, NodeId, Request, Rule, Verdict, Wakefulness,
};
use mario_scenario::{ApplicationIndex, Arbitration, NodeIndex};

use crate::population::acceptance::AcceptanceContext;
use crate::population::agent::Body;
use crate::population::index::AgentIndex;
use crate::population::label::CycleLabel;
use crate::population::layers::full_nodes::NO_HARDWARE;
use crate::population::proposal::{CompactVerdict, Deployed, Deployment, Judged, Proposal, Target};
use crate::population::simulated_node::AcceptedOperation;
use crate::population::state::Population;

impl Population {
    /// Rule r1: judges the proposals of operators and agents, and enacts all accepted ones. `label` becomes the label
    /// of this cycle.
    ///
    /// Operators' deployments are judged first, in the order given. Then follow the agents that have evaluated since
    /// the last cycle, in the order of their first evaluations since then. This is the order of
    /// `Arbitration::Managers`; `strategies` has the other arbitrations.
    pub fn r1(&mut self, deployments: &[Deployment], context: &mut AcceptanceContext, label: &mut CycleLabel) {
        label.clear();
        match self.arbitration {
            Arbitration::Managers => self.cycle_by_managers(deployments, context, label),
            Arbitration::Sequential => self.cycle_in_sequence(deployments, context, label),
            Arbitration::Central => self.cycle_by_plan(&[], deployments, label),
        }
        self.end_cycle(label);
    }

    fn cycle_by_managers(
        &mut self,
        deployments: &[Deployment],
        context: &mut AcceptanceContext,
        label: &mut CycleLabel,
    ) {
        for deployment in deployments {
            let verdict = self.judge_deployment(deployment, context);
            if verdict.is_accepted() {
                let promise =
                    AcceptedOperation { application: deployment.application, agent: None, body: Body::default() };
                self.promise(deployment.node, promise, self.needed(deployment.application));
            }
            label.push_deployed(Deployed { deployment: *deployment, verdict, created: None });
        }
        for position in 0..self.pending.len() {
            let Some((index, proposal)) = self.dequeue(position, label) else { continue };
            let verdict = self.judge(index, &proposal, context);
            let from = self.agent(index).node;
            if verdict.is_accepted() {
                self.promise_accepted(index, &proposal);
            }
            label.push_judged(Judged { agent: index, proposal, from, verdict, created: None });
        }
        label.enact_all(self.remembers_nothing, |action| self.enact(action));
    }

    /// Reserves the hardware that an accepted proposal needs: on the target of a migrate or replicate; on the agent's
    /// own node for an adapt or a wake, if the instance will hold more than before.
    fn promise_accepted(&mut self, index: AgentIndex, proposal: &Proposal) {
        let agent = self.agent(index);
        let (own, application, body) = (agent.node, agent.application, agent.body());
        if proposal.operation.asks_for_place() {
            let Some(to) = proposal.target.resolve(own) else { return };
            let migrating = (proposal.operation == AgentOperation::Migrate).then_some(index);
            self.promise(to, AcceptedOperation { application, agent: migrating, body }, self.held(self.agent(index)));
        } else if let Ok(Some(taken)) = self.taken(index, proposal) {
            self.promise(own, AcceptedOperation { application, agent: Some(index), body }, taken);
        }
    }

    fn promise(&mut self, node: NodeIndex, promise: AcceptedOperation, needed: Hardware) {
        self.change_node(node, |node| node.manager_mut().reserve(promise, needed));
    }

    /// The flavour and wakefulness of an agent's instance after an adapt, a sleep or a wake, and the change of its
    /// hardware; `None` for other operations. The error is the rule that inhibits the operation.
    pub(crate) fn own_change(
        &self,
        index: AgentIndex,
        proposal: &Proposal,
    ) -> Option<Result<(Body, HardwareChange), Rule>> {
        match proposal.operation {
            AgentOperation::Undeploy | AgentOperation::Migrate | AgentOperation::Replicate => None,
            AgentOperation::Adapt => Some(self.adaptation(index, &proposal.target)),
            AgentOperation::Sleep => Some(self.falling_asleep(index)),
            AgentOperation::Wake => Some(self.waking(index)),
        }
    }

    fn falling_asleep(&self, index: AgentIndex) -> Result<(Body, HardwareChange), Rule> {
        let agent = self.agent(index);
        let body = agent.body();
        let change = rules::sleep(self.application(agent.application), body.wakefulness, self.held(agent))?;
        Ok((Body { wakefulness: Wakefulness::Asleep, ..body }, change))
    }

    fn waking(&self, index: AgentIndex) -> Result<(Body, HardwareChange), Rule> {
        let agent = self.agent(index);
        let body = agent.body();
        let application = self.application(agent.application);
        let change = rules::wake(application, body.flavour, body.wakefulness, self.held(agent))?;
        Ok((Body { wakefulness: Wakefulness::Awake, ..body }, change))
    }

    fn adaptation(&self, index: AgentIndex, target: &Target) -> Result<(Body, HardwareChange), Rule> {
        let agent = self.agent(index);
        let flavour = match target {
            Target::Flavour(flavour) => FlavourId::clone(flavour),
            target => self.target_id(agent.node, target).id().clone().into(),
        };
        if matches!(target, Target::Unknown(_)) {
            return Err(Rule::Flavour { flavour });
        }
        let body = agent.body();
        let application = self.application(agent.application);
        let runs = (body.flavour, body.wakefulness);
        let (flavour, change) = rules::adapt(application, runs, self.held(agent), &flavour)?;
        Ok((Body { flavour, ..body }, change))
    }

    /// The additional hardware that an adapt, a sleep or a wake needs on the agent's own node; `None` if it needs none,
    /// and for other operations. The error is the rule that inhibits the operation.
    pub(crate) fn taken(&self, index: AgentIndex, proposal: &Proposal) -> Result<Option<Hardware>, Rule> {
        match self.own_change(index, proposal) {
            None => Ok(None),
            Some(change) => change.map(|(_, change)| change.arrives()),
        }
    }

    /// Asks the manager of a sleeping instance's node whether the instance may wake for a client request. If the
    /// manager accepts, the instance wakes at once. If not, the refusal holds until the agent evaluates again, or its
    /// instance moves or wakes.
    pub fn wake_by_request(&mut self, index: AgentIndex, context: &mut AcceptanceContext) -> CompactVerdict {
        let proposal = Proposal { operation: AgentOperation::Wake, target: Target::Own };
        let verdict = self.judge_own(index, &proposal, context);
        match self.waking(index) {
            Ok((body, change)) if verdict.is_accepted() => self.run_as(index, body, change),
            _ => self.agents[index.position()].refuse_wake(),
        }
        verdict
    }

    /// The verdict of the manager of the agent's own node on an operation that concerns no other node.
    fn judge_own(&self, index: AgentIndex, proposal: &Proposal, context: &mut AcceptanceContext) -> CompactVerdict {
        let own = self.agent(index).node;
        if let Err(rule) = rules::anchor(self.agent(index).is_anchor(), proposal.operation) {
            return self.inhibited(own, rule);
        }
        let arrives = match self.taken(index, proposal) {
            Ok(arrives) => arrives,
            Err(rule) => return self.inhibited(own, rule),
        };
        let concern = Concern { arrives, ..Concern::default() };
        let verdict = self.judge_at(own, concern, || self.consent(own, index, proposal, context));
        self.with_needed(verdict, index, arrives)
    }

    /// Converts `NoRoom` to the long form if the operation needs a different amount of hardware than a new instance:
    /// the short form does not contain the amount.
    pub(crate) fn with_needed(
        &self,
        verdict: CompactVerdict,
        index: AgentIndex,
        needed: Option<Hardware>,
    ) -> CompactVerdict {
        match (verdict, needed) {
            (CompactVerdict::NoRoom { node, free }, Some(needed))
                if needed != self.needed(self.agent(index).application) =>
            {
                CompactVerdict::Inhibited(Box::new(Inhibition::capacity(self.node(node).id().clone(), needed, free)))
            }
            (verdict, _) => verdict,
        }
    }

    /// The verdict of the managers concerned on a proposal. The manager of the agent's own node judges first; it
    /// inhibits a migrate or replicate to a target out of reach without asking its acceptance policy. The manager of
    /// the target judges only if the first one accepts.
    fn judge(&mut self, index: AgentIndex, proposal: &Proposal, context: &mut AcceptanceContext) -> CompactVerdict {
        if !proposal.operation.asks_for_place() {
            return self.judge_own(index, proposal, context);
        }
        let agent = self.agent(index);
        let (own, needed) = (agent.node, Some(self.held(agent)));
        let to = proposal.target.resolve(own);
        let Some(to) = to.filter(|to| self.is_in_reach(index, proposal.operation, *to)) else {
            return self.out_of_reach(own, &proposal.target);
        };
        let concern = Concern { arrives: needed.filter(|_| to == own), ..Concern::default() };
        let verdict = self.judge_at(own, concern, || self.consent(own, index, proposal, context));
        if to == own || !verdict.is_accepted() {
            return self.with_needed(verdict, index, needed);
        }
        let concern = Concern { arrives: needed, ..Concern::default() };
        let verdict = self.judge_at(to, concern, || self.consent(to, index, proposal, context));
        self.with_needed(verdict, index, needed)
    }

    /// The verdict of the manager of a node on a request. `consent` asks the acceptance policy of the node, and is
    /// called only if no other rule inhibits the request.
    pub(crate) fn judge_at(
        &self,
        node: NodeIndex,
        concern: Concern<'_>,
        consent: impl FnOnce() -> Result<(), Rule>,
    ) -> CompactVerdict {
        if concern.arrives.is_some_and(|needed| self.full_nodes.inhibits(node, needed)) {
            return CompactVerdict::NoRoom { node, free: NO_HARDWARE };
        }
        match rules::judge(self.node(node).manager(), concern, consent) {
            Ok(()) => CompactVerdict::Accepted,
            Err(rule) => self.inhibited(node, rule),
        }
    }

    pub(crate) fn inhibited(&self, node: NodeIndex, rule: Rule) -> CompactVerdict {
        match rule {
            Rule::Capacity { free, .. } => CompactVerdict::NoRoom { node, free },
            rule => CompactVerdict::Inhibited(Box::new(Inhibition { node: self.node(node).id().clone(), rule })),
        }
    }

    /// Asks the acceptance policy of a node about a proposal. A node without such a policy accepts. The error is the
    /// rule that inhibits the proposal.
    pub(crate) fn consent(
        &self,
        node: NodeIndex,
        index: AgentIndex,
        proposal: &Proposal,
        context: &mut AcceptanceContext,
    ) -> Result<(), Rule> {
        if !self.has_acceptance(node) {
            return Ok(());
        }
        let needed = match self.taken(index, proposal) {
            _ if proposal.operation.asks_for_place() => self.held(self.agent(index)),
            Ok(Some(taken)) => taken,
            Ok(None) | Err(_) => Hardware::NONE,
        };
        self.ask(node, &self.request(index, proposal), needed, context)
    }

    pub(crate) fn judge_deployment(&self, deployment: &Deployment, context: &mut AcceptanceContext) -> CompactVerdict {
        let needed = self.needed(deployment.application);
        let node = deployment.node;
        self.judge_at(node, Concern { arrives: Some(needed), ..Concern::default() }, || {
            if !self.has_acceptance(node) {
                return Ok(());
            }
            let application = self.application(deployment.application).id.clone();
            self.ask(node, &Request::deploy(application, self.node(node).id().clone()), needed, context)
        })
    }

    /// The verdict of a node's manager on a demand for hardware, based only on availability and free hardware.
    pub(crate) fn judge_room(&self, node: NodeIndex, needed: Hardware) -> CompactVerdict {
        self.judge_at(node, Concern { arrives: Some(needed), ..Concern::default() }, || Ok(()))
    }

    /// Whether an agent may target the node `to`, which is the target of its current proposal. A positive result is
    /// cached until the agent moves, its proposal is replaced, or the links change.
    pub(crate) fn is_in_reach(&mut self, index: AgentIndex, operation: AgentOperation, to: NodeIndex) -> bool {
        let agent = &mut self.agents[index.position()];
        if agent.reached == Some(self.links_version) {
            return true;
        }
        let may_be_own = operation == AgentOperation::Replicate;
        let is_in_reach = self.nodes[agent.node.position()].reaches(agent.node, to, may_be_own);
        if is_in_reach {
            agent.set_reached(self.links_version);
        }
        is_in_reach
    }

    /// The proposal of an agent as a `Request` of the domain.
    pub fn request(&self, index: AgentIndex, proposal: &Proposal) -> Request {
        let agent = self.agent(index);
        let target = match &proposal.target {
            Target::Own => mario_domain::Target::Own,
            Target::Node(node) => mario_domain::Target::Node(self.node(*node).id().clone()),
            Target::Unknown(id) => mario_domain::Target::Node(NodeId::clone(id)),
            Target::Flavour(id) => mario_domain::Target::Flavour(FlavourId::clone(id)),
        };
        let operation = proposal.operation.towards(target);
        let node = self.node(agent.node).id().clone();
        let application = self.application(agent.application).id.clone();
        let instance = self.instance(index);
        let by = AgentId::from(instance.id().clone());
        Request::by_agent(by, instance, node, application, operation).expect("agents ask for no deploy")
    }

    fn target_id(&self, own: NodeIndex, target: &Target) -> NodeId {
        match target {
            Target::Unknown(id) => NodeId::clone(id),
            Target::Own | Target::Flavour(_) => self.node(own).id().clone(),
            Target::Node(node) => self.node(*node).id().clone(),
        }
    }

    pub(crate) fn out_of_reach(&self, own: NodeIndex, target: &Target) -> CompactVerdict {
        let rule = Rule::Neighbourhood { target: self.target_id(own, target) };
        CompactVerdict::Inhibited(Box::new(Inhibition { node: self.node(own).id().clone(), rule }))
    }

    /// Converts a compact verdict to a `Verdict` of the domain. `application` is that of the instance whose agent
    /// proposed the operation, or of the deployment.
    pub fn verdict(&self, verdict: &CompactVerdict, application: ApplicationIndex) -> Verdict {
        match verdict {
            CompactVerdict::Accepted => Verdict::Accepted,
            CompactVerdict::NoRoom { node, free } => {
                let node = self.node(*node).id().clone();
                Verdict::Inhibited(Inhibition::capacity(node, self.needed(application), *free))
            }
            CompactVerdict::Inhibited(inhibition) => Verdict::Inhibited(Inhibition::clone(inhibition)),
        }
    }
}
