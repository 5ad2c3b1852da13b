//! The counts that replace individual events in a summary trace.

use std::collections::BTreeMap;
use std::io::Write;

use mario_domain::{AgentOperation, Concerned, InstanceEffect, OperationCounts, Time};
use serde::{Deserialize, Serialize};

use crate::header::Header;
use crate::json::{natural, number, string};
use crate::record::{OwnerAct, OwnerActKind};
use crate::reference::{ApplicationRef, NodeRef, UserRef};
use crate::writer::TraceWriter;

/// The state of a summary trace.
#[derive(Serialize, Deserialize)]
pub(crate) struct Summing {
    application_of_user: Vec<ApplicationRef>,
    tier_of_node: Vec<u16>,
    tier_count: usize,
    /// Whether an application has flavours. If so, or if `has_sleep`, the record of a cycle counts adapts.
    has_flavours: bool,
    /// Whether an application can sleep. If so, the record of a cycle counts sleeps and wakes.
    has_sleep: bool,
    /// The number of instances by application, then by tier.
    placed: Vec<u64>,
    /// The time of handovers that are not written yet, and their number by application. They are written before the
    /// next handover at a later time, and before the next record of another kind.
    moves: Option<(Time, Vec<u64>)>,
}

/// The counts of one application in a cycle: the outcomes of its agents, and of deploys by operators.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Row {
    nop: u64,
    accepted: OperationCounts,
    inhibited: u64,
    deployed: u64,
    not_deployed: u64,
}

impl Summing {
    pub(crate) fn new(header: &Header<'_>) -> Summing {
        let tier_of_node: Vec<u16> = header.nodes.iter().map(|node| node.tier).collect();
        let has_flavours = header.applications.iter().any(|listed| !listed.application.flavours.is_empty());
        let tier_count = tier_of_node.iter().max().map_or(1, |tier| usize::from(*tier) + 1);
        Summing {
            application_of_user: header.users.iter().map(|user| user.application).collect(),
            tier_of_node,
            tier_count,
            has_flavours,
            has_sleep: header.applications.iter().any(|listed| listed.application.sleep.is_some()),
            placed: vec![0; header.applications.len() * tier_count],
            moves: None,
        }
    }

    /// Whether the counts are consistent with a run with this header.
    pub(crate) fn is_of(&self, header: &Header<'_>) -> bool {
        let fresh = Summing::new(header);
        self.application_of_user == fresh.application_of_user
            && self.tier_of_node == fresh.tier_of_node
            && self.tier_count == fresh.tier_count
            && (self.has_flavours, self.has_sleep) == (fresh.has_flavours, fresh.has_sleep)
            && self.placed.len() == fresh.placed.len()
            && self.moves.as_ref().is_none_or(|(_, moves)| moves.len() == header.applications.len())
    }

    /// Adds `by` instances of an application on a node; removes them if negative.
    pub(crate) fn place(&mut self, application: ApplicationRef, node: NodeRef, by: i64) {
        let tier = usize::from(self.tier_of_node[node.position()]);
        let count = &mut self.placed[application.position() * self.tier_count + tier];
        *count = count.saturating_add_signed(by);
    }
}

/// The counts of a cycle in progress.
pub struct Counts<'s> {
    summing: &'s mut Summing,
    rows: Vec<Row>,
    rules: BTreeMap<&'static str, u64>,
}

impl Counts<'_> {
    /// Counts agents without a proposal.
    pub fn nops(&mut self, application: ApplicationRef, count: u64) {
        self.rows[application.position()].nop += count;
    }

    /// Counts proposals of agents that were inhibited by `rule`, named as in a verdict.
    pub fn inhibited(&mut self, application: ApplicationRef, rule: &'static str, count: u64) {
        self.rows[application.position()].inhibited += count;
        *self.rules.entry(rule).or_default() += count;
    }

    /// Counts an accepted operation of an agent. Its instance was on `from` and is now on `to`; `None` if it was
    /// removed. `created` is the node of a new instance.
    pub fn accepted(
        &mut self,
        application: ApplicationRef,
        operation: AgentOperation,
        (from, to): (NodeRef, Option<NodeRef>),
        created: Option<NodeRef>,
    ) {
        self.rows[application.position()].accepted[operation] += 1;
        if let Some(node) = created {
            self.summing.place(application, node, 1);
        }
        if to != Some(from) {
            self.summing.place(application, from, -1);
            if let Some(to) = to {
                self.summing.place(application, to, 1);
            }
        }
    }

    /// Counts an instance deployed by an operator.
    pub fn deployed(&mut self, application: ApplicationRef, node: NodeRef) {
        self.rows[application.position()].deployed += 1;
        self.summing.place(application, node, 1);
    }

    /// Counts an operator's deploy that was inhibited by `rule`, named as in a verdict.
    pub fn not_deployed(&mut self, application: ApplicationRef, rule: &'static str) {
        self.rows[application.position()].not_deployed += 1;
        *self.rules.entry(rule).or_default() += 1;
    }
}

