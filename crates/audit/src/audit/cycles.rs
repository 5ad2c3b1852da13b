//! Checks cycles (rule r1 of the semantics): the verdicts on proposals and deployments, and their effects.

use mario_domain::{Capacity, Hardware, Id, InstanceId, OperationName};

use super::evaluations::is_same_time;
use super::{Audit, instance_text};
use crate::finding::FindingKind;
use crate::reader::{Arbitration, Cycle, Detail, Outcome, Proposal, Reason, Rule, Target, Verdict};
use crate::texts::{proposal_text, rule_text};
use crate::world::{AgentPlace, Arrival, InstanceState, Pending, Standing};

/// An effect of an accepted request on the world. A migration to a new id has two: the new instance appears, and the
/// old one goes.
pub(super) enum Enactment {
    Go(AgentPlace),
    Travel(AgentPlace, u32),
    /// With its flavour, whether it is asleep, and whether it is an anchor.
    Appear {
        instance: InstanceId,
        application: u32,
        policy: u32,
        node: u32,
        state: (u32, bool, bool),
    },
    Change(AgentPlace, InstanceState),
}

/// A request whose verdict is checked.
pub(super) struct Case<'a> {
    /// The subject, for findings.
    pub(super) who: String,
    /// The proposing agent; `None` for an operator.
    pub(super) agent: Option<AgentPlace>,
    /// The node of the agent; `None` for an operator.
    pub(super) own: Option<u32>,
    pub(super) operation: OperationName,
    /// The target node of a migrate, a replicate or a deploy; `None` for an unknown name and for other operations.
    pub(super) target: Option<u32>,
    pub(super) target_id: Id,
    pub(super) application: u32,
    /// The hardware that a deploy, a migrate or a replicate takes at its target; for an adapt, a sleep or a wake, the
    /// additional hardware on the instance's node; for an undeploy, the hardware that the instance holds.
    pub(super) needed: Hardware,
    /// For an adapt, a sleep or a wake, the state of the instance after it, or the rule that inhibits it; `None` for
    /// other operations.
    pub(super) change: Option<Result<InstanceState, Rule>>,
    pub(super) enactments: &'a mut Vec<Enactment>,
}

/// The rules other than acceptance policies that would inhibit a request.
#[derive(Clone)]
struct Against {
    /// The rule that makes an adapt, a sleep, a wake or an undeploy impossible, regardless of the hardware.
    change: Option<Rule>,
    outside: bool,
    down: bool,
    leaving: bool,
    full: Option<Capacity>,
}

impl Audit {
    pub(super) fn cycle(&mut self, record: &Cycle) {
        self.counts.cycles += 1;
        let accepted = self.counts.accepted();
        let mut enactments = Vec::new();
        for outcome in &record.outcomes {
            match outcome {
                Outcome::Nop(instance) => self.nop(instance),
                Outcome::Judged { instance, proposal, verdict } => {
                    self.judged(instance, proposal, verdict, &mut enactments);
                }
                Outcome::Deploy { node, application, policy, verdict } => {
                    self.deploy(*node, *application, *policy, verdict, &mut enactments);
                }
            }
            if self.header.arbitration != Arbitration::Managers {
                self.enact(&mut enactments);
            }
        }
        self.enact(&mut enactments);
        self.require_all_judged();
        self.await_comparison(self.counts.accepted() > accepted);
        self.begin_turn_of_owners();
    }

    pub(super) fn enact(&mut self, enactments: &mut Vec<Enactment>) {
        for enactment in enactments.drain(..) {
            match enactment {
                Enactment::Go(agent) => self.world.go(agent, self.line),
                Enactment::Travel(agent, to) => self.world.travel(agent, to),
                Enactment::Appear { instance, application, policy, node, state } => {
                    self.appear(&instance, application, policy, node, state);
                }
                Enactment::Change(agent, changed) => self.world.change(agent, changed),
            }
        }
        for node in std::mem::take(&mut self.promising) {
            let node = self.world.node_mut(node);
            (node.promised, node.freed) = (Hardware::NONE, Hardware::NONE);
            node.arrivals.clear();
        }
    }

