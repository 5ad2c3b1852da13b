//! Reports the results of calls in the rate model.

use mario_domain::Duration;

use super::super::Flow;
use super::{CallAccount, CallContext, CallFlow, Caller, Walk, requests};
use crate::population::AgentIndex;
use crate::recorder::{CallResults, Recorder};
use crate::simulation::CallIndex;

impl Flow {
    /// Reports the results of all calls so far to the recorder. Returns the number of requests and the number of links
    /// that they passed.
    pub(in crate::flow) fn report_calls(&self, context: CallContext<'_>, recorder: &mut impl Recorder) -> (u64, f64) {
        let Some(calls) = &self.calls else { return (0, 0.0) };
        let mut accounts = calls.accounts.clone();
        let walk = Walk::new(&self.load, context);
        for (agent, caller) in &calls.callers {
            for (call, account) in calls.counted(caller, *agent, &walk) {
                accounts[call].add(&account);
            }
        }
        let mut emitted = 0;
        for account in &accounts {
            let reached = account.report();
            emitted += reached.served + reached.lost;
        }
        calls.subtract_unserved(&mut accounts, &self.load, context);
        let mut hops = 0.0;
        for ((place, account), (_, call)) in (0..).zip(&accounts).zip(context.scenario.calls()) {
            recorder.calls_sent(CallIndex(place), call.application, &account.report());
            hops += account.hops;
        }
        (emitted, hops)
    }
}

impl CallFlow {
    /// The results of the calls of an instance since the last accounting, each with the index of its call.
    pub(super) fn counted(&self, caller: &Caller, agent: AgentIndex, walk: &Walk<'_>) -> Vec<(usize, CallAccount)> {
        let context = walk.context;
        let span = (context.now - caller.since).units();
        if span <= 0.0 || caller.entries.is_empty() {
            return Vec::new();
        }
        let application = context.population.agent(agent).application();
        let first = self.first_call[application.position()] as usize;
        let outcomes = self.mean_outcomes(caller, context.stages(agent), walk);
        let periods = span / context.scenario.agents.period.units();
        let account = |(place, (entry, outcome)): (usize, (&super::Entry, super::MeanOutcome))| {
            let sent = requests(entry.amount) * periods;
            let served = sent * (1.0 - outcome.failed);
            let account = CallAccount {
                sent,
                served,
                lost: sent - served,
                response: served * outcome.time,
                hops: sent * outcome.hops,
            };
            (first + place, account)
        };
        caller.entries.iter().zip(outcomes).enumerate().map(account).collect()
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

    /// The results in whole requests: fractions are not reported until they add up to one.
    fn report(&self) -> CallResults {
        /// Absorbs rounding errors of sums, which could otherwise drop a whole request.
        const NEARLY: f64 = 1e-6;
        let whole = |count: f64| (count + NEARLY).floor().max(0.0);
        let (served, lost) = (whole(self.served), whole(self.lost));
        let part = if self.served > 0.0 { served / self.served } else { 0.0 };
        CallResults {
            sent: whole(self.sent).max(served + lost) as u64,
            served: served as u64,
            lost: lost as u64,
            response: Duration::of((self.response * part).max(0.0)),
        }
    }
}
