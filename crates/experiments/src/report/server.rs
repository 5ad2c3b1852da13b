//! Serves a report on this machine only, and notifies the page of changes.
//!
//! Start at [`Server::serve`]. One thread serves clients and never blocks on any of them; another makes reports, one at
//! a time. [`Limits`] bounds the resources that clients can use.
//!
//! **Invariant:** no client can stop the server, exhaust its memory, or block others for longer than a timeout.
//!
//! **Invariant:** only the head of a request is read, never its body.

mod connections;
mod policy;
mod reply;
mod site;
mod stream;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::Report;
use connections::{Activity, Connections};
use reply::Reply;
use site::{Answer, Site, Target};
use stream::{Clock, Stream};

/// The source of reports.
pub trait Source: Send + 'static {
    /// A version that changes when the report does.
    fn version(&self) -> String;

    /// Makes the report, or returns the reason why it cannot.
    fn report(&mut self) -> Result<Report, String>;
}

/// The limits of clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The maximum number of open connections. A further one closes the oldest idle connection; if none is idle, it
    /// waits.
    pub connections: usize,
    /// The maximum size of a request's head in bytes. The library requires at least 8192.
    pub head_bytes: usize,
    /// The time limit for sending the head of a request, and for an idle connection.
    pub head_timeout: Duration,
    /// The time limit for reading the next 16 KiB of an answer.
    pub write_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 64,
            head_bytes: 32 << 10,
            head_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
        }
    }
}

/// A server for one report. It listens on 127.0.0.1 and answers requests whose host is that address or `localhost`.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

/// A request to the thread that makes reports, and the channel for its answer.
type Question = (Target, oneshot::Sender<Answer>);

/// The interval at which the server checks whether to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// The pause after a failed accept, e.g. for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The number of consecutive failures after which listening has failed.
const ACCEPT_FAILURES_MAX: u32 = 100;

impl Server {
    /// Listens on a port; 0 lets the system choose one.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address, limits: Limits::default() })
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Server {
        self.limits = limits;
        self
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is set, or until listening fails.
    pub fn serve(&self, source: impl Source, stop: &AtomicBool) -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (questions, asked) = mpsc::channel(self.limits.connections);
        let reporter = thread::Builder::new().name("report".to_owned()).spawn(move || report(source, asked))?;
        let served = self.accept_until(&runtime, &questions, stop);
        // Open connections end with the runtime. A report in progress is abandoned.
        runtime.shutdown_background();
        if questions.is_closed()
            && let Err(panic) = reporter.join()
        {
            std::panic::resume_unwind(panic);
        }
        served
    }

    fn accept_until(&self, runtime: &Runtime, questions: &mpsc::Sender<Question>, stop: &AtomicBool) -> io::Result<()> {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener.try_clone()?)?;
            let mut connections = Connections::default();
            let mut failures = 0;
            // The thread that makes reports ends first only if it panicked.
            while !stop.load(Ordering::Relaxed) && !questions.is_closed() {
                if !connections.has_room(self.limits.connections) {
                    sleep(STOP_INTERVAL).await;
                    continue;
                }
                match timeout(STOP_INTERVAL, listener.accept()).await {
                    Err(_) => {}
                    Ok(Ok((stream, _))) => {
                        failures = 0;
                        let activity = Activity::default();
                        let stream = Stream::new(stream, self.limits.write_timeout, activity.clone());
                        let task = tokio::spawn(talk(stream, activity.clone(), self.limits, questions.clone()));
                        connections.add(task.abort_handle(), activity, self.limits.connections);
                    }
                    Ok(Err(error)) => {
                        failures += 1;
                        if failures == ACCEPT_FAILURES_MAX {
                            return Err(error);
                        }
                        sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
            if questions.is_closed() {
                // Lets clients that wait for a report receive the error.
                sleep(STOP_INTERVAL).await;
            }
            Ok(())
        })
    }
}

/// Answers the requests of one connection until the client closes it or exceeds a limit.
async fn talk(stream: Stream, activity: Activity, limits: Limits, questions: mpsc::Sender<Question>) {
    let service = service_fn(|request| {
        let (questions, activity) = (questions.clone(), activity.clone());
        async move {
            activity.answering();
            let reply = reply::to(request, &questions).await;
            activity.writing();
            Ok::<Reply, Infallible>(reply)
        }
    });
    let connection = http1::Builder::new()
        .timer(Clock)
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(limits.head_bytes)
        .serve_connection(stream, service);
    // A client that violates the protocol or disconnects does not stop the server.
    let _ = connection.await;
}

/// Answers questions one by one, in a separate thread, because making a report takes long.
fn report(source: impl Source, mut asked: mpsc::Receiver<Question>) {
    let mut site = Site::new(source);
    while let Some((target, reply)) = asked.blocking_recv() {
        // The client may have disconnected in the meantime.
        if !reply.is_closed() {
            let _ = reply.send(site.answer(target));
        }
    }
}