impl<W: Write> TraceWriter<W> {
    /// Counts a handover. Handovers at the same time are written together.
    pub(crate) fn count_move(&mut self, time: Time, user: UserRef) {
        if self.summing.as_ref().and_then(|summing| summing.moves.as_ref()).is_some_and(|(last, _)| *last < time) {
            self.write_moves();
        }
        let applications = self.seen.len();
        let Some(summing) = &mut self.summing else { return };
        let (_, moves) = summing.moves.get_or_insert_with(|| (time, vec![0; applications]));
        moves[summing.application_of_user[user.position()].position()] += 1;
    }

    /// Writes the handovers that have been counted but not written yet.
    pub(crate) fn write_moves(&mut self) {
        let Some((time, moves)) = self.summing.as_mut().and_then(|summing| summing.moves.take()) else { return };
        self.begin("handovers", time);
        let moved = moves.into_iter().enumerate().filter(|(_, count)| *count > 0);
        self.rows(moved.map(|(application, count)| [application as u64, count].into_iter()));
        self.line.push(b']');
        self.end_line();
    }

    /// Records a cycle. `outcomes` counts the outcomes by application. Does nothing unless the level of detail is
    /// [`Detail::Summary`](crate::Detail::Summary).
    pub fn count_cycle(&mut self, time: Time, outcomes: impl FnOnce(&mut Counts<'_>)) {
        let rows = vec![Row::default(); self.seen.len()];
        let Some(summing) = &mut self.summing else { return };
        let mut counts = Counts { summing, rows, rules: BTreeMap::new() };
        outcomes(&mut counts);
        let Counts { rows, rules, .. } = counts;
        self.write_cycle(time, &rows, &rules);
    }

    fn write_cycle(&mut self, time: Time, rows: &[Row], rules: &BTreeMap<&'static str, u64>) {
        let totals = &mut self.totals;
        for row in rows {
            let with = |effect| row.accepted.iter().filter(move |(operation, _)| operation.effect() == effect);
            let count = |effect| with(effect).map(|(_, count)| count).sum::<u64>();
            let (created, ended) = (count(InstanceEffect::Created), count(InstanceEffect::Ended));
            totals.operations += created + ended + count(InstanceEffect::Kept) + row.deployed;
            totals.inhibited += row.inhibited + row.not_deployed;
            totals.instances += created + row.deployed;
            totals.instances = totals.instances.saturating_sub(ended);
        }
        self.begin("counts", time);
        let summing = self.summing.as_ref();
        let (has_flavours, has_sleep) =
            summing.map_or((false, false), |summing| (summing.has_flavours, summing.has_sleep));
        let told = rows.iter().enumerate().filter(|(_, row)| **row != Row::default());
        self.rows(told.map(|(application, row)| {
            let Row { nop, accepted, inhibited, deployed, not_deployed } = *row;
            let of = |concerned| accepted.of(concerned).map(|(_, count)| count);
            let of_flavours = of(Concerned::WithFlavours).filter(move |_| has_flavours || has_sleep);
            let of_sleep = of(Concerned::WithSleep).filter(move |_| has_sleep);
            let others = [inhibited, deployed, not_deployed].into_iter().chain(of_flavours).chain(of_sleep);
            [application as u64, nop].into_iter().chain(of(Concerned::Every)).chain(others)
        }));
        self.line.extend_from_slice(b",[");
        for (position, (rule, count)) in rules.iter().enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            string(&mut self.line, rule);
            self.line.push(b',');
            natural(&mut self.line, *count);
            self.line.push(b']');
        }
        self.line.push(b']');
        let (tier_count, placed) = match &self.summing {
            Some(summing) => (summing.tier_count, summing.placed.clone()),
            None => (1, Vec::new()),
        };
        self.placed(tier_count, &placed);
        self.line.push(b']');
        self.end_line();
    }

