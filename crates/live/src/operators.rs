//! The operators' interface: HTTPS with client certificates, JSON, and roles.
//!
//! Its requests are those of [`ENDPOINTS`], and its data are the types of [`api`](crate::api), from which `openapi.json`
//! in the directory of this crate is generated.

mod client;
mod connection;
mod explanation;
mod listen;

#[doc(hidden)]
pub mod fuzzing;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mario_colony::{DeployKey, JournalId};
use mario_domain::{ApplicationId, InstanceId};
use mario_prolog::Engine;
use serde_json::error::Category;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::admission::Admission;
use crate::api::{Action, DrainRequest, ENDPOINTS, Endpoint, ErrorAnswer, Event as NodeEvent};
use crate::application::DOCUMENT_BYTES_MAX;
use crate::daemon::{
    Answer, Ask, Copies, Event, Events, Json, LastDecision, OlderVersion, Question, Refusal, ShadowCommand, not_here,
};
use crate::identity::{Role, application_id, node_id};
use crate::seams::Body;
use crate::traffic::Forwarder;

pub use client::{Client, Reply};
pub use connection::{Connection, EventStream};
pub use http::Method;
pub(crate) use listen::spawn;

use explanation::{Explanation, Explanations};

/// The timeout of the TLS handshake, of the head of a request, and of its body.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the node may take to answer a request, including the arrival of its body.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of the end of a log that is returned, in bytes.
const LOG_BYTES_MAX: usize = 64 << 10;
/// The header with the idempotency key of a deploy: a duplicate with the same key creates no second instance.
pub const DEPLOY_KEY: &str = "mario-deploy-key";
/// The header of a deploy that may start an older version of an application than one that runs on the node. Its value
/// is `older-version`.
pub const DEPLOY_FORCE: &str = "mario-deploy-force";
/// The value of [`DEPLOY_FORCE`].
pub const OLDER_VERSION: &str = "older-version";

/// Answers operators. A clone is a handle to the same state.
#[derive(Clone)]
pub(crate) struct OperatorApi {
    core: mpsc::Sender<Event>,
    events: Events,
    copies: Copies,
    forwarder: Forwarder,
    explanations: Explanations,
    listeners: Vec<Admission>,
}

/// The operator of a connection.
#[derive(Clone, Debug)]
struct Operator {
    roles: Vec<Role>,
    uri: String,
    /// Others, such as nodes, have no roles, and places of their own.
    has_operator_certificate: bool,
}

/// How to treat an operator that has closed its sending side.
#[derive(Clone, Copy)]
enum HalfClosed {
    /// The connection ends, and with it any stream of events.
    Gone,
    /// Requests received before that are still answered.
    Answered,
}

impl OperatorApi {
    pub(crate) fn new(
        core: mpsc::Sender<Event>,
        events: Events,
        copies: Copies,
        forwarder: Forwarder,
        listeners: Vec<Admission>,
        engine: &Engine,
    ) -> OperatorApi {
        OperatorApi { core, events, copies, forwarder, explanations: Explanations::new(engine), listeners }
    }
}

