//! What became of calls that were rates.

use mario_domain::Duration;

use super::super::Flow;
use super::super::load::Load;
use super::{Beyond, CallAccount, CallFlow, Caller, requests};
use crate::population::AgentIndex;
use crate::recorder::{Recorder, SentCalls};
use crate::simulation::CallIndex;

impl Flow {
    /// Tells the recorder what became of all calls until now. Returns how many requests that were, and over how many links they went.
    /// Changes nothing.
    pub(in crate::flow) fn tell_calls(&self, beyond: Beyond<'_>, recorder: &mut impl Recorder) -> (u64, f64) {
        let Some(calls) = &self.calls else { return (0, 0.0) };
        let mut accounts = calls.accounts.clone();
        for (agent, caller) in &calls.callers {
            for (call, account) in calls.counted(caller, *agent, &self.load, beyond) {
                accounts[call].add(&account);
            }
        }
        let (mut emitted, mut hops) = (0, 0.0);
        for ((place, account), (_, call)) in (0..).zip(&accounts).zip(beyond.scenario.calls()) {
            let sent = account.told();
            recorder.calls_sent(CallIndex(place), call.application, &sent);
            emitted += sent.served + sent.lost;
            hops += account.hops;
        }
        (emitted, hops)
    }
}

impl CallFlow {
    /// What became of the calls of an instance since they were last counted: which call, and what.
    pub(super) fn counted(
        &self,
        caller: &Caller,
        agent: AgentIndex,
        load: &Load,
        beyond: Beyond<'_>,
    ) -> Vec<(usize, CallAccount)> {
        let span = (beyond.now - caller.since).units();
        if span <= 0.0 || caller.entries.is_empty() {
            return Vec::new();
        }
        let application = beyond.population.agent(agent).application();
        let first = self.first_call[application.position()] as usize;
        let met = self.met(caller, beyond.stages(agent), load, beyond);
        let periods = span / beyond.scenario.agents.period.units();
        let account = |(place, (entry, met)): (usize, (&super::Entry, super::Met))| {
            let sent = requests(entry.amount) * periods;
            let served = sent * (1.0 - met.failed);
            let account =
                CallAccount { sent, served, lost: sent - served, response: served * met.time, hops: sent * met.hops };
            (first + place, account)
        };
        caller.entries.iter().zip(met).enumerate().map(account).collect()
    }
}

impl CallAccount {
    pub(super) fn add(&mut self, other: &CallAccount) {
        self.sent += other.sent;
        self.served += other.served;
        self.lost += other.lost;
        self.response += other.response;
        self.hops += other.hops;
    }

    /// In whole requests: parts of them wait until they are whole.
    fn told(&self) -> SentCalls {
        /// What is lost in sums of fractions must not take a request away.
        const NEARLY: f64 = 1e-6;
        let whole = |count: f64| (count + NEARLY).floor().max(0.0);
        let (served, lost) = (whole(self.served), whole(self.lost));
        let part = if self.served > 0.0 { served / self.served } else { 0.0 };
        SentCalls {
            sent: whole(self.sent).max(served + lost) as u64,
            served: served as u64,
            lost: lost as u64,
            response: Duration::of((self.response * part).max(0.0)),
        }
    }
}
