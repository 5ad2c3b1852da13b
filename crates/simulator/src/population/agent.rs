//! Agents: one for each instance, with its observations and memory.

use mario_colony::rules;
use mario_colony::rules::{EvictionNotice, History, RememberedOperation};
use mario_domain::{AgentOperation, FlavourIndex, Wakefulness};
use mario_policy::MemoryDeclaration;
use mario_scenario::{ApplicationIndex, Memory, NodeIndex, PolicyIndex};
use serde::{Deserialize, Serialize};

use crate::population::index::LinksVersion;
use crate::population::layers::proposal_cache::{Basis, RequestSnapshot};
use crate::population::proposal::{Proposal, Target};

/// The manager of one instance. The id of its instance is
/// [`Population::instance`](crate::population::Population::instance).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Agent {
    pub(crate) node: NodeIndex,
    pub(crate) application: ApplicationIndex,
    pub(crate) policy: PolicyIndex,
    /// The number of its evaluations, including those that reused a proposal.
    pub(crate) evaluations: u32,
    pub(crate) activity: Activity,
    /// The total rate of the client requests that it sees.
    pub(crate) rate: f64,
    /// The proposal of its last evaluation.
    pub(crate) proposal: Option<Proposal>,
    /// `None` until first needed.
    pub(crate) extra: Option<Box<ExtraKnowledge>>,

    // The remaining fields serve the optimisations in `layers`. Other code uses them, too: `snapshots` has the only
    // copy of the client requests that the agent sees.
    /// Recent snapshots of client requests, with the proposals for them.
    pub(crate) snapshots: Box<[RequestSnapshot]>,
    /// The index of the current snapshot.
    pub(crate) current: u8,
    /// Whether its facts have not changed since its last evaluation.
    pub(crate) is_unchanged: bool,
    /// Whether `extra` is missing or blank, see [`ExtraKnowledge::is_blank`].
    pub(crate) is_blank: bool,
    /// The version of the links for which the target of its proposal is known to be reachable.
    pub(crate) reached: Option<LinksVersion>,
    /// The position of its request in the queue for the next cycle. Valid only if the entry there is its own.
    pub(crate) pending_at: u32,
}

/// Knowledge that only some agents have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ExtraKnowledge {
    /// The number drawn for its next evaluation, if its policy uses randomness.
    pub(crate) random: Option<u32>,
    pub(crate) remembered: Vec<RememberedOperation<Target>>,
    /// Its history; `None` if its policy does not look back. May be `None` before its first evaluation.
    pub(crate) history: Option<Box<History<RequestFact, Target>>>,
    /// The flavour and wakefulness of its instance, and whether it is an anchor.
    pub(crate) body: Body,
    /// Whether, since its last evaluation, a client request was not allowed to wake its instance.
    pub(crate) is_wake_refused: bool,
    /// Whether it was switched to a policy that looks back, and has not evaluated since.
    pub(crate) is_fresh: bool,
    /// The announcement of its instance's eviction.
    pub(crate) notice: Option<EvictionNotice>,
}

impl ExtraKnowledge {
    /// Whether it has no remembered inhibitions, no random number and no notice, and the default flavour and
    /// wakefulness. It may have a history, and `is_fresh` may be set.
    pub(crate) fn is_blank(&self) -> bool {
        self.remembered.is_empty() && self.random.is_none() && self.body == Body::default() && self.notice.is_none()
    }
}

/// The flavour and wakefulness of an instance, and whether it is an anchor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Body {
    /// The flavour.
    pub flavour: FlavourIndex,
    /// Whether the instance is awake.
    pub wakefulness: Wakefulness,
    /// Whether it is an anchor, which its agent cannot undeploy.
    pub is_anchor: bool,
}

/// Whether an agent exists, and whether cycles visit it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Activity {
    Awake,
    /// Its outcomes are counted in aggregate. Cycles do not visit it.
    Parked,
    Gone,
}

