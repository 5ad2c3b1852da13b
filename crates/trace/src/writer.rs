//! The trace writer, and the records of single events.

use std::io::{self, Write};

use mario_domain::{Duration, Id, InstanceId, Time};
use serde::{Deserialize, Serialize};

use crate::calls::CallSums;
use crate::header::Header;
use crate::histogram::Histogram;
use crate::json::{id, integer, natural, number, string};
use crate::latencies::Latency;
use crate::record::{Cause, Detail, Regret};
use crate::reference::{ApplicationRef, NodeRef, PolicyRef, UserRef};
use crate::summing::Summing;

/// Writes the trace of a run, record by record, in the order of events.
pub struct TraceWriter<W: Write> {
    pub(crate) out: W,
    pub(crate) detail: Detail,
    pub(crate) line: Vec<u8>,
    /// The first write error. Nothing is written after it.
    pub(crate) broken: Option<io::Error>,
    pub(crate) seen: Vec<ResponseSums>,
    pub(crate) clients: Vec<Client>,
    pub(crate) usage: Vec<Usage>,
    pub(crate) totals: Totals,
    /// The state of a summary trace; `None` for other traces.
    pub(crate) summing: Option<Box<Summing>>,
    /// The response times of each application, if the header has measures.
    pub(crate) latencies: Option<Vec<Latency>>,
    /// The total number of hops of all client requests in the whole run; `None` until it is set.
    pub(crate) hops: Option<u64>,
    pub(crate) has_models: bool,
    /// The results of calls, in the order of the header.
    pub(crate) calls: Vec<CallSums>,
}

/// The results of one user's client requests.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Client {
    pub(crate) served: u64,
    pub(crate) lost: u64,
    pub(crate) sum: Duration,
}

/// The usage of one application's instances.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) max_rate: f64,
    pub(crate) evaluations: u64,
    /// The sum of the request rates seen in evaluations in the default flavour.
    pub(crate) requests: f64,
    /// The sum of rate / maximum rate of the flavour, over the evaluations in flavours other than the default.
    pub(crate) used_in_flavours: f64,
}

