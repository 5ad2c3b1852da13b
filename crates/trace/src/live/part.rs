//! The lines of trace parts, which daemons write: records with a timestamp, in which nodes are identified by their ids.
//!
//! A part differs from a trace in what a single node cannot know. Its records have no node, because all are about the
//! node of the header, and a time of its hybrid logical clock. Nodes have ids and no indices, so a name that denotes no
//! node looks like any other. Applications are described where they are first needed, because the part is written
//! before all of them are known.

use mario_domain::{Application, Capacity, Fact, InstanceId, NodeId, Target};
use serde::{Deserialize, Serialize};

use super::LiveEvent;
use super::older::OlderRecord;
use crate::arrays::{from_array, next};
use crate::json::{natural, string};
use crate::record::{Element, FactsAndDecision, Outcome, OwnerAct, Seen, list, seen, value};

/// The version of the format of parts. Version 2 adds the actions of owners, version 3 anchors and the records of
/// drains. Version 4 has evaluations, verdicts and actions of owners in the form of a trace, and tells flavours from
/// nodes. Older ones can still be read.
pub const PART_VERSION: u32 = 4;

/// The first version that has anchors.
pub(crate) const PART_VERSION_OF_ANCHORS: u32 = 3;

/// The first version whose records have the form of a trace.
const PART_VERSION_OF_RECORDS: u32 = 4;

/// A timestamp of a hybrid logical clock: later than the timestamps of all messages that its node has accepted before,
/// and close to wall-clock time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Stamp(
    /// Milliseconds since 1970.
    pub u64,
    /// A counter that orders timestamps within one millisecond.
    pub u32,
);

/// The first line of a part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartHeader {
    /// The version of the format.
    pub mario_trace_part: u32,
    /// The program that wrote it.
    pub program: String,
    /// The colony of the node.
    pub colony: String,
    /// The node.
    pub node: NodeId,
    /// The id of its journal: 32 hexadecimal digits.
    pub journal: String,
    /// The number of the part in its data directory, from 1.
    pub part: u64,
    /// The hardware of the node.
    pub capacity: Capacity,
    /// The neighbours of the node, in the order in which its agents see them.
    pub neighbours: Vec<NodeId>,
    /// Facts about the node.
    pub facts: Vec<Fact>,
    /// Whether the node has an acceptance policy.
    pub has_acceptance: bool,
    /// The time between two evaluations of an agent, in milliseconds.
    pub evaluation_ms: u64,
    /// The budget of one decision, in inferences.
    pub decision_budget: u64,
}

/// A line after the first: its timestamp, the number of its journal record (from 1), and its content.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct PartRecord(
    /// The timestamp.
    pub Stamp,
    /// The number of the journal record; `None` for lines that have none.
    pub Option<u64>,
    /// The content.
    pub PartLine,
);

/// The content of a line of a part.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartLine {
    /// An application. Later lines of the part refer to it by its index among these lines, from 0.
    Application(Box<PartApplication>),
    /// An agent evaluated its policy.
    Evaluation(Box<PartEvaluation>),
    /// Proposals of agents, or an operator's command to migrate an instance, were inhibited. Accepted ones are events.
    Cycle(Vec<PartOutcome>),
    /// The owner of the node acted on instances. The events that this causes follow. Flavours are indices.
    Owner(Vec<OwnerAct<u32>>),
    /// Any other event.
    #[serde(untagged)]
    Event(LiveEvent<NodeId>),
}

/// An application that the node knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartApplication {
    /// Its descriptor.
    pub application: Application,
    /// Facts about it.
    pub facts: Vec<Fact>,
    /// The name of its policy.
    pub policy: String,
    /// The number of evaluations for which its agents remember an inhibition.
    pub memory: u32,
    /// The names and texts of the policy's files. The first is the policy itself.
    pub files: Vec<(String, String)>,
}

/// An evaluation of an agent.
#[derive(Clone, PartialEq, Debug)]
pub struct PartEvaluation {
    /// Its instance.
    pub instance: InstanceId,
    /// The index of its application.
    pub application: u32,
    /// The free hardware that it saw.
    pub free: Capacity,
    /// What else it saw, and its decision.
    pub seen: PartFacts,
}

/// The facts and the decision of an agent.
pub type PartFacts = Seen<NodeId, Target>;

/// The outcome of a proposal.
pub type PartOutcome = Outcome<NodeId, Target>;

from_array!(PartEvaluation, "an evaluation", elements => {
    Ok(PartEvaluation {
        instance: next(&mut elements, "instance")?,
        application: next(&mut elements, "application")?,
        free: next(&mut elements, "free hardware")?,
        seen: seen(next(&mut elements, "requests")?, &mut elements)?,
    })
});

