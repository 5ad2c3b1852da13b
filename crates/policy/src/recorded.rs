//! Knowledge bases as JSON, one per line: the format of the evaluations that the paper's prototype recorded, and of the
//! option `--batch` of `mario policy`.
//!
//! ```json
//! {"si": 7, "app": 1, "node": "n42", "free_hw": {"n42": 10, "n41": 3},
//!  "requests": [["self", 5, 0], ["n41", 1, 15]], "refused": [["migrate", 7, "n41"]]}
//! ```
//!
//! `si` is the instance, `app` its application, `node` its node. `free_hw` contains the free hardware of that node; its
//! other keys are the neighbours, whose amounts the agent does not see. Each of `requests` is neighbour, rate and
//! latency, each of `refused` an operation, an instance and a target. Numbers remain numbers, strings become atoms, and
//! other keys are ignored. If `node` is an integer, keys of `free_hw` that are integers become integers.
//!
//! The agent's memory, hardware by kind, and whether the instance sleeps may be present as well. Each of `earlier` is
//! the number of evaluations ago, neighbour, rate and latency; each of `done` is the number of evaluations ago,
//! operation and target.
//!
//! ```json
//! {"earlier": [[1, "n41", 2, 15]], "done": [[3, "migrate", "n42"]], "age": 5, "free": {"units": 10, "memory_mb": 512},
//!  "asleep": true}
//! ```

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use mario_domain::{FactPredicate, HardwareKind};
use mario_prolog::{Symbols, Value};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use crate::knowledge_base::{Constant, KnowledgeBase};

/// The recorded situation of one agent at one time.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedSituation {
    /// The instance that the agent manages.
    pub instance: Constant,
    application: Constant,
    node: Constant,
    free: Constant,
    neighbours: Vec<Constant>,
    requests: Vec<[Constant; 3]>,
    inhibited: Vec<[Constant; 3]>,
    earlier: Vec<(u32, [Constant; 3])>,
    done: Vec<(u32, [Constant; 2])>,
    age: Option<u32>,
    is_asleep: bool,
    free_kinds: Vec<[Constant; 2]>,
}

/// Why a line is not a knowledge base.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedSituationError {
    /// The one-based column where reading stopped; `None` if the error is about the whole line.
    pub column: Option<usize>,
    message: String,
}

