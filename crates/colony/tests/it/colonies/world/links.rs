//! Links between daemons: sessions, and messages that are late, lost or duplicated.

use std::fmt::Write;

use mario_colony::{Input, JournalId, Message};
use mario_domain::NodeId;

use super::{Letter, Scheduled, World};
use crate::colonies::plan::HORIZON_MS;
use crate::colonies::sabotage::Sabotage;

/// The loss rate of the kind of message in `Conditions::unlucky`.
const UNLUCKY_LOSS_PERCENT: u64 = 90;

/// A link between two nodes. Each session on it opens with a hello in each direction.
pub struct Link {
    pub ends: [usize; 2],
    pub is_cut: bool,
    is_up: bool,
    session: u64,
    /// For each sender: the last session that it opened, and when its hello arrives.
    opened: [u64; 2],
    hello_at: [u64; 2],
}

impl Link {
    pub fn new(ends: [usize; 2]) -> Link {
        Link { ends, is_cut: false, is_up: false, session: 0, opened: [0; 2], hello_at: [0; 2] }
    }
}

impl World<'_> {
    /// Updates which links are up, and reports changed neighbours to nodes. A link is up if it is not cut and both of
    /// its nodes run.
    pub(super) fn relink(&mut self) {
        let mut changed = vec![false; self.daemons.len()];
        for link in &mut self.links {
            let is_up = !link.is_cut && link.ends.iter().all(|end| self.daemons[*end].node.is_some());
            if is_up != link.is_up {
                link.is_up = is_up;
                link.session += u64::from(is_up);
                link.ends.iter().for_each(|end| changed[*end] = true);
            }
        }
        for node in (0..self.daemons.len()).filter(|node| changed[*node]) {
            let links = self.links.iter().filter(|link| link.is_up && link.ends.contains(&node));
            let ends = links.map(|link| if link.ends[0] == node { link.ends[1] } else { link.ends[0] });
            let neighbours: Vec<NodeId> = ends.map(|end| self.daemons[end].id.clone()).collect();
            self.input(node, Input::Neighbours(neighbours));
        }
    }

    pub(super) fn send(&mut self, from: usize, to: &NodeId, receiver: Option<JournalId>, message: Message) {
        let Some(to) = self.daemons.iter().position(|daemon| daemon.id == *to) else { return };
        let ends = [from.min(to), from.max(to)];
        let Some(index) = self.links.iter().position(|link| link.ends == ends && link.is_up) else { return };
        let Some(sender) = self.daemons[from].node.as_ref().map(mario_colony::Node::journal) else { return };
        let side = usize::from(from > to);
        let mut arrives_at = self.now + self.delay();
        let link = &mut self.links[index];
        let mut session = None;
        arrives_at = arrives_at.max(link.hello_at[side] + 1);
        if matches!(message, Message::Hello(_)) {
            (link.opened[side], link.hello_at[side]) = (link.session, arrives_at);
            session = Some((index, link.session));
        } else if link.opened[side] != link.session {
            return;
        } else if !self.is_calm && self.is_lost(&message) {
            let _ = writeln!(self.log, "{} lost n{from} > n{to} {}", self.now, outline(&message));
            return;
        } else if !self.is_calm && self.random.percent(self.plan.conditions.duplication_percent) {
            let is_very_late = self.random.percent(20);
            let within = if is_very_late { HORIZON_MS } else { self.plan.conditions.delay_max * 4 + 200 };
            let again = arrives_at + self.random.below(within);
            let letter = Letter { from, to, sender, receiver, session, message: message.clone() };
            self.schedule(again, Scheduled::Deliver(Box::new(letter)));
        }
        self.forge(from, to, &message);
        let letter = Letter { from, to, sender, receiver, session, message };
        self.schedule(arrives_at, Scheduled::Deliver(Box::new(letter)));
    }

    fn is_lost(&mut self, message: &Message) -> bool {
        let conditions = &self.plan.conditions;
        let is_unlucky = conditions.unlucky.is_some_and(|kind| kind.is_of(message));
        self.random.percent(if is_unlucky { UNLUCKY_LOSS_PERCENT } else { conditions.loss_percent })
    }

    fn delay(&mut self) -> u64 {
        let delay = self.random.between(1, self.plan.conditions.delay_max);
        if self.is_calm { delay.min(20) } else { delay }
    }

    /// If the sabotage forges an answer to this message, schedules its delivery in 50 ms.
    fn forge(&mut self, from: usize, to: usize, message: &Message) {
        let forged = match (self.sabotage, message) {
            (Some(Sabotage::GivesUpCustody), Message::Transfer { transfer, .. }) => {
                Letter::answering(self, from, to, Message::NotTaken { transfer: *transfer })
            }
            (Some(Sabotage::ForgetsUnasked), Message::Taken { transfer, .. }) => {
                Letter::answering(self, from, to, Message::Forget { transfer: *transfer })
            }
            _ => return,
        };
        let at = self.now + 50;
        self.schedule(at, Scheduled::Deliver(Box::new(forged)));
    }

    pub(super) fn deliver(&mut self, letter: Letter) {
        let Letter { from, to, sender, receiver, session, mut message } = letter;
        if session.is_some_and(|(link, session)| self.links[link].session != session || !self.links[link].is_up) {
            return;
        }
        if self.daemons[to].node.is_none() {
            return;
        }
        if self.sabotage == Some(Sabotage::IgnoresTokens)
            && let Message::Transfer { transfer, token, .. } = &mut message
            && let Some(newest) = self.daemons[to].promised.get(transfer)
        {
            *token = *newest;
        }
        // Peers detect lost records by `concerning`, so a node that keeps the identity of a lost disk forges it too.
        if self.sabotage == Some(Sabotage::KeepsIdentity)
            && let Message::Hello(hello) = &mut message
        {
            hello.concerning = u64::MAX;
            (hello.knows, hello.held) = (None, Vec::new());
        }
        let _ = writeln!(self.log, "{} n{to} < n{from} {}", self.now, outline(&message));
        self.note_delivery(to, &message);
        let from = self.daemons[from].id.clone();
        self.input(to, Input::Received { from, sender, receiver, message });
    }
}

impl Letter {
    /// A forged answer to a message, which appears to come from the message's receiver.
    fn answering(world: &World<'_>, from: usize, to: usize, message: Message) -> Letter {
        let [sender, receiver] = [to, from].map(|node| world.daemons[node].journal);
        Letter { from: to, to: from, sender, receiver: Some(receiver), session: None, message }
    }
}

/// A message in one line.
fn outline(message: &Message) -> String {
    match message {
        Message::Hello(hello) => format!("Hello {:?} sequence {} open {:?}", hello.journal, hello.sequence, hello.open),
        Message::Prepare(prepare) => {
            format!("Prepare {:?} {:?} {} e{}", prepare.transfer, prepare.kind, prepare.instance, prepare.epoch.0)
        }
        Message::Transfer { transfer, token, .. } => format!("Transfer {transfer:?} {token:?}"),
        other => format!("{other:?}"),
    }
}