impl PartRecord {
    /// Reads a line of a part of this version.
    pub(crate) fn read(line: &[u8], version: u32) -> serde_json::Result<PartRecord> {
        if version < PART_VERSION_OF_RECORDS {
            return serde_json::from_slice::<OlderRecord>(line).map(PartRecord::from);
        }
        serde_json::from_slice(line)
    }

    /// Appends the line, without a line feed.
    pub fn write(&self, line: &mut Vec<u8>) {
        let PartRecord(stamp, number, content) = self;
        line.push(b'[');
        value(line, stamp);
        line.push(b',');
        value(line, number);
        line.push(b',');
        content.write(line);
        line.push(b']');
    }
}

impl PartLine {
    fn write(&self, line: &mut Vec<u8>) {
        match self {
            PartLine::Application(application) => of_kind(line, "application", |line| value(line, application)),
            PartLine::Evaluation(evaluation) => of_kind(line, "evaluation", |line| evaluation.write(line)),
            PartLine::Cycle(outcomes) => of_kind(line, "cycle", |line| list(line, outcomes)),
            PartLine::Owner(acts) => of_kind(line, "owner", |line| list(line, acts)),
            PartLine::Event(event) => value(line, event),
        }
    }
}

/// Appends `{kind: …}`.
fn of_kind(line: &mut Vec<u8>, kind: &str, content: impl FnOnce(&mut Vec<u8>)) {
    line.push(b'{');
    string(line, kind);
    line.push(b':');
    content(line);
    line.push(b'}');
}

impl PartEvaluation {
    fn write(&self, line: &mut Vec<u8>) {
        line.push(b'[');
        self.instance.write(line);
        line.push(b',');
        natural(line, u64::from(self.application));
        line.push(b',');
        self.free.write(line);
        line.push(b',');
        let FactsAndDecision { requests, inhibited, solutions, ending, random } = &self.seen;
        let seen = FactsAndDecision { requests, inhibited, solutions, ending: ending.clone(), random: *random };
        seen.write(line);
        line.push(b']');
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufRead};
    use std::path::{Path, PathBuf};

    use mario_testing::{assert_same_text, previous_text};

    use super::*;
    use crate::join::join;

    /// The part of a previous version in the form of this one.
    fn rewritten(name: &str) -> Vec<u8> {
        let older = previous_text(name);
        let (header, records) = older.split_once('\n').expect("a header");
        let mut newer = header.replacen("\"mario_trace_part\":3", "\"mario_trace_part\":4", 1).into_bytes();
        newer.push(b'\n');
        for line in records.lines() {
            PartRecord::read(line.as_bytes(), 3).expect(line).write(&mut newer);
            newer.push(b'\n');
        }
        newer
    }

    #[test]
    fn the_form_of_a_part_makes_no_difference_to_the_joined_trace() {
        let open = |path: &Path| -> io::Result<Box<dyn BufRead>> {
            Ok(Box::new(io::Cursor::new(rewritten(path.to_str().expect("text")))))
        };
        let parts = ["parts-3/n0.jsonl.gz", "parts-3/n1.jsonl.gz"].map(|name| vec![PathBuf::from(name)]);
        let (trace, _) = join(&parts, &open, Vec::new()).expect("parts");
        let joined = previous_text("parts-3/joined.jsonl.gz");
        let records = |text: &str| text.split_once('\n').expect("a header").1.to_owned();
        assert_same_text(&records(&String::from_utf8(trace).expect("text")), &records(&joined), "joined");
    }

    #[test]
    fn a_flavour_is_told_from_a_node_of_the_same_name() {
        let older = r#"[[5,1],null,{"evaluation":{"instance":"i","application":0,"free":4,"requests":[[null,2.0,0.5]],
            "inhibited":[["adapt","n1"],["adapt",null],["migrate","n1"]],"solution":{"proposal":["undeploy",null,3]},"random":9}}]"#;
        let mut written = Vec::new();
        PartRecord::read(older.as_bytes(), 3).expect("valid").write(&mut written);
        let expected = r#"[[5,1],null,{"evaluation":["i",0,4,[["self",2,0.5]],[["adapt",{"flavour":"n1"}],["adapt",{"flavour":"self"}],["migrate","n1"]],[["undeploy","self",3]],null,9]}]"#;
        assert_eq!(String::from_utf8(written).expect("text"), expected);
        // A target that does not suit its operation is no record.
        let wrong = expected.replace(r#"["migrate","n1"]"#, r#"["migrate",{"flavour":"n1"}]"#);
        assert!(PartRecord::read(wrong.as_bytes(), PART_VERSION).is_err());
    }
}
