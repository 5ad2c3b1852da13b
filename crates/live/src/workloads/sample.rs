//! A small HTTP service for demonstrations and tests, which the driver `sample` runs.
//!
//! It answers requests with its identity, after a busy wait of the configured time. `/healthz` answers at once. On
//! SIGTERM it finishes its requests and exits.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The settings of the service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SampleSettings {
    /// The address on which it listens.
    pub listen: SocketAddr,
    /// The busy wait per request.
    pub work: Duration,
    /// The delay until it listens.
    pub start: Duration,
    /// The minimum size of an answer in bytes.
    pub answer_bytes: usize,
}

/// The maximum size of a request body. Longer ones are answered with 413.
const BODY_BYTES_MAX: usize = 16 << 20;
/// The maximum of [`SampleSettings::answer_bytes`].
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// How long open requests may take to finish after SIGTERM.
const FINISH: Duration = Duration::from_secs(25);

impl SampleSettings {
    /// Parses the arguments of the service. The error names the wrong argument.
    pub fn parse(arguments: &[OsString]) -> Result<SampleSettings, String> {
        let listen = std::env::var("MARIO_ADDRESS").ok().and_then(|address| address.parse().ok());
        let mut sample = SampleSettings {
            listen: listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080))),
            work: Duration::ZERO,
            start: Duration::ZERO,
            answer_bytes: 0,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let key = argument.to_str().unwrap_or_default();
            // Has no effect: the port accepts HTTP/1.1 and HTTP/2 in any case.
            if key == "--h2c" {
                continue;
            }
            let value = arguments.next().and_then(|value| value.to_str()).unwrap_or_default();
            let number = || value.parse::<u64>().map_err(|_| format!("`{key}` needs a whole number, not `{value}`"));
            match key {
                "--listen" => {
                    sample.listen =
                        value.parse().map_err(|_| format!("`--listen` needs an address and a port, not `{value}`"))?;
                }
                "--work-us" => sample.work = Duration::from_micros(number()?.min(60_000_000)),
                "--start-ms" => sample.start = Duration::from_millis(number()?),
                "--answer-bytes" => sample.answer_bytes = (number()? as usize).min(ANSWER_BYTES_MAX),
                _ => return Err(format!("`{}` is not an argument of the sample service", argument.display())),
            }
        }
        Ok(sample)
    }

    /// Serves until SIGTERM.
    pub fn serve(&self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.serve_until_asked())
    }

    async fn serve_until_asked(&self) -> io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::time::sleep(self.start).await;
        let listener = TcpListener::bind(self.listen).await?;
        let answers = Arc::new(Answers::new(self));
        let (ending, is_ending) = watch::channel(false);
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = terminate.recv() => break,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) => {
                    // Nagle's algorithm would only delay small answers.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(serve_connection(TokioIo::new(stream), Arc::clone(&answers), is_ending.clone()));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        drop(listener);
        let _ = ending.send(true);
        let all = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(FINISH, all).await;
        Ok(())
    }
}

/// Runs the service with these arguments. Returns the exit code, and after an error a message for the user.
pub fn main(arguments: &[OsString]) -> (u8, Option<String>) {
    match SampleSettings::parse(arguments) {
        Err(problem) => (2, Some(problem)),
        Ok(sample) => match sample.serve() {
            Ok(()) => (0, None),
            Err(error) => (3, Some(format!("cannot serve on {}: {error}", sample.listen))),
        },
    }
}

struct Answers {
    work: Duration,
    body: Bytes,
    served: AtomicU64,
}

impl Answers {
    fn new(sample: &SampleSettings) -> Answers {
        let mut text = String::new();
        for (label, variable) in [
            ("application", "MARIO_APPLICATION"),
            ("instance", "MARIO_INSTANCE"),
            ("node", "MARIO_NODE"),
            ("flavour", "MARIO_FLAVOUR"),
        ] {
            if let Ok(value) = std::env::var(variable) {
                let _ = writeln!(text, "{label} {value}");
            }
        }
        let mut body = text.into_bytes();
        if body.len() < sample.answer_bytes {
            body.resize(sample.answer_bytes, b'.');
        }
        Answers { work: sample.work, body: body.into(), served: AtomicU64::new(0) }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        if request.uri().path() == "/healthz" {
            return Ok(Response::new(Full::new(Bytes::from_static(b"ok\n"))));
        }
        let number = self.served.fetch_add(1, Ordering::Relaxed) + 1;
        if Limited::new(request.into_body(), BODY_BYTES_MAX).collect().await.is_err() {
            let mut response =
                Response::new(Full::new(Bytes::from_static(b"the request is too long or was cut off\n")));
            *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
            return Ok(response);
        }
        burn(self.work);
        let mut response = Response::new(Full::new(self.body.clone()));
        response.headers_mut().insert("mario-sample-served", number.into());
        Ok(response)
    }
}

/// Spins until this much time has passed. Sleeping instead would let one instance serve any rate.
fn burn(work: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < work {
        std::hint::spin_loop();
    }
}

async fn serve_connection(
    io: TokioIo<tokio::net::TcpStream>,
    answers: Arc<Answers>,
    mut is_ending: watch::Receiver<bool>,
) {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(Duration::from_mins(1));
    builder.http2().timer(TokioTimer::new());
    let service = service_fn(move |request| {
        let answers = Arc::clone(&answers);
        async move { answers.answer(request).await }
    });
    let mut connection = pin!(builder.serve_connection(io, service));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = is_ending.wait_for(|&is_ending| is_ending) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_parsed_and_errors_name_them() {
        let parse =
            |text: &str| SampleSettings::parse(&text.split_whitespace().map(OsString::from).collect::<Vec<_>>());
        let sample = parse("--listen 127.0.0.1:9 --work-us 5 --start-ms 6 --answer-bytes 7 --h2c").unwrap();
        assert_eq!((sample.work.as_micros(), sample.start.as_millis(), sample.answer_bytes), (5, 6, 7));
        for (text, expected) in [
            ("--listen here", "`--listen` needs an address and a port, not `here`"),
            ("--work-us", "`--work-us` needs a whole number, not ``"),
            ("--wrok-us 5", "`--wrok-us` is not an argument"),
        ] {
            assert!(parse(text).unwrap_err().starts_with(expected));
        }
    }
}