    /// Checks that this cycle judged all agents that have evaluated since the last one and still exist.
    fn require_all_judged(&mut self) {
        for (place, instance) in std::mem::take(&mut self.waiting) {
            if self.world.standing(&instance) != Some(Standing::There(place)) {
                continue;
            }
            let pending = std::mem::replace(&mut self.world.agent_mut(place).pending, Pending::Nothing);
            if pending != Pending::Nothing {
                let expected = format!("a verdict on {}", self.pending_text(&pending));
                self.find(FindingKind::Proposal, instance_text(&instance), expected, "none in this cycle");
            }
        }
    }

    /// Marks the agent of an instance as judged in this cycle, and returns it with its pending proposal. Reports an
    /// agent that does not exist or was already judged in this cycle, and returns `None` for it.
    fn turn(&mut self, instance: &InstanceId, does: &str) -> Option<(AgentPlace, Pending)> {
        let place = self.present(instance, does)?;
        let cycle = self.counts.cycles;
        let agent = self.world.agent_mut(place);
        let before = std::mem::replace(&mut agent.judged, cycle);
        if before == cycle {
            self.find(FindingKind::Twice, instance_text(instance), "one operation in this cycle", "another");
            return None;
        }
        let pending = std::mem::replace(&mut agent.pending, Pending::Nothing);
        self.sums.judged(agent.application, 1);
        self.require_old_enough(place);
        Some((place, pending))
    }

    /// Checks that an agent is not judged before its first evaluation, one period after it appeared. Checked only
    /// if evaluations are not recorded, and not for a central plan.
    fn require_old_enough(&mut self, place: AgentPlace) {
        // A plan may also move an instance whose agent has not evaluated.
        if self.header.detail == Detail::Full || self.header.arbitration == Arbitration::Central {
            return;
        }
        let agent = self.world.agent(place);
        let due = agent.born + self.header.evaluation_period;
        if due > self.time && !is_same_time(due, self.time) {
            let who = instance_text(&agent.instance);
            let expected = format!("its first evaluation at {due} or later");
            self.find(FindingKind::Schedule, who, expected, "a verdict before it");
        }
    }

    fn nop(&mut self, instance: &InstanceId) {
        self.counts.nops += 1;
        let Some((_, pending)) = self.turn(instance, "does nothing") else { return };
        if self.header.detail == Detail::Full && pending != Pending::Nop {
            self.find_other_proposal(instance, &pending, "nop".to_owned());
        }
    }

    fn find_other_proposal(&mut self, instance: &InstanceId, pending: &Pending, found: String) {
        let expected = self.pending_text(pending);
        self.find(FindingKind::Proposal, instance_text(instance), expected, found);
    }

    fn pending_text(&self, pending: &Pending) -> String {
        match pending {
            Pending::Nothing => "nothing: it has not evaluated since it was judged".to_owned(),
            Pending::Nop => "nop: its policy proposed no operation".to_owned(),
            Pending::Proposal(proposal) => proposal_text(&self.header, proposal),
        }
    }

    fn judged(
        &mut self,
        instance: &InstanceId,
        proposal: &Proposal,
        verdict: &Verdict,
        enactments: &mut Vec<Enactment>,
    ) {
        self.count(OperationName::of(proposal.operation), verdict);
        let Some((place, pending)) = self.turn(instance, does(OperationName::of(proposal.operation))) else { return };
        let own = self.world.agent(place).node;
        if self.header.detail == Detail::Full && !self.is_proposed(&pending, proposal, own) {
            self.find_other_proposal(instance, &pending, proposal_text(&self.header, proposal));
        }
        if self.header.arbitration == Arbitration::Sequential
            && proposal.operation.asks_for_place()
            && proposal.target == Target::Own
        {
            let expected = format!("node {}, since `self` is resolved before it is judged", self.node_id(own));
            self.find(FindingKind::Target, instance_text(instance), expected, "self");
        }
        let agent = self.world.agent(place);
        let (application, held) = (agent.application, agent.held);
        let asks_for_place = proposal.operation.asks_for_place();
        let change = self.change_by(place, proposal);
        let needed = match &change {
            None => held,
            Some(Ok(changed)) => changed.held.saturating_sub(held),
            Some(Err(_)) => Hardware::NONE,
        };
        let mut case = Case {
            who: instance_text(instance),
            agent: Some(place),
            own: Some(own),
            operation: OperationName::of(proposal.operation),
            target: proposal.target.resolve(own).filter(|_| asks_for_place),
            target_id: self.target_id(&proposal.target, own),
            application,
            needed,
            change,
            enactments,
        };
        match verdict {
            Verdict::Accepted(new) => self.accepted(&mut case, new.as_ref()),
            Verdict::Inhibited(reason) => {
                self.inhibited(&case, reason);
                let is_resolved = self.header.arbitration == Arbitration::Sequential
                    && proposal.target == Target::Own
                    && asks_for_place;
                let target = if is_resolved { Target::Node(own) } else { proposal.target.clone() };
                self.remember_inhibited(place, proposal.operation, target);
            }
        }
    }

