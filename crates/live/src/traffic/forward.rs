//! Forwards a client request on one node.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use http::request::Parts;
use http::{Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use mario_colony::WorkloadId;
use mario_domain::{ApplicationId, NodeId};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::seams::{
    Body, DormantInstance, DormantState, Forward, LinkError, LocalCopy, NextHop, Pending, Protocol, Routes,
};

use super::answers::Failure;
use super::backend::{Admission, CopyError, CopyPlaces};
use super::body::{Cut, Held, Replay};
use super::forms::{label, to_absolute_form, to_origin_form};
use super::headers::{self, APPLICATION, DEAD_END, ITINERARY, Itinerary, NO_RESPONSE};
use super::{RequestCounts, TrafficLimits, body, select, tunnel};

/// Forwards requests according to the routes of one node. A clone is a handle to the same forwarder.
#[derive(Clone, Debug)]
pub struct Forwarder {
    pub(super) routes: Arc<ArcSwap<Routes>>,
    pub(super) settings: Arc<TrafficLimits>,
    pub(super) totals: Arc<Totals>,
    pub(super) copy_places: CopyPlaces,
}

/// Counters of requests since the daemon started.
#[derive(Debug, Default)]
pub struct Totals {
    /// Requests from clients of this node.
    pub ingress: AtomicU64,
    /// Requests from neighbours.
    pub from_neighbours: AtomicU64,
    /// Requests answered by a copy here, not counting tunnels.
    pub answered_here: AtomicU64,
    /// Requests answered through a neighbour, not counting tunnels.
    pub answered_by_neighbours: AtomicU64,
    /// Retries of requests after a failure, not counting dead ends and tunnels.
    pub retried: AtomicU64,
    /// How often a request returned here from a dead end, not counting tunnels.
    pub backed_up: AtomicU64,
    /// Requests that this node answered with an error of its own, because no instance answered or the request was
    /// invalid.
    pub failed: AtomicU64,
    /// Tunnels that were opened through this node.
    pub tunnelled: AtomicU64,
}

/// The first pause of a request without a route; it doubles each time, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(25);
/// The first pause of a request that waits for a dormant instance, before it checks whether the instance serves; it
/// doubles each time, up to a quarter of [`LONGEST_PAUSE`].
const WAKE_PAUSE: Duration = Duration::from_millis(2);
/// The longest pause before a request looks for a route again.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// The origin of a request.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// A client of this node.
    Client,
    /// A neighbour.
    Neighbour(NodeId),
}

/// A request on this node: its application, its origin, and its path so far.
pub(super) struct Journey {
    pub(super) application: ApplicationId,
    pub(super) itinerary: Itinerary,
    pub(super) origin: Origin,
    /// The copies on this node that did not answer this request. Cleared when the request waits at its ingress for
    /// another route.
    pub(super) failed_copies: Vec<WorkloadId>,
    /// Whether this request has waited in vain for a sleeping instance on this node.
    pub(super) has_waited: bool,
    pub(super) has_retried: bool,
    /// Whether a copy may have received the request without answering. If another copy then does not answer either, the
    /// request fails.
    pub(super) may_be_seen: bool,
}

/// The next step of a request.
pub(super) enum NextStep {
    Copy(LocalCopy, Admission),
    /// An instance here that sleeps or is waking.
    Wake(DormantInstance),
    Hop(NextHop),
    /// No copy here admits the request, no instance here can be woken for it, and there is no next hop or no hops are
    /// left.
    DeadEnd(Failure),
}

/// The result of one attempt.
enum Attempt {
    Answered(Response<Body>),
    DeadEnd(Itinerary),
    /// No copy received any of the request.
    NotSent,
    /// A copy may have received the request. If another node detected the failure, it sent this itinerary.
    NoResponse(String, Option<Itinerary>),
    Late,
}

impl Forwarder {
    /// Creates a forwarder for routes that the daemon updates.
    pub fn new(routes: Arc<ArcSwap<Routes>>, settings: TrafficLimits) -> Forwarder {
        let copy_places = Arc::new(Semaphore::new(settings.copy_connections_max.min(Semaphore::MAX_PERMITS)));
        Forwarder { routes, settings: Arc::new(settings), totals: Arc::default(), copy_places }
    }