/// Client requests, as an agent sees them: `requests/4`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct RequestFact {
    /// The last hop.
    pub neighbour: Neighbour,
    /// The number of requests in the last evaluation period.
    pub rate: f64,
    /// The latency of the path, without queueing.
    pub latency: f64,
}

/// The last hop of client requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Neighbour {
    /// No hop: the clients are on the instance's own node.
    Own,
    /// A neighbour.
    Node(NodeIndex),
}

impl Body {
    /// The body of a new instance that an operator deploys.
    pub(crate) fn deployed(is_anchor: bool) -> Body {
        Body { is_anchor, ..Body::default() }
    }

    /// The body of a replica, which is no anchor.
    pub(crate) fn replica(self) -> Body {
        Body { is_anchor: false, ..self }
    }
}

impl Agent {
    pub(crate) fn new(application: ApplicationIndex, policy: PolicyIndex, node: NodeIndex) -> Agent {
        Agent {
            node,
            application,
            policy,
            evaluations: 0,
            activity: Activity::Awake,
            rate: 0.0,
            proposal: None,
            extra: None,
            snapshots: Box::default(),
            current: 0,
            is_unchanged: false,
            is_blank: true,
            reached: None,
            pending_at: u32::MAX,
        }
    }

    /// The application of its instance.
    pub fn application(&self) -> ApplicationIndex {
        self.application
    }

    /// Its policy.
    pub fn policy(&self) -> PolicyIndex {
        self.policy
    }

    /// The node of its instance; the last node if the instance was removed.
    pub fn node(&self) -> NodeIndex {
        self.node
    }

    /// Whether its instance still exists.
    pub fn is_alive(&self) -> bool {
        self.activity != Activity::Gone
    }

    /// The number of its evaluations, including those that reused a proposal. Those of a parked agent are added when it
    /// is unparked.
    pub fn evaluations(&self) -> u32 {
        self.evaluations
    }

    /// The client requests that it sees.
    pub fn requests(&self) -> &[RequestFact] {
        self.current_snapshot().map_or(&[], RequestSnapshot::requests)
    }

    /// The total rate of the client requests that it sees.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The number drawn for its next evaluation, if its policy uses randomness: `fact(Instance, random, Drawn)`.
    pub fn random(&self) -> Option<u32> {
        if self.is_blank { None } else { self.extra.as_ref()?.random }
    }

    /// The flavour and wakefulness of its instance.
    pub fn body(&self) -> Body {
        if self.is_blank {
            Body::default()
        } else {
            self.extra.as_ref().map_or_else(Default::default, |extra| extra.body)
        }
    }

    /// The flavour of its instance.
    pub fn flavour(&self) -> FlavourIndex {
        self.body().flavour
    }

    /// Whether its instance is asleep.
    pub fn is_asleep(&self) -> bool {
        self.body().wakefulness.is_asleep()
    }

    /// Whether its instance is an anchor, which it cannot undeploy.
    pub fn is_anchor(&self) -> bool {
        self.body().is_anchor
    }

    /// Changes the flavour and wakefulness of its instance.
    pub(crate) fn set_body(&mut self, body: Body) {
        let extra = self.extra.get_or_insert_default();
        extra.body = body;
        // If the instance adapts or is shrunk while asleep, the refusal stays: the manager is asked again only after
        // the next evaluation.
        extra.is_wake_refused &= extra.body.wakefulness.is_asleep();
        self.is_blank = extra.is_blank();
        self.invalidate_cached_proposals();
    }

    /// Whether, since its last evaluation, a client request was not allowed to wake its instance.
    pub fn is_wake_refused(&self) -> bool {
        !self.is_blank && self.extra.as_ref().is_some_and(|extra| extra.is_wake_refused)
    }

    /// Notes that a client request was not allowed to wake its sleeping instance.
    pub(crate) fn refuse_wake(&mut self) {
        if let Some(extra) = &mut self.extra {
            extra.is_wake_refused = true;
        }
    }

