//! Serves a report on this machine only, and notifies the page of changes.
//!
//! Start at [`Server::serve`]. One thread talks with clients and never waits for one of them; another makes reports, one at a
//! time. [`Limits`] bounds what clients may take of the process.
//!
//! **Invariant:** no client ends the server, fills its memory, or keeps others from being answered for longer than a timeout.
//! **Invariant:** nothing is read from a client but the head of a request.

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

/// Where reports come from.
pub trait Source: Send + 'static {
    /// Changes when there is news.
    fn version(&self) -> String;

    /// Makes the report, or says in words why it cannot.
    fn report(&mut self) -> Result<Report, String>;
}

/// What clients may take of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections that are open at once. One more closes the one that has been open for longest of those that are not being
    /// answered; if all are, it waits.
    pub connections: usize,
    /// Bytes of a request's head. The library takes no fewer than 8192.
    pub head_bytes: usize,
    /// How long a client may take to send the head of a request, and how long a connection may be idle.
    pub head_timeout: Duration,
    /// How long a client may take to read the next 16 KiB of an answer.
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

/// A server for one report. It listens on 127.0.0.1 and answers clients that call it by that name or `localhost`.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

/// A question for the thread that makes reports, and where its answer goes.
type Question = (Target, oneshot::Sender<Answer>);

/// How long the server sleeps between two looks at whether it is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// How long the server waits when accepting a connection fails, e.g. for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// After this many failures in a row, listening has failed.
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is set, or until listening fails.
    pub fn serve(&self, source: impl Source, stop: &AtomicBool) -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (questions, asked) = mpsc::channel(self.limits.connections);
        let reporter = thread::Builder::new().name("report".to_owned()).spawn(move || report(source, asked))?;
        let served = self.accept_until(&runtime, &questions, stop);
        // Open connections end with the runtime. A report that is being made is not waited for.
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
            // The thread that makes reports ends before us only if it panicked.
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
                // Clients that wait for a report still hear that it cannot be made.
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

/// Answers questions one by one, in a thread of its own: making a report takes long.
fn report(source: impl Source, mut asked: mpsc::Receiver<Question>) {
    let mut site = Site::new(source);
    while let Some((target, reply)) = asked.blocking_recv() {
        // The client may have gone away meanwhile.
        if !reply.is_closed() {
            let _ = reply.send(site.answer(target));
        }
    }
}
