//! What reaches one instance, as rates.
//!
//! Most of it is *steady*: users who have been routed here for longer than an evaluation period send the same number in each.
//! Whoever came or went lately is *passing*: how much of the period it concerns is counted. Users who share several equally
//! near instances are counted request by request, as they take turns ([`Turns`]).

use std::sync::Arc;

use mario_colony::{AgentIndex, Neighbour, RequestFact};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::schedule::Schedule;

/// What is left of sums of fractions is nothing.
const NOTHING: f64 = 1e-9;

/// The way that requests come: the last hop and the latency of the path.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Way {
    pub(super) neighbour: Neighbour,
    pub(super) latency: f64,
}

/// What reaches one instance.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Inflow {
    steady: Vec<RequestFact>,
    passing: Vec<Passing>,
    turns: Vec<(Way, Turns)>,
}

/// What reaches all instances.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Inflows {
    of_agent: Vec<Inflow>,
    /// Whether the facts of an agent are what they were when they were last asked for, and stay so from period to period
    /// until something happens. Apart from the rest: that is all there is to look at for nearly all agents.
    is_steady: Vec<bool>,
}

impl Inflows {
    /// A new instance.
    pub(super) fn add(&mut self) {
        self.of_agent.push(Inflow::default());
        self.is_steady.push(false);
    }

    /// What reaches an instance, to be changed.
    pub(super) fn change(&mut self, agent: AgentIndex) -> &mut Inflow {
        self.is_steady[agent.position()] = false;
        &mut self.of_agent[agent.position()]
    }

    /// What reached an instance in the period before `now`. `false` when it is what it was at the last call. `is_present`
    /// tells whether a stay has not ended.
    pub(super) fn facts(
        &mut self,
        agent: AgentIndex,
        [window, now]: [f64; 2],
        is_present: impl Fn(Stay) -> bool,
        facts: &mut Vec<RequestFact>,
    ) -> bool {
        facts.clear();
        let is_steady = &mut self.is_steady[agent.position()];
        if *is_steady {
            return false;
        }
        *is_steady = self.of_agent[agent.position()].facts(window, now, is_present, facts);
        true
    }
}

/// A user who came or went not long ago.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Passing {
    stay: Stay,
    way: Way,
    schedule: Schedule,
    /// Since when the user's requests come here.
    from: f64,
    /// Until when; infinite for who is still here, and part of `steady`.
    until: f64,
}

/// One stay of one user at one instance. Stays of a user are numbered, so that an old one is told from the present one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Stay {
    pub(super) user: u32,
    pub(super) number: u32,
}

/// Users who take turns among several instances, of which this is one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Turns {
    pub(super) cell: u32,
    pub(super) from: f64,
    pub(super) until: f64,
    /// Whose turn it was at first.
    pub(super) turn: u64,
    /// Which of them this instance is.
    pub(super) place: u64,
    /// How many instances there are.
    pub(super) count: u64,
    /// From when on as many requests come to this instance in each period as in the one before; infinite if never.
    pub(super) regular_from: f64,
    pub(super) members: Arc<Members>,
}

/// Users who take turns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Members {
    /// All send once in a period, these at these times at first, and in this order.
    Regular { firsts: SmallVec<[f64; 4]>, period: f64 },
    /// Each as it likes. Then turns have no order that could be computed: each instance gets its share.
    Mixed(Vec<Schedule>),
}

impl Members {
    /// How many requests all of them send.
    pub(super) fn sent(&self, from: f64, until: f64) -> f64 {
        match self {
            Members::Regular { firsts, period } => {
                let schedule = |first: &f64| Schedule::Exact { first: *first, period: *period };
                firsts.iter().map(|first| schedule(first).count(from, until)).sum()
            }
            Members::Mixed(schedules) => schedules.iter().map(|schedule| schedule.count(from, until)).sum(),
        }
    }

    /// After how long, from the beginning of the turns on, as many requests come to each of so many instances in each period
    /// as in the one before.
    pub(super) fn regular_after(&self, window: f64, instances: u64) -> f64 {
        let (is_regular, after) = match self {
            // After each period it is the same instance's turn again.
            Members::Regular { firsts, period } => {
                let rounds = window / period;
                let requests = rounds as u64 * firsts.len() as u64;
                (rounds.fract() == 0.0 && requests.is_multiple_of(instances), *period)
            }
            Members::Mixed(_) => (self.steady(window).is_some(), 0.0),
        };
        if is_regular { after } else { f64::INFINITY }
    }

    /// How many requests those who send each as it likes send in every span of this length; `None` when that depends on
    /// when it begins, or on whose turn it is.
    fn steady(&self, length: f64) -> Option<f64> {
        match self {
            Members::Regular { .. } => None,
            Members::Mixed(schedules) => schedules.iter().map(|schedule| schedule.steady(length)).sum(),
        }
    }
}

impl Turns {
    /// Whether as many requests come to this instance in each period from now on as in the one that began at `begins`.
    fn is_regular(&self, begins: f64) -> bool {
        self.until.is_infinite() && begins >= self.regular_from
    }

