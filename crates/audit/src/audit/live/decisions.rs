//! Recomputes the decisions of agents on live nodes, from the facts that they saw and from the state of their nodes at
//! the time.

use std::collections::{BTreeMap, BTreeSet};

use mario_domain::{Id, NodeId};
use mario_policy::{Constant, Decider, Ending, KnowledgeBase, Policy, SolutionLimit};
use mario_prolog::{Allowance, Engine, Value};

use super::Found;
use super::node::LiveNode;
use crate::finding::FindingKind;
use crate::policies;
use crate::reader::{Evaluation, FactsAndDecision, Header, Neighbour, Proposal, Solution, Target, TracedApplication};
use crate::texts::solutions_text;

/// Everything needed to recompute the decisions of live agents.
pub(super) struct LiveDecisions {
    policies: Vec<Option<Policy>>,
    decider: Decider,
    facts: KnowledgeBase,
    allowance: Allowance,
    /// For each description of an application, the facts of the header that belong to it; `None` if that is unknown.
    described: Vec<Option<Vec<usize>>>,
    made: u64,
}

impl LiveDecisions {
    pub(super) fn new(
        header: &Header,
        engine: &Engine,
        allowance: &Allowance,
        found: &mut Vec<Found>,
    ) -> LiveDecisions {
        let policies =
            header.policies.iter().map(|policy| match policies::of_agents(engine, header, policy, allowance) {
                Ok(policy) => Some(policy),
                Err(_) if allowance.is_spent() => None,
                Err(message) => {
                    let who = format!("policy {}", policy.name);
                    found.push((FindingKind::Policy, who, "a text that can be loaded".to_owned(), message));
                    None
                }
            });
        let mut decider = Decider::new(engine);
        decider.set_allowance(Some(allowance.clone()));
        LiveDecisions {
            policies: policies.collect(),
            decider,
            facts: KnowledgeBase::new(engine.symbols()),
            allowance: allowance.clone(),
            described: described(header),
            made: 0,
        }
    }