    /// The counters.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Answers a request that a client sent to this node.
    pub async fn serve_client(&self, request: Request<Incoming>) -> Response<Body> {
        self.totals.ingress.fetch_add(1, Ordering::Relaxed);
        let (mut parts, incoming) = request.into_parts();
        match self.depart_in_time(&mut parts).await {
            Ok(journey) => self.serve(parts, incoming, journey).await,
            Err(failure) => self.fail(&failure, &parts.headers),
        }
    }

    /// Starts the journey of a client's request. If no known application has its host name or path, waits until one
    /// has, or until all neighbours have sent their routes, but not longer than [`TrafficLimits::hold`].
    async fn depart_in_time(&self, parts: &mut Parts) -> Result<Journey, Failure> {
        let begun = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let is_complete = self.routes.load().are_complete;
            match self.depart(parts) {
                Err(Failure::Unknown) if !is_complete && begun.elapsed() + pause <= self.settings.hold => {}
                Err(Failure::Unknown) if !is_complete => return Err(Failure::UnknownYet),
                departed => return departed,
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Starts the journey of a client's request: checks it, removes headers that only nodes may set, and selects its
    /// application.
    fn depart(&self, parts: &mut Parts) -> Result<Journey, Failure> {
        if let Some(fault) = headers::framing_fault(&parts.headers) {
            return Err(Failure::Bad(fault));
        }
        headers::strip_own(&mut parts.headers);
        let routes = self.routes.load();
        let host = select::host(parts)?;
        let application = select::application(&routes, host, parts.uri.path()).ok_or(Failure::Unknown)?.clone();
        let mut itinerary = Itinerary::new();
        itinerary.visit(&routes.node);
        Ok(Journey {
            application,
            itinerary,
            origin: Origin::Client,
            failed_copies: Vec::new(),
            has_waited: false,
            has_retried: false,
            may_be_seen: false,
        })
    }

    /// Answers a request that a neighbour forwarded.
    async fn serve_neighbour(&self, request: Request<Incoming>, from: NodeId, link_quanta: u32) -> Response<Body> {
        self.totals.from_neighbours.fetch_add(1, Ordering::Relaxed);
        let (mut parts, incoming) = request.into_parts();
        let application = parts.headers.get(APPLICATION).and_then(|value| headers::read(value.to_str().ok()?));
        let itinerary = parts.headers.get(ITINERARY).and_then(Itinerary::parse);
        headers::strip_own(&mut parts.headers);
        let (Some(application), Some(mut itinerary)) = (application, itinerary) else {
            return self
                .fail(&Failure::Bad("a request between nodes names its application and itinerary"), &parts.headers);
        };
        itinerary.latency_quanta = itinerary.latency_quanta.saturating_add(link_quanta);
        itinerary.visit(&self.routes.load().node);
        let journey = Journey {
            application: application.into(),
            itinerary,
            origin: Origin::Neighbour(from),
            failed_copies: Vec::new(),
            has_waited: false,
            has_retried: false,
            may_be_seen: false,
        };
        self.serve(parts, incoming, journey).await
    }

    async fn serve(&self, mut parts: Parts, incoming: Incoming, journey: Journey) -> Response<Body> {
        if tunnel::is_wanted(&parts) {
            return self.tunnel(parts, incoming, journey).await;
        }
        headers::strip_hop_by_hop(&mut parts.headers);
        let settings = &self.settings;
        let is_too_long = incoming.size_hint().lower() > settings.body_bytes_max;
        if is_too_long {
            return self.fail(&Failure::TooLong, &parts.headers);
        }
        let replay = Replay::new(incoming, settings.kept_bytes_max, settings.body_bytes_max, settings.idle_timeout);
        self.travel(parts, &replay, journey).await
    }

    /// Tries one route after another, within the rules for retries.
    ///
    /// If no route is left, a client's request waits at its ingress and is retried, until [`TrafficLimits::hold`] has
    /// passed or its body is no longer buffered completely. Routes are updated quickly after a migration, and for a
    /// request that no copy has received, a retry costs only time. A request that a copy may have received is retried
    /// once if its method is idempotent. Only the ingress retries such a request, so that there is one retry however
    /// many nodes are on the path.
    async fn travel(&self, parts: Parts, replay: &Replay, mut journey: Journey) -> Response<Body> {
        let mut begun = Instant::now();
        let mut pause = FIRST_PAUSE;
        let failure = loop {
            let was_seen = journey.may_be_seen;
            let failure = match self.travel_once(&parts, replay, &mut journey).await {
                Ok(response) => return response,
                Err(failure) => failure,
            };
            let is_dead_end = matches!(failure, Failure::Unreachable | Failure::TooFar | Failure::Busy);
            let may_wait = matches!(journey.origin, Origin::Client) && replay.is_replayable();
            if journey.may_be_seen && !was_seen {
                // Restarts the wait, because it may have taken seconds to detect that a link fell silent.
                begun = Instant::now();
            }
            if !is_dead_end || !may_wait || begun.elapsed() + pause > self.settings.hold {
                break match failure {
                    _ if is_dead_end && journey.may_be_seen => Failure::Failed("no other is in reach".to_owned()),
                    failure => failure,
                };
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            journey.itinerary = Itinerary::new();
            journey.itinerary.visit(&self.routes.load().node);
            journey.failed_copies.clear();
            journey.has_waited = false;
            journey.has_retried = false;
        };
        let failure = match replay.cut() {
            Some(Cut::TooLong) => Failure::TooLong,
            Some(Cut::Idle) => Failure::Stalled,
            _ => failure,
        };
        self.give_up(&failure, &parts, &journey)
    }

    async fn travel_once(
        &self,
        parts: &Parts,
        replay: &Replay,
        journey: &mut Journey,
    ) -> Result<Response<Body>, Failure> {
        loop {
            let attempt = match self.next_step(journey) {
                NextStep::Copy(copy, admission) => {
                    let attempt = self.ask_copy(parts, replay, journey, &copy, admission).await;
                    if !matches!(attempt, Attempt::Answered(_)) {
                        journey.failed_copies.push(copy.workload);
                    }
                    attempt
                }
                NextStep::Wake(dormant) => {
                    self.wake(&dormant, journey).await;
                    continue;
                }
                NextStep::Hop(hop) => {
                    journey.itinerary.hops_left -= 1;
                    let attempt = self.ask_hop(parts, replay, journey, &hop).await;
                    if !matches!(attempt, Attempt::Answered(_)) {
                        journey.itinerary.visit(&headers::encode_id(hop.neighbour.id()));
                    }
                    attempt
                }
                NextStep::DeadEnd(failure) => return Err(failure),
            };
            let failure = match attempt {
                Attempt::Answered(response) => return Ok(response),
                Attempt::DeadEnd(dead_end) => {
                    journey.itinerary.learn(&dead_end);
                    self.totals.backed_up.fetch_add(1, Ordering::Relaxed);
                    if replay.is_replayable() {
                        continue;
                    }
                    return Err(Failure::Unreachable);
                }
                Attempt::Late => return Err(Failure::Late),
                Attempt::NoResponse(cause, noticed) => {
                    let was_seen = std::mem::replace(&mut journey.may_be_seen, true);
                    if let Some(noticed) = noticed {
                        journey.itinerary.learn(&noticed);
                    }
                    let is_client = matches!(journey.origin, Origin::Client);
                    if was_seen || !is_client || !parts.method.is_idempotent() || !replay.is_replayable() {
                        return Err(Failure::Failed(cause));
                    }
                    self.totals.retried.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                // No copy has received the request, so the nodes before this one may also try other neighbours.
                Attempt::NotSent => Failure::Unreachable,
            };
            if journey.has_retried || !replay.is_replayable() {
                return Err(failure);
            }
            journey.has_retried = true;
            self.totals.retried.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns a copy here that admits the request, or else a dormant instance here to wake, or else the best next hop
    /// with an open link that the request has not visited, or else a dead end.
    pub(super) fn next_step(&self, journey: &Journey) -> NextStep {
        let routes = self.routes.load();
        let mut is_busy = false;
        let copies = routes.copies.get(&journey.application).map_or(&[][..], Vec::as_slice);
        let candidates = copies.iter().filter(|copy| !journey.failed_copies.contains(&copy.workload));
        // Prefers the copy with the fewest open requests. Full and closed copies admit none.
        if let Some(copy) = candidates.clone().min_by_key(|copy| copy.backend.open_requests()) {
            for copy in std::iter::once(copy).chain(candidates) {
                if let Some(admission) = copy.backend.enter(self.settings.requests_per_copy_max) {
                    return NextStep::Copy(copy.clone(), admission);
                }
                is_busy = true;
            }
        }
        let dormant = routes.dormant.get(&journey.application).map_or(&[][..], Vec::as_slice);
        let may_wake = |dormant: &&DormantInstance| dormant.state != DormantState::Refused && !journey.has_waited;
        if let Some(dormant) = dormant.iter().find(may_wake) {
            return NextStep::Wake(dormant.clone());
        }
        let hops = routes.next_hops.get(&journey.application).map_or(&[][..], Vec::as_slice);
        let is_open = |hop: &&NextHop| {
            hop.link.is_open() && !journey.itinerary.has_visited(&headers::encode_id(hop.neighbour.id()))
        };
        match hops.iter().find(is_open) {
            Some(_) if journey.itinerary.hops_left == 0 => NextStep::DeadEnd(Failure::TooFar),
            Some(hop) => NextStep::Hop(hop.clone()),
            None if is_busy => NextStep::DeadEnd(Failure::Busy),
            None => NextStep::DeadEnd(Failure::Unreachable),
        }
    }

    /// Asks the node to wake a sleeping instance (scale to zero), and waits for its cold start: until it serves, its
    /// wake-up is inhibited, it is no longer on this node, or [`TrafficLimits::wake`] has passed. Unless it serves
    /// then, the request is still counted for its agent, as if it had reached the instance.
    pub(super) async fn wake(&self, dormant: &DormantInstance, journey: &mut Journey) {
        let begun = Instant::now();
        dormant.wake_handle.wake();
        let mut pause = WAKE_PAUSE;
        loop {
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE / 4);
            let routes = self.routes.load();
            let serves = routes
                .copies
                .get(&journey.application)
                .is_some_and(|copies| copies.iter().any(|copy| copy.instance == dormant.instance));
            if serves {
                return;
            }
            let all = routes.dormant.get(&journey.application).map_or(&[][..], Vec::as_slice);
            let now = all.iter().find(|known| known.instance == dormant.instance);
            match now.map(|now| (now.state, now)) {
                Some((DormantState::Asleep, now)) => now.wake_handle.wake(),
                Some((DormantState::Waking, _)) => {}
                Some((DormantState::Refused, _)) | None => break,
            }
            if begun.elapsed() > self.settings.wake {
                break;
            }
        }
        journey.has_waited = true;
        count(&dormant.counts, journey);
    }

    async fn ask_copy(
        &self,
        parts: &Parts,
        replay: &Replay,
        journey: &Journey,
        copy: &LocalCopy,
        admission: Admission,
    ) -> Attempt {
        let mut request = Request::new(replay.attempt());
        *request.method_mut() = parts.method.clone();
        *request.headers_mut() = parts.headers.clone();
        match copy.protocol {
            Protocol::Http1 => to_origin_form(&mut request, parts),
            Protocol::H2c => to_absolute_form(&mut request, parts),
        }
        let sent = copy.backend.send(copy.address, copy.protocol, &self.copy_places, request);
        let Ok(sent) = timeout(self.settings.response_timeout, sent).await else {
            count(&copy.backend.counts, journey);
            return Attempt::Late;
        };
        let (response, connection) = match sent {
            Ok(answer) => answer,
            Err(CopyError::NotSent(_)) => return Attempt::NotSent,
            Err(CopyError::NoResponse(cause)) => {
                count(&copy.backend.counts, journey);
                return Attempt::NoResponse(cause, None);
            }
        };
        count(&copy.backend.counts, journey);
        self.totals.answered_here.fetch_add(1, Ordering::Relaxed);
        let (mut head, incoming) = response.into_parts();
        headers::strip_own(&mut head.headers);
        headers::strip_hop_by_hop(&mut head.headers);
        head.version = Version::default();
        let held = Held::new(incoming, self.settings.idle_timeout, (connection, admission));
        Attempt::Answered(Response::from_parts(head, held.boxed()))
    }

    async fn ask_hop(&self, parts: &Parts, replay: &Replay, journey: &Journey, hop: &NextHop) -> Attempt {
        let mut request = Request::new(replay.attempt());
        *request.method_mut() = parts.method.clone();
        *request.headers_mut() = parts.headers.clone();
        to_absolute_form(&mut request, parts);
        label(request.headers_mut(), journey);
        let Ok(sent) = timeout(self.settings.response_timeout, hop.link.send(request)).await else {
            return Attempt::Late;
        };
        let response = match sent {
            Ok(response) => response,
            Err(LinkError::NotSent(_)) => return Attempt::NotSent,
            Err(error @ LinkError::NoResponse(_)) => return Attempt::NoResponse(error.to_string(), None),
        };
        let (mut head, incoming) = response.into_parts();
        if let Some(dead_end) = head.headers.get(DEAD_END) {
            // An unreadable itinerary still means a dead end; the visited nodes are then unknown.
            return Attempt::DeadEnd(Itinerary::parse(dead_end).unwrap_or_else(|| journey.itinerary.clone()));
        }
        if let Some(noticed) = head.headers.get(NO_RESPONSE) {
            return Attempt::NoResponse("a node on the way had no response".to_owned(), Itinerary::parse(noticed));
        }
        self.totals.answered_by_neighbours.fetch_add(1, Ordering::Relaxed);
        headers::strip_own(&mut head.headers);
        headers::strip_hop_by_hop(&mut head.headers);
        head.version = Version::default();
        let held = Held::new(incoming, self.settings.idle_timeout, ());
        Attempt::Answered(Response::from_parts(head, held.boxed()))
    }

    /// The answer to a request that no copy answered. If the request came from a neighbour, a header reports a dead
    /// end, or that a copy may have received the request.
    pub(super) fn give_up(&self, failure: &Failure, parts: &Parts, journey: &Journey) -> Response<Body> {
        let is_dead_end = matches!(failure, Failure::Unreachable | Failure::TooFar | Failure::Busy);
        let mut response = self.fail(failure, &parts.headers);
        if matches!(journey.origin, Origin::Neighbour(_)) && is_dead_end {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response.headers_mut().insert(DEAD_END, journey.itinerary.value());
        } else if matches!(journey.origin, Origin::Neighbour(_)) && journey.may_be_seen {
            response.headers_mut().insert(NO_RESPONSE, journey.itinerary.value());
        }
        response
    }

    fn fail(&self, failure: &Failure, request: &http::HeaderMap) -> Response<Body> {
        self.totals.failed.fetch_add(1, Ordering::Relaxed);
        failure.answer(request)
    }
}

impl Forward for Forwarder {
    fn forward(&self, request: Request<Incoming>, from: &NodeId, link_quanta: u32) -> Pending<'_, Response<Body>> {
        Box::pin(self.serve_neighbour(request, from.clone(), link_quanta))
    }
}

/// Counts a request that reached a copy, or would have reached an instance that sleeps.
pub(super) fn count(counts: &RequestCounts, journey: &Journey) {
    let last_hop = match &journey.origin {
        Origin::Client => None,
        Origin::Neighbour(neighbour) => Some(neighbour),
    };
    counts.count(last_hop, journey.itinerary.latency_quanta);
}

/// An empty answer with this status.
pub(super) fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(body::empty());
    *response.status_mut() = status;
    response
}
