//! `mario dashboard`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use mario_dashboard::{Dashboard, NodeSource, SOURCES_MAX};
use mario_frontend::Diagnostic;
use mario_live::LiveError;
use mario_live::api::Status;
use mario_live::identity::Identity;
use mario_live::operators::{Client, Method};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::interruptions::interruptions;
use crate::live::{failure, runtime};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario dashboard`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario dashboard --node 127.0.0.1:7441 --as ada.pem
  mario dashboard --node 127.0.0.1:7441 --node 127.0.0.1:7451 --as ada.pem --port 8090")]
pub struct Arguments {
    /// The address on which a node serves operators (`operators` in `[listen]` of its node.toml), e.g. 127.0.0.1:7441;
    /// may be repeated: more nodes show more of the colony
    #[arg(long, value_name = "ADDRESS", required = true)]
    pub node: Vec<String>,
    /// The certificate of an operator with the role `look`, e.g. ada.pem; its private key, ada.key, must be in the same
    /// directory
    #[arg(long = "as", value_name = "FILE")]
    pub operator: PathBuf,
    /// The port to listen on; 0 takes any free port
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
}

pub(super) const LONG_ABOUT: &str = "Watch a colony of live nodes in a browser.

The page shows what the nodes report: nodes, links with round-trip times, instances with facts and decisions, each operation as \
it happens, and problems at the top. If --node names only one node, the page shows that node and what it knows of its \
neighbours. Nodes that do not answer are retried; nothing is stored.

The server listens on 127.0.0.1 only. It prints its address and runs until Ctrl-C or SIGTERM, then exits with code 130. It \
answers only GET and HEAD requests whose host is 127.0.0.1 or localhost, with the limits of `mario view`.";

/// The timeout of a node's first answer.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

/// How often to check for a signal.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    if arguments.node.len() > SOURCES_MAX {
        let diagnostic = Diagnostic::error(format!("{} nodes are more than can be asked", arguments.node.len()));
        return Err(Failure::input(diagnostic.hint(format!("name at most {SOURCES_MAX} with --node"))));
    }
    let identity = Arc::new(Identity::load_bundle(&arguments.operator).map_err(|fault| failure(&fault))?);
    let runtime = runtime(2)?;
    let unable = |error: &std::io::Error| cannot_listen(arguments.port, error);
    let listener = runtime.block_on(listen(arguments.port))?;
    let address = listener.local_addr().map_err(|error| unable(&error))?;
    runtime.block_on(check_some_node_answers(&identity, &arguments.node))?;
    let stop = interruptions()?;
    console.write_data(|stdout| writeln!(stdout, "http://{address}/"))?;
    console.inform("press Ctrl-C to stop");
    let sources = arguments.node.iter().map(|node| NodeSource::fixed(Arc::clone(&identity), node.clone()));
    let dashboard = Dashboard::new(sources.collect(), None);
    runtime.block_on(dashboard.serve(listener, stopped(stop))).map_err(|error| unable(&error))?;
    runtime.shutdown_background();
    // The server ends only on a signal.
    Err(Failure::Interrupted(Vec::new()))
}

/// Binds the port of the page on loopback.
pub(super) async fn listen(port: u16) -> Result<TcpListener, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).await.map_err(|error| cannot_listen(port, &error))
}

fn cannot_listen(port: u16, error: &std::io::Error) -> Failure {
    let diagnostic = Diagnostic::error(format!("cannot listen on port {port} of 127.0.0.1"));
    Failure::Environment(vec![diagnostic.caused_by(error).hint("choose another port with --port")])
}

/// Checks that at least one node answers this operator, so that a wrong address, a foreign certificate or a missing
/// role is reported here instead of an empty page. The other nodes may start later.
async fn check_some_node_answers(identity: &Identity, nodes: &[String]) -> Result<(), Failure> {
    let mut asking = JoinSet::new();
    for (place, node) in nodes.iter().enumerate() {
        let client = Client::new(identity, node).map_err(|fault| failure(&fault))?;
        let late = LiveError::new(format!("the node at {node} does not answer"));
        asking.spawn(async move {
            let asked = async { client.ask(Method::GET, "/v1/status", &[], Vec::new()).await?.known::<Status>() };
            (place, timeout(FIRST_ANSWER, asked).await.unwrap_or(Err(late)))
        });
    }
    let mut faults = Vec::new();
    while let Some(answered) = asking.join_next().await {
        match answered {
            Ok((_, Ok(_))) => return Ok(()),
            Ok((place, Err(fault))) => faults.push((place, fault)),
            Err(_) => {}
        }
    }
    faults.sort_by_key(|(place, _)| *place);
    let faults: Vec<LiveError> = faults.into_iter().map(|(_, fault)| fault).collect();
    let diagnostics = faults.iter().flat_map(|fault| failure(fault).diagnostics().to_vec());
    Err(Failure::Input(diagnostics.collect()))
}

/// Waits for a signal that asks the process to stop.
async fn stopped(stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}
