//! Calls that instances make to other applications while they serve client requests, if messages are simulated.
//!
//! A client request to an application that calls others is *pending* from the start of its service until all its calls
//! have been answered. An instance does not wait for its calls: it starts the next request as soon as its own part is
//! done. Answers to calls take no time, like answers to users. If a call is lost, or if the instance is removed while
//! the request is pending, the request is lost as well. Calls that were already sent are still delivered and
//! served, but their answers are ignored.

use mario_domain::Time;
use mario_scenario::{ApplicationIndex, Call, CallOrder, NodeIndex, Scenario, UserIndex, indices};
use serde::{Deserialize, Serialize};

use super::Simulation;
use crate::network::Message;
use crate::population::AgentIndex;
use crate::recorder::{Recorder, Served, ServedCall};

indices! {
    /// The index of a call. Calls are ordered by application, then by stage.
    pub CallIndex;
    /// The index of a pending request.
    pub(crate) PendingIndex;
}

/// Who waits for the answer to a client request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// The user who sent it.
    User(UserIndex),
    /// The pending request for which an instance sent it.
    Call { caller: PendingIndex, call: CallIndex },
}

/// A client request, or a request of a call, to an application that calls others, from the start of its service until
/// nothing is outstanding for it: its calls are answered or lost.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pending {
    origin: Origin,
    agent: AgentIndex,
    emitted: Time,
    arrived: Time,
    started: Time,
    /// The next stage to start.
    next_stage: u32,
    /// Requests of the current stage that are still to be sent; 0 in a parallel stage, which sends all at once.
    to_send: u32,
    /// The number of events that the request waits for: the end of its own service, or, for each request of a call that
    /// was sent for it, the answer or the loss.
    outstanding: u32,
    is_lost: bool,
}

/// All calls of a scenario, and the client requests that wait for them.
pub(super) struct Calls {
    /// Each call, with the application that makes it.
    all: Vec<(ApplicationIndex, Call)>,
    /// The index of the first call of each application.
    first: Vec<u32>,
    pending: PendingTable,
}

/// Pending requests. Slots are reused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PendingTable {
    all: Vec<Pending>,
    free: Vec<PendingIndex>,
}

impl Calls {
    pub(super) fn new(scenario: &Scenario) -> Calls {
        let mut first = Vec::new();
        if scenario.has_calls() {
            let mut count = 0;
            for plan in &scenario.applications {
                first.push(count);
                count += plan.calls().count() as u32;
            }
        }
        Calls { all: scenario.calls().collect(), first, pending: PendingTable::default() }
    }

    pub(super) fn saved(&self) -> &PendingTable {
        &self.pending
    }

    pub(super) fn restore(&mut self, pending: PendingTable) {
        self.pending = pending;
    }

    /// The sizes of the tables of pending requests and of calls.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.pending.all.len(), self.all.len())
    }
}

impl PendingTable {
    fn add(&mut self, pending: Pending) -> PendingIndex {
        if let Some(index) = self.free.pop() {
            self.all[index.position()] = pending;
            return index;
        }
        self.all.push(pending);
        PendingIndex::at(self.all.len() - 1)
    }