    /// The number of checked decisions, and of those for which a policy was evaluated: the same, as there is no cache.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.made, self.made)
    }

    /// The kinds of decisions that were not recomputed, in words for the report.
    pub(super) fn unchecked(&self, header: &Header) -> Vec<String> {
        let mut unchecked = Vec::new();
        if self.policies.iter().flatten().any(|policy| !policy.remembers().is_nothing()) {
            unchecked.push(
                "decisions of policies that look back: the histories of their agents are not recorded".to_owned(),
            );
        }
        if self.described.contains(&None) {
            unchecked.push(
                "decisions of agents that know an application with several descriptions, of which the trace does not say \
                 which facts belong to which"
                    .to_owned(),
            );
        }
        let changed = header.live.as_ref().map_or(&[][..], |live| &live.facts_changed);
        if !changed.is_empty() {
            let names: Vec<String> = changed.iter().map(|node| header.nodes[*node as usize].id.to_string()).collect();
            unchecked.push(format!("decisions that may depend on changed facts about nodes {}", names.join(", ")));
        }
        unchecked
    }

    /// The recomputed and the recorded decision, in words; `None` if they are the same, or cannot be compared.
    pub(super) fn mismatch(
        &mut self,
        header: &Header,
        state: &LiveNode,
        node: u32,
        application: u32,
        record: &Evaluation,
    ) -> Option<(String, String)> {
        let seen = record.seen.as_ref()?;
        let hosted = hosted(header, state);
        let changed = header.live.as_ref().map_or(&[][..], |live| &live.facts_changed);
        let concerned = std::iter::once(&node).chain(&state.up);
        let is_unknown = hosted.iter().any(|place| self.described[*place as usize].is_none())
            || is_reserved_in_several_versions(header, state)
            || concerned.into_iter().any(|node| changed.contains(node));
        let policy = self.policies.get(header.applications[application as usize].policy as usize)?.clone()?;
        if is_unknown || !policy.remembers().is_nothing() || self.allowance.is_spent() {
            return None;
        }
        self.made += 1;
        let instance = self.know(header, state, node, &hosted, (application, record, seen), policy.reads_kinds());
        let decision = self.decider.decide(&policy, &self.facts, instance, SolutionLimit::First);
        if self.allowance.is_spent() {
            return None;
        }
        let decided: Vec<Solution> =
            decision.solutions.iter().take(1).map(|found| solution(header, &self.facts, found)).collect();
        let ending = (decision.ending != Ending::Complete).then(|| decision.ending.to_string());
        let is_exhausted = matches!(decision.ending, Ending::Exhausted(_));
        let is_same = match (&ending, &seen.ending) {
            (None, None) => are_same(&decided, &seen.solutions),
            // Both evaluations ended early. Why they did is not compared; nor are the solutions if the recomputed one
            // exhausted its budget, because they depend on the budget.
            (Some(_), Some(_)) => is_exhausted || are_same(&decided, &seen.solutions),
            (Some(_), None) | (None, Some(_)) => false,
        };
        if is_same {
            return None;
        }
        let text = |solutions: &[Solution], ending: &Option<String>| match ending {
            Some(ending) => format!("{}, then {ending}", solutions_text(header, solutions)),
            None => solutions_text(header, solutions),
        };
        Some((text(&decided, &ending), text(&seen.solutions, &seen.ending)))
    }

    /// Replaces `facts` by the knowledge base of an agent. Returns the constant that denotes its instance.
    fn know(
        &mut self,
        header: &Header,
        state: &LiveNode,
        node: u32,
        hosted: &[u32],
        (application, record, seen): (u32, &Evaluation, &FactsAndDecision),
        reads_kinds: bool,
    ) -> Constant {
        let facts = &mut self.facts;
        facts.clear();
        for place in hosted {
            facts.push_application(&header.applications[*place as usize].descriptor());
        }
        let id = |facts: &KnowledgeBase, node: u32| facts.id(header.nodes[node as usize].id.id());
        let own = id(facts, node);
        let neighbours: Vec<Constant> = state.up.iter().map(|neighbour| id(facts, *neighbour)).collect();
        let free = facts.capacity(record.free);
        facts.push_node(own, free, neighbours);
        if reads_kinds {
            facts.push_free(own, record.free, state.capacity());
        }
        let instance = facts.id(record.instance.id());
        let of = facts.id(header.applications[application as usize].id.id());
        facts.push_instance(instance, of, own);
        let flavour = state.owned.get(&record.instance).map_or(0, |owned| owned.flavour);
        if let Some(flavour) = header.applications[application as usize].flavours.get(flavour as usize) {
            let flavour = facts.id(flavour.id.id());
            facts.push_running(instance, flavour);
        }
        if let Some(notice) = state.notices.get(&record.instance) {
            facts.push_leave(instance, notice.left as u32);
        }
        if state.owned.get(&record.instance).is_some_and(|owned| owned.is_asleep) {
            facts.push_asleep(instance);
        }
        for fact in &seen.requests {
            let neighbour = match fact.neighbour {
                Neighbour::Own => facts.constant(mario_domain::SELF),
                Neighbour::Node(node) => id(facts, node),
            };
            facts.push_requests(instance, neighbour, number(fact.rate.value()), number(fact.latency.value()));
        }
        for proposal in &seen.inhibited {
            let operation = facts.constant(proposal.operation.as_str());
            let target = match &proposal.target {
                Target::Own => facts.constant(mario_domain::SELF),
                Target::Node(node) => id(facts, *node),
                Target::Unknown(id) | Target::Flavour(id) => facts.id(id),
            };
            facts.push_inhibited(operation, instance, target);
        }
        for place in hosted {
            for fact in self.described[*place as usize].iter().flatten() {
                facts.push_domain_fact(&header.facts[*fact]);
            }
        }
        let introduced = state.up.iter().filter(|neighbour| state.introduced.contains(neighbour));
        let about_nodes = std::iter::once(&node).chain(introduced).map(|node| header.nodes[*node as usize].id.id());
        for subject in about_nodes {
            for fact in header.facts.iter().filter(|fact| fact.subject == *subject) {
                facts.push_domain_fact(fact);
            }
        }
        if let Some(drawn) = seen.random {
            let key = facts.constant("random");
            facts.push_fact(instance, key, Value::Integer(i64::from(drawn)));
        }
        instance
    }
}

