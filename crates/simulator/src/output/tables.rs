//! The tables of a run, as CSV.

use std::io::{self, Write};

use mario_domain::{Concerned, Id, InstanceId, OperationCounts, Time};
use mario_scenario::{NodeIndex, Scenario, UserIndex};
use mario_trace::json::{natural, number};
use serde::{Deserialize, Deserializer, Serialize};

use crate::population::{AgentIndex, CompactVerdict, CycleLabel, Outcome, OwnerActKind, OwnerActs, Population};
use crate::recorder::{Recorder, Served};
use crate::simulation::Simulation;

/// A table that is being written.
struct Table<W: Write> {
    out: W,
    row: Vec<u8>,
    /// The first write error. Nothing is written after it.
    broken: Option<io::Error>,
}

impl<W: Write> Table<W> {
    fn new(out: W, header: &str) -> Table<W> {
        let mut table = Table::resumed(out);
        table.row.extend_from_slice(header.as_bytes());
        table.end_row();
        table
    }

    /// Continues a table whose header is already written.
    fn resumed(out: W) -> Table<W> {
        Table { out, row: Vec::new(), broken: None }
    }

    fn end_row(&mut self) {
        self.row.push(b'\n');
        if self.broken.is_none()
            && let Err(error) = self.out.write_all(&self.row)
        {
            self.broken = Some(error);
        }
        self.row.clear();
    }

    fn comma(&mut self) {
        self.row.push(b',');
    }

    fn id(&mut self, id: &Id) {
        match id {
            Id::Number(value) => self.row.extend_from_slice(value.to_string().as_bytes()),
            Id::Name(name) => self.text(name.as_str()),
        }
    }

    /// Writes a text, quoted if necessary.
    fn text(&mut self, text: &str) {
        if text.contains([',', '"', '\n', '\r']) {
            self.row.push(b'"');
            self.row.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.row.push(b'"');
        } else {
            self.row.extend_from_slice(text.as_bytes());
        }
    }

    fn finish(mut self) -> io::Result<W> {
        match self.broken {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }
}

/// The tables of a run.
pub struct Tables<'a, W: Write> {
    scenario: &'a Scenario,
    operations: Table<W>,
    moves: Option<Table<W>>,
    handovers: Option<Table<W>>,
    messages: Option<Table<W>>,
    /// For each agent, its instance, for the table of messages; empty if that table is disabled.
    instances: Vec<InstanceId>,
}

/// The outputs of the tables of a run.
pub struct TableOutputs<W: Write> {
    /// `operations.csv`.
    pub operations: W,
    /// `moves.csv`, if enabled.
    pub moves: Option<W>,
    /// `handovers.csv`, if enabled.
    pub handovers: Option<W>,
    /// `messages.csv`, if enabled.
    pub messages: Option<W>,
}

impl<'a, W: Write> Tables<'a, W> {
    /// Starts the tables and writes their headers.
    pub fn new(scenario: &'a Scenario, outputs: TableOutputs<W>) -> Tables<'a, W> {
        Tables {
            scenario,
            operations: Table::new(outputs.operations, &operations_header(scenario)),
            moves: outputs.moves.map(|out| Table::new(out, "instance,app,time,action")),
            handovers: outputs.handovers.map(|out| Table::new(out, "user,time,from,to")),
            messages: (outputs.messages).map(|out| Table::new(out, "user,instance,emitted,arrived,started,ended")),
            instances: Vec::new(),
        }
    }

    /// The state to store in a checkpoint.
    pub(super) fn saved(&self) -> impl Serialize + '_ {
        // Destructured, so that a new field does not compile until it is decided here whether to save it.
        let Tables { scenario: _, operations: _, moves: _, handovers: _, messages: _, instances } = self;
        instances
    }

    /// Resumes the tables from the state stored by [`Tables::saved`].
    pub(super) fn resumed<'de, D: Deserializer<'de>>(
        scenario: &'a Scenario,
        outputs: TableOutputs<W>,
        saved: D,
    ) -> Result<Tables<'a, W>, D::Error> {
        Ok(Tables {
            scenario,
            operations: Table::resumed(outputs.operations),
            moves: outputs.moves.map(Table::resumed),
            handovers: outputs.handovers.map(Table::resumed),
            messages: outputs.messages.map(Table::resumed),
            instances: Deserialize::deserialize(saved)?,
        })
    }

    /// Whether the resumed state is consistent with a run. If the run has started and writes the table of messages, the
    /// state must list all its agents; otherwise it must be empty.
    pub(super) fn are_of(&self, simulation: &Simulation<'_>) -> bool {
        let is_known = self.messages.is_some() && simulation.has_begun();
        self.instances.len() == if is_known { simulation.population().agent_count() } else { 0 }
    }

    /// The outputs of the tables.
    pub(super) fn outs(&mut self) -> TableOutputs<&mut W> {
        TableOutputs {
            operations: &mut self.operations.out,
            moves: self.moves.as_mut().map(|table| &mut table.out),
            handovers: self.handovers.as_mut().map(|table| &mut table.out),
            messages: self.messages.as_mut().map(|table| &mut table.out),
        }
    }

    /// Flushes the tables, and returns the outputs.
    pub fn finish(self) -> io::Result<TableOutputs<W>> {
        Ok(TableOutputs {
            operations: self.operations.finish()?,
            moves: self.moves.map(Table::finish).transpose()?,
            handovers: self.handovers.map(Table::finish).transpose()?,
            messages: self.messages.map(Table::finish).transpose()?,
        })
    }

    fn learn_instances(&mut self, population: &Population) {
        if self.messages.is_some() {
            let new = self.instances.len()..population.agent_count();
            self.instances.extend(new.map(|position| population.instance(AgentIndex::at(position))));
        }
    }
}

