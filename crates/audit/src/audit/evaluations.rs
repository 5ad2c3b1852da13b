//! Checks evaluations: their times, what agents see and remember, and what they decide.

use std::cmp::Ordering;

use mario_domain::{AgentOperation, Id, Quantity};
use rustc_hash::FxHashSet;

use super::{Audit, instance_text};
use crate::finding::FindingKind;
use crate::knowledge::Situation;
use crate::reader::{Evaluation, FactsAndDecision, Memory, Neighbour, Proposal, RequestFact, Solution, Target};
use crate::texts::{proposal_text, target_text};
use crate::world::{Agent, AgentPlace, Pending};

impl Audit {
    pub(super) fn evaluation(&mut self, record: &Evaluation) {
        self.counts.evaluations += 1;
        let Some(place) = self.present(&record.instance, "evaluates") else { return };
        let who = instance_text(&record.instance);
        self.require_up(record.node, &who);
        let actual = self.world.agent(place).node;
        if actual != record.node {
            let (expected, found) = (self.node_id(actual).to_string(), self.node_id(record.node).to_string());
            self.find(FindingKind::Place, &who, format!("it is on node {expected}"), format!("it is on node {found}"));
        }
        let free = self.world.node(record.node).free();
        if free != record.free {
            let expected = format!("{free} free on node {}", self.node_id(record.node));
            self.find(FindingKind::Free, &who, expected, format!("{} free", record.free));
        }
        self.check_schedule(place, record.time);
        let last = self.world.agent_mut(place).last_seen.take();
        let seen = match (&record.seen, last) {
            (Some(seen), last) => {
                // Reuses the allocation of the last evaluation.
                let mut kept = last.unwrap_or_default();
                kept.clone_from(seen);
                kept
            }
            (None, Some(last)) => last,
            (None, None) => {
                self.find(
                    FindingKind::Decision,
                    &who,
                    "facts and solutions",
                    "the same as at the last evaluation, although there was none",
                );
                FactsAndDecision::default()
            }
        };
        if self.header.observation == "arrivals" && record.seen.is_some() {
            self.check_requests(place, record.node, &seen.requests);
        }
        self.check_memory(place, &seen.inhibited);
        let rate: f64 = seen.requests.iter().map(|fact| fact.rate.value()).sum();
        let agent = self.world.agent(place);
        let flavours = &self.header.applications[agent.application as usize].flavours;
        let flavour = flavours.get(agent.flavour as usize).filter(|_| agent.flavour > 0);
        self.sums.evaluated(agent.application, rate, flavour.map(|flavour| flavour.max_rate.value()));
        self.check_random(place, &seen);
        self.decide_again(place, record, &seen);
        self.remember_evaluation(place, record.time, seen);
    }

    fn decide_again(&mut self, place: AgentPlace, record: &Evaluation, seen: &FactsAndDecision) {
        let (Some(decisions), Some(histories)) = (&mut self.decisions, &self.histories) else { return };
        let Agent { flavour, is_asleep, .. } = *self.world.agent(place);
        let here = Some((record.node, record.free, self.world.node(record.node).neighbourhood, flavour, is_asleep));
        let before = std::mem::replace(&mut self.world.agent_mut(place).decided_at, here);
        let is_past_unchanged = histories.is_unchanged(&record.instance);
        if record.seen.is_none() && before == here && is_past_unchanged {
            decisions.repeat(self.world.agent(place).policy);
            return;
        }
        let agent = self.world.agent(place);
        let situation = Situation {
            policy: agent.policy,
            application: agent.application,
            instance: &agent.instance,
            node: record.node,
            free: record.free,
            flavour,
            is_asleep,
            seen,
            visible_history: histories.visible_history(&record.instance),
        };
        if let Some((expected, found)) = decisions.mismatch(&self.header, &self.world, &situation) {
            self.find(FindingKind::Decision, instance_text(&record.instance), expected, found);
        }
        if record.seen.is_none() && !is_past_unchanged {
            let expected = "facts and solutions, because its history has changed";
            self.find(
                FindingKind::Memory,
                instance_text(&record.instance),
                expected,
                "the same as at its last evaluation",
            );
        }
    }