    /// Whether `proposal` is the pending proposal of the agent. Always true for a central plan.
    fn is_proposed(&self, pending: &Pending, proposal: &Proposal, own: u32) -> bool {
        if self.header.arbitration == Arbitration::Central {
            // A plan may contain any operation; whether the plan is good is not checked.
            return true;
        }
        let Pending::Proposal(pending) = pending else { return false };
        let is_same = match (proposal.operation, self.header.arbitration) {
            // An operation without a target is recorded without one.
            (operation, _) if !operation.has_target() => true,
            // Sequential arbitration resolves `self` before judging.
            (_, Arbitration::Sequential) => {
                pending.target == proposal.target
                    || (pending.target == Target::Own && proposal.target.resolve(own) == Some(own))
            }
            (_, Arbitration::Managers | Arbitration::Central) => pending.target == proposal.target,
        };
        pending.operation == proposal.operation && is_same
    }

    fn deploy(
        &mut self,
        node: u32,
        application: u32,
        policy: Option<u32>,
        verdict: &Verdict,
        enactments: &mut Vec<Enactment>,
    ) {
        self.count(OperationName::Deploy, verdict);
        let case = Case {
            who: "the operator".to_owned(),
            agent: None,
            own: None,
            operation: OperationName::Deploy,
            target: Some(node),
            target_id: self.node_id(node).id().clone(),
            application,
            needed: self.needed(application),
            change: None,
            enactments,
        };
        match (verdict, policy) {
            (Verdict::Accepted(Some(new)), Some(policy)) => {
                self.require_target(&case);
                self.require_consent(&case, None);
                self.promise(&case);
                let instance = new.clone();
                let state = (0, false, self.header.applications[application as usize].anchor);
                case.enactments.push(Enactment::Appear { instance, application, policy, node, state });
            }
            (Verdict::Accepted(_), _) => {}
            (Verdict::Inhibited(reason), _) => self.inhibited(&case, reason),
        }
    }

    fn count(&mut self, operation: OperationName, verdict: &Verdict) {
        match verdict {
            Verdict::Accepted(_) => *self.counts.operations.entry(operation.as_str()).or_default() += 1,
            Verdict::Inhibited(reason) => *self.counts.inhibited.entry(reason.rule.as_str()).or_default() += 1,
        }
    }

