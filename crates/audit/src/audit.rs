//! The audit of a trace, record by record.

mod calls;
mod consent;
mod context;
mod cycles;
mod evaluations;
mod header;
mod live;
mod measured;
mod own;
mod owners;
mod regret;
mod sleep;
mod summed;
mod sums;
mod unchecked;

use std::io::BufRead;
use std::sync::Arc;

use mario_domain::{Hardware, Id, InstanceId, NodeId};
use mario_prolog::{Allowance, Engine};

use crate::acceptances::Acceptances;
use crate::decisions::Decisions;
use crate::finding::{Finding, FindingKind};
use crate::histories::Histories;
use crate::reader::{Arbitration, Cause, Deployed, Detail, Header, ReadError, Target, TraceReader, TraceRecord};
use crate::report::{AuditReport, Counts, Provenance, TraceEnding};
use crate::world::{AgentPlace, InstanceState, Standing, World};

/// Whether decisions are recomputed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecisionCheck {
    /// The decisions of agents and of node managers are recomputed, as far as the trace has what they depend on.
    Recompute,
    /// Decisions are taken as recorded.
    AsRecorded,
}

/// The options of an audit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Whether decisions are recomputed.
    pub decisions: DecisionCheck,
    /// The maximum number of findings to keep; all are counted.
    pub limit: usize,
    /// The total budget of the policies of the trace, in inferences. Their texts come from the trace, and are
    /// untrusted.
    pub inferences: u64,
}

/// The default budget of the policies of a trace, in inferences: a few minutes of computation. A decision of a shipped
/// policy takes a few hundred inferences.
pub const INFERENCE_BUDGET_DEFAULT: u64 = 10_000_000_000;

impl Default for Options {
    fn default() -> Options {
        Options { decisions: DecisionCheck::Recompute, limit: 100, inferences: INFERENCE_BUDGET_DEFAULT }
    }
}

/// An audit in progress.
pub struct Audit {
    header: Arc<Header>,
    options: Options,
    world: World,
    decisions: Option<Decisions>,
    /// The histories of agents; `None` if the decisions of agents are not, or no longer, recomputed.
    histories: Option<Histories>,
    acceptances: Option<Acceptances>,
    /// The total budget of the policies of the trace.
    allowance: Allowance,
    /// The line at which the budget was exhausted; `None` if it was not.
    spent_at: Option<u64>,
    /// Agents that have evaluated since the last cycle. Those that still exist must be judged in the next one.
    waiting: Vec<(AgentPlace, InstanceId)>,
    /// Nodes with reservations for, or hardware freed by, accepted requests that have not been enacted yet.
    promising: Vec<u32>,
    /// Users whose access point went down at the current time. They must move or be disconnected before time advances.
    stranded: Vec<u32>,
    /// Sums over the records so far, to compare with the sums that the trace records.
    sums: sums::Sums,
    /// The progress of checking the recorded comparisons of the placement with the best one.
    comparisons: regret::Comparisons,
    owners: owners::OwnersTurn,
    measured: measured::Measured,
    called: calls::Called,
    /// The time of the first evaluation of any agent; `None` before it.
    first_evaluation: Option<f64>,
    /// For each policy, whether random numbers are drawn for its agents; `None` before their first evaluation.
    draws: Vec<Option<bool>>,
    /// The time of the last record of a node or a link that went up or down, including nodes that are absent at the
    /// start; `None` before the first.
    changed_at: Option<f64>,
    /// The number of instances by application and tier, in a trace of counts.
    tiers: summed::Tiers,
    /// The state of live nodes; `None` for a simulated run.
    live: Option<Box<live::LiveWorld>>,
    counts: Counts,
    line: u64,
    time: f64,
    has_begun: bool,
    has_ended: bool,
    findings: Findings,
}

/// The findings so far: the first `limit` of them, and the number of each kind.
struct Findings {
    kept: Vec<Finding>,
    limit: usize,
    found: std::collections::BTreeMap<&'static str, u64>,
}

/// Audits a whole trace. `progress` is called after each record, with the number of its line.
pub fn audit(input: impl BufRead, options: Options, progress: &mut dyn FnMut(u64)) -> Result<AuditReport, ReadError> {
    let reader = TraceReader::new(input)?;
    let audit = Audit::new(Arc::clone(reader.header()), options);
    audit.read(reader, progress)
}

impl Audit {
    /// Starts an audit of a trace with this header.
    pub fn new(header: Arc<Header>, options: Options) -> Audit {
        Audit::with_engine(header, options, &Engine::new())
    }