    /// The announcement of its instance's eviction, if any.
    pub fn notice(&self) -> Option<&EvictionNotice> {
        if self.is_blank { None } else { self.extra.as_ref()?.notice.as_ref() }
    }

    /// Announces the eviction of its instance.
    pub(crate) fn give_notice(&mut self, notice: EvictionNotice) {
        self.extra.get_or_insert_default().notice = Some(notice);
        self.is_blank = false;
        self.invalidate_cached_proposals();
    }

    /// The inhibited operations that it remembers.
    pub fn remembered(&self) -> &[RememberedOperation<Target>] {
        if self.is_blank { &[] } else { self.extra.as_ref().map_or(&[], |extra| &extra.remembered) }
    }

    /// Its history; `None` if its policy does not look back. May be `None` before its first evaluation.
    pub fn history(&self) -> Option<&History<RequestFact, Target>> {
        self.extra.as_ref()?.history.as_deref()
    }

    /// The number of its evaluations since it arrived on its node or was switched to its policy, whichever was later;
    /// all its evaluations if it has no history.
    pub fn age(&self) -> u32 {
        self.evaluations - self.history().map_or(0, |history| history.arrived)
    }

    /// The proposal of its last evaluation.
    pub fn proposal(&self) -> Option<&Proposal> {
        self.proposal.as_ref()
    }

    /// Sets the number drawn for its next evaluation.
    pub(crate) fn set_random(&mut self, drawn: u32) {
        self.extra.get_or_insert_default().random = Some(drawn);
        self.is_blank = false;
        self.invalidate_cached_proposals();
    }

    /// Remembers an inhibited operation. `cycles` is the length of the agent's memory, in evaluations.
    pub(crate) fn remember(&mut self, operation: AgentOperation, target: Target, memory: Memory, cycles: u32) {
        // The prototype's memory has no length: it is cleared periodically.
        let cycles = if memory == Memory::Sliding { cycles } else { u32::MAX };
        if cycles == 0 {
            return;
        }
        let inhibited = RememberedOperation { evaluation: self.evaluations, operation, target };
        rules::remember(&mut self.extra.get_or_insert_default().remembered, cycles, inhibited);
        self.is_blank = false;
        self.invalidate_cached_proposals();
    }

    /// Counts an evaluation, after its facts have been read, and drops memories that the next evaluation must not see.
    /// Also ends the refusal to wake, and counts down the notice of an eviction. The prototype's memory is cleared
    /// after evaluations 1 + `every`, 1 + 2 × `every` and so on.
    pub(crate) fn count_evaluation(&mut self, memory: Memory, cycles: u32) {
        self.evaluations += 1;
        if self.is_blank {
            return;
        }
        let Some(extra) = self.extra.as_deref_mut() else { return };
        extra.is_wake_refused = false;
        let has_notice = extra.notice.as_mut().map(EvictionNotice::evaluated).is_some();
        let remembered = &mut extra.remembered;
        let has_forgotten = match memory {
            Memory::Sliding => rules::expire(remembered, cycles, self.evaluations + 1),
            Memory::Periodic { every } => {
                let is_due = self.evaluations > 1 && (self.evaluations - 1).is_multiple_of(every);
                let has_any = !remembered.is_empty();
                if is_due {
                    remembered.clear();
                }
                is_due && has_any
            }
        };
        if has_forgotten || has_notice {
            self.is_blank = extra.is_blank();
            self.invalidate_cached_proposals();
        }
    }

    /// Adds an evaluation to the history, after its facts have been read.
    pub(crate) fn look_back(&mut self, remembers: MemoryDeclaration) {
        let mut extra = self.extra.take().unwrap_or_default();
        let history = extra.history.get_or_insert_default();
        let is_new = history.evaluated(remembers, self.requests(), self.evaluations + 1);
        extra.is_fresh = false;
        self.extra = Some(extra);
        if is_new {
            self.invalidate_proposals_based_on(Basis::Past);
        } else if remembers.reads_age {
            self.invalidate_proposals_based_on(Basis::Age);
        }
    }

