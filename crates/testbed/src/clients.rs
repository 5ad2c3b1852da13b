//! The users of a scenario as HTTP clients.
//!
//! Users are open-loop clients: a user sends requests at the times that the scenario defines, whether or not earlier
//! ones were answered. So a slow colony does not reduce the load. Each request goes to the ingress of the access point
//! that the user is connected to at that time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mario_domain::Time;
use mario_live::identity::{application_id, node_id};
use mario_scenario::Emitter;
use mario_trace::join::ClientLog;
use serde::Serialize;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};

use crate::directory::COLONY;
use crate::plan::{Plan, PlannedApplication, PlannedUser};
use crate::reach::{FaultHistory, FaultImpact};
use crate::summary::LATE;

/// The timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of open requests of all users. Further requests are not sent: they fail with
/// [`RequestFailure::Overload`].
const OPEN_REQUESTS_MAX: usize = 4_096;
/// The maximum size of the body of an answer, in bytes. A request with a larger answer fails.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// The maximum number of response times that are kept for percentiles, per application.
const TIMES_MAX: usize = 1_000_000;

/// The maximum number of failed requests that are recorded individually.
const FAILED_MAX: usize = 100_000;

/// Why a client request failed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestFailure {
    /// The daemon of the user's access point was down or was killed during the request.
    NodeKilled,
    /// For part of the request, the user could not reach any instance of the application. There were never four seconds
    /// in a row during the request in which an instance was reachable and no fault began or ended.
    CutOff,
    /// An instance was reachable during the whole request, and a fault began or ended during the request or within four
    /// seconds before it.
    Rerouting,
    /// No connection to the ingress could be established, although its daemon was not killed.
    Unreachable,
    /// The connection failed before the answer was complete, or the answer was larger than 64 KiB.
    Broken,
    /// The answer had this status, which is not 200.
    Status(u16),
    /// There was no complete answer within ten seconds.
    Late,
    /// The request was not sent, because too many others were open.
    Overload,
}

impl RequestFailure {
    /// The name in tables.
    pub fn name(self) -> String {
        match self {
            RequestFailure::NodeKilled => "node-killed".to_owned(),
            RequestFailure::CutOff => "cut-off".to_owned(),
            RequestFailure::Rerouting => "rerouting".to_owned(),
            RequestFailure::Unreachable => "unreachable".to_owned(),
            RequestFailure::Broken => "broken".to_owned(),
            RequestFailure::Status(status) => format!("status-{status}"),
            RequestFailure::Late => "timeout".to_owned(),
            RequestFailure::Overload => "overload".to_owned(),
        }
    }
}

/// A failed client request: a line of `failed.jsonl`. Requests that were not sent because of overload are included.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FailedRequest {
    /// When it was sent or was to be sent, in seconds since the clients started.
    pub at_s: f64,
    /// The time until it failed, in seconds.
    pub lasted_s: f64,
    /// The access point to which the user was connected.
    pub node: String,
    /// The requested application.
    pub application: String,
    /// The failure as seen by the client.
    pub seen: String,
    /// Why it failed, taking injected faults into account.
    pub reason: String,
}

/// The results of the requests to one application.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Requests that were answered or failed.
    pub requests: u64,
    /// Failed requests, by reason.
    pub failures: BTreeMap<RequestFailure, u64>,
    /// Response times of the answered requests, in microseconds; at most the first million.
    pub times_us: Vec<u32>,
    /// The sum of the response times of all answered requests, in microseconds.
    pub sum_us: u64,
    /// Answered requests.
    pub answered: u64,
}

impl Tally {
    /// The number of failed requests.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    fn count(&mut self, outcome: Result<Duration, RequestFailure>) {
        self.requests += 1;
        match outcome {
            Ok(time) => {
                let us = time.as_micros().min(u128::from(u32::MAX)) as u32;
                self.answered += 1;
                self.sum_us += u64::from(us);
                if self.times_us.len() < TIMES_MAX {
                    self.times_us.push(us);
                }
            }
            Err(failure) => *self.failures.entry(failure).or_default() += 1,
        }
    }
}