/// For each description of an application, the facts of the header that belong to it; `None` if the application has
/// several descriptions and the header does not say which of the facts about it belong to which.
fn described(header: &Header) -> Vec<Option<Vec<usize>>> {
    let counts = header.live.as_ref().map_or(&[][..], |live| &live.application_facts);
    if counts.len() == header.applications.len() {
        let mut next = 0;
        let mut belong = |count: &usize| {
            let first = next;
            next = (next + count).min(header.facts.len());
            Some((first..next).collect())
        };
        return counts.iter().map(&mut belong).collect();
    }
    let of = |application: &TracedApplication| {
        let about = header.facts.iter().enumerate().filter(|(_, fact)| fact.subject == *application.id.id());
        let about: Vec<usize> = about.map(|(place, _)| place).collect();
        let descriptions = header.applications.iter().filter(|other| other.id == application.id).count();
        (descriptions == 1 || about.is_empty()).then_some(about)
    };
    header.applications.iter().map(of).collect()
}

/// Whether a node has reserved hardware for several versions of an application of which it keeps no instance. The trace
/// does not say which of these versions its agents see.
fn is_reserved_in_several_versions(header: &Header, state: &LiveNode) -> bool {
    let id = |place: u32| &header.applications[place as usize].id;
    let kept = state.owned.values().chain(state.custody.values().map(|custody| &custody.owned));
    let kept: BTreeSet<_> = kept.map(|owned| id(owned.application)).collect();
    let mut reserved = BTreeMap::new();
    state.reserved.values().filter(|reserved| !kept.contains(id(reserved.application))).any(|place| {
        let first = *reserved.entry(id(place.application)).or_insert(place.application);
        first != place.application
    })
}

/// The applications that agents on a node see: those of instances that it owns, keeps in custody or has reserved
/// hardware for, each once, ordered by id. Of an application with instances of several versions, agents see the
/// description of the first owned instance, or else of the first one in custody.
fn hosted(header: &Header, state: &LiveNode) -> Vec<u32> {
    let owned = state.owned.values().map(|owned| owned.application);
    let custody = state.custody.values().map(|custody| custody.owned.application);
    let reserved = state.reserved.values().map(|reserved| reserved.application);
    let mut hosted: Vec<u32> = owned.chain(custody).chain(reserved).collect();
    hosted.sort_by_key(|place| &header.applications[*place as usize].id);
    hosted.dedup_by_key(|place| &header.applications[*place as usize].id);
    hosted
}

/// Converts a recomputed solution to the form that traces have.
fn solution(header: &Header, facts: &KnowledgeBase, solution: &mario_policy::Solution) -> Solution {
    match solution {
        mario_policy::Solution::Proposal(proposal) => {
            let target = if proposal.operation.asks_for_flavour() {
                facts.to_id(proposal.target).map_or(Target::Unknown(Id::Number(0)), Target::Flavour)
            } else {
                target(header, facts, proposal.target)
            };
            Solution::Proposal {
                proposal: Proposal { operation: proposal.operation, target },
                clause: proposal.clause as u64,
            }
        }
        mario_policy::Solution::Invalid(invalid) => {
            Solution::Invalid { why: invalid.fault.description().to_owned(), clause: invalid.clause as u64 }
        }
    }
}

/// Converts the target of a recomputed proposal to the form that traces have.
fn target(header: &Header, facts: &KnowledgeBase, target: Constant) -> Target {
    if target == facts.constant(mario_domain::SELF) {
        return Target::Own;
    }
    let Some(id) = facts.to_id(target) else { return Target::Unknown(Id::Number(0)) };
    let is_node = |node: &NodeId| *node.id() == id;
    match header.nodes.iter().position(|node| is_node(&node.id)) {
        Some(place) => Target::Node(place as u32),
        None => Target::Unknown(id),
    }
}

/// Whether solutions are the same, except for the wording of faults.
fn are_same(decided: &[Solution], recorded: &[Solution]) -> bool {
    let is_same = |(one, other): (&Solution, &Solution)| match (one, other) {
        (Solution::Invalid { clause: one, .. }, Solution::Invalid { clause: other, .. }) => one == other,
        (one, other) => one == other,
    };
    decided.len() == recorded.len() && decided.iter().zip(recorded).all(is_same)
}

/// A number as seen by an agent: an integer if it is whole and at most 2^53, else a float.
fn number(value: f64) -> Constant {
    /// 2^53. Above it, not every whole number can be represented as a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT { Value::Integer(value as i64) } else { Value::Float(value) }
}
