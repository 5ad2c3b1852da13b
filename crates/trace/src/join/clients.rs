//! What is known of a run besides the parts of its nodes: its scenario, and what its clients saw.

use std::collections::BTreeMap;
use std::io::Write;

use mario_domain::{ApplicationId, Duration, Id, NodeId, Time};

use super::survey::Survey;
use crate::header::HeaderUser;
use crate::latencies::Latency;
use crate::record::UserResults;
use crate::reference::{ApplicationRef, NodeRef, UserRef};
use crate::writer::{ResponseSums, TraceWriter};

/// A run whose nodes wrote the parts, as the program that made it knows it.
#[derive(Debug)]
pub struct RunContext {
    /// The name of its scenario.
    pub scenario: String,
    /// Its seed.
    pub seed: u64,
    /// The names of the tiers, from the top down; empty if they have none.
    pub tiers: Vec<String>,
    /// The kind of each application, for figures.
    pub kinds: BTreeMap<ApplicationId, String>,
    /// Its nodes.
    pub nodes: BTreeMap<NodeId, ContextNode>,
    /// What its clients saw.
    pub clients: ClientLog,
}

/// What a scenario knows of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ContextNode {
    /// Its tier. 0 is the top.
    pub tier: u16,
    /// Latitude and longitude.
    pub position: Option<[f64; 2]>,
    /// Whether users can be connected to it.
    pub is_access_point: bool,
}

/// The results of the client requests of a run, in steps of equal length, and the movements of users. Times are in
/// milliseconds since the clients started.
#[derive(Clone, Debug)]
pub struct ClientLog {
    began_ms: u64,
    step_ms: f64,
    applications: Vec<ApplicationId>,
    users: Vec<ClientUser>,
    moves: Vec<Move>,
    /// By step and application.
    steps: BTreeMap<(u64, usize), ResponseSums>,
    /// By application.
    latencies: Vec<Latency>,
}

#[derive(Clone, Debug)]
struct ClientUser {
    id: Id,
    /// An index in [`ClientLog::applications`].
    application: usize,
    results: UserResults,
}

#[derive(Clone, Debug)]
struct Move {
    at_ms: f64,
    user: usize,
    to: Option<NodeId>,
}

impl ClientLog {
    /// An empty log. `began_ms` is when the clients start, in milliseconds since 1970, and `step_ms` the length of a
    /// step. Applications have their ids and how long a request may take before it is late, in milliseconds; users have
    /// their ids and the index of their application.
    pub fn new(
        began_ms: u64,
        step_ms: f64,
        applications: Vec<(ApplicationId, f64)>,
        users: Vec<(Id, usize)>,
    ) -> ClientLog {
        let user = |(id, application)| ClientUser { id, application, results: UserResults::default() };
        ClientLog {
            began_ms,
            step_ms: step_ms.max(1.0),
            latencies: applications.iter().map(|(_, limit)| Latency::new(*limit)).collect(),
            applications: applications.into_iter().map(|(id, _)| id).collect(),
            users: users.into_iter().map(user).collect(),
            moves: Vec::new(),
            steps: BTreeMap::new(),
        }
    }

    /// Adds a movement of a user, to an access point or away. Movements of a user are added in their order.
    pub fn moved(&mut self, at_ms: f64, user: usize, to: Option<NodeId>) {
        self.moves.push(Move { at_ms, user, to });
    }

    /// Adds a request of a user that was answered at this time, and the time that it took.
    pub fn answered(&mut self, at_ms: f64, user: usize, response: Duration) {
        self.count(at_ms, user, UserResults { served: 1, lost: 0, response });
    }

    /// Adds a request of a user that failed at this time.
    pub fn failed(&mut self, at_ms: f64, user: usize) {
        self.count(at_ms, user, UserResults { served: 0, lost: 1, response: Duration::ZERO });
    }

    fn count(&mut self, at_ms: f64, user: usize, result: UserResults) {
        let Some(client) = self.users.get_mut(user) else { return };
        client.results.served += result.served;
        client.results.lost += result.lost;
        client.results.response += result.response;
        let sums = self.steps.entry(((at_ms / self.step_ms) as u64, client.application)).or_default();
        sums.served += result.served;
        sums.lost += result.lost;
        sums.sum += result.response;
        if result.served > 0 {
            sums.histogram.count(result.response.units(), result.served);
            if let Some(latency) = self.latencies.get_mut(client.application) {
                latency.count(result.response, result.served);
            }
        }
    }

    /// The time between two steps, in milliseconds.
    pub(super) fn step_ms(&self) -> f64 {
        self.step_ms
    }
}