/// Answers the requests of an operator on one connection.
async fn converse(
    api: OperatorApi,
    operator: Operator,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    half_closed: HalfClosed,
) {
    let service = service_fn(move |request| {
        let (api, operator) = (api.clone(), operator.clone());
        async move { Ok::<_, Infallible>(api.respond(&operator, request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .max_buf_size(64 << 10)
        .half_close(matches!(half_closed, HalfClosed::Answered))
        .serve_connection(TokioIo::new(stream), service);
    let _ = connection.await;
}

/// Returns the endpoint of a request, and the values of the names in braces. The error is 405 if the path has only
/// endpoints with other methods, and 404 if it has none.
fn endpoint<'a>(method: &Method, path: &'a str) -> Result<(&'static Endpoint, Vec<&'a str>), StatusCode> {
    let mut is_known = false;
    for endpoint in &ENDPOINTS {
        let (wanted, given): (Vec<&str>, Vec<&str>) = (endpoint.path.split('/').collect(), path.split('/').collect());
        let fits = |(wanted, given): (&&str, &&str)| wanted.starts_with('{') && !given.is_empty() || wanted == given;
        if wanted.len() == given.len() && wanted.iter().zip(&given).all(fits) {
            if endpoint.method == *method {
                let names = wanted.iter().zip(&given).filter(|(wanted, _)| wanted.starts_with('{'));
                return Ok((endpoint, names.map(|(_, given)| *given).collect()));
            }
            is_known = true;
        }
    }
    Err(if is_known { StatusCode::METHOD_NOT_ALLOWED } else { StatusCode::NOT_FOUND })
}

impl OperatorApi {
    async fn respond(&self, operator: &Operator, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path().to_owned();
        let (endpoint, names) = match endpoint(&parts.method, &path) {
            Ok(found) => found,
            Err(status) => return refused(&refusal(status.as_u16(), format!("there is no {} {path}", parts.method))),
        };
        if let Some(role) = endpoint.role
            && !operator.roles.contains(&role)
        {
            let message = format!("{} does not have the role `{role}`", operator.uri);
            let hint = Some(format!("make a certificate with it: `mario ca operator NAME --role {role}`"));
            return refused(&Refusal { status: 403, message, hint });
        }
        let name = names.first().copied().unwrap_or_default();
        let performed = self.perform(endpoint.action, name, &parts.headers, parts.uri.query(), body);
        match timeout(ANSWER_TIMEOUT, performed).await {
            Ok(Ok(response)) => response,
            Ok(Err(refusal)) => refused(&refusal),
            Err(_) => refused(&refusal(504, "the node did not answer in time")),
        }
    }

    /// Performs an action. `name` is the value of the name in braces, if the path has one.
    async fn perform(
        &self,
        action: Action,
        name: &str,
        headers: &HeaderMap,
        query: Option<&str>,
        body: Incoming,
    ) -> Result<Response<Body>, Refusal> {
        let question = match action {
            Action::Health => return self.health().await,
            Action::Metrics => return self.metrics().await,
            Action::Events => return Ok(self.stream(query)),
            Action::Log => return self.log(instance_id(name)?).await,
            Action::Explain => return self.explanation(instance_id(name)?).await,
            Action::Status => Question::Status,
            Action::Instances => Question::Instances,
            Action::Instance => Question::Instance(instance_id(name)?),
            Action::Applications => Question::Applications,
            Action::Links => Question::Links,
            Action::Routes => Question::Routes,
            Action::Journal => Question::Journal,
            Action::Deploy => {
                let (key, older) = (deploy_key(headers)?, older_version(headers)?);
                Question::Deploy { key, document: document(body).await?, older }
            }
            Action::Undeploy => Question::Undeploy(instance_id(name)?),
            Action::Update => {
                let document = document(body).await?;
                Question::Update { instance: instance_id(name)?, document }
            }
            Action::Rollback => Question::Rollback { instance: instance_id(name)?, from: rollback_version(query)? },
            Action::Shadow => Question::Shadow(application(name)?, ShadowCommand::Show),
            Action::EndShadow => Question::Shadow(application(name)?, ShadowCommand::End),
            Action::SetShadow => {
                let document = document(body).await?;
                Question::Shadow(application(name)?, ShadowCommand::Set(document))
            }
            Action::Pin => Question::Pin(instance_id(name)?, true),
            Action::Unpin => Question::Pin(instance_id(name)?, false),
            Action::Anchor => Question::Anchor(instance_id(name)?, true),
            Action::EndAnchor => Question::Anchor(instance_id(name)?, false),
            Action::Drain => Question::Drain(drain_request(&collect(body, 1024).await?)?.is_draining),
            Action::Lost => {
                let journal = u128::from_str_radix(name, 16)
                    .map_err(|_| refusal(400, "a journal is written with 32 hexadecimal digits"))?;
                Question::Lost(JournalId(journal))
            }
        };
        self.ask(question).await.map(|answer| json_response(StatusCode::OK, answer))
    }

    async fn ask(&self, question: Question) -> Answer {
        let (reply, answer) = oneshot::channel();
        let ends = || refusal(503, "the node ends");
        self.core.send(Event::Ask(Ask { question, reply })).await.map_err(|_| ends())?;
        answer.await.map_err(|_| ends())?
    }

    /// Sends a question that needs no refusal, and returns the answer.
    async fn request<T>(&self, event: impl FnOnce(oneshot::Sender<T>) -> Event) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        let ends = || refusal(503, "the node ends");
        self.core.send(event(reply)).await.map_err(|_| ends())?;
        answer.await.map_err(|_| ends())
    }

    async fn explanation(&self, instance: InstanceId) -> Result<Response<Body>, Refusal> {
        let decision = self.request(|reply| Event::Explain(instance.clone(), reply)).await?;
        let Some(LastDecision { knowledge, is_anchor }) = decision else {
            return Err(refusal(404, format!("instance {instance} has not decided anything on this node")));
        };
        let explanation = self.explanations.explain(knowledge).await?;
        Ok(json_response(StatusCode::OK, Json::of(&Explanation { is_anchor, ..explanation })))
    }

    async fn health(&self) -> Result<Response<Body>, Refusal> {
        let health = self.request(Event::Health).await?;
        let status = if health.is_healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        Ok(json_response(status, Json::of(&health)))
    }

    async fn metrics(&self) -> Result<Response<Body>, Refusal> {
        let mut text = self.request(Event::Metrics).await?;
        text += &traffic_metrics(&self.forwarder);
        Admission::metrics(&self.listeners, &mut text);
        Ok(text_response("text/plain; version=0.0.4", text))
    }

    async fn log(&self, instance: InstanceId) -> Result<Response<Body>, Refusal> {
        let found = self.request(|reply| Event::Workload(instance.clone(), reply)).await?;
        let workload = found.ok_or_else(|| not_here(&instance))?;
        let copies = self.copies.clone();
        let read = tokio::task::spawn_blocking(move || copies.log(workload, LOG_BYTES_MAX)).await;
        match read {
            Ok(Some(Ok(bytes))) => {
                Ok(text_response("text/plain; charset=utf-8", String::from_utf8_lossy(&bytes).into_owned()))
            }
            Ok(Some(Err(error))) => Err(refusal(500, format!("the log of {instance} cannot be read: {error}"))),
            _ => Err(refusal(404, format!("{instance} has no log"))),
        }
    }

    /// Streams server-sent events: the retained ones, or with `?since=N` only those after number N, and then new ones
    /// as they happen. The stream ends if the reader disconnects, or misses events because it is too slow.
    fn stream(&self, query: Option<&str>) -> Response<Body> {
        let since = query.and_then(|query| query.strip_prefix("since=")).and_then(|number| number.parse().ok());
        let (kept, mut news) = self.events.since(since.unwrap_or(0));
        let (sender, receiver) = mpsc::channel::<Bytes>(16);
        tokio::spawn(async move {
            let frame = |event: &NodeEvent| Bytes::from(format!("data: {}\n\n", Json::of(event).0));
            for event in kept {
                if sender.send(frame(&event)).await.is_err() {
                    return;
                }
            }
            while let Ok(event) = news.recv().await {
                if sender.send(frame(&event)).await.is_err() {
                    return;
                }
            }
        });
        let body = client::channel_body(receiver);
        let mut response = Response::new(body);
        response.headers_mut().insert("content-type", http::HeaderValue::from_static("text/event-stream"));
        response
    }
}

/// Counters of client requests, in the text format of Prometheus.
fn traffic_metrics(forwarder: &Forwarder) -> String {
    let totals = forwarder.totals();
    let counters = [
        ("ingress", "Requests from clients of this node.", &totals.ingress),
        ("from_neighbours", "Requests from neighbours.", &totals.from_neighbours),
        ("answered_here", "Requests answered by a copy here.", &totals.answered_here),
        ("answered_by_neighbours", "Requests answered by way of a neighbour.", &totals.answered_by_neighbours),
        ("retried", "Requests sent once more after a failure.", &totals.retried),
        ("backed_up", "Requests that came back from a dead end.", &totals.backed_up),
        ("failed", "Requests that no instance answered.", &totals.failed),
        ("tunnelled", "Connections and streams that were tunnelled.", &totals.tunnelled),
    ];
    let mut text = String::new();
    for (name, help, value) in counters {
        let value = value.load(Ordering::Relaxed);
        text += &format!(
            "# HELP mario_requests_{name}_total {help}\n# TYPE mario_requests_{name}_total counter\nmario_requests_{name}_total {value}\n"
        );
    }
    text
}

fn instance_id(text: &str) -> Result<InstanceId, Refusal> {
    // Ids of instances follow the same rules as those of nodes.
    let id = node_id(text).map_err(|_| refusal(400, format!("{text:?} is not the id of an instance")))?;
    Ok(InstanceId::from(id.id().clone()))
}

fn deploy_key(headers: &HeaderMap) -> Result<DeployKey, Refusal> {
    let given = headers.get(DEPLOY_KEY).and_then(|value| value.to_str().ok());
    let key = given.filter(|text| text.len() <= 32).and_then(|text| u128::from_str_radix(text, 16).ok());
    key.map(DeployKey).ok_or_else(|| Refusal {
        status: 400,
        message: format!("the header `{DEPLOY_KEY}` is missing or is not a number of up to 32 hexadecimal digits"),
        hint: Some("draw one at random; a repeated deploy with the same key is the same deploy".to_owned()),
    })
}

fn older_version(headers: &HeaderMap) -> Result<OlderVersion, Refusal> {
    match headers.get(DEPLOY_FORCE).map(http::HeaderValue::as_bytes) {
        None => Ok(OlderVersion::Refused),
        Some(value) if value == OLDER_VERSION.as_bytes() => Ok(OlderVersion::Allowed),
        Some(_) => Err(refusal(400, format!("the header `{DEPLOY_FORCE}` has another value than `{OLDER_VERSION}`"))),
    }
}

/// The version that a rollback undoes; `None` if the query does not say.
fn rollback_version(query: Option<&str>) -> Result<Option<u64>, Refusal> {
    let version = query.map(|query| query.strip_prefix("from=").and_then(|version| version.parse().ok()));
    match version {
        None => Ok(None),
        Some(Some(version)) => Ok(Some(version)),
        Some(None) => Err(refusal(400, "the query is not `from=VERSION`")),
    }
}

fn application(text: &str) -> Result<ApplicationId, Refusal> {
    application_id(text).map_err(|_| refusal(400, format!("{text:?} is not the id of an application")))
}

fn drain_request(body: &[u8]) -> Result<DrainRequest, Refusal> {
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => refusal(400, "the body has no `is_draining` that is true or false"),
        Category::Io | Category::Syntax | Category::Eof => refusal(400, format!("the body is not JSON: {error}")),
    })
}

/// The signed description of an application in a body.
async fn document(body: Incoming) -> Result<Arc<[u8]>, Refusal> {
    Ok(collect(body, DOCUMENT_BYTES_MAX).await?.to_vec().into())
}

async fn collect(body: Incoming, bytes_max: usize) -> Result<Bytes, Refusal> {
    match timeout(REQUEST_TIMEOUT, Limited::new(body, bytes_max).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(_)) => Err(refusal(413, format!("the body is cut off or has more than {bytes_max} bytes"))),
        Err(_) => Err(refusal(408, "the body did not arrive in time")),
    }
}

fn refusal(status: u16, message: impl Into<String>) -> Refusal {
    Refusal { status, message: message.into(), hint: None }
}

fn refused(refusal: &Refusal) -> Response<Body> {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let Refusal { message, hint, .. } = refusal.clone();
    json_response(status, Json::of(&ErrorAnswer { error: message, hint }))
}

fn json_response(status: StatusCode, Json(text): Json) -> Response<Body> {
    let mut response = text_response("application/json", text + "\n");
    *response.status_mut() = status;
    response
}

fn text_response(kind: &'static str, text: String) -> Response<Body> {
    let body = Full::new(Bytes::from(text)).map_err(|never: Infallible| match never {}).boxed();
    let mut response = Response::new(body);
    response.headers_mut().insert("content-type", http::HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests;
