//! The trace of a run, as `docs/trace.md` describes it.

mod clients;
mod evaluation;
mod header;
mod saved;
mod summing;

use std::io::{self, Write};

use mario_domain::{Capacity, OperationName, Verdict};
use mario_policy::{Decision, Ending};
use mario_scenario::{ApplicationIndex, NodeIndex, Scenario, UserIndex};
use serde::{Deserialize, Serialize};

use evaluation::target;
use summing::Summing;

use super::json::{id, integer, natural, number, string};
use crate::output::histogram::Histogram;
use crate::population::{AgentIndex, Colony, Deployed, Judged, Label, Outcome, Resting};
use crate::recorder::{Cause, Compared, Recorder, Sent, Served};

/// How much a trace holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Detail {
    /// Everything.
    Full,
    /// No evaluations.
    Operations,
    /// Counts, and neither instances nor users one by one.
    Summary,
}

/// Writes the trace of a run.
pub struct TraceWriter<W: Write> {
    out: W,
    detail: Detail,
    line: Vec<u8>,
    /// The first thing that went wrong in writing; after that, nothing is written.
    broken: Option<io::Error>,
    seen: Vec<Seen>,
    clients: Vec<Client>,
    usage: Vec<Usage>,
    totals: Totals,
    /// What is counted instead of told, where that is so.
    summing: Option<Box<Summing>>,
}

/// What one user has seen.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Client {
    served: u64,
    lost: u64,
    sum: f64,
}

/// How much the instances of one application were used.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Usage {
    max_rate: f64,
    evaluations: u64,
    requests: f64,
}

/// What clients saw of an application since the last record.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Seen {
    served: u64,
    lost: u64,
    sum: f64,
    histogram: Histogram,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Totals {
    evaluations: u64,
    operations: u64,
    inhibited: u64,
    handovers: u64,
    served: u64,
    lost: u64,
    instances: u64,
}

impl Detail {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Detail::Full => "full",
            Detail::Operations => "operations",
            Detail::Summary => "summary",
        }
    }
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace with its header.
    pub fn new(out: W, scenario: &Scenario, detail: Detail) -> TraceWriter<W> {
        let mut writer = TraceWriter {
            out,
            detail,
            line: Vec::new(),
            broken: None,
            seen: vec![Seen::default(); scenario.applications.len()],
            clients: vec![Client::default(); scenario.users.len()],
            usage: (scenario.applications.iter())
                .map(|plan| Usage { max_rate: plan.application.max_rate.value(), ..Usage::default() })
                .collect(),
            totals: Totals::default(),
            summing: (detail == Detail::Summary).then(|| Box::new(Summing::new(scenario))),
        };
        serde_json::to_writer(&mut writer.line, &header::header(scenario, detail))
            .expect("writing to memory does not fail");
        writer.end_line();
        writer
    }

    /// Ends the trace of a run that came to its end, and gives the writer back.
    pub fn finish(mut self, time: f64) -> io::Result<W> {
        self.responses(time);
        self.usage_and_clients(time);
        let totals = self.totals;
        self.begin("end", time);
        self.line.extend_from_slice(b",{");
        let counts = [
            ("evaluations", totals.evaluations),
            ("operations", totals.operations),
            ("inhibited", totals.inhibited),
            ("handovers", totals.handovers),
            ("served", totals.served),
            ("lost", totals.lost),
            ("instances", totals.instances),
        ];
        for (position, (name, count)) in counts.into_iter().enumerate() {
            if position > 0 {
                self.line.push(b',');
            }
            string(&mut self.line, name);
            self.line.push(b':');
            natural(&mut self.line, count);
        }
        self.line.extend_from_slice(b"}]");
        self.end_line();
        self.close()
    }

    /// Ends the trace of a run that was broken off: there is no last record.
    pub fn close(mut self) -> io::Result<W> {
        self.tell_moves();
        match self.broken {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    /// What went wrong in writing.
    pub fn failure(&self) -> Option<&io::Error> {
        self.broken.as_ref()
    }

    fn begin(&mut self, kind: &str, time: f64) {
        self.tell_moves();
        self.line.push(b'[');
        string(&mut self.line, kind);
        self.line.push(b',');
        number(&mut self.line, time);
    }

    fn end_line(&mut self) {
        self.line.push(b'\n');
        if self.broken.is_none()
            && let Err(error) = self.out.write_all(&self.line)
        {
            self.broken = Some(error);
        }
        self.line.clear();
    }

    fn comma_node(&mut self, node: Option<NodeIndex>) {
        match node {
            Some(node) => {
                self.line.push(b',');
                natural(&mut self.line, u64::from(node.0));
            }
            None => self.line.extend_from_slice(b",null"),
        }
    }

    fn judged(&mut self, judged: &Judged, colony: &Colony) {
        let operation = judged.wish.operation;
        let agent = colony.agent(judged.agent);
        id(&mut self.line, colony.instance(judged.agent).id());
        self.line.push(b',');
        string(&mut self.line, operation.as_str());
        let is_accepted = judged.ruling.is_accepted();
        if operation != OperationName::Undeploy || !is_accepted {
            self.line.push(b',');
            target(&mut self.line, &judged.wish.target);
        }
        self.verdict(&colony.verdict(&judged.ruling, agent.application()));
        if let Some(created) = judged.created {
            self.line.push(b',');
            id(&mut self.line, colony.instance(created).id());
        }
        if is_accepted {
            self.totals.operations += 1;
            match operation {
                OperationName::Undeploy => {
                    self.totals.instances = self.totals.instances.saturating_sub(1);
                }
                OperationName::Replicate | OperationName::Deploy => self.totals.instances += 1,
                OperationName::Migrate => {}
            }
        } else {
            self.totals.inhibited += 1;
        }
    }

    fn verdict(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Accepted => self.line.extend_from_slice(b",\"accepted\""),
            Verdict::Inhibited(inhibition) => {
                self.line.extend_from_slice(b",\"inhibited\",");
                serde_json::to_writer(&mut self.line, inhibition).expect("writing to memory does not fail");
            }
        }
    }
}

