//! Timers: expiry, resending, periodic evaluation. Safety depends on none of them.

use mario_domain::{Duration, Inhibition, InstanceId, NodeId, Rule, Time};

use super::{State, Step};
use crate::ids::TransferId;
use crate::message::Message;

impl State {
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let retries = self.retries.values().map(|retry| retry.at);
        let deadlines = self.outgoing.values().map(|outgoing| outgoing.deadline);
        let expiries = self.incoming.values().map(|place| place.expires);
        let evaluates = self.config.timing.evaluation_period.is_some();
        let evaluations = self.agents.values().filter(|_| evaluates).map(|agent| agent.next_evaluation);
        retries.chain(self.next_restart()).chain(deadlines).chain(expiries).chain(evaluations).min()
    }
}

impl Step<'_> {
    pub(super) fn timeout(&mut self) {
        let now = self.now;
        let state = &*self.state;
        let late = state.outgoing.iter().filter(|(_, outgoing)| outgoing.deadline <= now);
        let late: Vec<TransferId> = late.map(|(transfer, _)| *transfer).collect();
        let expired = state.incoming.iter().filter(|(_, place)| place.expires <= now);
        let expired: Vec<TransferId> = expired.map(|(transfer, _)| *transfer).collect();
        for transfer in late {
            self.prepare_timed_out(transfer);
        }
        for transfer in expired {
            self.drop_reservation(transfer);
        }
        let due = self.state.retries.iter().filter(|(_, retry)| retry.at <= now);
        let due: Vec<TransferId> = due.map(|(transfer, _)| *transfer).collect();
        for transfer in due {
            self.send_again(transfer);
        }
        self.restart_due();
        if let Some(period) = self.state.config.timing.evaluation_period {
            self.evaluate_due(period);
        }
    }

    /// Aborts a transfer whose preparation took too long, or whose target was declared lost. The preparation takes too
    /// long if the target is not ready, or the copy of an exclusive application here has not stopped, by the deadline.
    pub(super) fn prepare_timed_out(&mut self, transfer: TransferId) {
        let Some(outgoing) = self.state.outgoing.get(&transfer) else { return };
        let inhibition = Inhibition { node: outgoing.target.clone(), rule: Rule::Unanswered };
        self.give_up(transfer, inhibition);
    }

    /// Resends the open message of a transfer, and doubles its backoff up to the maximum.
    pub(super) fn send_again(&mut self, transfer: TransferId) {
        let longest = self.state.config.timing.resend_after_max;
        let now = self.now;
        let Some(retry) = self.state.retries.get_mut(&transfer) else { return };
        retry.after = (retry.after * 2.0).min(longest);
        retry.at = now + retry.after;
        if let Some(outgoing) = self.state.outgoing.get(&transfer) {
            let message = Message::Prepare(std::sync::Arc::clone(&outgoing.prepare));
            let (target, receiver) = (outgoing.target.clone(), outgoing.receiver);
            self.send(&target, receiver, message);
        } else if let Some(source) = self.state.ledger.taken.get(&transfer).cloned() {
            let concerning = self.state.ledger.concerning(&source);
            self.send(&source, transfer.journal, Message::Taken { transfer, concerning });
        } else {
            self.send_transfer(transfer);
        }
    }

    /// Resends the open messages to a neighbour that has introduced itself, and resets their backoff.
    pub(super) fn send_again_to(&mut self, neighbour: &NodeId) {
        let (State { ledger, outgoing, .. }, after) = (&*self.state, self.state.config.timing.resend_after);
        let custody = ledger.custody.values().map(|custody| (custody.transfer, &custody.target));
        let grants = ledger.grants.values().map(|grant| (grant.transfer, &grant.target));
        let preparing = outgoing.iter().map(|(transfer, outgoing)| (*transfer, &outgoing.target));
        let taken = ledger.taken.iter().map(|(transfer, source)| (*transfer, source));
        let open = custody.chain(grants).chain(preparing).chain(taken).filter(|(_, other)| *other == neighbour);
        let open: Vec<TransferId> = open.map(|(transfer, _)| transfer).collect();
        for transfer in open {
            if let Some(retry) = self.state.retries.get_mut(&transfer) {
                retry.after = after * 0.5;
                self.send_again(transfer);
            }
        }
    }

    fn evaluate_due(&mut self, period: Duration) {
        let now = self.now;
        let due = self.state.agents.iter_mut().filter(|(_, agent)| agent.next_evaluation <= now);
        let due: Vec<InstanceId> = due
            .map(|(instance, agent)| {
                // After a pause of the machine, missed evaluations are skipped.
                agent.next_evaluation = now + period;
                instance.clone()
            })
            .collect();
        for instance in &due {
            self.evaluate(instance);
        }
        for instance in &due {
            self.judge_agent(instance);
        }
    }
}