/// The state of a node's daemon, as far as clients need it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct IngressState {
    /// Its address for clients; `None` while it is down.
    pub(crate) ingress: Option<SocketAddr>,
    /// How often it was killed.
    pub(crate) killed: u32,
}

/// The users of a colony.
pub(crate) struct Clients {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

/// A connection, and the address of its ingress.
type Connection = (SocketAddr, SendRequest<Empty<Bytes>>);

struct Shared {
    plan: Arc<Plan>,
    ingresses: Vec<watch::Receiver<IngressState>>,
    reach: Arc<FaultHistory>,
    /// For each node, the last connection to its ingress, if any.
    connections: Vec<tokio::sync::Mutex<Option<Connection>>>,
    tallies: Vec<Mutex<Tally>>,
    failed: Mutex<Vec<FailedRequest>>,
    log: Mutex<ClientLog>,
    /// For each user, the index in the log; `None` for a user who never arrives.
    logged: Vec<Option<usize>>,
    places: Arc<Semaphore>,
    begin: Instant,
}

impl Clients {
    /// Starts to send the users' requests.
    pub(crate) fn start(
        plan: &Arc<Plan>,
        ingresses: Vec<watch::Receiver<IngressState>>,
        reach: &Arc<FaultHistory>,
    ) -> Clients {
        let shared = Arc::new(Shared::new(plan, ingresses, reach));
        let mut tasks = JoinSet::new();
        for user in 0..plan.users.len() {
            tasks.spawn(send_requests(Arc::clone(&shared), user));
        }
        Clients { shared, tasks }
    }

    /// The results of all requests so far, by application.
    pub(crate) fn tallies(&self) -> Vec<Tally> {
        let lock = |tally: &Mutex<Tally>| tally.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.shared.tallies.iter().map(lock).collect()
    }

    /// The number of requests that have ended so far, and the number of those that failed.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let lock = |tally: &Mutex<Tally>| {
            let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            (tally.requests, tally.failed())
        };
        let add = |(requests, failed), (more, more_failed)| (requests + more, failed + more_failed);
        self.shared.tallies.iter().map(lock).fold((0, 0), add)
    }

    /// What the clients saw, for the trace, if they ran for this long.
    pub(crate) fn log(&self, ran: Duration) -> ClientLog {
        let mut log = self.shared.log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let plan = &self.shared.plan;
        for (user, logged) in plan.users.iter().zip(&self.shared.logged) {
            let Some(logged) = logged else { continue };
            for (at, place) in &user.moves {
                let at = plan.real(*at);
                let to = place.and_then(|place| node_id(&plan.nodes[place].id).ok());
                if at <= ran {
                    log.moved(at.as_secs_f64() * 1_000.0, *logged, to);
                }
            }
        }
        log
    }

    /// The recorded failed requests, in the order in which they ended.
    pub(crate) fn failed(&self) -> Vec<FailedRequest> {
        self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops sending requests, and waits for the open ones, at most until their timeout.
    pub(crate) async fn end(&mut self) {
        self.tasks.shutdown().await;
        let all = self.shared.places.acquire_many(OPEN_REQUESTS_MAX as u32);
        let _ = timeout(REQUEST_TIMEOUT, all).await;
    }
}