    /// Adds `times` evaluations of a parked agent to its history. All have the current facts, and none has an accepted
    /// operation.
    pub(crate) fn look_back_often(&mut self, remembers: MemoryDeclaration, times: u32) {
        let Some(mut extra) = self.extra.take() else { return };
        let is_new = extra
            .history
            .as_mut()
            .is_some_and(|history| history.evaluated_often(remembers, self.requests(), times, self.evaluations + 1));
        self.extra = Some(extra);
        if is_new {
            self.invalidate_proposals_based_on(Basis::Past);
        }
    }

    /// Adds an accepted operation of the agent to its history.
    pub(crate) fn note_done(&mut self, remembers: MemoryDeclaration, proposal: &Proposal) {
        let Proposal { operation, target } = proposal.clone();
        let done = RememberedOperation { evaluation: self.evaluations, operation, target };
        // A proposal of an earlier policy is not part of the history of the current one.
        let extra = self.extra.as_mut().filter(|extra| !extra.is_fresh);
        let Some(history) = extra.and_then(|extra| extra.history.as_mut()) else { return };
        history.accepted(remembers, done);
        self.invalidate_proposals_based_on(Basis::Past);
    }

    /// Moves the instance to another node. Clears what applies only to the old node: the observed client requests,
    /// cached proposals, a refusal to wake, and a notice of eviction. The agent's age restarts at 0.
    pub(crate) fn set_node(&mut self, to: NodeIndex) {
        self.node = to;
        self.reached = None;
        if let Some(extra) = self.extra.as_mut() {
            if let Some(history) = extra.history.as_mut() {
                history.arrived = self.evaluations;
            }
            // The manager of the new node has not been asked yet.
            extra.is_wake_refused = false;
            if extra.notice.take().is_some() {
                self.is_blank = extra.is_blank();
            }
        }
        self.clear_snapshots();
        self.invalidate_cached_proposals();
    }

    /// Whether a restored agent is valid in a population of `nodes` nodes.
    pub(crate) fn is_consistent(&self, nodes: usize) -> bool {
        let done = self.history().into_iter().flat_map(|history| &history.done);
        let remembered = self.extra.iter().flat_map(|extra| &extra.remembered).chain(done);
        let has_come = self.history().is_none_or(|history| history.arrived <= self.evaluations);
        let is_known = |target: &Target| !matches!(target, Target::Node(node) if node.position() >= nodes);
        let is_valid = |proposal: &Proposal| is_known(&proposal.target);
        has_come
            && self.proposal.as_ref().is_none_or(is_valid)
            && self.has_valid_snapshots(is_valid)
            && remembered.clone().all(|one| one.evaluation <= self.evaluations && is_known(&one.target))
    }

    /// Marks the instance as removed, and frees the state that only a living agent needs.
    pub(crate) fn end(&mut self) {
        self.activity = Activity::Gone;
        self.is_unchanged = false;
        self.clear_snapshots();
        self.extra = None;
        self.proposal = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_sleeper_that_adapts_stays_refused_until_it_evaluates_moves_or_wakes() {
        let asleep =
            |flavour| Body { flavour: FlavourIndex(flavour), wakefulness: Wakefulness::Asleep, is_anchor: false };
        let mut agent = Agent::new(ApplicationIndex(0), PolicyIndex(0), NodeIndex(0));
        agent.set_body(asleep(0));
        agent.refuse_wake();
        agent.set_body(asleep(1));
        assert!(agent.is_wake_refused());
        let mut evaluated = agent.clone();
        evaluated.count_evaluation(Memory::Sliding, 0);
        let mut moved = agent.clone();
        moved.set_node(NodeIndex(1));
        agent.set_body(Body { wakefulness: Wakefulness::Awake, ..asleep(1) });
        assert!(![evaluated, moved, agent].iter().any(Agent::is_wake_refused));
    }
}
