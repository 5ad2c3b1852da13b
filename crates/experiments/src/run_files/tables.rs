//! Checks the tables whose rows follow from single records of the trace: operations, moves and handovers.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use mario_audit::FindingKind;
use mario_domain::{AgentOperation, Concerned, Id};
use mario_trace::reader::{Counted, Detail, Handover, Header, TraceRecord};
use mario_trace::{Actor, Change, InstanceEnd, InstanceRef, State};

use super::{RunFilesCheck, number, opened};

/// The maximum number of bytes that are read as one row. The rest of a longer line is read as further rows.
const ROW_BYTES_MAX: u64 = 1 << 20;

/// A table that is compared while the trace is read.
struct Table {
    name: &'static str,
    rows: Option<Box<dyn BufRead>>,
    /// The number of lines read.
    line: u64,
    /// The first row that differs: its line, the expected and the found text.
    wrong: Option<(u64, String, String)>,
}

/// The tables of a run.
pub(super) struct Tables {
    header: Arc<Header>,
    operations: Table,
    moves: Table,
    handovers: Table,
    /// The columns of `operations`, and the outcomes of the current cycle in them.
    columns: Vec<&'static str>,
    counts: Vec<u64>,
}

impl Table {
    fn open(directory: &Path, name: &'static str, columns: &str) -> io::Result<Table> {
        let mut table = Table { name, rows: opened(directory, name)?, line: 0, wrong: None };
        table.expect(columns)?;
        Ok(table)
    }

    /// Compares the next row with the expected one, unless an earlier row differs.
    fn expect(&mut self, row: &str) -> io::Result<()> {
        if self.wrong.is_none()
            && let Some(found) = self.next()?
            && found != row
        {
            self.wrong = Some((self.line, row.to_owned(), found));
        }
        Ok(())
    }

    /// Returns the next row; empty at the end of the file, `None` if there is no file.
    fn next(&mut self) -> io::Result<Option<String>> {
        let Some(rows) = &mut self.rows else { return Ok(None) };
        let mut bytes = Vec::new();
        rows.by_ref().take(ROW_BYTES_MAX).read_until(b'\n', &mut bytes)?;
        self.line += 1;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Some(text.strip_suffix('\n').unwrap_or(&text).to_owned()))
    }

    fn finish(mut self, is_complete: bool, checked: &mut RunFilesCheck) -> io::Result<()> {
        if self.rows.is_none() {
            return Ok(());
        }
        // The table of an interrupted run may be shorter than its trace.
        if !is_complete && self.wrong.as_ref().is_some_and(|(_, _, found)| found.is_empty()) {
            self.wrong = None;
        }
        if is_complete
            && self.wrong.is_none()
            && let Some(more) = self.next()?
            && !more.is_empty()
        {
            self.wrong = Some((self.line, "the end of the table".to_owned(), more));
        }
        match self.wrong {
            Some((line, expected, found)) => {
                let found = if found.is_empty() { "the end of the table".to_owned() } else { found };
                checked.find(FindingKind::Table, self.name, line, "the row".to_owned(), expected, found);
            }
            None if is_complete => {}
            None => checked.unchecked.push(format!("the end of {}: the trace has none", self.name)),
        }
        checked.checked.push(self.name.to_owned());
        Ok(())
    }
}

impl Tables {
    pub(super) fn open(directory: &Path, header: &Arc<Header>) -> io::Result<Tables> {
        let open = |name, columns| Table::open(directory, name, columns);
        let columns = columns(header);
        Ok(Tables {
            header: Arc::clone(header),
            operations: open("operations.csv", &format!("time,{}", columns.join(",")))?,
            moves: open("moves.csv", "instance,app,time,action")?,
            handovers: open("handovers.csv", "user,time,from,to")?,
            counts: vec![0; columns.len()],
            columns,
        })
    }

    /// Checks the row of a change. `state` is the state after it.
    pub(super) fn apply(&mut self, state: &State, time: f64, change: Change<'_>) -> io::Result<()> {
        match change {
            Change::Nop { instance } => self.outcome(state, time, instance, "nop"),
            Change::Inhibited { instance, .. } => self.outcome(state, time, instance, "inhibited"),
            Change::Accepted { instance, proposal } => self.outcome(state, time, instance, proposal.operation.as_str()),
            Change::Left { instance, end: InstanceEnd::Evicted(_), .. } => {
                self.expect_move(state, time, instance, "evicted")
            }
            Change::Adapted { instance, by: Actor::Owner(_), .. } => self.expect_move(state, time, instance, "shrunk"),
            Change::EvictionAnnounced { instance, .. } => self.expect_move(state, time, instance, "leave"),
            Change::Woke { instance, by: Actor::Client } => self.expect_move(state, time, instance, "woken"),
            Change::WakeInhibited { instance, .. } => self.expect_move(state, time, instance, "not woken"),
            Change::Left { end: InstanceEnd::Undeployed | InstanceEnd::Lost, .. }
            | Change::Adapted { by: Actor::Agent | Actor::Client | Actor::LiveNode, .. }
            | Change::Woke { by: Actor::Agent | Actor::Owner(_) | Actor::LiveNode, .. }
            | Change::Appeared { .. }
            | Change::Moved { .. }
            | Change::Slept { .. }
            | Change::Anchored { .. }
            | Change::Updated { .. }
            | Change::PolicyChanged { .. }
            | Change::DeployInhibited { .. }
            | Change::NodeDown { .. }
            | Change::NodeUp { .. }
            | Change::NodeLeaving { .. }
            | Change::Draining { .. }
            | Change::LinkDown { .. }
            | Change::LinkUp { .. } => Ok(()),
        }
    }

