//! The result of an audit.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::finding::{Finding, FindingKind};
use crate::reader::{Detail, Header};

/// The result of an audit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AuditReport {
    /// The origin of the trace, such as its program and scenario.
    pub trace: Provenance,
    /// Whether the trace is complete.
    pub ending: TraceEnding,
    /// The numbers of recorded events, and of recomputed decisions and answers.
    pub counts: Counts,
    /// The line at which the policies of the trace exhausted their budget; `None` if they did not. After it, no
    /// decisions were recomputed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent_at: Option<u64>,
    /// The files beside the trace that were checked as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// In words, the values that were taken as recorded, because this trace records them only once.
    pub taken: Vec<&'static str>,
    /// In words, the checks that could not be made.
    pub unchecked: Vec<String>,
    /// The number of findings of each kind that has any, including those that were not kept.
    pub found: BTreeMap<&'static str, u64>,
    /// The first findings in the trace, up to the limit, then those in the files beside it.
    pub findings: Vec<Finding>,
}

/// The origin of a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Provenance {
    /// The program that wrote it.
    pub program: String,
    /// The name of the scenario.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// How much the trace records.
    pub detail: Detail,
    /// The number of nodes.
    pub nodes: usize,
}

/// Whether a trace is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceEnding {
    /// It has a record `end`.
    Complete,
    /// It has no record `end`.
    Interrupted,
}

/// The numbers of events in a trace, by kind, and how many decisions and answers were recomputed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Complete lines after the header.
    pub records: u64,
    /// Recorded evaluations of agents.
    pub evaluations: u64,
    /// Decisions of agents that were checked.
    pub decisions: u64,
    /// Checked decisions for which a policy was evaluated; the others were cached or repeated.
    pub computed_decisions: u64,
    /// Cycles.
    pub cycles: u64,
    /// Outcomes of agents that proposed nothing.
    pub nops: u64,
    /// Accepted operations, by their name.
    pub operations: BTreeMap<&'static str, u64>,
    /// Inhibited operations, by the name of the rule.
    pub inhibited: BTreeMap<&'static str, u64>,
    /// Accepted operations whose target is neither a reachable neighbour nor, for a replicate, the own node. Counted
    /// only if the arbitration allows such targets.
    pub outside_neighbourhood: u64,
    /// Recomputed answers of acceptance policies: verdicts, and actions of owners.
    pub acceptances: u64,
    /// How often a client request woke a sleeping instance; not counted for live nodes.
    #[serde(skip_serializing_if = "is_zero")]
    pub woken: u64,
    /// Instances that the owners of nodes evicted; not counted for live nodes.
    #[serde(skip_serializing_if = "is_zero")]
    pub evicted: u64,
    /// Shrinks by the owners of nodes; not counted for live nodes.
    #[serde(skip_serializing_if = "is_zero")]
    pub shrunk: u64,
    /// Handovers.
    pub handovers: u64,
    /// Nodes and links that went up or down, including nodes that are absent at the start, nodes that announced that
    /// they will leave, and updates of policies; for live nodes, only links that went up or down.
    pub context_changes: u64,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// The maximum number of instances at one time.
    pub instances_max: u64,
    /// Instances at the end.
    pub instances: u64,
}

impl Counts {
    /// The number of accepted operations.
    pub fn accepted(&self) -> u64 {
        self.operations.values().sum()
    }

    /// The number of inhibited operations.
    pub fn refused(&self) -> u64 {
        self.inhibited.values().sum()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Provenance {
    pub(crate) fn new(header: &Header) -> Provenance {
        Provenance {
            program: header.program.clone(),
            scenario: header.scenario.clone(),
            seed: header.seed,
            detail: header.detail,
            nodes: header.nodes.len(),
        }
    }
}

impl AuditReport {
    /// Adds the result of checking files beside the trace: the findings, the names of the checked files, and in words
    /// the checks that could not be made.
    pub fn add_beside(&mut self, findings: Vec<Finding>, checked: &[String], unchecked: Vec<String>) {
        for finding in &findings {
            *self.found.entry(finding.kind.as_str()).or_default() += 1;
        }
        self.findings.extend(findings);
        self.beside.extend_from_slice(checked);
        self.unchecked.extend(unchecked);
    }

    /// Whether there are no findings.
    pub fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// The total number of findings.
    pub fn total(&self) -> u64 {
        self.found.values().sum()
    }

    /// The number of findings of a kind.
    pub fn count(&self, kind: FindingKind) -> u64 {
        self.found.get(kind.as_str()).copied().unwrap_or(0)
    }
}

/// The counts with their names, such as `a 3, b 4`, or `none`.
fn listed(counts: &BTreeMap<&'static str, u64>) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    parts.join(", ")
}

impl fmt::Display for AuditReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AuditReport { trace, counts, .. } = self;
        for finding in &self.findings {
            writeln!(formatter, "{finding}")?;
        }
        if !self.findings.is_empty() {
            writeln!(formatter)?;
        }
        let hidden = self.total() - self.findings.len() as u64;
        if hidden > 0 {
            writeln!(formatter, "and {hidden} more\n")?;
        }
        let Provenance { program, scenario, seed, nodes, .. } = trace;
        let nodes = if *nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") };
        writeln!(formatter, "{scenario}, seed {seed}, {nodes}, by {program}")?;
        let ending = match self.ending {
            TraceEnding::Complete => "complete",
            TraceEnding::Interrupted => "interrupted: checked up to the last complete line",
        };
        let mut row = |name: &str, value: String| writeln!(formatter, "  {name:<26} {value}");
        row("records", format!("{} ({ending})", counts.records))?;
        row("evaluations", counts.evaluations.to_string())?;
        row("decisions recomputed", format!("{} ({} computed)", counts.decisions, counts.computed_decisions))?;
        row("cycles", counts.cycles.to_string())?;
        row("operations accepted", format!("{} ({})", counts.accepted(), listed(&counts.operations)))?;
        row("outside the neighbourhood", counts.outside_neighbourhood.to_string())?;
        row("operations inhibited", format!("{} ({})", counts.refused(), listed(&counts.inhibited)))?;
        row("acceptances recomputed", counts.acceptances.to_string())?;
        row("agents without a proposal", counts.nops.to_string())?;
        row("handovers", counts.handovers.to_string())?;
        row("context changes", counts.context_changes.to_string())?;
        row("client requests", format!("{} served, {} lost", counts.served, counts.lost))?;
        row("instances", format!("{} at the end, at most {}", counts.instances, counts.instances_max))?;
        let made_again =
            if counts.decisions > 0 { ", and decisions recomputed from the facts that agents saw" } else { "" };
        writeln!(formatter, "checked: values that the trace records more than once{made_again}")?;
        if !self.beside.is_empty() {
            writeln!(formatter, "checked against the trace: {}", self.beside.join(", "))?;
        }
        for taken in &self.taken {
            writeln!(formatter, "taken as recorded: {taken}")?;
        }
        for unchecked in &self.unchecked {
            writeln!(formatter, "not checked: {unchecked}")?;
        }
        match self.total() {
            0 if self.spent_at.is_some() => writeln!(formatter, "nothing is wrong in what was checked"),
            0 => writeln!(formatter, "nothing is wrong"),
            1 => writeln!(formatter, "1 finding: {}", listed(&self.found)),
            total => writeln!(formatter, "{total} findings: {}", listed(&self.found)),
        }
    }
}