impl<W: Write> Recorder for Tables<'_, W> {
    fn wants_everyone(&self) -> bool {
        self.moves.is_some()
    }

    fn deployed(&mut self, _time: Time, _agent: AgentIndex, population: &Population) {
        self.learn_instances(population);
    }

    fn handover(&mut self, time: Time, user: UserIndex, from: Option<NodeIndex>, to: Option<NodeIndex>) {
        let Some(handovers) = &mut self.handovers else { return };
        handovers.id(&self.scenario.attachments.users[user.position()].id);
        handovers.comma();
        number(&mut handovers.row, time.units());
        for node in [from, to] {
            handovers.comma();
            match node {
                Some(node) => handovers.id(self.scenario.topology.node(node).id.id()),
                None => handovers.text("none"),
            }
        }
        handovers.end_row();
    }

    fn cycle(&mut self, time: Time, label: &CycleLabel, population: &Population) {
        self.learn_instances(population);
        let mut accepted = OperationCounts::default();
        let [mut nop, mut inhibited] = [0_u64; 2];
        let mut has_agents = false;
        for outcome in label.iter() {
            let (instance, application, action) = match &outcome {
                Outcome::Nop(agent) => {
                    nop += 1;
                    (population.instance(*agent), population.agent(*agent).application(), "nop")
                }
                Outcome::Judged(judged) => {
                    let action = if judged.verdict.is_accepted() {
                        accepted[judged.proposal.operation] += 1;
                        judged.proposal.operation.as_str()
                    } else {
                        inhibited += 1;
                        "inhibited"
                    };
                    (population.instance(judged.agent), population.agent(judged.agent).application(), action)
                }
                // The tables list operations on existing instances; deployments are in the trace.
                Outcome::Deployed(_) => continue,
            };
            has_agents = true;
            let Some(moves) = &mut self.moves else { continue };
            moves.id(instance.id());
            moves.comma();
            moves.id(self.scenario.applications[application.position()].application.id.id());
            moves.comma();
            number(&mut moves.row, time.units());
            moves.comma();
            moves.text(action);
            moves.end_row();
        }
        for parked in label.parked() {
            nop += parked.idle;
            inhibited += parked.inhibited;
            has_agents |= parked.count() > 0;
        }
        if has_agents {
            number(&mut self.operations.row, time.units());
            let OperationCounts { undeploy, migrate, replicate, .. } = accepted;
            let of_flavours = accepted.of(Concerned::WithFlavours).filter(|_| self.scenario.has_flavours());
            let of_sleep = accepted.of(Concerned::WithSleep).filter(|_| self.scenario.has_sleep());
            let further = of_flavours.chain(of_sleep).map(|(_, count)| count);
            for count in [undeploy, nop, migrate, replicate, inhibited].into_iter().chain(further) {
                self.operations.comma();
                natural(&mut self.operations.row, count);
            }
            self.operations.end_row();
        }
    }

    fn owner(&mut self, time: Time, acts: &OwnerActs, population: &Population) {
        let Some(moves) = &mut self.moves else { return };
        for act in &acts.acts {
            let application = population.agent(act.agent).application();
            moves.id(population.instance(act.agent).id());
            moves.comma();
            moves.id(self.scenario.applications[application.position()].application.id.id());
            moves.comma();
            number(&mut moves.row, time.units());
            moves.comma();
            moves.text(match act.kind {
                OwnerActKind::Evicted => "evicted",
                OwnerActKind::Shrunk(_) => "shrunk",
                OwnerActKind::Announced(_) => "leave",
            });
            moves.end_row();
        }
    }

    fn woken(&mut self, time: Time, agent: AgentIndex, verdict: &CompactVerdict, population: &Population) {
        let Some(moves) = &mut self.moves else { return };
        let application = population.agent(agent).application();
        moves.id(population.instance(agent).id());
        moves.comma();
        moves.id(self.scenario.applications[application.position()].application.id.id());
        moves.comma();
        number(&mut moves.row, time.units());
        moves.comma();
        moves.text(if verdict.is_accepted() { "woken" } else { "not woken" });
        moves.end_row();
    }

    fn served(&mut self, served: &Served) {
        let Some(messages) = &mut self.messages else { return };
        messages.id(&self.scenario.attachments.users[served.user.position()].id);
        messages.comma();
        messages.id(self.instances[served.agent.position()].id());
        for time in [served.emitted, served.arrived, served.started, served.ended] {
            messages.comma();
            number(&mut messages.row, time.units());
        }
        messages.end_row();
    }

    fn is_broken(&self) -> bool {
        let others = [self.moves.as_ref(), self.handovers.as_ref(), self.messages.as_ref()];
        let tables = std::iter::once(Some(&self.operations)).chain(others);
        tables.flatten().any(|table| table.broken.is_some())
    }
}

/// The columns of the table of operations. Optional columns come last, and are present only if the run can have such
/// operations.
fn operations_header(scenario: &Scenario) -> String {
    let mut header = "time,undeploy,nop,migrate,replicate,inhibited".to_owned();
    if scenario.has_flavours() {
        header.push_str(",adapt");
    }
    if scenario.has_sleep() {
        header.push_str(",sleep,wake");
    }
    header
}
