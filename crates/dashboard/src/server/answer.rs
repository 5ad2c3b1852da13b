//! The resources that the dashboard serves: the page, its data as JSON and CSV, and its events.

use std::sync::Arc;
use std::time::Duration;

use hyper::{Method, Request, StatusCode};
use mario_live::api::ErrorAnswer;
use mario_live::operators::{Client, Reply as NodeReply};
use mario_page::assets;
use mario_page::server::{CSV, HTML, JAVASCRIPT, JSON, Reply, STYLES, not_found, plain, streamed, whole};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Desk;
use super::stream::EventBody;
use crate::hub::now_ms;

/// The media type of a stream of server-sent events.
const EVENTS: &str = "text/event-stream";

/// How long a node may take to explain a decision.
const EXPLANATION_TIMEOUT: Duration = Duration::from_secs(30);

const MARKUP: &str = include_str!("../../assets/dashboard.html");

/// The parts of the script that only the dashboard has, in order.
const PROGRAM: &[&str] = &[
    include_str!("../../assets/layout.js"),
    include_str!("../../assets/map.js"),
    include_str!("../../assets/details.js"),
    include_str!("../../assets/decisions.js"),
    include_str!("../../assets/applications.js"),
    include_str!("../../assets/log.js"),
    include_str!("../../assets/dashboard.js"),
];

const STYLE: &str = include_str!("../../assets/dashboard.css");

impl Desk {
    /// The reply to a request.
    pub(super) async fn answer<B>(&self, request: &Request<B>) -> Reply {
        let path = request.uri().path();
        match path {
            "/" => whole(StatusCode::OK, HTML, MARKUP),
            "/dashboard.js" => whole(StatusCode::OK, JAVASCRIPT, program()),
            "/dashboard.css" => whole(StatusCode::OK, STYLES, assets::STYLES.concat() + STYLE),
            "/charts.json" => data(StatusCode::OK, &self.hub.picture().charts(width_in(request.uri().query()))),
            "/snapshot.json" => data(StatusCode::OK, &self.hub.picture().everything(now_ms())),
            // Otherwise a `HEAD` request would be answered with a stream.
            "/events" if request.method() == Method::HEAD => whole(StatusCode::OK, EVENTS, ""),
            "/events" => self.events(request),
            _ => self.details(path).await,
        }
    }

    /// Replies to `/nodes/ID`, `/instances/ID`, `/charts/NAME.csv` and `/explanations/INSTANCE`.
    async fn details(&self, path: &str) -> Reply {
        let Some((kind, id)) = path.strip_prefix('/').and_then(|rest| rest.split_once('/')) else { return not_found() };
        let id = decoded(id);
        let found = match kind {
            "nodes" => self.hub.picture().node_details(&id),
            "instances" => self.hub.picture().instance_details(&id),
            "charts" => {
                let csv = id.strip_suffix(".csv").and_then(|name| self.hub.picture().chart_csv(name));
                return csv.map_or_else(not_found, |csv| whole(StatusCode::OK, CSV, csv));
            }
            "explanations" => return self.explanation(&id).await,
            _ => None,
        };
        found.map_or_else(not_found, |found| data(StatusCode::OK, &found))
    }

    /// The explanation of an instance's last decision, as its node returns it; an error as JSON if no polled node
    /// reports the instance, or if the node does not answer.
    async fn explanation(&self, instance: &str) -> Reply {
        let source = self.hub.picture().source_of(instance);
        let Some(source) = source.and_then(|index| self.hub.sources.get(index)) else {
            return failed(StatusCode::NOT_FOUND, "no node that is asked has this instance");
        };
        let address = source.address.borrow().clone();
        let asking = async {
            let client = Client::new(&source.identity, &address)?;
            client.ask(Method::GET, &format!("/v1/instances/{instance}/explanation"), &[], Vec::new()).await
        };
        match timeout(EXPLANATION_TIMEOUT, asking).await {
            Ok(Ok(NodeReply { status, text })) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
                match serde_json::from_str::<Value>(&text) {
                    Ok(value) => data(status, &value),
                    Err(_) => failed(status, "the answer of the node cannot be read"),
                }
            }
            Ok(Err(fault)) => failed(StatusCode::BAD_GATEWAY, &fault.line()),
            Err(_) => failed(StatusCode::GATEWAY_TIMEOUT, "the node did not answer in time"),
        }
    }

    fn events<B>(&self, request: &Request<B>) -> Reply {
        let Ok(place) = Arc::clone(&self.streams).try_acquire_owned() else {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "Too many pages are open.\n");
        };
        let last = request.uri().query().and_then(|query| query.strip_prefix("last="));
        let last = last.and_then(|id| self.hub.last_seen(id));
        streamed(EVENTS, EventBody::new(&self.hub, last, place))
    }
}

/// The content of `dashboard.js`.
fn program() -> String {
    format!("(() => {{\n\"use strict\";\n{}}})();\n", [assets::SCRIPTS, PROGRAM].concat().concat())
}

/// The width in pixels that a page asks for, e.g. `width=560`; without a valid one, 350, the width of a phone.
fn width_in(query: Option<&str>) -> f64 {
    let width = query.and_then(|query| query.strip_prefix("width="));
    f64::from(width.and_then(|width| width.parse::<u16>().ok()).unwrap_or(350))
}

/// A part of a path with its percent escapes decoded. Invalid escapes are left unchanged, and invalid UTF-8 is replaced
/// by U+FFFD.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => char::from(*high).to_digit(16).zip(char::from(*low).to_digit(16)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push((high << 4 | low) as u8);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn data(status: StatusCode, value: &Value) -> Reply {
    whole(status, JSON, format!("{value}\n"))
}

fn failed(status: StatusCode, error: &str) -> Reply {
    data(status, &json!(ErrorAnswer { error: error.to_owned(), hint: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_a_path_are_read_and_nothing_else_is_changed() {
        for (part, text) in [("n1", "n1"), ("a%2Fb", "a/b"), ("%", "%"), ("%2", "%2"), ("%zz%41", "%zzA")] {
            assert_eq!(decoded(part), text);
        }
        assert_eq!(decoded("%ff"), "\u{fffd}");
    }

    #[test]
    fn a_width_is_a_number_of_pixels_or_that_of_a_phone() {
        let cases = [(Some("width=560"), 560.0), (Some("width=-1"), 350.0), (Some("width=1e9"), 350.0), (None, 350.0)];
        for (query, width) in cases {
            assert_eq!(width_in(query).total_cmp(&width), std::cmp::Ordering::Equal, "{query:?}");
        }
    }

    #[test]
    fn the_script_never_inserts_data_as_markup() {
        let program = program();
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!program.contains(forbidden), "{forbidden}");
        }
        assert!(!MARKUP.contains("<script>") && !MARKUP.contains("style="), "the policy allows no inline text");
    }
}