    /// Like [`Audit::new`], with a shared engine, for audits of many short traces: creating an engine takes longer than
    /// reading one of them.
    pub fn with_engine(header: Arc<Header>, options: Options, engine: &Engine) -> Audit {
        let mut findings =
            Findings { kept: Vec::new(), limit: options.limit, found: std::collections::BTreeMap::new() };
        for (who, expected, found) in header::faults(&header) {
            findings.add(Finding { kind: FindingKind::Header, file: None, line: 1, time: 0.0, who, expected, found });
        }
        let allowance = Allowance::new(options.inferences);
        let (mut decisions, mut acceptances) = (None, None);
        let live = live::LiveWorld::new(&header, options.decisions, engine, &allowance).map(Box::new);
        if options.decisions == DecisionCheck::Recompute && live.is_none() {
            let mut fault = |who: String, found: String| {
                // Not reported once the budget is exhausted: the text might load with a larger budget.
                if allowance.is_spent() {
                    return;
                }
                let expected = "a text that can be loaded".to_owned();
                findings.add(Finding {
                    kind: FindingKind::Policy,
                    file: None,
                    line: 1,
                    time: 0.0,
                    who,
                    expected,
                    found,
                });
            };
            if header.detail == Detail::Full {
                decisions = Some(Decisions::new(&header, engine, &allowance, &mut fault));
            }
            if header.nodes.iter().any(|node| node.acceptance.is_some()) && header.arbitration != Arbitration::Central {
                acceptances = Some(Acceptances::new(&header, engine, &allowance, &mut fault));
            }
        }
        let of_owners = acceptances.as_ref().map_or_else(Vec::new, |acceptances| acceptances.owners(&header));
        let called = calls::Called::new(&header);
        Audit {
            owners: owners::OwnersTurn::new(of_owners, header.applications.len()),
            world: World::new(&header),
            tiers: summed::Tiers::new(&header),
            live,
            sums: sums::Sums::new(&header),
            draws: vec![None; header.policies.len()],
            histories: decisions.as_ref().map(|decisions| decisions.histories(&header)),
            decisions,
            acceptances,
            allowance,
            spent_at: None,
            header,
            options,
            waiting: Vec::new(),
            promising: Vec::new(),
            stranded: Vec::new(),
            comparisons: regret::Comparisons::default(),
            measured: measured::Measured::default(),
            called,
            first_evaluation: None,
            changed_at: None,
            counts: Counts::default(),
            line: 1,
            time: f64::NEG_INFINITY,
            has_begun: false,
            has_ended: false,
            findings,
        }
    }