impl<W: Write> Recorder for TraceWriter<W> {
    fn wants_decisions(&self) -> bool {
        self.detail == Detail::Full
    }

    fn wants_everyone(&self) -> bool {
        self.detail != Detail::Summary
    }

    fn deployed(&mut self, time: f64, agent: AgentIndex, colony: &Colony) {
        self.begin("deployed", time);
        self.line.push(b',');
        id(&mut self.line, colony.instance(agent).id());
        let agent = colony.agent(agent);
        for place in [agent.application().0, agent.node().0, agent.policy().0] {
            self.line.push(b',');
            natural(&mut self.line, u64::from(place));
        }
        self.line.push(b']');
        self.end_line();
        self.totals.instances += 1;
        if let Some(summing) = &mut self.summing {
            summing.place(agent.application(), agent.node(), 1);
        }
    }

    fn handover(&mut self, time: f64, user: UserIndex, from: Option<NodeIndex>, to: Option<NodeIndex>) {
        self.totals.handovers += 1;
        if self.summing.is_some() {
            self.count_move(time, user);
            return;
        }
        self.begin("handover", time);
        self.line.push(b',');
        natural(&mut self.line, u64::from(user.0));
        self.comma_node(from);
        self.comma_node(to);
        self.line.push(b']');
        self.end_line();
    }

    fn evaluation(&mut self, time: f64, agent: AgentIndex, colony: &Colony, decision: Option<&Decision>) {
        self.totals.evaluations += 1;
        let evaluating = colony.agent(agent);
        let usage = &mut self.usage[evaluating.application().position()];
        usage.evaluations += 1;
        usage.requests += evaluating.rate();
        if self.detail != Detail::Full {
            return;
        }
        let acting = colony.agent(agent);
        self.begin("evaluation", time);
        self.line.push(b',');
        id(&mut self.line, colony.instance(agent).id());
        self.comma_node(Some(acting.node()));
        self.line.push(b',');
        match colony.manager(acting.node()).free() {
            Capacity::Bounded(free) => natural(&mut self.line, free.as_units()),
            Capacity::Unbounded => self.line.extend_from_slice(b"\"unbounded\""),
        }
        match decision {
            None => self.line.extend_from_slice(b",\"same\""),
            Some(decision) => {
                self.facts(acting.requests());
                self.memory(agent, colony);
                self.solutions(agent, colony, &decision.solutions);
                match (decision.ending == Ending::Complete, acting.random()) {
                    (false, _) => {
                        self.line.push(b',');
                        string(&mut self.line, &decision.ending.to_string());
                    }
                    (true, Some(_)) => self.line.extend_from_slice(b",null"),
                    (true, None) => {}
                }
                if let Some(drawn) = acting.random() {
                    self.line.push(b',');
                    natural(&mut self.line, u64::from(drawn));
                }
            }
        }
        self.line.push(b']');
        self.end_line();
    }

    fn resting(&mut self, _time: f64, resting: &[Resting]) {
        for (usage, resting) in self.usage.iter_mut().zip(resting) {
            self.totals.evaluations += resting.count();
            usage.evaluations += resting.count();
            usage.requests += resting.requests;
        }
    }

