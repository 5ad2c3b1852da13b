//! Persistent connections to a node, for consecutive requests and for its events.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;

use super::client::{Client, Reply};
use crate::api::{Event, Received};
use crate::error::LiveError;

/// The maximum size of an event, in bytes.
const EVENT_BYTES_MAX: usize = 1 << 20;

/// A connection that is reused for consecutive requests, because a TLS handshake costs a node more than most answers.
pub struct Connection {
    client: Client,
    sender: SendRequest<Full<Bytes>>,
}

/// The events of a node, as they happen.
pub struct EventStream {
    client: Client,
    body: Incoming,
    /// Bytes that were read and not yet returned.
    buffer: Vec<u8>,
}

impl Client {
    /// Connects, for several requests.
    pub async fn connect(&self) -> Result<Connection, LiveError> {
        Ok(Connection { client: self.clone(), sender: self.handshake().await? })
    }

    /// Follows the events of the node: first the retained ones after number `since`, then new ones as they happen.
    pub async fn follow(&self, since: u64) -> Result<EventStream, LiveError> {
        let mut connection = self.connect().await?;
        let response = connection.send(&format!("/v1/events?since={since}")).await?;
        if !response.status().is_success() {
            let reply = collect(self, response, EVENT_BYTES_MAX).await?;
            return Err(reply.into_text().err().unwrap_or_else(|| self.fault()));
        }
        Ok(EventStream { client: self.clone(), body: response.into_body(), buffer: Vec::new() })
    }
}

impl Connection {
    /// Sends a GET request, and waits for the whole answer of at most `bytes_max` bytes. After an error the connection
    /// is unusable.
    pub async fn get(&mut self, path: &str, bytes_max: usize) -> Result<Reply, LiveError> {
        let response = self.send(path).await?;
        collect(&self.client, response, bytes_max).await
    }

    async fn send(&mut self, path: &str) -> Result<http::Response<Incoming>, LiveError> {
        let request = Request::builder().uri(path).header("host", "node.mario").body(Full::default());
        let request = request.map_err(|error| self.client.fault().caused_by(error))?;
        self.sender.ready().await.map_err(|error| self.client.broken(&error))?;
        self.sender.send_request(request).await.map_err(|error| self.client.broken(&error))
    }
}

async fn collect(client: &Client, response: http::Response<Incoming>, bytes_max: usize) -> Result<Reply, LiveError> {
    let status = response.status().as_u16();
    let body = Limited::new(response.into_body(), bytes_max);
    let bytes = body.collect().await.map_err(|error| client.broken(&*error))?.to_bytes();
    Ok(Reply { status, text: String::from_utf8_lossy(&bytes).into_owned() })
}

impl EventStream {
    /// Returns the next event, or `None` if the node ended the stream because it shuts down or the reader is too slow.
    pub async fn next(&mut self) -> Result<Option<Received<Event>>, LiveError> {
        loop {
            if let Some(event) = next_event(&mut self.buffer) {
                let unreadable = |error| self.client.fault().caused_by(error);
                return serde_json::from_slice(&event).and_then(Received::read).map(Some).map_err(unreadable);
            }
            if self.buffer.len() > EVENT_BYTES_MAX {
                return Err(self.client.fault().caused_by(format!("an event has more than {EVENT_BYTES_MAX} bytes")));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(self.client.broken(&error)),
                Some(Ok(frame)) => self.buffer.extend(frame.into_data().unwrap_or_default()),
            }
        }
    }
}

/// Takes the data of the first complete event from the buffer, without comments and other fields; `None` if no event is
/// complete.
fn next_event(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        let end = buffer.windows(2).position(|pair| pair == b"\n\n")?;
        let event: Vec<u8> = buffer.drain(..end + 2).collect();
        let data: Vec<&[u8]> =
            event.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:")).collect();
        if !data.is_empty() {
            return Some(data.join(&b'\n'));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_parsed_wherever_they_are_split() {
        let mut buffer = b": hello\n\ndata: {\"number\":1}\n\ndata: {\"num".to_vec();
        assert_eq!(next_event(&mut buffer).as_deref(), Some(&b" {\"number\":1}"[..]));
        assert_eq!(next_event(&mut buffer), None);
        buffer.extend(b"ber\":2}\n\n");
        assert_eq!(next_event(&mut buffer).as_deref(), Some(&b" {\"number\":2}"[..]));
        assert!(buffer.is_empty());
    }
}