    /// Records how often a node's owner acted at one time, by application and kind of action.
    pub(crate) fn count_owner(
        &mut self,
        time: Time,
        node: NodeRef,
        acts: impl Iterator<Item = (ApplicationRef, OwnerAct)>,
    ) {
        // For each application: evicted, shrunk, announced.
        let mut rows = vec![[0_u64; 3]; self.seen.len()];
        let Some(summing) = &mut self.summing else { return };
        for (application, act) in acts {
            let row = &mut rows[application.position()];
            match act.kind {
                OwnerActKind::Evicted => {
                    row[0] += 1;
                    summing.place(application, node, -1);
                    self.totals.instances = self.totals.instances.saturating_sub(1);
                }
                OwnerActKind::Shrunk(_) => row[1] += 1,
                OwnerActKind::Announced(_) => row[2] += 1,
            }
        }
        let tier = u64::from(summing.tier_of_node[node.position()]);
        self.begin("owners", time);
        let told = rows.iter().enumerate().filter(|(_, row)| **row != [0; 3]);
        self.rows(told.map(|(application, [evicted, shrunk, announced])| {
            [application as u64, tier, *evicted, *shrunk, *announced].into_iter()
        }));
        self.line.push(b']');
        self.end_line();
    }

    /// Records that instances of these applications were lost with their node. Writes nothing if there were none.
    pub(crate) fn count_gone(
        &mut self,
        time: Time,
        node: NodeRef,
        gone: impl ExactSizeIterator<Item = ApplicationRef>,
    ) {
        if gone.len() == 0 {
            return;
        }
        let Some(summing) = &mut self.summing else { return };
        let mut lost = vec![0; summing.placed.len()];
        let (tier_count, tier) = (summing.tier_count, usize::from(summing.tier_of_node[node.position()]));
        for application in gone {
            summing.place(application, node, -1);
            lost[application.position() * tier_count + tier] += 1;
        }
        self.begin("gone", time);
        self.placed(tier_count, &lost);
        self.line.push(b']');
        self.end_line();
    }

    /// Writes the results of each application's users over the whole run.
    pub(crate) fn clients_of_applications(&mut self, time: Time) {
        let Some(summing) = &self.summing else { return };
        // For each application: users with a served request, requests served, requests lost, and the sum of the users'
        // mean response times.
        let mut sums = vec![(0_u64, 0_u64, 0_u64, 0.0_f64); self.seen.len()];
        for (client, application) in self.clients.iter().zip(&summing.application_of_user) {
            let sum = &mut sums[application.position()];
            sum.0 += u64::from(client.served > 0);
            sum.1 += client.served;
            sum.2 += client.lost;
            if client.served > 0 {
                sum.3 += client.sum.units() / client.served as f64;
            }
        }
        for (application, (users, served, lost, sum)) in sums.into_iter().enumerate() {
            self.begin("clients", time);
            for count in [application as u64, users, served, lost] {
                self.line.push(b',');
                natural(&mut self.line, count);
            }
            self.line.push(b',');
            number(&mut self.line, sum);
            self.line.push(b']');
            self.end_line();
        }
    }

    fn placed(&mut self, tier_count: usize, placed: &[u64]) {
        let filled = placed.iter().enumerate().filter(|(_, count)| **count > 0);
        let row = |(place, count): (usize, &u64)| [(place / tier_count) as u64, (place % tier_count) as u64, *count];
        self.rows(filled.map(|filled| row(filled).into_iter()));
    }

    /// Writes a list of lists of numbers as the next element.
    fn rows(&mut self, rows: impl Iterator<Item = impl Iterator<Item = u64>>) {
        self.line.extend_from_slice(b",[");
        for (position, row) in rows.enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            for (place, count) in row.enumerate() {
                if place > 0 {
                    self.line.push(b',');
                }
                natural(&mut self.line, count);
            }
            self.line.push(b']');
        }
        self.line.push(b']');
    }
}