/// The results of an application's client requests since the last record of responses.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ResponseSums {
    pub(crate) served: u64,
    pub(crate) lost: u64,
    pub(crate) sum: Duration,
    pub(crate) histogram: Histogram,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) evaluations: u64,
    pub(crate) operations: u64,
    pub(crate) inhibited: u64,
    pub(crate) handovers: u64,
    pub(crate) served: u64,
    pub(crate) lost: u64,
    pub(crate) instances: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace and writes its header.
    pub fn new(out: W, header: &Header<'_>) -> TraceWriter<W> {
        let mut writer = TraceWriter {
            out,
            detail: header.detail,
            line: Vec::new(),
            broken: None,
            seen: vec![ResponseSums::default(); header.applications.len()],
            clients: vec![Client::default(); header.users.len()],
            usage: (header.applications.iter())
                .map(|listed| Usage { max_rate: listed.application.max_rate.value(), ..Usage::default() })
                .collect(),
            totals: Totals::default(),
            latencies: Latency::of(header),
            hops: None,
            has_models: header.models.is_some(),
            calls: CallSums::of(header),
            summing: (header.detail == Detail::Summary).then(|| Box::new(Summing::new(header))),
        };
        header.write(&mut writer.line);
        writer.end_line();
        writer
    }

    /// The detail of the trace.
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// Writes the results and the end record of a run that reached its end, and returns the output.
    pub fn finish(mut self, time: Time) -> io::Result<W> {
        self.responses(time);
        self.write_calls(time);
        self.usage_and_clients(time);
        self.write_latencies(time);
        self.write_traffic(time);
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

    /// Writes handovers that were only counted so far, then flushes and returns the output, or the first write error. A
    /// trace that is closed without [`TraceWriter::finish`], e.g. that of an interrupted run, has no results and no end
    /// record.
    pub fn close(mut self) -> io::Result<W> {
        self.write_moves();
        match self.broken {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    /// The first write error; `None` if all writes succeeded.
    pub fn failure(&self) -> Option<&io::Error> {
        self.broken.as_ref()
    }

    /// Records an instance that exists at the start of the run.
    pub fn deployed(
        &mut self,
        time: Time,
        instance: &InstanceId,
        application: ApplicationRef,
        node: NodeRef,
        policy: PolicyRef,
    ) {
        self.begin("deployed", time);
        self.comma_id(instance.id());
        for place in [application.0, node.0, policy.0] {
            self.line.push(b',');
            natural(&mut self.line, u64::from(place));
        }
        self.line.push(b']');
        self.end_line();
        self.totals.instances += 1;
        if let Some(summing) = &mut self.summing {
            summing.place(application, node, 1);
        }
    }

    /// Records a handover. `from` is `None` if the user was not connected before, `to` is `None` if the user is
    /// disconnected.
    pub fn handover(&mut self, time: Time, user: UserRef, from: Option<NodeRef>, to: Option<NodeRef>) {
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

    /// Records that a node went down. `gone` are the instances that were lost with it. A summary trace has only
    /// their counts by application and tier, and nothing if there are none.
    pub fn node_down(
        &mut self,
        time: Time,
        node: NodeRef,
        cause: Cause,
        gone: impl ExactSizeIterator<Item = (InstanceId, ApplicationRef)>,
    ) {
        self.totals.instances = self.totals.instances.saturating_sub(gone.len() as u64);
        if self.summing.is_some() {
            self.count_gone(time, node, gone.map(|(_, application)| application));
            return;
        }
        self.begin("node-down", time);
        self.comma_node(Some(node));
        self.line.push(b',');
        string(&mut self.line, cause.as_str());
        self.line.extend_from_slice(b",[");
        for (position, (instance, _)) in gone.enumerate() {
            if position > 0 {
                self.line.push(b',');
            }
            id(&mut self.line, instance.id());
        }
        self.line.extend_from_slice(b"]]");
        self.end_line();
    }

    /// Records that a node came up. A summary trace omits this.
    pub fn node_up(&mut self, time: Time, node: NodeRef) {
        self.nodes("node-up", time, &[node]);
    }

    /// Records that a node announced its departure. A summary trace omits this.
    pub fn node_leaving(&mut self, time: Time, node: NodeRef) {
        self.nodes("node-leaving", time, &[node]);
    }

    /// Records that a link went down. A summary trace omits this.
    pub fn link_down(&mut self, time: Time, one: NodeRef, other: NodeRef) {
        self.nodes("link-down", time, &[one, other]);
    }

    /// Records that a link came up. A summary trace omits this.
    pub fn link_up(&mut self, time: Time, one: NodeRef, other: NodeRef) {
        self.nodes("link-up", time, &[one, other]);
    }

    /// Records a comparison of the placement with the best one found.
    pub fn regret(&mut self, time: Time, regret: &Regret<'_>) {
        self.begin("regret", time);
        self.line.push(b',');
        string(&mut self.line, regret.search);
        self.line.push(b',');
        natural(&mut self.line, regret.users);
        for value in [regret.actual, regret.best] {
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

    /// Records an event that concerns these nodes, except in a summary trace.
    fn nodes(&mut self, kind: &str, time: Time, nodes: &[NodeRef]) {
        if self.summing.is_some() {
            return;
        }
        self.begin(kind, time);
        for node in nodes {
            self.comma_node(Some(*node));
        }
        self.line.push(b']');
        self.end_line();
    }

    pub(crate) fn begin(&mut self, kind: &str, time: Time) {
        self.write_moves();
        self.line.push(b'[');
        string(&mut self.line, kind);
        self.line.push(b',');
        number(&mut self.line, time.units());
    }

    pub(crate) fn end_line(&mut self) {
        self.line.push(b'\n');
        if self.broken.is_none()
            && let Err(error) = self.out.write_all(&self.line)
        {
            self.broken = Some(error);
        }
        self.line.clear();
    }

    pub(crate) fn comma_node(&mut self, node: Option<NodeRef>) {
        match node {
            Some(node) => {
                self.line.push(b',');
                natural(&mut self.line, u64::from(node.0));
            }
            None => self.line.extend_from_slice(b",null"),
        }
    }

    pub(crate) fn comma_id(&mut self, named: &Id) {
        self.line.push(b',');
        id(&mut self.line, named);
    }
}
