//! What a trace of counts has in place of single events.

use std::collections::BTreeMap;
use std::io::Write;

use mario_domain::OperationName;
use mario_scenario::{ApplicationIndex, NodeIndex, Scenario, UserIndex};
use serde::{Deserialize, Serialize};

use super::TraceWriter;
use crate::output::json::{natural, number, string};
use crate::population::{AgentIndex, Colony, Deployed, Judged, Label, Outcome, Ruling};

/// What is counted instead of told.
#[derive(Serialize, Deserialize)]
pub(super) struct Summing {
    application_of_user: Vec<ApplicationIndex>,
    tier_of_node: Vec<u16>,
    tier_count: usize,
    /// By application, then by tier.
    placed: Vec<u64>,
    /// When users moved last, and how many of each application; told as soon as something else happens.
    moves: Option<(f64, Vec<u64>)>,
}

/// What became of the agents of an application in a cycle, in the order of the record.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Row {
    nop: u64,
    undeploy: u64,
    migrate: u64,
    replicate: u64,
    inhibited: u64,
    deployed: u64,
    not_deployed: u64,
}

impl Summing {
    pub(super) fn new(scenario: &Scenario) -> Summing {
        let tier_of_node: Vec<u16> = scenario.topology.nodes().map(|(_, node)| node.tier).collect();
        let tier_count = tier_of_node.iter().max().map_or(1, |tier| usize::from(*tier) + 1);
        Summing {
            application_of_user: scenario.users.iter().map(|user| user.application).collect(),
            tier_of_node,
            tier_count,
            placed: vec![0; scenario.applications.len() * tier_count],
            moves: None,
        }
    }

    /// Whether it can have summed up the run of a scenario.
    pub(super) fn is_of(&self, scenario: &Scenario) -> bool {
        let founded = Summing::new(scenario);
        self.application_of_user == founded.application_of_user
            && self.tier_of_node == founded.tier_of_node
            && self.tier_count == founded.tier_count
            && self.placed.len() == founded.placed.len()
            && self.moves.as_ref().is_none_or(|(_, moves)| moves.len() == scenario.applications.len())
    }

    /// Instances of an application came to a node, or went from it.
    pub(super) fn place(&mut self, application: ApplicationIndex, node: NodeIndex, by: i64) {
        let tier = usize::from(self.tier_of_node[node.position()]);
        let count = &mut self.placed[application.position() * self.tier_count + tier];
        *count = count.saturating_add_signed(by);
    }

    fn follow(&mut self, judged: &Judged, colony: &Colony) {
        let acting = colony.agent(judged.agent);
        let application = acting.application();
        if let Some(created) = judged.created {
            self.place(application, colony.agent(created).node(), 1);
        }
        if !acting.is_alive() {
            self.place(application, judged.from, -1);
        } else if judged.wish.operation == OperationName::Migrate {
            self.place(application, judged.from, -1);
            self.place(application, acting.node(), 1);
        }
    }
}

/// The rule that speaks against something; `None` when it was accepted.
fn rule_against(ruling: &Ruling) -> Option<&'static str> {
    match ruling {
        Ruling::Accepted => None,
        Ruling::NoRoom { .. } => Some(CAPACITY),
        Ruling::Inhibited(inhibition) => Some(inhibition.rule.as_str()),
    }
}

const CAPACITY: &str = "capacity";

impl<W: Write> TraceWriter<W> {
    /// A user moved. Moves of one time are told together.
    pub(super) fn count_move(&mut self, time: f64, user: UserIndex) {
        if self.summing.as_ref().and_then(|summing| summing.moves.as_ref()).is_some_and(|(last, _)| *last < time) {
            self.tell_moves();
        }
        let applications = self.seen.len();
        let Some(summing) = &mut self.summing else { return };
        let (_, moves) = summing.moves.get_or_insert_with(|| (time, vec![0; applications]));
        moves[summing.application_of_user[user.position()].position()] += 1;
    }

    /// Tells of the moves that were counted last.
    pub(super) fn tell_moves(&mut self) {
        let Some((time, moves)) = self.summing.as_mut().and_then(|summing| summing.moves.take()) else { return };
        self.begin("handovers", time);
        let moved = moves.into_iter().enumerate().filter(|(_, count)| *count > 0);
        self.rows(moved.map(|(application, count)| [application as u64, count]));
        self.line.push(b']');
        self.end_line();
    }