impl RecordedSituation {
    /// Reads a line; its names become those of `symbols`.
    pub fn parse(symbols: &Symbols, line: &str) -> Result<RecordedSituation, RecordedSituationError> {
        let raw: Raw<'_> = serde_json::from_str(line).map_err(|error| RecordedSituationError::at(&error))?;
        let constant = |raw: &RawConstant<'_>| match raw {
            RawConstant::Integer(value) => Value::Integer(*value),
            RawConstant::Float(value) => Value::Float(*value),
            RawConstant::Name(name) => Value::Atom(symbols.intern(name)),
        };
        let own = match &raw.node {
            RawConstant::Name(name) => name.to_string(),
            RawConstant::Integer(value) => value.to_string(),
            RawConstant::Float(_) => return Err(RecordedSituationError::whole("`node` must be a name or an integer")),
        };
        let mut free = None;
        let mut neighbours = Vec::with_capacity(raw.free_hw.0.len());
        for (node, amount) in &raw.free_hw.0 {
            if *node == own {
                check_amount(amount, "the free hardware of `node`")?;
                free = Some(constant(amount));
            } else {
                neighbours.push(key_constant(symbols, &raw.node, node));
            }
        }
        let free = free.ok_or_else(|| {
            RecordedSituationError::whole(format!("`free_hw` must have the free hardware of `node`, which is `{own}`"))
        })?;
        for [_, rate, latency] in &raw.requests {
            check_amount(rate, "a rate")?;
            check_amount(latency, "a latency")?;
        }
        for RawEarlier(_, _, rate, latency) in &raw.earlier {
            check_amount(rate, "a rate")?;
            check_amount(latency, "a latency")?;
        }
        for (kind, amount) in &raw.free.0 {
            check_amount(amount, "the free hardware of a kind")?;
            if HardwareKind::with_name(kind).is_none() {
                let known = HardwareKind::ALL.map(HardwareKind::as_str).join(", ");
                return Err(RecordedSituationError::whole(format!(
                    "unknown kind of hardware `{kind}`; known: {known}"
                )));
            }
        }
        let triple = |[a, b, c]: &[RawConstant<'_>; 3]| [constant(a), constant(b), constant(c)];
        let earlier = |RawEarlier(ago, neighbour, rate, latency): &RawEarlier<'_>| {
            (*ago, [constant(neighbour), constant(rate), constant(latency)])
        };
        let done = |RawDone(ago, operation, target): &RawDone<'_>| (*ago, [constant(operation), constant(target)]);
        let of_kind =
            |(kind, amount): &(Cow<'_, str>, RawConstant<'_>)| [Value::Atom(symbols.intern(kind)), constant(amount)];
        Ok(RecordedSituation {
            instance: constant(&raw.si),
            application: constant(&raw.app),
            node: constant(&raw.node),
            free,
            neighbours,
            requests: raw.requests.iter().map(triple).collect(),
            inhibited: raw.refused.iter().map(triple).collect(),
            earlier: raw.earlier.iter().map(earlier).collect(),
            done: raw.done.iter().map(done).collect(),
            age: raw.age,
            is_asleep: raw.asleep,
            free_kinds: raw.free.0.iter().map(of_kind).collect(),
        })
    }

    /// Replaces all facts in `facts` by the recorded ones, except applications and extra facts, which are kept.
    pub fn fill(&self, facts: &mut KnowledgeBase) {
        facts.clear_situation();
        facts.push_node(self.node, self.free, self.neighbours.iter().copied());
        facts.push_instance(self.instance, self.application, self.node);
        for [neighbour, rate, latency] in &self.requests {
            facts.push_requests(self.instance, *neighbour, *rate, *latency);
        }
        for [operation, instance, target] in &self.inhibited {
            facts.push_inhibited(*operation, *instance, *target);
        }
        for (ago, fact) in &self.earlier {
            facts.push_earlier(*ago, self.instance, *fact);
        }
        for (ago, [operation, target]) in &self.done {
            facts.push_done(*ago, self.instance, *operation, *target);
        }
        if let Some(age) = self.age {
            facts.push_age(self.instance, age);
        }
        if self.is_asleep {
            facts.push_asleep(self.instance);
        }
        for [kind, amount] in &self.free_kinds {
            facts.push(FactPredicate::Free, &[self.node, *kind, *amount]);
        }
    }
}

/// Checks that an amount is a non-negative number, `inf` or `infinite`.
fn check_amount(raw: &RawConstant<'_>, what: &str) -> Result<(), RecordedSituationError> {
    match raw {
        RawConstant::Integer(0..) => Ok(()),
        RawConstant::Float(value) if *value >= 0.0 => Ok(()),
        RawConstant::Name(name) if name == "inf" || name == "infinite" => Ok(()),
        _ => Err(RecordedSituationError::whole(format!("{what} must be a number, and not negative"))),
    }
}

/// The constant for a key of `free_hw`. Keys are always strings in JSON: if the instance's own node is an integer, keys
/// that are integers become integers.
fn key_constant(symbols: &Symbols, own: &RawConstant<'_>, key: &str) -> Constant {
    match (own, key.parse()) {
        (RawConstant::Integer(_), Ok(number)) => Value::Integer(number),
        _ => Value::Atom(symbols.intern(key)),
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Raw<'a> {
    #[serde(borrow)]
    si: RawConstant<'a>,
    #[serde(borrow)]
    app: RawConstant<'a>,
    #[serde(borrow)]
    node: RawConstant<'a>,
    #[serde(borrow)]
    free_hw: Amounts<'a>,
    #[serde(borrow)]
    requests: Vec<[RawConstant<'a>; 3]>,
    #[serde(borrow, default)]
    refused: Vec<[RawConstant<'a>; 3]>,
    #[serde(borrow, default)]
    earlier: Vec<RawEarlier<'a>>,
    #[serde(borrow, default)]
    done: Vec<RawDone<'a>>,
    #[serde(default)]
    age: Option<u32>,
    #[serde(default)]
    asleep: bool,
    #[serde(borrow, default)]
    free: Amounts<'a>,
}

/// How many evaluations ago, neighbour, rate and latency.
#[derive(Deserialize)]
struct RawEarlier<'a>(
    u32,
    #[serde(borrow)] RawConstant<'a>,
    #[serde(borrow)] RawConstant<'a>,
    #[serde(borrow)] RawConstant<'a>,
);

/// How many evaluations ago, operation and target.
#[derive(Deserialize)]
struct RawDone<'a>(u32, #[serde(borrow)] RawConstant<'a>, #[serde(borrow)] RawConstant<'a>);

enum RawConstant<'a> {
    Integer(i64),
    Float(f64),
    Name(Cow<'a, str>),
}

impl<'de: 'a, 'a> Deserialize<'de> for RawConstant<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawConstant<'a>, D::Error> {
        deserializer.deserialize_any(RawConstantVisitor)
    }
}

