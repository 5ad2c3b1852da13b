//! Agents: one for each instance, with what it sees and what it remembers.

use mario_domain::{InstanceId, OperationName};
use serde::{Deserialize, Serialize};

use crate::index::{ApplicationIndex, NodeIndex, PolicyIndex};
use crate::recall::Former;
use crate::rules::Memory;
use crate::wish::{Target, Wish};

/// The manager of one instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Agent {
    pub(crate) instance: InstanceId,
    pub(crate) application: ApplicationIndex,
    pub(crate) policy: PolicyIndex,
    pub(crate) node: NodeIndex,
    pub(crate) is_alive: bool,
    /// Whether its facts are those of its last evaluation.
    pub(crate) is_unchanged: bool,
    /// Whether it is among those who wait for the managers.
    pub(crate) is_pending: bool,
    /// The version of the links with which the target of its proposal was in reach.
    pub(crate) reached: Option<u32>,
    /// How often it has evaluated its policy.
    pub(crate) evaluations: u32,
    pub(crate) requests: Vec<RequestFact>,
    /// How many requests these are together.
    pub(crate) rate: f64,
    /// What was drawn for its next evaluation, if its policy asks for randomness.
    pub(crate) random: Option<u32>,
    pub(crate) remembered: Vec<Remembered>,
    /// What it proposed at its last evaluation.
    pub(crate) proposal: Option<Wish>,
    /// What it saw and proposed before; nothing until it sees something new.
    pub(crate) former: Option<Box<Former>>,
}

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

/// An inhibited operation that an agent remembers: `inhibited/3`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Remembered {
    /// The evaluation that proposed it, from 1.
    pub evaluation: u32,
    /// What was inhibited.
    pub operation: OperationName,
    /// Where it would have led.
    pub target: Target,
}

impl Agent {
    pub(crate) fn new(
        instance: InstanceId,
        application: ApplicationIndex,
        policy: PolicyIndex,
        node: NodeIndex,
    ) -> Agent {
        Agent {
            instance,
            application,
            policy,
            node,
            is_alive: true,
            is_unchanged: false,
            is_pending: false,
            reached: None,
            evaluations: 0,
            requests: Vec::new(),
            rate: 0.0,
            random: None,
            remembered: Vec::new(),
            proposal: None,
            former: None,
        }
    }

    /// The id of its instance.
    pub fn instance(&self) -> &InstanceId {
        &self.instance
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
        self.is_alive
    }

    /// How often it has evaluated its policy.
    pub fn evaluations(&self) -> u32 {
        self.evaluations
    }

    /// The client requests that it sees.
    pub fn requests(&self) -> &[RequestFact] {
        &self.requests
    }

    /// How many client requests it sees, by whichever way they come.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// What was drawn for its evaluation, if its policy asks for randomness: `fact(Instance, random, Drawn)`.
    pub fn random(&self) -> Option<u32> {
        self.random
    }

    /// What it remembers as inhibited.
    pub fn remembered(&self) -> &[Remembered] {
        &self.remembered
    }

    /// What it proposed at its last evaluation.
    pub fn proposal(&self) -> Option<&Wish> {
        self.proposal.as_ref()
    }

    /// Remembers an inhibited operation. `cycles` is how long the agent's policy lets it remember.
    pub(crate) fn remember(&mut self, operation: OperationName, target: Target, rule: Memory, cycles: u32) {
        if rule == Memory::Sliding && cycles == 0 {
            return;
        }
        let evaluation = self.evaluations;
        self.remembered.push(Remembered { evaluation, operation, target });
        self.knows_better();
    }

    /// Counts an evaluation whose facts have been read, and forgets what is too old for the next one.
    ///
    /// The next evaluation sees what was inhibited at the last `cycles` before it, this one included. With the periodic rule, the
    /// evaluations 1, 1 + every, 1 + 2 × every and so on clear the table when their facts have been read.
    pub(crate) fn count_evaluation(&mut self, rule: Memory, cycles: u32) {
        self.evaluations += 1;
        let before = self.remembered.len();
        match rule {
            Memory::Sliding => {
                let next = self.evaluations + 1;
                self.remembered.retain(|remembered| remembered.evaluation + cycles >= next);
            }
            Memory::Periodic { every } => {
                if self.evaluations > 1 && (self.evaluations - 1).is_multiple_of(every) {
                    self.remembered.clear();
                }
            }
        }
        if self.remembered.len() != before {
            self.knows_better();
        }
    }

    /// The instance is on another node now, where nothing is known of the client requests that will come.
    pub(crate) fn moves(&mut self, to: NodeIndex) {
        self.node = to;
        self.reached = None;
        self.requests.clear();
        self.rate = 0.0;
        self.knows_better();
    }

    /// The instance is gone. What only a living agent needs is given back.
    pub(crate) fn dies(&mut self) {
        self.is_alive = false;
        self.is_unchanged = false;
        self.requests = Vec::new();
        self.rate = 0.0;
        self.remembered = Vec::new();
        self.proposal = None;
        self.former = None;
    }
}