    /// What became of the agents, application by application.
    pub(super) fn count_cycle(&mut self, time: f64, label: &Label, colony: &Colony) {
        let mut rows = vec![Row::default(); self.seen.len()];
        let mut rules: BTreeMap<&'static str, u64> = BTreeMap::new();
        let Some(summing) = &mut self.summing else { return };
        for outcome in label.iter() {
            match &outcome {
                Outcome::Nop(agent) => rows[colony.agent(*agent).application().position()].nop += 1,
                Outcome::Judged(judged) => {
                    let row = &mut rows[colony.agent(judged.agent).application().position()];
                    if let Some(rule) = rule_against(&judged.ruling) {
                        row.inhibited += 1;
                        *rules.entry(rule).or_default() += 1;
                        continue;
                    }
                    match judged.wish.operation {
                        OperationName::Undeploy => row.undeploy += 1,
                        OperationName::Migrate => row.migrate += 1,
                        OperationName::Replicate | OperationName::Deploy => row.replicate += 1,
                    }
                    summing.follow(judged, colony);
                }
                Outcome::Deployed(Deployed { deployment, ruling, created }) => {
                    let row = &mut rows[deployment.application.position()];
                    match (rule_against(ruling), created) {
                        (Some(rule), _) => {
                            row.not_deployed += 1;
                            *rules.entry(rule).or_default() += 1;
                        }
                        (None, Some(created)) => {
                            row.deployed += 1;
                            summing.place(deployment.application, colony.agent(*created).node(), 1);
                        }
                        (None, None) => {}
                    }
                }
            }
        }
        for (row, resting) in rows.iter_mut().zip(label.resting()) {
            row.nop += resting.idle;
            row.inhibited += resting.refused;
            if resting.refused > 0 {
                *rules.entry(CAPACITY).or_default() += resting.refused;
            }
        }
        self.tell_cycle(time, &rows, &rules);
    }

    fn tell_cycle(&mut self, time: f64, rows: &[Row], rules: &BTreeMap<&'static str, u64>) {
        let totals = &mut self.totals;
        for row in rows {
            totals.operations += row.undeploy + row.migrate + row.replicate + row.deployed;
            totals.inhibited += row.inhibited + row.not_deployed;
            totals.instances += row.replicate + row.deployed;
            totals.instances = totals.instances.saturating_sub(row.undeploy);
        }
        self.begin("counts", time);
        let told = rows.iter().enumerate().filter(|(_, row)| **row != Row::default());
        self.rows(told.map(|(application, row)| {
            let Row { nop, undeploy, migrate, replicate, inhibited, deployed, not_deployed } = *row;
            [application as u64, nop, undeploy, migrate, replicate, inhibited, deployed, not_deployed]
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

    /// Instances went with their node.
    pub(super) fn count_gone(&mut self, time: f64, node: NodeIndex, gone: &[AgentIndex], colony: &Colony) {
        if gone.is_empty() {
            return;
        }
        let Some(summing) = &mut self.summing else { return };
        let mut lost = vec![0; summing.placed.len()];
        let (tier_count, tier) = (summing.tier_count, usize::from(summing.tier_of_node[node.position()]));
        for agent in gone {
            let application = colony.agent(*agent).application();
            summing.place(application, node, -1);
            lost[application.position() * tier_count + tier] += 1;
        }
        self.begin("gone", time);
        self.placed(tier_count, &lost);
        self.line.push(b']');
        self.end_line();
    }

    /// What the users of each application saw in the whole run.
    pub(super) fn clients_of_applications(&mut self, time: f64) {
        let Some(summing) = &self.summing else { return };
        // Users, requests served, requests lost, and the sum of mean response times.
        let mut sums = vec![(0_u64, 0_u64, 0_u64, 0.0_f64); self.seen.len()];
        for (client, application) in self.clients.iter().zip(&summing.application_of_user) {
            let sum = &mut sums[application.position()];
            sum.0 += u64::from(client.served > 0);
            sum.1 += client.served;
            sum.2 += client.lost;
            if client.served > 0 {
                sum.3 += client.sum / client.served as f64;
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
        self.rows(filled.map(|(place, count)| [(place / tier_count) as u64, (place % tier_count) as u64, *count]));
    }

    /// A list of lists of numbers, as the next element.
    fn rows<const N: usize>(&mut self, rows: impl Iterator<Item = [u64; N]>) {
        self.line.extend_from_slice(b",[");
        for (position, row) in rows.enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            for (place, count) in row.into_iter().enumerate() {
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