    /// Whether each restored pending request is at a valid stage, and waits for exactly what refers to it: scheduled
    /// `answers`, requests with these `origins`, and other pending requests.
    pub(super) fn is_consistent(
        &self,
        stage_count: impl Fn(AgentIndex) -> usize,
        answers: impl Iterator<Item = PendingIndex>,
        origins: impl Iterator<Item = Origin>,
    ) -> bool {
        let mut is_free = vec![false; self.all.len()];
        let is_once = |index: &PendingIndex| {
            let is_free = is_free.get_mut(index.position());
            is_free.is_some_and(|is_free| !std::mem::replace(is_free, true))
        };
        if !self.free.iter().all(is_once) {
            return false;
        }
        let alive = || self.all.iter().zip(&is_free).filter(|(_, is_free)| !**is_free).map(|(pending, _)| pending);
        let caller = |origin: Origin| match origin {
            Origin::User(_) => None,
            Origin::Call { caller, .. } => Some(caller),
        };
        // The loss of a pending request was already reported to its caller.
        let called = alive().filter(|pending| !pending.is_lost).map(|pending| pending.origin);
        let mut referred = vec![0_u32; self.all.len()];
        for index in answers.chain(origins.chain(called).filter_map(caller)) {
            match referred.get_mut(index.position()) {
                Some(count) => *count += 1,
                None => return false,
            }
        }
        let is_sound = |pending: &Pending, referred: u32| {
            pending.outstanding == referred
                && referred > 0
                && (pending.to_send == 0 || pending.next_stage > 0)
                && pending.next_stage as usize <= stage_count(pending.agent)
        };
        let all = self.all.iter().zip(&referred).zip(&is_free);
        all.into_iter().all(
            |((pending, referred), is_free)| {
                if *is_free { *referred == 0 } else { is_sound(pending, *referred) }
            },
        )
    }
}