    /// Reads all remaining records, and completes the audit. `progress` is called after each record, with the number of
    /// its line.
    pub fn read(
        mut self,
        mut reader: TraceReader<impl BufRead>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<AuditReport, ReadError> {
        while let Some(record) = reader.next_record()? {
            self.observe(reader.line(), &record);
            progress(reader.line());
        }
        Ok(self.finish())
    }

    /// Checks the record at this line, and updates the replayed state.
    pub fn observe(&mut self, line: u64, record: &TraceRecord) {
        self.line = line;
        self.counts.records += 1;
        self.check_time(record.time());
        if let Some(mut live) = self.live.take() {
            self.observe_live(&mut live, record);
            self.live = Some(live);
            self.note_spent(line);
            return;
        }
        self.before_record(record);
        match record {
            TraceRecord::Live(_) => self.find(FindingKind::Header, "the record", "no record of a live node", "one"),
            TraceRecord::Deployed(record) => self.deployed(record),
            TraceRecord::Handover(record) => self.handover(record),
            TraceRecord::Evaluation(record) => self.evaluation(record),
            TraceRecord::Cycle(record) => self.cycle(record),
            TraceRecord::NodeDown(record) => self.node_down(record),
            TraceRecord::NodeLeaving(record) => self.node_leaving(record.node),
            TraceRecord::NodeUp(record) => self.node_up(record.node),
            TraceRecord::LinkDown(record) => self.link(record.nodes, false),
            TraceRecord::LinkUp(record) => self.link(record.nodes, true),
            TraceRecord::Update(record) => self.updated(record),
            TraceRecord::Regret(record) => self.regret(record),
            TraceRecord::Responses(record) => self.responses(record),
            TraceRecord::Usage(record) => self.usage(record),
            TraceRecord::Client(record) => self.client(record),
            TraceRecord::Clients(record) => self.clients(record),
            TraceRecord::Handovers(record) => self.handovers(record),
            TraceRecord::Counts(record) => self.counted(record),
            TraceRecord::Gone(record) => self.gone(record),
            TraceRecord::Owner(record) => self.owner(record),
            TraceRecord::Owners(record) => self.owners(record),
            TraceRecord::Woken(record) => self.woken(record),
            TraceRecord::Wakings(record) => self.wakings(record),
            TraceRecord::Latency(record) => self.latency(record),
            TraceRecord::Traffic(record) => self.traffic(record),
            TraceRecord::Calls(record) => self.calls(record),
            TraceRecord::End(record) => self.end(record),
        }
        if let Some(histories) = &mut self.histories {
            histories.read(record);
        }
        self.counts.instances_max = self.counts.instances_max.max(self.alive());
        self.note_spent(line);
    }

    /// When the budget of the trace's policies is exhausted, notes the line. Decisions of agents and answers of node
    /// managers are then no longer recomputed; for live nodes, the module `live` stops by the same budget.
    fn note_spent(&mut self, line: u64) {
        if self.spent_at.is_none() && self.allowance.is_spent() {
            self.spent_at = Some(line);
            if let Some(decisions) = self.decisions.take() {
                (self.counts.decisions, self.counts.computed_decisions) = decisions.counts();
            }
            self.acceptances = None;
            self.histories = None;
        }
    }

    /// Completes the audit after the last record, and returns its result.
    pub fn finish(mut self) -> AuditReport {
        self.counts.instances = self.alive();
        if let Some(live) = self.live.take() {
            self.count_live(&live);
            self.live = Some(live);
        }
        if let Some(decisions) = &self.decisions {
            (self.counts.decisions, self.counts.computed_decisions) = decisions.counts();
        }
        AuditReport {
            trace: Provenance::new(&self.header),
            ending: if self.has_ended { TraceEnding::Complete } else { TraceEnding::Interrupted },
            spent_at: self.spent_at,
            beside: Vec::new(),
            taken: self.taken(),
            unchecked: self.unchecked(),
            counts: self.counts,
            found: self.findings.found,
            findings: self.findings.kept,
        }
    }

    fn find(
        &mut self,
        kind: FindingKind,
        who: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        let (line, time) = (self.line, self.time);
        self.findings.add(Finding {
            kind,
            file: None,
            line,
            time,
            who: who.into(),
            expected: expected.into(),
            found: found.into(),
        });
    }

    fn check_time(&mut self, time: f64) {
        let before = self.time;
        if time > before {
            self.require_nobody_stranded();
        }
        self.time = time;
        if time < before {
            self.find(FindingKind::Time, "the record", format!("a time of at least {before}"), format!("{time}"));
        }
        let duration = self.header.duration;
        if time < 0.0 {
            self.find(FindingKind::Time, "the record", "a time of at least 0", format!("{time}"));
        }
        if time > duration {
            self.find(FindingKind::Time, "the record", format!("a time of at most {duration}"), format!("{time}"));
        }
        if self.has_ended {
            self.find(FindingKind::Time, "the record", "nothing after the end", "a record");
        }
        self.time = time.max(before);
    }

    /// Called before each record. Ends the owners' turn unless the record is an action of owners, reports a record that
    /// a trace with this level of detail may not have, and notes a missing comparison, the end of the initial
    /// deployment, and changes of users and infrastructure.
    fn before_record(&mut self, record: &TraceRecord) {
        let is_of_owners = matches!(record, TraceRecord::Owner(_) | TraceRecord::Owners(_));
        if !is_of_owners {
            self.end_turn_of_owners();
        }
        if !is_of_owners && !matches!(record, TraceRecord::Regret(_)) {
            self.note_cycle_without_comparison();
        }
        if !self.header.detail.has(record) {
            self.find(FindingKind::Header, "the detail", "no record of this kind", "one");
        }
        match record {
            TraceRecord::Deployed(_) => {}
            TraceRecord::NodeDown(down) if down.cause == Cause::Absent => {}
            _ => self.has_begun = true,
        }
        match record {
            TraceRecord::NodeDown(_) | TraceRecord::NodeUp(_) | TraceRecord::LinkDown(_) | TraceRecord::LinkUp(_) => {
                self.changed_at = Some(record.time());
                self.comparisons.infrastructure_changed();
            }
            TraceRecord::Handover(_) => self.comparisons.users_changed(),
            _ => {}
        }
    }

    fn deployed(&mut self, record: &Deployed) {
        if record.time > 0.0 && !self.has_begun {
            let found = format!("at {}", record.time);
            self.find(FindingKind::Time, instance_text(&record.instance), "at 0, when the run began", found);
        }
        if self.has_begun {
            let found = "an instance of the initial deployment, after another record";
            self.find(
                FindingKind::Instance,
                instance_text(&record.instance),
                "an instance that was deployed or replicated",
                found,
            );
        }
        self.require_up(record.node, &instance_text(&record.instance));
        let needed = self.needed(record.application);
        self.require_room(record.node, needed, &instance_text(&record.instance));
        if !self.has_begun {
            self.require_first_consent(record.node, record.application, &instance_text(&record.instance));
        }
        let is_anchor = self.header.applications[record.application as usize].anchor;
        self.appear(&record.instance, record.application, record.policy, record.node, (0, false, is_anchor));
        if self.header.detail == Detail::Summary {
            self.tiers.add(record.application, self.header.nodes[record.node as usize].tier);
        }
    }

    fn application_text(&self, application: u32) -> String {
        format!("application {}", self.header.applications[application as usize].id)
    }

    /// The hardware that a new instance of an application needs.
    fn needed(&self, application: u32) -> Hardware {
        self.header.applications[application as usize].hardware
    }

    fn node_id(&self, node: u32) -> &NodeId {
        &self.header.nodes[node as usize].id
    }

    /// The id of the node that a target denotes for an instance on `own`. An unknown id is returned unchanged.
    fn target_id(&self, target: &Target, own: u32) -> Id {
        match target {
            Target::Own => self.node_id(own).id().clone(),
            Target::Node(node) => self.node_id(*node).id().clone(),
            Target::Unknown(id) => id.clone(),
            // An instance adapts on its own node.
            Target::Flavour(_) => self.node_id(own).id().clone(),
        }
    }

    /// The agent of an instance. If the instance does not exist, reports that and returns `None`; `does` is its
    /// recorded action, for the message.
    fn present(&mut self, instance: &InstanceId, does: &str) -> Option<AgentPlace> {
        let found = match self.world.standing(instance) {
            Some(Standing::There(agent)) => return Some(agent),
            Some(Standing::Gone(line)) => format!("that it {does}, although it disappeared at line {line}"),
            None => format!("that it {does}, although it never appeared"),
        };
        self.find(FindingKind::Instance, instance_text(instance), "an instance that exists", found);
        None
    }

    /// Adds an instance. If its id was used before, reports that instead.
    fn appear(
        &mut self,
        instance: &InstanceId,
        application: u32,
        policy: u32,
        node: u32,
        (flavour, is_asleep, is_anchor): (u32, bool, bool),
    ) {
        if let Some(standing) = self.world.standing(instance) {
            let found = match standing {
                Standing::There(agent) => {
                    let node = self.world.agent(agent).node;
                    format!("the id of an instance on node {}", self.node_id(node))
                }
                Standing::Gone(line) => format!("the id of an instance that disappeared at line {line}"),
            };
            self.find(FindingKind::IdReused, instance_text(instance), "a fresh id", found);
            return;
        }
        let held = self.header.applications[application as usize].held_in(flavour, is_asleep);
        self.sums.appeared(application);
        let state = InstanceState { flavour, is_asleep, held };
        let place = self.world.appear(instance, application, policy, node, state, self.time);
        self.world.agent_mut(place).is_anchor = is_anchor;
    }

    fn require_up(&mut self, node: u32, who: &str) {
        if !self.world.node(node).is_up {
            let found = format!("node {}, which is down", self.node_id(node));
            self.find(FindingKind::Down, who, "a node that is up", found);
        }
    }

    fn require_room(&mut self, node: u32, needed: Hardware, who: &str) {
        let state = self.world.node(node);
        let left = state.unpromised();
        if needed.fits(left) {
            return;
        }
        let (freed, promised) = (state.freed, state.promised);
        let mut found = format!("{left} free on node {}", self.node_id(node));
        if promised != Hardware::NONE {
            found += &format!(" besides {promised} reserved in this cycle");
        }
        if freed != Hardware::NONE {
            found += &format!("; the {freed} freed in this cycle are available from the next cycle on");
        }
        self.find(FindingKind::Capacity, who, format!("room for {needed}"), found);
    }
}

impl Findings {
    fn add(&mut self, finding: Finding) {
        *self.found.entry(finding.kind.as_str()).or_default() += 1;
        if self.kept.len() < self.limit {
            self.kept.push(finding);
        }
    }
}

fn instance_text(instance: &InstanceId) -> String {
    format!("instance {instance}")
}