/// An event of clients, at a time of the trace.
enum Event<'a> {
    Move { user: UserRef, to: Option<NodeRef> },
    Responses(Vec<(ApplicationRef, &'a ResponseSums)>),
}

/// Writes what clients saw into a trace, in the order of time.
pub(super) struct Clients<'a> {
    /// In descending order of time, so that the next is the last.
    events: Vec<(f64, Event<'a>)>,
    /// For each user of the trace, the access point.
    places: Vec<Option<NodeRef>>,
    results: Vec<UserResults>,
    latencies: Vec<(ApplicationRef, &'a Latency)>,
}

/// The users of the log whose application is in a part, with the index of the application in the trace. An application
/// that was updated has several indices; its first one stands for all.
fn users<'a>(survey: &Survey<'_>, log: &'a ClientLog) -> Vec<(usize, &'a ClientUser, ApplicationRef)> {
    let known = |user: &ClientUser| place_of(survey, &log.applications[user.application]);
    let users = log.users.iter().enumerate();
    users.filter_map(|(index, user)| Some((index, user, known(user)?))).collect()
}

fn place_of(survey: &Survey<'_>, id: &ApplicationId) -> Option<ApplicationRef> {
    let place = survey.applications.iter().position(|described| described.application.id == *id);
    place.map(|place| ApplicationRef(place as u32))
}

/// The users of a header.
pub(super) fn header_users<'a>(survey: &Survey<'_>, log: &'a ClientLog) -> Vec<HeaderUser<'a>> {
    let user =
        |(_, user, application): (usize, &'a ClientUser, ApplicationRef)| HeaderUser { id: &user.id, application };
    users(survey, log).into_iter().map(user).collect()
}

impl<'a> Clients<'a> {
    pub(super) fn new(survey: &Survey<'_>, log: &'a ClientLog) -> Clients<'a> {
        let users = users(survey, log);
        let began = log.began_ms as f64 - survey.first.0 as f64;
        let mut events: Vec<(f64, Event<'a>)> = Vec::new();
        let places: BTreeMap<usize, u32> = users.iter().zip(0..).map(|((index, ..), place)| (*index, place)).collect();
        for Move { at_ms, user, to } in &log.moves {
            let Some(place) = places.get(user) else { continue };
            // Users who are there from the beginning are connected at time 0, before the nodes serve.
            let time = if *at_ms > 0.0 { (began + at_ms).max(0.0) } else { 0.0 };
            let to = to.as_ref().and_then(|node| survey.place_if_known(node));
            events.push((time, Event::Move { user: UserRef(*place), to }));
        }
        let mut steps: BTreeMap<u64, Vec<(ApplicationRef, &'a ResponseSums)>> = BTreeMap::new();
        for ((step, application), sums) in &log.steps {
            if let Some(place) = place_of(survey, &log.applications[*application]) {
                steps.entry(*step).or_default().push((place, sums));
            }
        }
        for (step, responses) in steps {
            let time = (began + (step + 1) as f64 * log.step_ms).max(0.0);
            events.push((time, Event::Responses(responses)));
        }
        events.sort_by(|one, other| one.0.total_cmp(&other.0));
        events.reverse();
        let of_applications = log.applications.iter().zip(&log.latencies);
        Clients {
            events,
            places: vec![None; users.len()],
            results: users.iter().map(|(_, user, _)| user.results).collect(),
            latencies: of_applications.filter_map(|(id, latency)| Some((place_of(survey, id)?, latency))).collect(),
        }
    }

    /// Writes the events before a time.
    pub(super) fn write_before<W: Write>(&mut self, now: f64, writer: &mut TraceWriter<W>) {
        while self.events.last().is_some_and(|(time, _)| *time < now) {
            if let Some((time, event)) = self.events.pop() {
                self.write(time, event, writer);
                writer.responses(Time::at(time));
            }
        }
    }

    /// Writes all other events at the end of the trace, the responses of steps that end later as one record, and the
    /// totals of users and applications.
    pub(super) fn finish<W: Write>(mut self, end: f64, writer: &mut TraceWriter<W>) {
        self.write_before(end, writer);
        while let Some((_, event)) = self.events.pop() {
            self.write(end, event, writer);
        }
        writer.set_clients(&self.results, &self.latencies);
    }

    fn write<W: Write>(&mut self, time: f64, event: Event<'a>, writer: &mut TraceWriter<W>) {
        match event {
            Event::Move { user, to } => {
                let from = std::mem::replace(&mut self.places[user.position()], to);
                if from != to {
                    writer.handover(Time::at(time), user, from, to);
                }
            }
            Event::Responses(responses) => {
                for (application, sums) in responses {
                    writer.add_responses(application, sums);
                }
            }
        }
    }
}