impl Simulation<'_> {
    /// Starts the service of a request. `served.ended` is the time when the instance's own part ends. A request to an
    /// application without calls is reported as served at once; others become pending.
    pub(super) fn take_up(&mut self, origin: Origin, served: ServedCall, recorder: &mut impl Recorder) {
        let has_calls = !self.scenario.applications[served.application.position()].stages.is_empty();
        if has_calls {
            let ServedCall { agent, emitted, arrived, started, .. } = served;
            let pending = Pending {
                origin,
                agent,
                emitted,
                arrived,
                started,
                next_stage: 0,
                to_send: 0,
                outstanding: 1,
                is_lost: false,
            };
            let pending = self.calls.pending.add(pending);
            self.queue.schedule(served.ended, super::Event::Answer(pending));
            return;
        }
        report_served(origin, &served, recorder);
        if let Origin::Call { caller, .. } = origin {
            self.queue.schedule(served.ended, super::Event::Answer(caller));
        }
    }

    /// Handles one of the events that a pending request waits for: the end of its own service, or an answer to a call.
    pub(super) fn answer(&mut self, index: PendingIndex, recorder: &mut impl Recorder) {
        let pending = &mut self.calls.pending.all[index.position()];
        pending.outstanding -= 1;
        if pending.outstanding > 0 {
            return;
        }
        if pending.is_lost {
            self.calls.pending.free.push(index);
            return;
        }
        let Pending { agent, origin, emitted, arrived, started, next_stage, to_send, .. } = *pending;
        let application = self.population.agent(agent).application();
        let stages = &self.scenario.applications[application.position()].stages;
        if to_send > 0 {
            let call = self.call_at(application, next_stage as usize - 1);
            self.send_one_of(index, call, to_send, recorder);
            return;
        }
        let Some(stage) = stages.get(next_stage as usize) else {
            self.calls.pending.free.push(index);
            let ended = self.queue.now();
            report_served(origin, &ServedCall { application, agent, emitted, arrived, started, ended }, recorder);
            if let Origin::Call { caller, .. } = origin {
                self.answer(caller, recorder);
            }
            return;
        };
        self.calls.pending.all[index.position()].next_stage = next_stage + 1;
        let first = self.call_at(application, next_stage as usize);
        match stage.order {
            CallOrder::Sequence => self.send_one_of(index, first, stage.requests(), recorder),
            CallOrder::Parallel => {
                self.calls.pending.all[index.position()].outstanding = stage.requests();
                for (call, of) in (first.0..).map(CallIndex).zip(&stage.calls) {
                    recorder.call_sent(call, of.requests);
                    for _ in 0..of.requests {
                        self.send_call(index, agent, call, recorder);
                    }
                }
            }
        }
    }

    /// The first call of a stage.
    fn call_at(&self, application: ApplicationIndex, stage: usize) -> CallIndex {
        let stages = &self.scenario.applications[application.position()].stages;
        let before: usize = stages[..stage].iter().map(|stage| stage.calls.len()).sum();
        CallIndex(self.calls.first[application.position()] + before as u32)
    }

    /// Sends the next request of a call whose requests are sent in sequence. `left` is the number still to be sent,
    /// including this one.
    fn send_one_of(&mut self, index: PendingIndex, call: CallIndex, left: u32, recorder: &mut impl Recorder) {
        let pending = &mut self.calls.pending.all[index.position()];
        (pending.outstanding, pending.to_send) = (1, left - 1);
        let agent = pending.agent;
        recorder.call_sent(call, 1);
        self.send_call(index, agent, call, recorder);
    }

    /// Sends a request of a call from the node of an instance.
    fn send_call(&mut self, caller: PendingIndex, agent: AgentIndex, call: CallIndex, recorder: &mut impl Recorder) {
        let (_, Call { application, .. }) = self.calls.all[call.position()];
        let access_point: NodeIndex = self.population.agent(agent).node();
        self.statistics.emitted += 1;
        let (router, mut context) = self.routing();
        let route = router.route_from(access_point, application, &mut context);
        let origin = Origin::Call { caller, call };
        match route {
            Some(route) => {
                let emitted = self.queue.now();
                let message = Message { emitted, origin, agent: route.agent, path: route.path, hops: 0 };
                let message = self.messages.add(message);
                self.arrive(message);
            }
            None => self.lose(origin, application, recorder),
        }
    }

    /// Reports the loss of a client request to an application. If it is a call, the request for which it was sent is
    /// lost, too.
    pub(super) fn lose(&mut self, origin: Origin, application: ApplicationIndex, recorder: &mut impl Recorder) {
        let now = self.queue.now();
        self.count_loss(application);
        match origin {
            Origin::User(user) => recorder.lost(now, user, application),
            Origin::Call { caller, call } => {
                recorder.call_lost(now, call, application);
                self.lose_pending(caller, recorder);
                let pending = &mut self.calls.pending.all[caller.position()];
                pending.outstanding -= 1;
                if pending.outstanding == 0 {
                    self.calls.pending.free.push(caller);
                }
            }
        }
    }

    /// Marks a pending request as lost and reports the loss, unless it is already lost.
    fn lose_pending(&mut self, index: PendingIndex, recorder: &mut impl Recorder) {
        let pending = &mut self.calls.pending.all[index.position()];
        if std::mem::replace(&mut pending.is_lost, true) {
            return;
        }
        let (origin, agent) = (pending.origin, pending.agent);
        let application = self.population.agent(agent).application();
        self.lose(origin, application, recorder);
    }

    /// Updates the calls of instances after the users' connections changed, if traffic is modelled as rates.
    pub(super) fn settle_calls(&mut self) {
        if let Some((flow, router, mut world)) = self.flowing()
            && flow.has_calls()
        {
            flow.settle_calls(router, &mut world);
        }
    }

    /// Marks the pending requests of a removed instance as lost.
    pub(super) fn lose_pending_of(&mut self, agent: AgentIndex, recorder: &mut impl Recorder) {
        if self.calls.all.is_empty() {
            return;
        }
        for place in 0..self.calls.pending.all.len() {
            let pending = &self.calls.pending.all[place];
            if pending.agent == agent && pending.outstanding > 0 && !pending.is_lost {
                self.lose_pending(PendingIndex::at(place), recorder);
            }
        }
    }
}

fn report_served(origin: Origin, served: &ServedCall, recorder: &mut impl Recorder) {
    let ServedCall { application, agent, emitted, arrived, started, ended } = *served;
    match origin {
        Origin::User(user) => recorder.served(&Served { user, application, agent, emitted, arrived, started, ended }),
        Origin::Call { call, .. } => recorder.call_served(call, served),
    }
}