    /// Updates the agent after an evaluation, including its notice and its pending proposal, which waits for the next
    /// cycle. Periodic memory is cleared if that is due.
    fn remember_evaluation(&mut self, place: AgentPlace, time: f64, seen: FactsAndDecision) {
        let forgets_every = self.header.forgets_every.filter(|_| self.header.memory == Memory::Periodic);
        let agent = self.world.agent_mut(place);
        agent.evaluations += 1;
        agent.is_wake_refused = false;
        agent.last_evaluation = Some(time);
        agent.left.clear();
        if let Some(notice) = &mut agent.notice {
            notice.left = notice.left.saturating_sub(1);
        }
        if let Some(every) = forgets_every
            && agent.evaluations > 1
            && (agent.evaluations - 1).is_multiple_of(every)
        {
            agent.remembered.clear();
        }
        agent.pending = match seen.solutions.first() {
            None | Some(Solution::Invalid { .. }) => Pending::Nop,
            Some(Solution::Proposal { proposal, .. }) => Pending::Proposal(proposal.clone()),
        };
        agent.last_seen = Some(seen);
        let instance = agent.instance.clone();
        self.waiting.push((place, instance));
    }

    fn check_schedule(&mut self, place: AgentPlace, time: f64) {
        let first = *self.first_evaluation.get_or_insert(time);
        let agent = self.world.agent(place);
        let due = self.due(agent, first);
        if !is_same_time(due, time) {
            let who = instance_text(&agent.instance);
            let expected = format!("its next evaluation at {due}");
            self.find(FindingKind::Schedule, who, expected, format!("one at {time}"));
        }
    }

    /// The time of an agent's next evaluation: a period after its last one. The first is a period after the agent
    /// appeared, but not before `first`, the time of the first evaluation of any agent.
    fn due(&self, agent: &Agent, first: f64) -> f64 {
        let period = self.header.evaluation_period;
        match agent.last_evaluation {
            Some(last) => last + period,
            None => (agent.born + period).max(first),
        }
    }

    /// Checks that random numbers are drawn either for all agents of a policy or for none.
    fn check_random(&mut self, place: AgentPlace, seen: &FactsAndDecision) {
        let agent = self.world.agent(place);
        let does_draw = seen.random.is_some();
        let expected = *self.draws[agent.policy as usize].get_or_insert(does_draw);
        if expected != does_draw {
            let words = |draws: bool| if draws { "a number drawn for it" } else { "no number drawn for it" };
            let who = instance_text(&agent.instance);
            let expected = format!("{}, as for others of its policy", words(expected));
            self.find(FindingKind::Decision, who, expected, words(does_draw));
        }
    }

    /// Reports agents whose next evaluation was due before `end`, the end of the run.
    pub(super) fn require_all_evaluated(&mut self, end: f64) {
        let Some(first) = self.first_evaluation else { return };
        let mut silent = Vec::new();
        for agent in self.world.all_alive() {
            let due = self.due(agent, first);
            if due < end && !is_same_time(due, end) {
                silent.push((instance_text(&agent.instance), due));
            }
        }
        for (who, due) in silent {
            self.find(FindingKind::Schedule, who, format!("its next evaluation at {due}"), "none until the end");
        }
    }

    fn check_memory(&mut self, place: AgentPlace, recorded: &[Proposal]) {
        let agent = self.world.agent(place);
        if self.header.memory == Memory::Sliding {
            let present = agent.evaluations + 1;
            let length = self.header.policies[agent.policy as usize].memory;
            self.world.agent_mut(place).remembered.retain(|(proposed, _)| proposed.saturating_add(length) >= present);
        }
        let agent = self.world.agent(place);
        let mut expected: Vec<&Proposal> = agent.remembered.iter().map(|(_, proposal)| proposal).collect();
        if self.header.memory == Memory::Sliding {
            let order = |proposal: &&Proposal| (proposal.operation.as_str(), self.written_id(&proposal.target));
            expected.sort_by_cached_key(order);
            expected.dedup();
        }
        if !expected.iter().copied().eq(recorded) {
            let who = instance_text(&agent.instance);
            let expected = self.proposals_text(expected.into_iter());
            let found = self.proposals_text(recorded.iter());
            self.find(FindingKind::Memory, who, format!("it remembers {expected}"), format!("it remembers {found}"));
        }
    }