    /// How many requests that are sent in a period come to this instance.
    fn count_in(&self, window: f64, [begins, ends]: [f64; 2]) -> f64 {
        match self.members.steady(window) {
            // The same number each time, not one that is rounded in one way or another.
            Some(steady) if self.is_regular(begins) => steady / self.count as f64,
            _ => self.count(begins, ends),
        }
    }

    /// How many requests that are sent in a span come to this instance.
    fn count(&self, from: f64, until: f64) -> f64 {
        let (from, until) = (from.max(self.from), until.min(self.until));
        if until <= from {
            return 0.0;
        }
        let Members::Regular { firsts, period } = &*self.members else {
            return self.members.sent(from, until) / self.count as f64;
        };
        let users = firsts.len() as u64;
        let further = users % self.count;
        let mut here = 0_u64;
        for (rank, first) in (0_u64..).zip(firsts) {
            let number = |time: f64| ((time - first) / period).ceil().max(0.0) as u64;
            let rounds = number(from)..number(until);
            let mut whose = (self.turn + rounds.start * users + rank) % self.count;
            for _ in rounds {
                here += u64::from(whose == self.place);
                whose += further;
                if whose >= self.count {
                    whose -= self.count;
                }
            }
        }
        here as f64
    }
}

impl Inflow {
    /// A user's requests come here from `now` on.
    pub(super) fn join(&mut self, stay: Stay, way: Way, schedule: Schedule, window: f64, now: f64) {
        let rate = schedule.steady(window).unwrap_or(0.0);
        match self.steady.iter_mut().find(|fact| is_on(fact, way)) {
            Some(fact) => fact.rate += rate,
            None => self.steady.push(RequestFact { neighbour: way.neighbour, rate, latency: way.latency }),
        }
        self.passing.push(Passing { stay, way, schedule, from: now, until: f64::INFINITY });
    }

    /// A user's requests, which came here since `from`, no longer do.
    pub(super) fn leave(&mut self, stay: Stay, way: Way, schedule: Schedule, window: f64, [from, until]: [f64; 2]) {
        let rate = schedule.steady(window).unwrap_or(0.0);
        if let Some(fact) = self.steady.iter_mut().find(|fact| is_on(fact, way)) {
            fact.rate -= rate;
        }
        self.steady.retain(|fact| fact.rate > NOTHING);
        self.passing.push(Passing { stay, way, schedule, from, until });
    }

    /// Users begin to take turns of which some come here.
    pub(super) fn begin_turns(&mut self, way: Way, turns: Turns) {
        self.turns.push((way, turns));
    }

    /// The users of a cell no longer take these turns.
    pub(super) fn end_turns(&mut self, cell: u32, now: f64) {
        for (_, turns) in self.turns.iter_mut().filter(|(_, turns)| turns.cell == cell && turns.until.is_infinite()) {
            turns.until = now;
        }
    }

    /// Nothing of what came before counts any more, or comes.
    pub(super) fn clear(&mut self) {
        *self = Inflow::default();
    }

    /// What reached the instance in the period before `now`. Gives whether that stays so until something happens.
    fn facts(
        &mut self,
        window: f64,
        now: f64,
        is_present: impl Fn(Stay) -> bool,
        facts: &mut Vec<RequestFact>,
    ) -> bool {
        facts.extend_from_slice(&self.steady);
        self.passing.retain(|passing| {
            let begins = now - window - passing.way.latency;
            let is_here = passing.until.is_infinite();
            if is_here && !is_present(passing.stay) {
                // It has ended since, and what counts of it is another entry.
                return false;
            }
            let is_over = if is_here { passing.from } else { passing.until } <= begins;
            if !is_over {
                let ends = now - passing.way.latency;
                let counted = passing.schedule.count(begins.max(passing.from), ends.min(passing.until));
                let presumed =
                    if passing.until.is_infinite() { passing.schedule.steady(window).unwrap_or(0.0) } else { 0.0 };
                add(facts, passing.way, counted - presumed);
            }
            !is_over
        });
        let mut is_steady = self.passing.is_empty();
        self.turns.retain(|(way, turns)| {
            let begins = now - window - way.latency;
            let is_over = turns.until <= begins;
            if !is_over {
                is_steady &= turns.is_regular(begins);
                add(facts, *way, turns.count_in(window, [begins, now - way.latency]));
            }
            !is_over
        });
        facts.retain(|fact| fact.rate > NOTHING);
        is_steady
    }
}

fn is_on(fact: &RequestFact, way: Way) -> bool {
    fact.neighbour == way.neighbour && fact.latency.to_bits() == way.latency.to_bits()
}

fn add(facts: &mut Vec<RequestFact>, way: Way, rate: f64) {
    match facts.iter_mut().find(|fact| is_on(fact, way)) {
        Some(fact) => fact.rate += rate,
        None => facts.push(RequestFact { neighbour: way.neighbour, rate, latency: way.latency }),
    }
}