    fn cycle(&mut self, time: f64, label: &Label, colony: &Colony) {
        if self.summing.is_some() {
            self.count_cycle(time, label, colony);
            return;
        }
        self.begin("cycle", time);
        self.line.extend_from_slice(b",[");
        for (position, outcome) in label.iter().enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            match &outcome {
                Outcome::Nop(agent) => {
                    id(&mut self.line, colony.instance(*agent).id());
                    self.line.extend_from_slice(b",\"nop\"");
                }
                Outcome::Judged(judged) => self.judged(judged, colony),
                Outcome::Deployed(Deployed { deployment, ruling, created }) => {
                    self.line.extend_from_slice(b"null,\"deploy\"");
                    self.comma_node(Some(deployment.node));
                    self.verdict(&colony.verdict(ruling, deployment.application));
                    if let Some(created) = created {
                        self.line.push(b',');
                        id(&mut self.line, colony.instance(*created).id());
                        self.totals.instances += 1;
                        self.totals.operations += 1;
                    } else {
                        self.totals.inhibited += 1;
                    }
                    self.line.push(b',');
                    natural(&mut self.line, u64::from(deployment.application.0));
                    if created.is_some() {
                        self.line.push(b',');
                        natural(&mut self.line, u64::from(deployment.policy.0));
                    }
                }
            }
            self.line.push(b']');
        }
        self.line.extend_from_slice(b"]]");
        self.end_line();
    }

    fn node_down(&mut self, time: f64, node: NodeIndex, cause: Cause, gone: &[AgentIndex], colony: &Colony) {
        self.totals.instances = self.totals.instances.saturating_sub(gone.len() as u64);
        if self.summing.is_some() {
            self.count_gone(time, node, gone, colony);
            return;
        }
        self.begin("node-down", time);
        self.comma_node(Some(node));
        self.line.push(b',');
        string(&mut self.line, cause.as_str());
        self.line.extend_from_slice(b",[");
        for (position, agent) in gone.iter().enumerate() {
            if position > 0 {
                self.line.push(b',');
            }
            id(&mut self.line, colony.instance(*agent).id());
        }
        self.line.extend_from_slice(b"]]");
        self.end_line();
    }

    fn regret(&mut self, time: f64, compared: &Compared) {
        self.begin("regret", time);
        self.line.push(b',');
        string(&mut self.line, compared.search.as_str());
        self.line.push(b',');
        natural(&mut self.line, compared.users);
        for value in [compared.actual, compared.best] {
            let parts = [value.present, value.satisfied, value.served, value.latency_millionths, value.instances];
            for (position, part) in parts.into_iter().enumerate() {
                self.line.extend_from_slice(if position == 0 { b",[" } else { b"," });
                integer(&mut self.line, part);
            }
            self.line.push(b']');
        }
        self.line.push(b']');
        self.end_line();
    }

    fn node_up(&mut self, time: f64, node: NodeIndex) {
        if self.summing.is_some() {
            return;
        }
        self.begin("node-up", time);
        self.comma_node(Some(node));
        self.line.push(b']');
        self.end_line();
    }

    fn node_leaving(&mut self, time: f64, node: NodeIndex) {
        if self.summing.is_some() {
            return;
        }
        self.begin("node-leaving", time);
        self.comma_node(Some(node));
        self.line.push(b']');
        self.end_line();
    }

    fn link(&mut self, time: f64, one: NodeIndex, other: NodeIndex, is_up: bool) {
        if self.summing.is_some() {
            return;
        }
        self.begin(if is_up { "link-up" } else { "link-down" }, time);
        self.comma_node(Some(one));
        self.comma_node(Some(other));
        self.line.push(b']');
        self.end_line();
    }

    fn step(&mut self, time: f64, step: usize) {
        if step > 0 {
            self.responses(time);
        }
    }

    fn served(&mut self, served: &Served) {
        let response = served.ended - served.emitted;
        self.became(served.user, served.application, Sent { served: 1, lost: 0, response });
    }

    fn lost(&mut self, _time: f64, user: UserIndex, application: ApplicationIndex) {
        self.became(user, application, Sent { served: 0, lost: 1, response: 0.0 });
    }

    fn wants_traffic(&self) -> bool {
        true
    }

    fn sent(&mut self, user: UserIndex, application: ApplicationIndex, sent: &Sent) {
        let before = self.clients[user.position()];
        let (served, lost) = (sent.served.saturating_sub(before.served), sent.lost.saturating_sub(before.lost));
        if served + lost > 0 {
            self.became(user, application, Sent { served, lost, response: sent.response - before.sum });
            // Not a sum of differences: what all took together does not depend on how often it was told.
            self.clients[user.position()].sum = sent.response;
        }
    }

    fn is_broken(&self) -> bool {
        self.broken.is_some()
    }
}