struct RawConstantVisitor;

impl<'de> Visitor<'de> for RawConstantVisitor {
    type Value = RawConstant<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name or a number")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<RawConstant<'de>, E> {
        Ok(RawConstant::Integer(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<RawConstant<'de>, E> {
        i64::try_from(value)
            .map(RawConstant::Integer)
            .map_err(|_| E::custom(format_args!("{value} has more than 64 bits")))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<RawConstant<'de>, E> {
        Ok(RawConstant::Float(value))
    }

    fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<RawConstant<'de>, E> {
        Ok(RawConstant::Name(Cow::Borrowed(value)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<RawConstant<'de>, E> {
        Ok(RawConstant::Name(Cow::Owned(value.to_owned())))
    }
}

/// The entries of an object in the order of the text. In `free_hw`, this is the order of the neighbours.
#[derive(Default)]
struct Amounts<'a>(Vec<(Cow<'a, str>, RawConstant<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Amounts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Amounts<'a>, D::Error> {
        deserializer.deserialize_map(AmountsVisitor)
    }
}

struct AmountsVisitor;

impl<'de> Visitor<'de> for AmountsVisitor {
    type Value = Amounts<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with the free hardware of each node")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Amounts<'de>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Amounts(entries))
    }
}

impl RecordedSituationError {
    fn at(error: &serde_json::Error) -> RecordedSituationError {
        let shown = error.to_string();
        // The line number is always 1 here, so it is removed; the caller knows the number of the line.
        let message = shown.rfind(" at line ").map_or(shown.as_str(), |end| &shown[..end]);
        RecordedSituationError { column: Some(error.column()), message: message.to_owned() }
    }

    fn whole(message: impl Into<String>) -> RecordedSituationError {
        RecordedSituationError { column: None, message: message.into() }
    }
}

