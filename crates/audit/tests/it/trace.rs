//! A trace as JSON values, to be written, changed and audited.

use std::fmt;
use std::sync::Arc;

use mario_audit::reader::TraceReader;
use mario_audit::{Audit, AuditReport, Options};
use mario_prolog::Engine;
use serde_json::Value;

#[derive(Clone)]
pub struct Trace {
    pub header: Value,
    pub records: Vec<Value>,
}

impl fmt::Display for Trace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.header)?;
        self.records.iter().try_for_each(|record| writeln!(formatter, "{record}"))
    }
}

impl Trace {
    pub fn audit(&self) -> AuditReport {
        audit_text(&self.to_string())
    }

    pub fn kind(&self, index: usize) -> &str {
        self.records[index][0].as_str().expect("a kind")
    }

    /// The indices of the records of a kind.
    pub fn of_kind(&self, kind: &str) -> Vec<usize> {
        (0..self.records.len()).filter(|index| self.kind(*index) == kind).collect()
    }

    /// The index of the first evaluation of an instance after a record.
    pub fn next_evaluation(&self, after: usize, instance: &Value) -> Option<usize> {
        (after + 1..self.records.len())
            .find(|index| self.kind(*index) == "evaluation" && self.records[*index][2] == *instance)
    }

    /// The index of the last evaluation of an instance before a record.
    pub fn last_evaluation(&self, before: usize, instance: &Value) -> Option<usize> {
        (0..before).rfind(|index| self.kind(*index) == "evaluation" && self.records[*index][2] == *instance)
    }

    /// All outcomes: the index of the cycle, the index in it, and the outcome.
    pub fn outcomes(&self) -> Vec<(usize, usize, Value)> {
        let mut all = Vec::new();
        for cycle in self.of_kind("cycle") {
            let outcomes = self.records[cycle][2].as_array().expect("a list");
            all.extend(outcomes.iter().enumerate().map(|(index, outcome)| (cycle, index, outcome.clone())));
        }
        all
    }

    pub fn set_outcome(&mut self, (cycle, index): (usize, usize), outcome: Value) {
        self.records[cycle][2][index] = outcome;
    }

    /// Adds `change` to a count in the record `end`, which must be the last.
    pub fn add_to_total(&mut self, name: &str, change: i64) {
        let end = self.records.last_mut().expect("an end");
        let count = end[2][name].as_i64().expect("a count");
        end[2][name] = (count + change).into();
    }
}

/// Audits the text of a trace. All audits of a thread share one engine.
pub fn audit_text(text: &str) -> AuditReport {
    thread_local! { static ENGINE: Engine = Engine::new(); }
    let reader = TraceReader::new(text.as_bytes()).expect("it is a trace");
    let header = Arc::clone(reader.header());
    let audit = ENGINE.with(|engine| Audit::with_engine(header, Options::default(), engine));
    audit.read(reader, &mut |_| ()).expect("it is a trace")
}
