//! Recomputes the decisions of agents in a simulated run, from recorded facts and replayed state.

use mario_domain::{AgentOperation, Capacity, Id};
use mario_policy::{Constant, Decider, Ending, KnowledgeBase, Policy, SolutionLimit};
use mario_prolog::{Allowance, Engine};
use rustc_hash::FxHashMap;

use crate::histories::Histories;
use crate::knowledge::{Knowledge, Situation};
use crate::policies;
use crate::reader::{Header, Neighbour, Proposal, RequestFact, Solution, Target};
use crate::texts::solutions_text;
use crate::world::World;

/// The approximate maximum size of the cache of decisions. A full cache is cleared.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// Everything needed to recompute the decisions of agents.
pub(crate) struct Decisions {
    policies: Vec<Option<Policy>>,
    knowledge: Knowledge,
    decider: Decider,
    node_of: FxHashMap<Id, u32>,
    /// The total budget of all policies of the trace.
    allowance: Allowance,
    kept: FxHashMap<Box<[u8]>, Decided>,
    kept_bytes: usize,
    key: Vec<u8>,
    made: u64,
    computed: u64,
}

/// A recomputed decision.
struct Decided {
    solutions: Vec<Solution>,
    ending: Option<String>,
    /// Whether it ended because a budget was exhausted.
    is_exhausted: bool,
}

impl Decisions {
    /// Compiles the policies of a header. `fault` is called with the name and the error of each invalid policy.
    pub(crate) fn new(
        header: &Header,
        engine: &Engine,
        allowance: &Allowance,
        fault: &mut dyn FnMut(String, String),
    ) -> Decisions {
        let policies = header
            .policies
            .iter()
            .map(|policy| match policies::of_agents(engine, header, policy, allowance) {
                Ok(policy) => Some(policy),
                Err(message) => {
                    fault(format!("policy {}", policy.name), message);
                    None
                }
            })
            .collect();
        let node_of = header.nodes.iter().zip(0..).map(|(node, place)| (node.id.id().clone(), place)).collect();
        let mut decider = Decider::new(engine);
        decider.set_allowance(Some(allowance.clone()));
        Decisions {
            policies,
            knowledge: Knowledge::new(header, engine),
            decider,
            allowance: allowance.clone(),
            node_of,
            kept: FxHashMap::default(),
            kept_bytes: 0,
            key: Vec::new(),
            made: 0,
            computed: 0,
        }
    }

