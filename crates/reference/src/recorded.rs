//! The four stored runs of the paper's prototype.
//!
//! `data/policy-1.txt` to `data/policy-4.txt` contain the evaluations and activations of each run, its first messages,
//! and checksums of all its messages. A file has three parts:
//!
//! ```text
//! evaluations
//! at 300
//! 2 1 000 8; 111:7:6 111:6:6 100:4:6*3; ; r111
//! 65
//! activations
//! 300 7 6r100+65 5r100- 4u+
//! messages 66196
//! 1 2 46 46.01 40 46
//! crc32 3e6b9a10 …
//! ```
//!
//! - `at` is the time of the evaluations that follow. An evaluation is the id of the instance, its application, its
//!   node and the free hardware there; then the `requests` facts as `neighbour:rate:latency`, the remembered
//!   inhibitions, and all proposals in order. `*3` means that the item occurs three times. A line with only an id has
//!   the same facts and proposals as the instance's previous evaluation.
//! - An activation of the managers is its time and the instances in the order in which they were judged: the proposal
//!   (none for a nop), `+` for accepted with the id of the new instance if there is one, `-` for inhibited.
//! - A node `lxy` is `n{l}lt{x}ln{y}`. A proposal is `m` (migrate) or `r` (replicate) with its target, or `u`
//!   (undeploy).
//! - A message is the zero-based index of its user among the recorded users, the instance, and the times of service
//!   start, service end, emission and reception. The first messages are stored in full. For each thousand messages, and
//!   for the rest, there is a CRC-32 over their [`Message::bytes`].

mod convert;
mod text;

use std::fmt;
use std::path::Path;

pub use convert::ConvertError;
pub(crate) use convert::messages;
pub use text::ParseError;

/// The maximum number of messages of a run that are stored in full.
const CLEAR_MESSAGES: usize = 20;

/// The number of messages per checksum.
pub const MESSAGES_PER_CHECKSUM: usize = 1000;

/// One of the stored runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordedRun {
    /// All evaluations, in order.
    pub evaluations: Vec<Evaluation>,
    /// All activations of the managers, in order.
    pub activations: Vec<Activation>,
    /// The stored data about the messages of the run.
    pub messages: Messages,
}

/// An evaluation of an agent's policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluation {
    /// The time of the evaluation.
    pub time: u32,
    /// The id of the instance.
    pub instance: i64,
    /// The facts that the agent saw, and its proposals.
    pub facts: Facts,
}

/// The knowledge base of an agent, and the answer of its policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Facts {
    /// The number of the application.
    pub application: u32,
    /// The node of the instance.
    pub node: Node,
    /// The free hardware of that node.
    pub free: u64,
    /// The facts `requests/4`: the neighbour (`None` is `self`), the rate and the latency.
    pub requests: Vec<(Option<Node>, u32, u32)>,
    /// The inhibitions that the agent remembers.
    pub inhibited: Vec<Proposal>,
    /// All proposals, in order.
    pub proposals: Vec<Proposal>,
}

/// An activation of the managers.
#[derive(Clone, PartialEq, Debug)]
pub struct Activation {
    /// The time of the activation.
    pub time: u32,
    /// The proposals and nops, in the order in which they were judged.
    pub judged: Vec<Judged>,
}

/// A proposal and the verdict on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judged {
    /// The id of the instance.
    pub instance: i64,
    /// The proposal; `None` is a nop.
    pub proposal: Option<Proposal>,
    /// Whether the proposal was accepted. A nop always is.
    pub accepted: bool,
    /// The id of the created instance, if any.
    pub created: Option<i64>,
}

/// An operation with its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// The operation.
    pub operation: Operation,
    /// The target; `None` is `self`.
    pub target: Option<Node>,
}

/// An operation of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Move to the target.
    Migrate,
    /// Create a copy at the target.
    Replicate,
    /// Remove the instance.
    Undeploy,
}

/// A node of the prototype's infrastructure, a tree: its level, counted from the cloud down, and its position in the
/// grid of that level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Node {
    level: u8,
    pub(crate) x: u8,
    pub(crate) y: u8,
}

/// The stored data about the messages of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Messages {
    /// The number of messages.
    pub count: usize,
    /// The first messages in full, at most 20.
    pub first: Vec<Message>,
    /// A checksum for each [`MESSAGES_PER_CHECKSUM`] messages; the last one may cover fewer.
    pub checksums: Vec<u32>,
}

