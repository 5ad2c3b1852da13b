//! Serves a report on 127.0.0.1. The page polls the server for changes.
//!
//! Start at [`Server::serve`]. One thread serves clients and never blocks on any of them. Another makes the answers,
//! one at a time. `mario_page::server` rejects requests for other hosts, and bounds the resources that clients can use.

mod policy;
mod site;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use mario_page::server::{Reply, ServerLimits, not_found, plain, serve, whole};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use crate::Report;
use policy::content_security_policy;
use site::{Answer, Site, Target};

/// The source of reports.
pub trait Source: Send + 'static {
    /// A text that changes when the report does.
    fn version(&self) -> String;

    /// Makes the report, or returns the reason why it cannot.
    fn report(&mut self) -> Result<Report, String>;
}

/// A server for one report. It listens on 127.0.0.1 and answers requests whose host is that address or `localhost`.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    limits: ServerLimits,
}

/// A request to the thread that makes reports, and the channel for its answer.
type Question = (Target, oneshot::Sender<Answer>);

/// The interval at which the server checks whether to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

impl Server {
    /// Listens on a port; 0 lets the system choose one.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address, limits: ServerLimits::default() })
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: ServerLimits) -> Server {
        self.limits = limits;
        self
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is set, or until listening fails. If making a report panics, resumes the panic.
    pub fn serve(&self, source: impl Source, stop: &AtomicBool) -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (questions, asked) = mpsc::channel(self.limits.connections);
        let reporter = thread::Builder::new().name("report".to_owned()).spawn(move || report(source, asked))?;
        let served = self.accept_until(&runtime, &questions, stop);
        // Closes open connections. A report in progress is not waited for.
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
            let asking = questions.clone();
            let answer = move |request: Request<Incoming>| answer(request, asking.clone());
            tokio::select! {
                served = serve(listener, self.limits, content_security_policy(), answer) => served,
                () = stopped(questions, stop) => Ok(()),
            }
        })
    }
}

/// Returns when `stop` is set, or when the thread that makes reports has ended, which it does only if it panicked.
async fn stopped(questions: &mpsc::Sender<Question>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) && !questions.is_closed() {
        sleep(STOP_INTERVAL).await;
    }
    if questions.is_closed() {
        // Lets clients that wait for a report receive the error.
        sleep(STOP_INTERVAL).await;
    }
}

/// Forwards a request to the thread that makes reports. Replies with status 404 if the path is unknown, and with 500 if
/// the thread panicked.
async fn answer(request: Request<Incoming>, questions: mpsc::Sender<Question>) -> Reply {
    let Some(target) = Target::of(request.uri().path()) else { return not_found() };
    let (sender, answer) = oneshot::channel();
    if questions.send((target, sender)).await.is_ok()
        && let Ok(Answer { kind, content }) = answer.await
    {
        return whole(StatusCode::OK, kind, content);
    }
    plain(StatusCode::INTERNAL_SERVER_ERROR, "The report cannot be made.\n")
}

/// Answers questions one by one. Runs in a separate thread, because making a report takes long.
fn report(source: impl Source, mut asked: mpsc::Receiver<Question>) {
    let mut site = Site::new(source);
    while let Some((target, reply)) = asked.blocking_recv() {
        // The client may have disconnected in the meantime.
        if !reply.is_closed() {
            let _ = reply.send(site.answer(target));
        }
    }
}