impl fmt::Display for RecordedSituationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            Some(column) => write!(formatter, "{} at column {column}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

impl Error for RecordedSituationError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(KnowledgeBase, Constant), String> {
        let symbols = Symbols::new();
        let recorded = RecordedSituation::parse(&symbols, line).map_err(|error| error.to_string())?;
        let mut facts = KnowledgeBase::new(&symbols);
        recorded.fill(&mut facts);
        Ok((facts, recorded.instance))
    }

    #[test]
    fn reads_only_the_facts_that_the_agent_sees() {
        let line = r#"{"t": 9, "si": 7, "app": 1, "node": "n42", "free_hw": {"n41": 3, "n42": 10, "n40": 0},
            "requests": [["self", 5, 0.5]], "refused": [["migrate", 7, "n41"]], "ops": []}"#;
        let (facts, instance) = parse(line).expect("valid");
        assert_eq!(instance, Value::Integer(7));
        let nodes: Vec<_> = facts.nodes().collect();
        assert_eq!(nodes.len(), 1);
        assert_eq!((facts.text(nodes[0].node), nodes[0].free), ("n42".to_owned(), Value::Integer(10)));
        assert_eq!(nodes[0].neighbours, [facts.constant("n41"), facts.constant("n40")]);
        let request = [instance, facts.constant("self"), Value::Integer(5), Value::Float(0.5)];
        assert_eq!(facts.requests().collect::<Vec<_>>(), [request]);
        let inhibited = [facts.constant("migrate"), instance, facts.constant("n41")];
        assert_eq!(facts.inhibited().collect::<Vec<_>>(), [inhibited]);
    }

    #[test]
    fn numbered_nodes_have_numbered_neighbours() {
        let (facts, _) = parse(r#"{"si":1,"app":1,"node":3,"free_hw":{"3":1,"4":1},"requests":[]}"#).expect("valid");
        let node = facts.nodes().next().expect("one");
        assert_eq!((node.node, node.neighbours), (Value::Integer(3), &[Value::Integer(4)][..]));
    }

    #[test]
    fn reads_history_and_hardware_by_kind() {
        let line = r#"{"si": 7, "app": 1, "node": "n42", "free_hw": {"n42": 10}, "requests": [],
            "earlier": [[1, "n41", 2, 15], [2, "self", 0.5, 0]], "done": [[3, "migrate", "n42"]], "age": 5,
            "free": {"units": 10, "memory_mb": 512}}"#;
        let (facts, instance) = parse(line).expect("valid");
        let (one, two) = (Value::Integer(1), Value::Integer(2));
        let earlier = [
            [one, instance, facts.constant("n41"), two, Value::Integer(15)],
            [two, instance, facts.constant("self"), Value::Float(0.5), Value::Integer(0)],
        ];
        assert_eq!(facts.rows::<5>(FactPredicate::Earlier).collect::<Vec<_>>(), earlier);
        let done = [Value::Integer(3), instance, facts.constant("migrate"), facts.constant("n42")];
        assert_eq!(facts.rows::<4>(FactPredicate::Done).collect::<Vec<_>>(), [done]);
        assert_eq!(facts.rows::<2>(FactPredicate::Age).collect::<Vec<_>>(), [[instance, Value::Integer(5)]]);
        let free = |kind: &str, amount| [facts.constant("n42"), facts.constant(kind), Value::Integer(amount)];
        assert_eq!(
            facts.rows::<3>(FactPredicate::Free).collect::<Vec<_>>(),
            [free("units", 10), free("memory_mb", 512)]
        );
    }

    #[test]
    fn errors_name_the_expected_value() {
        for (line, expected) in [
            ("", "EOF"),
            ("[]", "expected an object"),
            ("[1, 2]", "expected an object"),
            ("7", "expected an object"),
            ("{", "EOF"),
            (r#"{"si":1}"#, "missing field `app`"),
            (r#"{"si":null,"app":1,"node":"n","free_hw":{"n":1},"requests":[]}"#, "a name or a number"),
            (r#"{"si":1,"app":1,"node":"n","free_hw":{"m":1},"requests":[]}"#, "which is `n`"),
            (r#"{"si":1,"app":1,"node":"n","free_hw":[],"requests":[]}"#, "an object with the free hardware"),
            (r#"{"si":1,"app":1,"node":"n","free_hw":{"n":1},"requests":[["m",1]]}"#, "array of length 3"),
            (r#"{"si":1,"app":1,"node":"n","free_hw":{"n":1},"requests":[["m","x",1]]}"#, "a rate must be a number"),
            (r#"{"si":1,"app":1,"node":"n","free_hw":{"n":1},"requests":[["m",1,-1]]}"#, "a latency must be"),
            (r#"{"si":1,"app":1,"node":"n","free_hw":{"n":"big"},"requests":[]}"#, "the free hardware"),
            (r#"{"si":1,"app":1,"node":"n","free_hw":{"n":1}}"#, "missing field `requests`"),
            (r#"{"si":1,"app":1,"node":"n","free_hw":{"n":1},"requests":[]} x"#, "trailing characters"),
            (r#"{"si":1,"app":1,"node":"n","free_hw":{"n":1},"requests":[],"earlier":[["n",1,1]]}"#, "expected u32"),
            (
                r#"{"si":1,"app":1,"node":"n","free_hw":{"n":1},"requests":[],"done":[[1,"migrate"]]}"#,
                "invalid length 2",
            ),
            (r#"{"si":1,"app":1,"node":"n","free_hw":{"n":1},"requests":[],"age":-1}"#, "expected u32"),
            (
                r#"{"si":1,"app":1,"node":"n","free_hw":{"n":1},"requests":[],"free":{"memory":1}}"#,
                "unknown kind of hardware",
            ),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