    /// The id of a target as the policy wrote it: `self` for [`Target::Own`].
    fn written_id(&self, target: &Target) -> Id {
        match target {
            Target::Own => own_id(),
            Target::Node(node) => self.node_id(*node).id().clone(),
            Target::Unknown(id) | Target::Flavour(id) => id.clone(),
        }
    }

    fn proposals_text<'a>(&self, proposals: impl Iterator<Item = &'a Proposal>) -> String {
        let texts: Vec<String> = proposals.map(|proposal| proposal_text(&self.header, proposal)).collect();
        if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
    }

    fn check_requests(&mut self, place: AgentPlace, node: u32, requests: &[RequestFact]) {
        let who = instance_text(&self.world.agent(place).instance);
        // Only `nearest` guarantees that requests arrive through a neighbour. With other strategies, a recorded path may
        // lead to another instance.
        let is_nearest = self.header.routing == "nearest";
        for fact in requests.iter().filter(|_| is_nearest) {
            let Neighbour::Node(neighbour) = fact.neighbour else { continue };
            // Requests that arrived before the instance moved came through neighbours of its former nodes.
            let left = &self.world.agent(place).left;
            let is_neighbour = std::iter::once(&node).chain(left).any(|node| self.world.are_linked(*node, neighbour));
            if !is_neighbour {
                let expected = format!("requests through self or a neighbour of node {}", self.node_id(node));
                let found = format!("requests through {}", self.node_id(neighbour));
                self.find(FindingKind::Requests, &who, expected, found);
            }
        }
        for (index, fact) in requests.iter().enumerate() {
            let Some(next) = requests.get(index + 1) else { break };
            if self.compare(fact, next) == Ordering::Greater {
                let (first, second) = (self.fact_text(fact), self.fact_text(next));
                self.find(FindingKind::Requests, &who, "facts in standard order", format!("{first} before {second}"));
                break;
            }
        }
        let mut seen = FxHashSet::default();
        let key = |fact: &RequestFact| (fact.neighbour, fact.latency.value().to_bits());
        let twice = requests.iter().find(|fact| !seen.insert(key(fact)));
        if let Some(fact) = twice {
            let found = format!("two with those of {}", self.fact_text(fact));
            self.find(FindingKind::Requests, &who, "one fact for each neighbour and latency", found);
        }
    }

    /// Compares two facts in the standard order of terms, argument by argument.
    fn compare(&self, one: &RequestFact, other: &RequestFact) -> Ordering {
        let neighbour = |fact: &RequestFact| match fact.neighbour {
            Neighbour::Own => own_id(),
            Neighbour::Node(node) => self.node_id(node).id().clone(),
        };
        // Numbers are ordered by value, and a float comes before the integer that it equals.
        let number = |one: Quantity, other: Quantity| {
            let rank = |quantity: Quantity| quantity.as_whole().is_some();
            one.value().total_cmp(&other.value()).then_with(|| rank(one).cmp(&rank(other)))
        };
        neighbour(one)
            .cmp(&neighbour(other))
            .then_with(|| number(one.rate, other.rate))
            .then_with(|| number(one.latency, other.latency))
    }

    fn fact_text(&self, fact: &RequestFact) -> String {
        let neighbour = match fact.neighbour {
            Neighbour::Own => target_text(&self.header, &Target::Own),
            Neighbour::Node(node) => target_text(&self.header, &Target::Node(node)),
        };
        format!("requests({neighbour}, {}, {})", fact.rate, fact.latency)
    }

    /// Adds an inhibited operation to the memory of an agent.
    pub(super) fn remember_inhibited(&mut self, place: AgentPlace, operation: AgentOperation, target: Target) {
        let agent = self.world.agent_mut(place);
        let proposed = agent.evaluations;
        agent.remembered.push((proposed, Proposal { operation, target }));
    }
}

/// The name `self`.
fn own_id() -> Id {
    Id::name(mario_domain::SELF).expect("it has characters")
}

/// Whether two times are equal up to rounding errors.
pub(super) fn is_same_time(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}