    fn accepted(&mut self, case: &mut Case<'_>, new: Option<&InstanceId>) {
        let (Some(place), Some(own)) = (case.agent, case.own) else { return };
        let is_sequential = self.header.arbitration == Arbitration::Sequential;
        if case.operation == OperationName::Undeploy {
            self.require_no_anchor(case, place);
            self.require_consent(case, None);
            self.frees(own, case.needed);
            case.enactments.push(Enactment::Go(place));
            return;
        }
        if case.change.is_some() {
            self.changes(case, place, own);
            return;
        }
        self.require_target(case);
        self.require_consent(case, None);
        self.promise(case);
        // An unknown name has already been reported, and has no node.
        let Some(to) = case.target else { return };
        let agent = self.world.agent(place);
        let (application, policy) = (agent.application, agent.policy);
        let (flavour, is_asleep, is_anchor) = (agent.flavour, agent.is_asleep, agent.is_anchor);
        // A migration to a new id keeps the anchor; a replica is none.
        let is_anchor = is_anchor && case.operation == OperationName::Migrate;
        let appear = |instance: &InstanceId| {
            let (instance, state) = (instance.clone(), (flavour, is_asleep, is_anchor));
            Enactment::Appear { instance, application, policy, node: to, state }
        };
        match (case.operation, new) {
            (OperationName::Migrate, Some(new)) => {
                if !is_sequential {
                    let found = format!("the new id {new}");
                    self.find(FindingKind::Instance, &case.who, "a migration that keeps the instance", found);
                }
                self.frees(own, case.needed);
                case.enactments.push(appear(new));
                case.enactments.push(Enactment::Go(place));
            }
            (OperationName::Migrate, None) => {
                if is_sequential {
                    self.find(FindingKind::Instance, &case.who, "a migration to a new id", "the same id");
                }
                self.frees(own, case.needed);
                case.enactments.push(Enactment::Travel(place, to));
            }
            (OperationName::Replicate, Some(new)) => case.enactments.push(appear(new)),
            (OperationName::Replicate, None)
            | (
                OperationName::Undeploy
                | OperationName::Deploy
                | OperationName::Adapt
                | OperationName::Sleep
                | OperationName::Wake,
                _,
            ) => {}
        }
    }

    pub(super) fn frees(&mut self, node: u32, needed: Hardware) {
        let state = self.world.node_mut(node);
        state.freed = state.freed.saturating_add(needed);
        self.promising.push(node);
    }

    /// Reserves the hardware of an accepted request at its target. Reports hardware that is not free.
    fn promise(&mut self, case: &Case<'_>) {
        let Some(to) = case.target else { return };
        self.require_room(to, case.needed, &case.who);
        let migrating = case.agent.filter(|_| case.operation == OperationName::Migrate);
        let instance = migrating.map(|agent| self.world.agent(agent).instance.clone());
        let (flavour, is_asleep) = case.agent.map_or((0, false), |agent| {
            let agent = self.world.agent(agent);
            (agent.flavour, agent.is_asleep)
        });
        let state = self.world.node_mut(to);
        state.promised = state.promised.saturating_add(case.needed);
        state.arrivals.push(Arrival { application: case.application, instance, flavour, is_asleep });
        self.promising.push(to);
    }

    /// Checks that the target of an accepted request is valid. Unless managers arbitrate, a target outside the
    /// neighbourhood is only counted.
    fn require_target(&mut self, case: &Case<'_>) {
        let against = self.against(case);
        let id = &case.target_id;
        if against.down {
            self.find(FindingKind::Down, &case.who, "a target that is up", format!("node {id}, which is down"));
        } else if against.leaving {
            self.find(FindingKind::Down, &case.who, "a target that stays", format!("node {id}, which leaves"));
        } else if case.target.is_none() {
            self.find(FindingKind::Target, &case.who, "a node", format!("`{id}`, which is not the name of any node"));
        } else if against.outside {
            if self.header.arbitration != Arbitration::Managers {
                self.counts.outside_neighbourhood += 1;
                return;
            }
            let own = case.own.map(|own| self.node_id(own).to_string()).unwrap_or_default();
            let expected = format!("a target that {} reaches from node {own}", case.operation);
            self.find(FindingKind::Target, &case.who, expected, format!("node {id}"));
        }
    }

    fn against(&self, case: &Case<'_>) -> Against {
        let nothing = Against { change: None, outside: false, down: false, leaving: false, full: None };
        if let (Some(change), Some(own)) = (&case.change, case.own) {
            let node = self.world.node(own);
            let left = node.unpromised();
            let full = (!case.needed.fits(left)).then_some(left);
            return match change {
                Err(rule) => Against { change: Some(rule.clone()), ..nothing },
                // A request that needs no further hardware is possible even on a node that is leaving.
                Ok(_) if case.needed == Hardware::NONE => nothing,
                Ok(_) => Against { down: !node.is_up, leaving: node.is_leaving, full, ..nothing },
            };
        }
        if !case.operation.asks_for_place() {
            let is_anchor = case.agent.is_some_and(|agent| self.world.agent(agent).is_anchor);
            return Against { change: is_anchor.then_some(Rule::Anchor), ..nothing };
        }
        let Some(target) = case.target else { return Against { outside: true, ..nothing } };
        let node = self.world.node(target);
        let outside = match case.own {
            None => false,
            Some(own) if own == target => case.operation != OperationName::Replicate,
            Some(own) => !self.world.reaches(own, target),
        };
        let left = node.unpromised();
        let full = (!case.needed.fits(left)).then_some(left);
        Against { change: None, outside, down: !node.is_up, leaving: node.is_leaving, full }
    }