/// A client request that was served.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Message {
    /// The index of its user among the recorded users.
    pub user: u32,
    /// The instance that served it.
    pub instance: i64,
    /// The times at which its service started, its service ended, it was emitted, and it was received.
    pub times: [f64; 4],
}

impl RecordedRun {
    /// The stored run of policy 1, 2, 3 or 4.
    ///
    /// # Panics
    ///
    /// Panics if there is no such policy, or if the stored file is damaged.
    pub fn of_policy(policy: usize) -> RecordedRun {
        let text = match policy {
            1 => include_str!("../data/policy-1.txt"),
            2 => include_str!("../data/policy-2.txt"),
            3 => include_str!("../data/policy-3.txt"),
            4 => include_str!("../data/policy-4.txt"),
            _ => panic!("the paper has policies 1 to 4, and no policy {policy}"),
        };
        RecordedRun::parse(text).unwrap_or_else(|error| panic!("data/policy-{policy}.txt: {error}"))
    }

    /// Extracts a run from the output files of the prototype in a directory.
    pub fn convert(directory: &Path) -> Result<RecordedRun, ConvertError> {
        convert::convert(directory)
    }
}

impl Messages {
    /// Adds a message: to the count, to its checksum and, if it is among the first, to the full messages.
    pub fn push(&mut self, message: Message) {
        if self.count.is_multiple_of(MESSAGES_PER_CHECKSUM) {
            self.checksums.push(0);
        }
        if let Some(checksum) = self.checksums.last_mut() {
            let mut hasher = crc32fast::Hasher::new_with_initial(*checksum);
            hasher.update(&message.bytes());
            *checksum = hasher.finalize();
        }
        if self.first.len() < CLEAR_MESSAGES {
            self.first.push(message);
        }
        self.count += 1;
    }
}

impl Message {
    /// The bytes that the checksum covers: user, instance and the four times, each as eight bytes, little endian.
    pub fn bytes(&self) -> [u8; 48] {
        let [started, ended, emitted, received] = self.times.map(f64::to_bits);
        let mut bytes = [0; 48];
        let numbers = [u64::from(self.user), self.instance.cast_unsigned(), started, ended, emitted, received];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 3] = [Operation::Migrate, Operation::Replicate, Operation::Undeploy];

    /// The name of the operation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Operation::Migrate => "migrate",
            Operation::Replicate => "replicate",
            Operation::Undeploy => "undeploy",
        }
    }

    fn from_letter(letter: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.as_str()[..1] == *letter)
    }
}

impl Node {
    /// The node with this name in the prototype, such as `n3lt0ln7`; `None` if the name does not have this form.
    pub fn named(name: &str) -> Option<Node> {
        let (level, place) = name.strip_prefix('n')?.split_once("lt")?;
        let (x, y) = place.split_once("ln")?;
        Node::at([level, x, y])
    }

    fn at(digits: [&str; 3]) -> Option<Node> {
        let digit = |text: &str| text.parse().ok().filter(|digit| *digit < 10);
        Some(Node { level: digit(digits[0])?, x: digit(digits[1])?, y: digit(digits[2])? })
    }
}

impl fmt::Display for Node {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "n{}lt{}ln{}", self.level, self.x, self.y)
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.operation.as_str(), name(self.target))
    }
}

/// A neighbour or a target as written in policies: `self` for `None`.
pub fn name(node: Option<Node>) -> String {
    node.map_or_else(|| "self".to_owned(), |node| node.to_string())
}

impl Evaluation {
    /// The evaluation as one line of JSON, in the format of the prototype's records, which `mario policy bench` reads.
    pub fn json(&self) -> String {
        let facts = &self.facts;
        let triples = |proposals: &[Proposal]| -> Vec<serde_json::Value> {
            let triple = |proposal: &Proposal| {
                serde_json::json!([proposal.operation.as_str(), self.instance, name(proposal.target)])
            };
            proposals.iter().map(triple).collect()
        };
        let requests: Vec<serde_json::Value> = facts
            .requests
            .iter()
            .map(|(neighbour, rate, latency)| serde_json::json!([name(*neighbour), rate, latency]))
            .collect();
        let node = facts.node.to_string();
        let mut free = serde_json::Map::new();
        free.insert(node.clone(), facts.free.into());
        serde_json::json!({
            "t": self.time, "si": self.instance, "app": facts.application, "node": node, "free_hw": free,
            "requests": requests, "refused": triples(&facts.inhibited), "ops": triples(&facts.proposals),
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests;
