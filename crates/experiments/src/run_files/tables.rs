//! Checks the tables whose rows follow from single records of the trace: operations, moves and handovers.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use mario_audit::FindingKind;
use mario_audit::reader::{
    Counted, Cycle, Detail, Header, Outcome, Owner, OwnerAct, OwnerActKind, TraceRecord, Verdict, Woken,
};
use mario_domain::{AgentOperation, Id, InstanceId};
use rustc_hash::FxHashMap;

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
    applications: FxHashMap<InstanceId, u32>,
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
        Ok(Tables {
            header: Arc::clone(header),
            operations: open("operations.csv", &format!("time,{}", columns(header).join(",")))?,
            moves: open("moves.csv", "instance,app,time,action")?,
            handovers: open("handovers.csv", "user,time,from,to")?,
            applications: FxHashMap::default(),
        })
    }

    pub(super) fn read(&mut self, record: &TraceRecord) -> io::Result<()> {
        match record {
            TraceRecord::Deployed(deployed) => {
                self.applications.insert(deployed.instance.clone(), deployed.application);
                Ok(())
            }
            TraceRecord::Handover(handover) => {
                let user = cell(&self.header.users[handover.user as usize].id);
                let node = |node: Option<u32>| {
                    node.map_or_else(|| "none".to_owned(), |node| cell(self.header.nodes[node as usize].id.id()))
                };
                let row = [user, number(handover.time), node(handover.from), node(handover.to)];
                self.handovers.expect(&row.join(","))
            }
            TraceRecord::Cycle(cycle) => self.cycle(cycle),
            TraceRecord::Counts(counted) => self.counted(counted),
            TraceRecord::Owner(owner) => self.owner(owner),
            TraceRecord::Woken(woken) => self.woken(woken),
            TraceRecord::NodeDown(down) => {
                for instance in &down.instances {
                    self.applications.remove(instance);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn cycle(&mut self, cycle: &Cycle) -> io::Result<()> {
        let columns = columns(&self.header);
        let mut counts = vec![0_u64; columns.len()];
        let mut came = Vec::new();
        let mut went = Vec::new();
        for outcome in &cycle.outcomes {
            let (instance, action) = match outcome {
                Outcome::Nop(instance) => (instance, "nop"),
                Outcome::Judged { instance, verdict: Verdict::Inhibited(_), .. } => (instance, "inhibited"),
                Outcome::Judged { instance, proposal, verdict: Verdict::Accepted(created) } => {
                    let application = self.applications.get(instance).copied();
                    came.extend(created.iter().cloned().zip(application));
                    let is_moved = proposal.operation == AgentOperation::Migrate && created.is_some();
                    if proposal.operation == AgentOperation::Undeploy || is_moved {
                        went.push(instance.clone());
                    }
                    (instance, proposal.operation.as_str())
                }
                Outcome::Deploy { application, verdict, .. } => {
                    if let Verdict::Accepted(Some(created)) = verdict {
                        came.push((created.clone(), *application));
                    }
                    continue;
                }
            };
            if let Some(place) = columns.iter().position(|name| *name == action) {
                counts[place] += 1;
            }
            // The application of an unknown instance is an empty cell. The auditor reports such instances.
            let application = self.applications.get(instance).map(|place| &self.header.applications[*place as usize]);
            let application = application.map(|application| cell(application.id.id())).unwrap_or_default();
            let row = [cell(instance.id()), application, number(cycle.time), action.to_owned()];
            self.moves.expect(&row.join(","))?;
        }
        for instance in &went {
            self.applications.remove(instance);
        }
        self.applications.extend(came);
        self.operations(cycle.time, &counts)
    }

    /// Checks the rows of the actions of a node's owner.
    fn owner(&mut self, owner: &Owner) -> io::Result<()> {
        for OwnerAct { instance, kind, .. } in &owner.acts {
            let application = self.applications.get(instance).map(|place| &self.header.applications[*place as usize]);
            let application = application.map(|application| cell(application.id.id())).unwrap_or_default();
            let action = match kind {
                OwnerActKind::Evicted => "evicted",
                OwnerActKind::Shrunk(_) => "shrunk",
                OwnerActKind::Announced(_) => "leave",
            };
            let row = [cell(instance.id()), application, number(owner.time), action.to_owned()];
            self.moves.expect(&row.join(","))?;
            if *kind == OwnerActKind::Evicted {
                self.applications.remove(instance);
            }
        }
        Ok(())
    }

    /// Checks the row of a verdict on waking an instance for a client request.
    fn woken(&mut self, woken: &Woken) -> io::Result<()> {
        let application = self.applications.get(&woken.instance);
        let application = application.map(|place| &self.header.applications[*place as usize]);
        let application = application.map(|application| cell(application.id.id())).unwrap_or_default();
        let action = match woken.verdict {
            Verdict::Accepted(_) => "woken",
            Verdict::Inhibited(_) => "not woken",
        };
        let row = [cell(woken.instance.id()), application, number(woken.time), action.to_owned()];
        self.moves.expect(&row.join(","))
    }

    fn counted(&mut self, counted: &Counted) -> io::Result<()> {
        let mut counts = vec![0_u64; columns(&self.header).len()];
        for outcome in &counted.outcomes {
            let of = [outcome.undeploy, outcome.nop, outcome.migrate, outcome.replicate, outcome.inhibited];
            let adapt = outcome.adapt.filter(|_| self.header.has_flavours());
            let of = of.into_iter().chain(adapt).chain(outcome.sleep).chain(outcome.wake);
            counts.iter_mut().zip(of).for_each(|(sum, count)| *sum = sum.saturating_add(count));
        }
        self.operations(counted.time, &counts)
    }

    fn operations(&mut self, time: f64, counts: &[u64]) -> io::Result<()> {
        if counts.iter().all(|count| *count == 0) {
            return Ok(());
        }
        let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
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
    columns.extend(header.has_flavours().then_some("adapt"));
    columns.extend(["sleep", "wake"].into_iter().filter(|_| header.has_sleep()));
    columns
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