/// Sends the requests of one user at their scheduled times.
async fn send_requests(shared: Arc<Shared>, user: usize) {
    let planned = &shared.plan.users[user];
    let Some(arrival) = planned.arrival() else { return };
    let mut emitter = Emitter::new(planned.workload, shared.plan.seed, planned.index);
    let mut due = emitter.first(Time::at(arrival));
    loop {
        sleep_until((shared.begin + shared.plan.real(due.units())).into()).await;
        if let Some(place) = planned.place(due.units()) {
            let shared = Arc::clone(&shared);
            let application = planned.application;
            match Arc::clone(&shared.places).try_acquire_owned() {
                Err(_) => {
                    shared.keep_failed(
                        place,
                        application,
                        Instant::now(),
                        RequestFailure::Overload,
                        RequestFailure::Overload,
                    );
                    shared.count(user, Err(RequestFailure::Overload));
                }
                Ok(open) => {
                    tokio::spawn(async move {
                        let outcome = shared.request(place, application).await;
                        shared.count(user, outcome);
                        drop(open);
                    });
                }
            }
        }
        due = emitter.next(due);
    }
}

impl Shared {
    fn new(plan: &Arc<Plan>, ingresses: Vec<watch::Receiver<IngressState>>, reach: &Arc<FaultHistory>) -> Shared {
        let mut next = 0..;
        let logged: Vec<Option<usize>> =
            plan.users.iter().map(|user| user.arrival().and_then(|_| next.next())).collect();
        Shared {
            log: Mutex::new(log_of(plan)),
            logged,
            connections: ingresses.iter().map(|_| tokio::sync::Mutex::new(None)).collect(),
            ingresses,
            reach: Arc::clone(reach),
            tallies: plan.applications.iter().map(|_| Mutex::new(Tally::default())).collect(),
            failed: Mutex::default(),
            places: Arc::new(Semaphore::new(OPEN_REQUESTS_MAX)),
            plan: Arc::clone(plan),
            begin: Instant::now(),
        }
    }

    fn count(&self, user: usize, outcome: Result<Duration, RequestFailure>) {
        let application = self.plan.users[user].application;
        self.tallies[application].lock().unwrap_or_else(PoisonError::into_inner).count(outcome);
        let Some(logged) = self.logged[user] else { return };
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let at_ms = self.begin.elapsed().as_secs_f64() * 1_000.0;
        match outcome {
            // In whole microseconds, as in the tally.
            Ok(time) => log.answered(at_ms, logged, mario_domain::Duration::of(time.as_micros() as f64 / 1_000.0)),
            Err(_) => log.failed(at_ms, logged),
        }
    }

    /// Sends one request to an application through an access point. Returns the response time, or records and returns
    /// why it failed.
    async fn request(&self, place: usize, application: usize) -> Result<Duration, RequestFailure> {
        let begin = Instant::now();
        let before = *self.ingresses[place].borrow();
        let outcome = timeout(REQUEST_TIMEOUT, self.ask(place, &self.plan.applications[application].id)).await;
        let seen = match outcome {
            Ok(Ok(())) => return Ok(begin.elapsed()),
            Ok(Err(failure)) => failure,
            Err(_) => RequestFailure::Late,
        };
        let after = *self.ingresses[place].borrow();
        let was_killed = before.ingress.is_none() || after.ingress.is_none() || before.killed != after.killed;
        let failure = match self.reach.impact(place, application, [begin, Instant::now()]) {
            _ if was_killed => RequestFailure::NodeKilled,
            Some(FaultImpact::CutOff) => RequestFailure::CutOff,
            Some(FaultImpact::Rerouting) => RequestFailure::Rerouting,
            None => seen,
        };
        self.keep_failed(place, application, begin, seen, failure);
        Err(failure)
    }

