//! Agents: one for each instance, with what it sees and what it remembers.

use mario_colony::rules;
use mario_colony::rules::Remembered;
use mario_domain::AgentOperation;
use mario_scenario::{ApplicationIndex, Memory, NodeIndex, PolicyIndex};
use serde::{Deserialize, Serialize};

use crate::population::index::LinksVersion;
use crate::population::intent::{Intent, Said};
use crate::population::recall::Sight;
use crate::population::wish::{Target, Wish};

/// The manager of one instance.
///
/// What a cycle looks at for every agent is here; its details, which most agents never have, are apart. The id of its instance
/// is [`crate::population::Colony::instance`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub struct Agent {
    pub(crate) node: NodeIndex,
    pub(crate) application: ApplicationIndex,
    /// How often it has evaluated its policy.
    pub(crate) evaluations: u32,
    /// The version of the links with which the target of its proposal was in reach.
    pub(crate) reached: Option<LinksVersion>,
    /// Where it is among those who wait for the managers, if it waits.
    pub(crate) waits_at: u32,
    pub(crate) policy: PolicyIndex,
    pub(crate) state: AgentState,
    /// Whether its facts are those of its last evaluation.
    pub(crate) is_unchanged: bool,
    /// Whether what it knows is only what it sees: it remembers nothing, and nothing was drawn for it.
    pub(crate) is_blank: bool,
    /// Which of `sights` it sees.
    pub(crate) current: u8,
    /// How many requests it sees, by whichever way they come.
    pub(crate) rate: f64,
    /// What it proposed at its last evaluation.
    pub(crate) intent: Intent,
    /// What it has seen lately.
    pub(crate) sights: Box<[Sight]>,
    /// `None` until there are any.
    pub(crate) details: Option<Box<Details>>,
}

/// What only some agents know, or say.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Details {
    /// What was drawn for its next evaluation, if its policy asks for randomness.
    pub(crate) random: Option<u32>,
    pub(crate) remembered: Vec<Remembered<Target>>,
    /// What it proposed at its last evaluation, if its intent does not say it.
    pub(crate) strange: Option<Box<Wish>>,
}

/// Whether an agent is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum AgentState {
    Awake,
    /// Nobody looks at it until something is new to it.
    Resting,
    Gone,
}

const _: () = assert!(size_of::<Agent>() == 64, "one line of a cache");

/// Client requests, as an agent sees them: `requests/4`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct RequestFact {
    /// The last hop.
    pub neighbour: Neighbour,
    /// How many came in the last evaluation period.
    pub rate: f64,
    /// The latency of the path, without waiting.
    pub latency: f64,
}

/// Where client requests come through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Neighbour {
    /// Clients on the instance's own node.
    Own,
    /// A neighbour.
    Node(NodeIndex),
}

impl Agent {
    pub(crate) fn new(application: ApplicationIndex, policy: PolicyIndex, node: NodeIndex) -> Agent {
        Agent {
            node,
            application,
            evaluations: 0,
            reached: None,
            waits_at: u32::MAX,
            policy,
            state: AgentState::Awake,
            is_unchanged: false,
            is_blank: true,
            current: 0,
            rate: 0.0,
            intent: Intent::NOTHING,
            sights: Box::default(),
            details: None,
        }
    }

    /// What its instance is a copy of.
    pub fn application(&self) -> ApplicationIndex {
        self.application
    }

    /// Its policy.
    pub fn policy(&self) -> PolicyIndex {
        self.policy
    }

    /// Where its instance is, or was when it went.
    pub fn node(&self) -> NodeIndex {
        self.node
    }

    /// Whether its instance is still there.
    pub fn is_alive(&self) -> bool {
        self.state != AgentState::Gone
    }

    /// How often it has evaluated its policy. While it rests, that is not counted.
    pub fn evaluations(&self) -> u32 {
        self.evaluations
    }

    /// The client requests that it sees.
    pub fn requests(&self) -> &[RequestFact] {
        self.sights.get(usize::from(self.current)).map_or(&[], Sight::requests)
    }

    /// How many client requests it sees, by whichever way they come.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// What was drawn for its evaluation, if its policy asks for randomness: `fact(Instance, random, Drawn)`.
    pub fn random(&self) -> Option<u32> {
        if self.is_blank { None } else { self.details.as_ref()?.random }
    }

    /// What it remembers as inhibited.
    pub fn remembered(&self) -> &[Remembered<Target>] {
        if self.is_blank { &[] } else { self.details.as_ref().map_or(&[], |details| &details.remembered) }
    }

    /// What it proposed at its last evaluation.
    pub fn proposal(&self) -> Option<Wish> {
        match self.intent.said() {
            Said::Nothing => None,
            Said::Wish(wish) => Some(wish),
            Said::Elsewhere => self.details.as_ref()?.strange.as_deref().cloned(),
        }
    }

    pub(crate) fn details(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }

    /// Remembers an inhibited operation. `cycles` is how long the agent's policy lets it remember.
    pub(crate) fn remember(&mut self, operation: AgentOperation, target: Target, memory: Memory, cycles: u32) {
        // The prototype's memory is cleared from time to time and does not ask how long.
        let cycles = if memory == Memory::Sliding { cycles } else { u32::MAX };
        if cycles == 0 {
            return;
        }
        let evaluation = self.evaluations;
        rules::remember(&mut self.details().remembered, cycles, Remembered { evaluation, operation, target });
        self.is_blank = false;
        self.knows_better();
    }

    /// Counts an evaluation whose facts have been read, and forgets what is too old for the next one. With the prototype's
    /// memory, evaluations 1, 1 + every, 1 + 2 × every and so on clear it when their facts have been read.
    pub(crate) fn count_evaluation(&mut self, memory: Memory, cycles: u32) {
        self.evaluations += 1;
        if self.is_blank {
            return;
        }
        let Some(Details { remembered, random, .. }) = self.details.as_deref_mut() else { return };
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
        if has_forgotten {
            self.is_blank = remembered.is_empty() && random.is_none();
            self.knows_better();
        }
    }

    /// The instance is on another node now, where nothing is known of the client requests that will come.
    pub(crate) fn moves(&mut self, to: NodeIndex) {
        self.node = to;
        self.reached = None;
        self.forget_sights();
        self.knows_better();
    }

    /// Whether a restored agent is valid in a colony of `nodes` nodes.
    pub(crate) fn holds_together(&self, nodes: usize) -> bool {
        let remembered = self.details.iter().flat_map(|details| &details.remembered);
        let is_known = |target: &Target| !matches!(target, Target::Node(node) if node.position() >= nodes);
        let can_be = |intent: Intent| !matches!(intent.said(), Said::Wish(wish) if !is_known(&wish.target));
        can_be(self.intent)
            && self.have_sights_that_can_be(can_be)
            && remembered.clone().all(|one| one.evaluation <= self.evaluations && is_known(&one.target))
    }

    /// The instance is gone. What only a living agent needs is given back.
    pub(crate) fn dies(&mut self) {
        self.state = AgentState::Gone;
        self.is_unchanged = false;
        self.forget_sights();
        self.details = None;
        self.intent = Intent::NOTHING;
    }
}