    /// Checks the rows of the next record, after those of its changes.
    pub(super) fn read(&mut self, record: &TraceRecord) -> io::Result<()> {
        match record {
            TraceRecord::Handover(handover) => self.handover(handover),
            TraceRecord::Cycle(cycle) => self.operations(cycle.time),
            TraceRecord::Counts(counted) => self.counted(counted),
            TraceRecord::Deployed(_)
            | TraceRecord::Evaluation(_)
            | TraceRecord::NodeDown(_)
            | TraceRecord::NodeLeaving(_)
            | TraceRecord::NodeUp(_)
            | TraceRecord::LinkDown(_)
            | TraceRecord::LinkUp(_)
            | TraceRecord::Update(_)
            | TraceRecord::Regret(_)
            | TraceRecord::Responses(_)
            | TraceRecord::Usage(_)
            | TraceRecord::Client(_)
            | TraceRecord::Clients(_)
            | TraceRecord::Handovers(_)
            | TraceRecord::Gone(_)
            | TraceRecord::Owner(_)
            | TraceRecord::Owners(_)
            | TraceRecord::Woken(_)
            | TraceRecord::Wakings(_)
            | TraceRecord::Latency(_)
            | TraceRecord::Traffic(_)
            | TraceRecord::Calls(_)
            | TraceRecord::Live(_)
            | TraceRecord::End(_) => Ok(()),
        }
    }

    fn handover(&mut self, handover: &Handover) -> io::Result<()> {
        let user = cell(&self.header.users[handover.user as usize].id);
        let node = |node: Option<u32>| {
            node.map_or_else(|| "none".to_owned(), |node| cell(self.header.nodes[node as usize].id.id()))
        };
        let row = [user, number(handover.time), node(handover.from), node(handover.to)];
        self.handovers.expect(&row.join(","))
    }

    /// Checks the row of an agent's outcome, and counts the outcome.
    fn outcome(&mut self, state: &State, time: f64, instance: InstanceRef, action: &str) -> io::Result<()> {
        if let Some(place) = self.columns.iter().position(|name| *name == action) {
            self.counts[place] += 1;
        }
        self.expect_move(state, time, instance, action)
    }

    fn expect_move(&mut self, state: &State, time: f64, instance: InstanceRef, action: &str) -> io::Result<()> {
        let instance = state.instance(instance);
        let application = cell(self.header.applications[instance.application as usize].id.id());
        let row = [cell(instance.id.id()), application, number(time), action.to_owned()];
        self.moves.expect(&row.join(","))
    }

    fn counted(&mut self, counted: &Counted) -> io::Result<()> {
        for outcome in &counted.outcomes {
            let accepted = outcome.accepted();
            let of = [accepted.undeploy, outcome.nop, accepted.migrate, accepted.replicate, outcome.inhibited];
            let of = of.into_iter().chain(further(&self.header).map(|operation| accepted[operation]));
            self.counts.iter_mut().zip(of).for_each(|(sum, count)| *sum = sum.saturating_add(count));
        }
        self.operations(counted.time)
    }

    /// Checks the row of a cycle, unless nothing happened in it.
    fn operations(&mut self, time: f64) -> io::Result<()> {
        if self.counts.iter().all(|count| *count == 0) {
            return Ok(());
        }
        let counts: Vec<String> = self.counts.iter_mut().map(|count| std::mem::take(count).to_string()).collect();
        let counts = counts.join(",");
        self.operations.expect(&format!("{},{counts}", number(time)))
    }

    pub(super) fn finish(self, is_complete: bool, checked: &mut RunFilesCheck) -> io::Result<()> {
        self.operations.finish(is_complete, checked)?;
        if self.header.detail == Detail::Summary {
            for table in [&self.moves, &self.handovers].into_iter().filter(|table| table.rows.is_some()) {
                checked.unchecked.push(format!("{}: the trace has only counts", table.name));
            }
            return Ok(());
        }
        self.moves.finish(is_complete, checked)?;
        self.handovers.finish(is_complete, checked)
    }
}

/// The columns of `operations.csv` after `time`.
fn columns(header: &Header) -> Vec<&'static str> {
    let mut columns = vec!["undeploy", "nop", "migrate", "replicate", "inhibited"];
    columns.extend(further(header).map(AgentOperation::as_str));
    columns
}

/// The operations that have a column in `operations.csv` after those of the paper.
fn further(header: &Header) -> impl Iterator<Item = AgentOperation> {
    let [has_flavours, has_sleep] = [header.has_flavours(), header.has_sleep()];
    AgentOperation::ALL.into_iter().filter(move |operation| match operation.concerned() {
        Concerned::Every => false,
        Concerned::WithFlavours => has_flavours,
        Concerned::WithSleep => has_sleep,
    })
}

/// Formats an id as a CSV cell, quoted if necessary.
fn cell(id: &Id) -> String {
    match id {
        Id::Number(value) => value.to_string(),
        Id::Name(name) if name.as_str().contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", name.as_str().replace('"', "\"\""))
        }
        Id::Name(name) => name.as_str().to_owned(),
    }
}