    /// The number of checked decisions, and how many of them were neither cached nor repeated, so that a policy was
    /// evaluated.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.made, self.computed)
    }

    /// The names of the policies whose decisions are made by functions outside the trace.
    pub(crate) fn outside<'a>(&'a self, header: &'a Header) -> impl Iterator<Item = &'a str> {
        let named = self.policies.iter().zip(&header.policies);
        named.filter(|(policy, _)| is_outside(policy.as_ref())).map(|(_, traced)| traced.name.as_str())
    }

    /// The histories of the agents of these policies, before the first record.
    pub(crate) fn histories(&self, header: &Header) -> Histories {
        let remembers = |policy: &Option<Policy>| policy.as_ref().map_or_else(Default::default, Policy::remembers);
        Histories::of_policies(header, self.policies.iter().map(remembers))
    }

    /// Counts a decision on the same facts as the agent's last one, which was already checked. Decisions of functions
    /// outside the trace are not counted.
    pub(crate) fn repeat(&mut self, policy: u32) {
        if !is_outside(self.policies.get(policy as usize).and_then(Option::as_ref)) {
            self.made += 1;
        }
    }

    /// The recomputed and the recorded decision, in words; `None` if they are the same, or cannot be compared.
    pub(crate) fn mismatch(
        &mut self,
        header: &Header,
        world: &World,
        situation: &Situation<'_>,
    ) -> Option<(String, String)> {
        let policy = self.policies[situation.policy as usize].as_ref()?;
        if policy.outside().is_some() {
            return None;
        }
        self.made += 1;
        self.encode(world, situation);
        if !self.kept.contains_key(self.key.as_slice()) {
            self.computed += 1;
            let decided = self.decide(header, world, situation)?;
            // A decision that was cut short by the total budget is ignored.
            if self.allowance.is_spent() {
                return None;
            }
            let bytes = size_of::<Decided>() + self.key.len() + decided.solutions.len() * size_of::<Solution>();
            if self.kept_bytes.saturating_add(bytes) > KEPT_BYTES_MAX {
                self.kept.clear();
                self.kept_bytes = 0;
            }
            self.kept_bytes += bytes;
            self.kept.insert(self.key.as_slice().into(), decided);
        }
        let decided = self.kept.get(self.key.as_slice())?;
        let seen = situation.seen;
        let is_same = match (&decided.ending, &seen.ending) {
            // How far a policy gets before it stops may depend on the budget, so only the solutions that both
            // decisions have are compared.
            (Some(decided_ending), Some(ending)) if decided.is_exhausted || decided_ending != ending => {
                let common = decided.solutions.len().min(seen.solutions.len());
                are_same(&decided.solutions[..common], &seen.solutions[..common])
            }
            (Some(_), Some(_)) | (None, None) => are_same(&decided.solutions, &seen.solutions),
            (Some(_), None) | (None, Some(_)) => false,
        };
        if is_same {
            return None;
        }
        let text = |solutions: &[Solution], ending: &Option<String>| match ending {
            Some(ending) => format!("{}, then {ending}", solutions_text(header, solutions)),
            None => solutions_text(header, solutions),
        };
        Some((text(&decided.solutions, &decided.ending), text(&seen.solutions, &seen.ending)))
    }

    fn decide(&mut self, header: &Header, world: &World, situation: &Situation<'_>) -> Option<Decided> {
        let (facts, instance) = self.knowledge.of(header, situation, |from, to| world.reaches(from, to));
        let policy = self.policies[situation.policy as usize].as_ref()?;
        let decision = self.decider.decide(policy, facts, instance, SolutionLimit::All);
        let solutions = decision
            .solutions
            .iter()
            .map(|solution| match solution {
                mario_policy::Solution::Proposal(proposal) => Solution::Proposal {
                    proposal: Proposal {
                        operation: proposal.operation,
                        target: target(facts, &self.node_of, proposal.operation, proposal.target),
                    },
                    clause: proposal.clause as u64,
                },
                mario_policy::Solution::Invalid(invalid) => {
                    Solution::Invalid { why: invalid.fault.description().to_owned(), clause: invalid.clause as u64 }
                }
            })
            .collect();
        let ending = (decision.ending != Ending::Complete).then(|| decision.ending.to_string());
        let is_exhausted = matches!(decision.ending, Ending::Exhausted(_));
        Some(Decided { solutions, ending, is_exhausted })
    }

    /// Replaces `key` by an encoding of everything that the decision depends on.
    fn encode(&mut self, world: &World, situation: &Situation<'_>) {
        let key = &mut self.key;
        key.clear();
        let neighbourhood = world.node(situation.node).neighbourhood;
        for word in [situation.policy, situation.application, situation.node, neighbourhood, situation.flavour] {
            key.extend(word.to_le_bytes());
        }
        key.push(u8::from(situation.is_asleep));
        encode_id(key, situation.instance.id());
        key.push(u8::from(situation.seen.random.is_some()));
        key.extend(situation.seen.random.unwrap_or(0).to_le_bytes());
        match situation.free {
            Capacity::Unbounded => key.push(0),
            Capacity::Bounded(hardware) => {
                key.push(1);
                for (kind, amount) in hardware.amounts() {
                    key.push(kind as u8);
                    key.extend(amount.to_le_bytes());
                }
            }
        }
        encode_requests(key, &situation.seen.requests);
        key.extend((situation.seen.inhibited.len() as u64).to_le_bytes());
        situation.seen.inhibited.iter().for_each(|proposal| encode_proposal(key, proposal));
        let visible_history = situation.visible_history;
        key.extend((visible_history.earlier.len() as u64).to_le_bytes());
        visible_history.earlier.iter().for_each(|requests| encode_requests(key, requests));
        key.extend((visible_history.done.len() as u64).to_le_bytes());
        for (ago, proposal) in &visible_history.done {
            key.extend(ago.to_le_bytes());
            encode_proposal(key, proposal);
        }
        key.push(u8::from(visible_history.age.is_some()));
        key.extend(visible_history.age.unwrap_or(0).to_le_bytes());
        key.extend(visible_history.leave.unwrap_or(u64::MAX).to_le_bytes());
    }
}

/// Whether the decisions are made by a function outside the trace instead of the text of the policy.
fn is_outside(policy: Option<&Policy>) -> bool {
    policy.is_some_and(|policy| policy.outside().is_some())
}

fn encode_requests(key: &mut Vec<u8>, requests: &[RequestFact]) {
    key.extend((requests.len() as u64).to_le_bytes());
    for fact in requests {
        match fact.neighbour {
            Neighbour::Own => key.push(0),
            Neighbour::Node(node) => {
                key.push(1);
                key.extend(node.to_le_bytes());
            }
        }
        for quantity in [fact.rate, fact.latency] {
            key.push(u8::from(quantity.as_whole().is_some()));
            key.extend(quantity.value().to_le_bytes());
        }
    }
}

fn encode_proposal(key: &mut Vec<u8>, proposal: &Proposal) {
    key.push(proposal.operation.code());
    match &proposal.target {
        Target::Own => key.push(0),
        Target::Node(node) => {
            key.push(1);
            key.extend(node.to_le_bytes());
        }
        Target::Unknown(id) => {
            key.push(2);
            encode_id(key, id);
        }
        Target::Flavour(id) => {
            key.push(3);
            encode_id(key, id);
        }
    }
}

fn encode_id(key: &mut Vec<u8>, id: &Id) {
    match id {
        Id::Number(number) => {
            key.push(0);
            key.extend(number.to_le_bytes());
        }
        Id::Name(name) => {
            key.push(1);
            key.extend((name.as_str().len() as u64).to_le_bytes());
            key.extend(name.as_str().as_bytes());
        }
    }
}

/// Converts the target of a recomputed proposal to the form that traces have.
fn target(facts: &KnowledgeBase, node_of: &FxHashMap<Id, u32>, operation: AgentOperation, target: Constant) -> Target {
    if operation.asks_for_flavour() {
        return facts.to_id(target).map_or(Target::Unknown(Id::Number(0)), Target::Flavour);
    }
    if target == facts.constant(mario_domain::SELF) {
        return Target::Own;
    }
    match facts.to_id(target) {
        Some(id) => node_of.get(&id).map_or(Target::Unknown(id), |node| Target::Node(*node)),
        None => Target::Unknown(Id::Number(0)),
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