    pub(super) fn inhibited(&mut self, case: &Case<'_>, reason: &Reason) {
        let mut against = self.against(case);
        if self.header.arbitration != Arbitration::Managers {
            // Unless managers arbitrate, every node that is up is a valid target.
            against.outside = case.operation.asks_for_place() && (case.target.is_none() || against.down);
        }
        let found = || format!("inhibited: {}", rule_text(reason));
        let is_own_policy = matches!(reason.rule, Rule::Acceptance { .. } | Rule::AcceptanceFailed { .. });
        let is_free =
            against.change.is_none() && !against.outside && !against.down && !against.leaving && against.full.is_none();
        if is_free && !is_own_policy {
            self.find(FindingKind::Verdict, &case.who, "accepted: no rule inhibits it", found());
            return;
        }
        let Some(expected) = self.true_reason(case, reason, &against) else {
            if is_own_policy {
                self.require_consent(case, Some(reason));
            }
            return;
        };
        self.find(FindingKind::Reason, &case.who, expected, found());
    }

    /// The expected reason, in words; `None` if the recorded one is possible. The answers of acceptance policies are
    /// checked separately.
    fn true_reason(&self, case: &Case<'_>, reason: &Reason, against: &Against) -> Option<String> {
        let target = &case.target_id;
        let own = case.own.map(|own| self.node_id(own).id().clone());
        let is_by_target = reason.node == *target;
        let is_true = match &reason.rule {
            Rule::Neighbourhood { target: named } => {
                against.outside && named == target && own.as_ref() == Some(&reason.node)
            }
            Rule::Flavour { .. } | Rule::Asleep | Rule::Awake | Rule::Sleepless | Rule::Anchor => {
                against.change.as_ref() == Some(&reason.rule) && own.as_ref() == Some(&reason.node)
            }
            _ if against.change.is_some() => false,
            Rule::Down => against.down && is_by_target,
            _ if against.outside => false,
            Rule::Leaving => against.leaving && is_by_target,
            Rule::Capacity { needed, free } => is_by_target && *needed == case.needed && against.full == Some(*free),
            Rule::Acceptance { .. } | Rule::AcceptanceFailed { .. } => {
                let concerned = [case.own, case.target].into_iter().flatten();
                let mut with_text = concerned.filter(|node| self.header.nodes[*node as usize].acceptance.is_some());
                with_text.any(|node| *self.node_id(node).id() == reason.node)
            }
            // Rules of live nodes do not occur in simulations.
            Rule::Live(_) => false,
        };
        if is_true {
            return None;
        }
        Some(match against {
            Against { change: Some(Rule::Flavour { .. }), .. } => "it cannot adapt to the flavour".to_owned(),
            Against { change: Some(rule), .. } => rule.to_string(),
            Against { down: true, .. } => format!("node {target} is down"),
            Against { outside: true, .. } => {
                let own = own.map(|own| own.to_string()).unwrap_or_default();
                format!("node {own}: {target} is not a valid target")
            }
            Against { leaving: true, .. } => format!("node {target} is about to leave"),
            Against { full: Some(free), .. } => {
                format!("node {target} has {free} free, and {} is needed", case.needed)
            }
            Against { .. } => "a node concerned that has its own policy".to_owned(),
        })
    }
}

/// The operation as a verb phrase, for messages.
const fn does(operation: OperationName) -> &'static str {
    match operation {
        OperationName::Undeploy => "undeploys",
        OperationName::Migrate => "migrates",
        OperationName::Replicate => "replicates",
        OperationName::Adapt => "adapts",
        OperationName::Sleep => "falls asleep",
        OperationName::Wake => "wakes",
        OperationName::Deploy => "deploys",
    }
}
