//! The client of the operators' interface.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::api::{ErrorAnswer, Received};
use crate::error::LiveError;
use crate::identity::{ExpectedPeer, HTTP_PROTOCOL, Identity};
use crate::links::{in_words, is_closed};
use crate::seams::{Body, BodyError};

/// The timeout of [`Client::ask`], from connecting to the end of the answer.
const TIMEOUT: Duration = Duration::from_secs(40);

/// The maximum size of an answer, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The hint for a connection that the node closed without an answer.
const REFUSED: &str = "it does not accept this certificate, or is stopping: the log of the node has the cause";

/// The hint for an answer that cannot be parsed.
const OTHER_VERSION: &str = "the node may have another version: `mario --version` prints that of this program";

/// A client of one node.
#[derive(Clone)]
pub struct Client {
    connector: TlsConnector,
    address: String,
}

/// The answer of a node.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub text: String,
}

impl Reply {
    /// The answer, or the error that the node reports. Fails if the body is not such an answer.
    pub fn received<T: DeserializeOwned>(&self) -> Result<Received<T>, LiveError> {
        if !self.is_success() {
            return Err(self.fault());
        }
        let told = serde_json::from_str(&self.text).and_then(Received::read);
        told.map_err(|error| LiveError::new("the node's answer cannot be read").caused_by(error).hint(OTHER_VERSION))
    }

    /// The answer as it is.
    #[doc(hidden)] // For tests.
    pub fn json(&self) -> Result<serde_json::Value, LiveError> {
        self.known()
    }

    /// Like [`received`](Reply::received), without what this version does not know.
    pub fn known<T: DeserializeOwned>(&self) -> Result<T, LiveError> {
        self.received().map(|received| received.known)
    }

    /// The body as text, or the error that the node reports.
    pub fn into_text(self) -> Result<String, LiveError> {
        if self.is_success() { Ok(self.text) } else { Err(self.fault()) }
    }

    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    fn fault(&self) -> LiveError {
        let Ok(ErrorAnswer { error, hint }) = serde_json::from_str(&self.text) else {
            return LiveError::new(format!("the node answered with status {}", self.status));
        };
        let fault = LiveError::new(error);
        match hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}

impl Client {
    /// Creates a client of the node that listens for operators at `address`.
    pub fn new(identity: &Identity, address: &str) -> Result<Client, LiveError> {
        let connector = TlsConnector::from(identity.client(ExpectedPeer::AnyNode, HTTP_PROTOCOL)?);
        Ok(Client { connector, address: address.to_owned() })
    }

    /// Like [`Client::ask`], for callers without an asynchronous runtime: blocks the thread until the answer is there.
    pub fn ask_blocking(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Reply, LiveError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| LiveError::new("cannot start a thread").caused_by(error))?;
        runtime.block_on(self.ask(method, path, headers, body))
    }

    /// Sends a request over a new connection, and waits for the whole answer.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Reply, LiveError> {
        let asking = async {
            let response = self.send(method, path, headers, body).await?;
            let status = response.status().as_u16();
            let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX);
            let bytes = body.collect().await.map_err(|error| self.broken(&*error))?.to_bytes();
            Ok(Reply { status, text: String::from_utf8_lossy(&bytes).into_owned() })
        };
        timeout(TIMEOUT, asking).await.unwrap_or_else(|_| Err(self.fault().caused_by("it does not answer")))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<http::Response<Incoming>, LiveError> {
        let mut sender = self.handshake().await?;
        let mut request = Request::builder().method(method).uri(path).header("host", "node.mario");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| self.fault().caused_by(error))?;
        sender.send_request(request).await.map_err(|error| self.broken(&error))
    }

    /// Connects with TLS. The node may still reject the certificate afterwards.
    pub(super) async fn handshake(&self) -> Result<SendRequest<Full<Bytes>>, LiveError> {
        let hint = "see that the daemon runs and that `--node` is its address for operators";
        let stream =
            TcpStream::connect(&self.address).await.map_err(|error| self.fault().caused_by(error).hint(hint))?;
        let name = ServerName::try_from("node.mario").map_err(|error| self.fault().caused_by(error))?;
        let stream = self.connector.connect(name, stream).await.map_err(|error| self.broken(&error))?;
        let (sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.broken(&error))?;
        tokio::spawn(connection);
        Ok(sender)
    }

    /// The error of an established connection, without the words of the libraries for a mere end of it.
    pub(super) fn broken(&self, error: &(dyn Error + 'static)) -> LiveError {
        let mut cause = Some(error);
        while let Some(part) = cause {
            let is_ended = part
                .downcast_ref::<hyper::Error>()
                .is_some_and(|error| error.is_incomplete_message() || error.is_closed() || error.is_canceled());
            let io = part.downcast_ref::<io::Error>();
            if is_ended || io.is_some_and(is_closed) {
                return self.fault().caused_by("the node closed the connection without an answer").hint(REFUSED);
            }
            if let Some(io) = io {
                return self.fault().caused_by(in_words(io));
            }
            cause = part.source();
        }
        self.fault().caused_by(error.to_string())
    }

    pub(super) fn fault(&self) -> LiveError {
        LiveError::new(format!("cannot ask the node at {}", self.address))
    }
}

/// A body whose chunks come through a channel.
pub(super) fn channel_body(receiver: mpsc::Receiver<Bytes>) -> Body {
    BodyExt::boxed(Parts { receiver })
}

struct Parts {
    receiver: mpsc::Receiver<Bytes>,
}

impl hyper::body::Body for Parts {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.receiver.poll_recv(context).map(|part| part.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use mario_testing::Scratch;
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;
    use crate::identity::{Authority, Role, write_private, write_public};

    #[tokio::test]
    async fn a_connection_that_the_node_closes_is_explained_without_the_words_of_libraries() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        tokio::spawn(async move {
            // The first connection ends, and the second one is not TLS.
            for answer in [&b""[..], b"HTTP/1.1 400 Bad Request\r\n\r\n"] {
                let (mut stream, _) = listener.accept().await.expect("a connection");
                let _ = stream.write_all(answer).await;
            }
        });
        let scratch = Scratch::new("closed");
        let authority = Authority::new("harbour", 1).expect("an authority");
        let ada = authority.operator("ada", vec![Role::Look]).expect("an operator");
        let issued = authority.issue(&ada, 1).expect("issued");
        write_public(&scratch.join("ada.pem"), &issued.certificate_pem).expect("written");
        write_private(&scratch.join("ada.key"), &issued.key_pem).expect("written");
        let identity = Identity::load_bundle(&scratch.join("ada.pem")).expect("an identity");
        let client = Client::new(&identity, &address).expect("a client");
        let closed = client.ask(Method::GET, "/healthz", &[], Vec::new()).await.expect_err("closed").line();
        assert!(
            closed.contains("the node closed the connection without an answer (it does not accept this"),
            "{closed}"
        );
        let other = client.ask(Method::GET, "/healthz", &[], Vec::new()).await.expect_err("not TLS").line();
        assert!(!(closed + &other).contains("http"), "{other}");
    }
}