    /// Records a failed request for `failed.jsonl`, up to the limit.
    fn keep_failed(
        &self,
        place: usize,
        application: usize,
        begin: Instant,
        seen: RequestFailure,
        failure: RequestFailure,
    ) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.len() < FAILED_MAX {
            failed.push(FailedRequest {
                at_s: begin.saturating_duration_since(self.begin).as_secs_f64(),
                lasted_s: begin.elapsed().as_secs_f64(),
                node: self.plan.nodes[place].id.clone(),
                application: self.plan.applications[application].id.clone(),
                seen: seen.name(),
                reason: failure.name(),
            });
        }
    }

    async fn ask(&self, place: usize, application: &str) -> Result<(), RequestFailure> {
        let mut sender = self.connection(place).await?;
        let request = Request::get(format!("http://{application}.{COLONY}/"))
            .body(Empty::new())
            .map_err(|_| RequestFailure::Unreachable)?;
        let answer = sender.send_request(request).await.map_err(|_| RequestFailure::Broken)?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
        match (status, body) {
            (StatusCode::OK, Ok(_)) => Ok(()),
            (StatusCode::OK, Err(_)) => Err(RequestFailure::Broken),
            (status, _) => Err(RequestFailure::Status(status.as_u16())),
        }
    }

    /// The connection to an access point: the open one, or a new one.
    async fn connection(&self, place: usize) -> Result<SendRequest<Empty<Bytes>>, RequestFailure> {
        let address = self.ingresses[place].borrow().ingress.ok_or(RequestFailure::NodeKilled)?;
        let mut kept = self.connections[place].lock().await;
        if let Some((known, sender)) = kept.as_ref()
            && *known == address
            && !sender.is_closed()
        {
            return Ok(sender.clone());
        }
        let stream = TcpStream::connect(address).await.map_err(|_| RequestFailure::Unreachable)?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) =
            handshake(TokioExecutor::new(), TokioIo::new(stream)).await.map_err(|_| RequestFailure::Unreachable)?;
        tokio::spawn(connection);
        *kept = Some((address, sender.clone()));
        Ok(sender)
    }
}

/// An empty log of the clients of a plan, which start now. A request is late if it takes longer than twice the tolerated
/// latency, which is that of one way.
fn log_of(plan: &Plan) -> ClientLog {
    let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let application = |planned: &PlannedApplication| {
        let id = application_id(&planned.id).expect("a plan has valid ids");
        (id, LATE * planned.max_latency)
    };
    let arriving = plan.users.iter().filter(|user| user.arrival().is_some());
    ClientLog::new(
        began.as_millis() as u64,
        plan.step.as_secs_f64() * 1_000.0,
        plan.applications.iter().map(application).collect(),
        arriving.map(|user| (user.id.clone(), user.application)).collect(),
    )
}

/// Waits until every access point has reached every application that has users. Returns `false` if a request still
/// fails after `patience`.
pub(crate) async fn wait_until_served(
    plan: &Arc<Plan>,
    ingresses: &[watch::Receiver<IngressState>],
    patience: Duration,
    mut progress: impl FnMut(usize, usize),
) -> bool {
    let shared = Shared::new(plan, ingresses.to_vec(), &Arc::new(FaultHistory::new(plan)));
    let deadline = Instant::now() + patience;
    let used: Vec<usize> = (0..plan.applications.len())
        .filter(|application| plan.users.iter().any(|user: &PlannedUser| user.application == *application))
        .collect();
    let ingresses = (0..plan.nodes.len()).filter(|place| plan.nodes[*place].is_access_point);
    let all: Vec<(usize, usize)> =
        ingresses.flat_map(|place| used.iter().map(move |application| (place, *application))).collect();
    for (done, (place, application)) in all.iter().enumerate() {
        progress(done, all.len());
        while shared.request(*place, *application).await.is_err() {
            if Instant::now() > deadline {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    progress(all.len(), all.len());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_counts_answers_and_failures() {
        let mut tally = Tally::default();
        tally.count(Ok(Duration::from_millis(3)));
        tally.count(Ok(Duration::from_millis(5)));
        tally.count(Err(RequestFailure::Late));
        tally.count(Err(RequestFailure::Status(503)));
        tally.count(Err(RequestFailure::Status(503)));
        assert_eq!((tally.requests, tally.answered, tally.failed(), tally.sum_us), (5, 2, 3, 8_000));
        let names: Vec<String> = tally.failures.keys().map(|failure| failure.name()).collect();
        assert_eq!(names, ["status-503", "timeout"]);
    }
}
