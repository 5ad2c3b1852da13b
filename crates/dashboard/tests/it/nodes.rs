//! Nodes that answer, nodes that do not, and nodes that reject the operator.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mario_dashboard::{Dashboard, NodeSource};
use mario_live::api::TestbedData;
use mario_live::config::{NodeConfig, check};
use mario_live::daemon::{self, DaemonDependencies, WorkloadsAtStop};
use mario_live::identity::{Authority, CertificateContent, Identity, Role, node_id, write_private, write_public};
use mario_live::workloads::Launcher;
use mario_testing::{Scratch, free_address};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

const TIMEOUT: Duration = Duration::from_mins(1);

/// A directory that is removed on drop.
struct TestDirectory(Scratch);

impl TestDirectory {
    fn new(test: &str) -> TestDirectory {
        TestDirectory(Scratch::new(test))
    }

    fn certificate(&self, authority: &Authority, name: &str, certified: &CertificateContent) -> PathBuf {
        authority.save(&self.0).ok();
        let issued = authority.issue(certified, 5).expect("issued");
        let path = self.0.join(format!("{name}.pem"));
        write_public(&path, &issued.certificate_pem).expect("written");
        write_private(&path.with_extension("key"), &issued.key_pem).expect("written");
        path
    }

    fn operator(&self, authority: &Authority, name: &str, roles: Vec<Role>) -> Arc<Identity> {
        let certified = authority.operator(name, roles).expect("a name");
        let path = self.certificate(authority, name, &certified);
        Arc::new(Identity::load_bundle(&path).expect("an identity"))
    }
}

/// Runs a node in this process, without instances, and with a neighbour `far` that does not run. Returns its address
/// for operators, and a sender that stops it.
async fn node(directory: &TestDirectory, authority: &Authority, name: &str) -> (SocketAddr, watch::Sender<bool>) {
    let certified = authority.node(node_id(name).expect("a name"), Vec::new());
    let certificate = directory.certificate(authority, name, &certified);
    let [links, ingress, operators] = [(); 3].map(|()| free_address());
    let text = format!(
        "id = \"{name}\"\ncapacity = 2\ndata = \"data-{name}-{}\"\n[listen]\nlinks = \"{links}\"\ningress = \"{ingress}\"\n\
         operators = \"{operators}\"\n[identity]\nauthority = \"ca.pem\"\ncertificate = \"{}\"\nkey = \"{}\"\n\
         [[neighbours]]\nid = \"far\"\naddress = \"127.0.0.1:9\"\n",
        operators.port(),
        certificate.display(),
        certificate.with_extension("key").display(),
    );
    let engine: &'static mario_prolog::Engine = Box::leak(Box::new(mario_prolog::Engine::new()));
    let config = NodeConfig::read("node.toml", &text, &directory.0).expect("a configuration");
    let checked = check(&config, engine).unwrap_or_else(|error| panic!("{:?}", error.mistakes));
    let nothing = Launcher { binary: PathBuf::from("/bin/false"), launch: Vec::new(), sample: Vec::new() };
    let (stop, mut stopped) = watch::channel(false);
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let ended = Box::pin(async move {
            let _ = stopped.wait_for(|is_stopped| *is_stopped).await;
        });
        let tell = move |_: daemon::Addresses| {
            let _ = ready.send(());
        };
        daemon::run(
            config,
            checked,
            engine,
            DaemonDependencies { launcher: nothing, workloads_at_stop: WorkloadsAtStop::Keep },
            tell,
            ended,
        )
        .await
        .expect("it runs");
    });
    is_ready.await.expect("it starts");
    (operators, stop)
}

/// Starts a dashboard of some sources. Returns its address.
fn titled(title: &str) -> TestbedData {
    TestbedData { title: Some(title.to_owned()), ..TestbedData::default() }
}

async fn dashboard(sources: Vec<NodeSource>, extra: Option<watch::Receiver<TestbedData>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(Dashboard::new(sources, extra).serve(listener, std::future::pending()));
    address
}

async fn snapshot(address: SocketAddr) -> Value {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream
        .write_all(b"GET /snapshot.json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
}

async fn wait(address: SocketAddr, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let shown = snapshot(address).await;
        if is_so(&shown) {
            return shown;
        }
        assert!(begun.elapsed() < TIMEOUT, "{what}: {shown:#}");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

fn problems(shown: &Value) -> String {
    shown["problems"].to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_node_alone_shows_itself_and_the_neighbours_that_it_names() {
    let directory = TestDirectory::new("alone");
    let authority = Authority::new("harbour", 10).expect("an authority");
    let ada = directory.operator(&authority, "ada", vec![Role::Look]);
    let (address, _stop) = node(&directory, &authority, "a").await;
    let page = dashboard(vec![NodeSource::fixed(ada, address.to_string())], None).await;
    let shown = wait(page, "the node is shown", |shown| shown["details"][0]["journal"]["records"].is_u64()).await;
    assert_eq!((&shown["nodes"][0]["id"], &shown["nodes"][0]["reach"]), (&"a".into(), &"answers".into()));
    assert_eq!((&shown["nodes"][1]["id"], &shown["nodes"][1]["reach"]), (&"far".into(), &"unwatched".into()));
    assert_eq!((&shown["nodes"][0]["capacity"], &shown["nodes"][0]["free"]), (&2.into(), &2.into()));
    assert!(problems(&shown).contains("The link a – far is down"), "{}", problems(&shown));
    wait(page, "its events are followed", |shown| shown["happenings"].to_string().contains("the daemon started")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_does_not_answer_does_not_hide_other_nodes() {
    let directory = TestDirectory::new("silent");
    let authority = Authority::new("harbour", 10).expect("an authority");
    let ada = directory.operator(&authority, "ada", vec![Role::Look]);
    let (address, stop) = node(&directory, &authority, "a").await;
    // At one address, no server listens; at another, a server accepts connections but never answers.
    let mute = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let (moving, addresses) = watch::channel(free_address().to_string());
    let (tell, extra) = watch::channel(titled("a testbed"));
    let sources = vec![
        NodeSource::moving(Arc::clone(&ada), addresses),
        NodeSource::fixed(Arc::clone(&ada), mute.local_addr().expect("an address").to_string()),
        NodeSource::fixed(ada, address.to_string()),
    ];
    let page = dashboard(sources, Some(extra)).await;
    let shown = wait(page, "one answers, one is silent", |shown| {
        shown["answering"] == 1 && problems(shown).contains("has not answered") && shown["title"].is_string()
    })
    .await;
    assert_eq!(shown["title"], "a testbed");
    assert!(problems(&shown).contains("refused"), "{}", problems(&shown));
    // A daemon starts, and the first source moves to its address.
    let (other, _other_stop) = node(&directory, &authority, "b").await;
    moving.send(other.to_string()).expect("it is watched");
    wait(page, "both answer", |shown| shown["answering"] == 2 && shown["nodes"].to_string().contains("\"b\"")).await;
    tell.send(titled("still a testbed")).expect("it is watched");
    wait(page, "the testbed's news are taken in", |shown| shown["title"] == "still a testbed").await;
    // The dashboard notices that a daemon has ended.
    stop.send(true).expect("it runs");
    wait(page, "it ended", |shown| shown["answering"] == 1 && problems(shown).contains("Node a has not answered"))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_and_operators_without_the_role_get_a_reason() {
    let (directory, foreign_directory) = (TestDirectory::new("strangers"), TestDirectory::new("foreign"));
    let authority = Authority::new("harbour", 10).expect("an authority");
    let foreign = Authority::new("harbour", 10).expect("an authority");
    let (address, _stop) = node(&directory, &authority, "a").await;
    let blind = directory.operator(&authority, "bob", vec![Role::Deploy]);
    let stranger = foreign_directory.operator(&foreign, "eve", vec![Role::Look]);
    let sources = vec![NodeSource::fixed(blind, address.to_string()), NodeSource::fixed(stranger, address.to_string())];
    let page = dashboard(sources, None).await;
    let shown = wait(page, "both are refused", |shown| {
        let problems = problems(shown);
        problems.contains("does not have the role `look`") && problems.contains("not one of this colony's authority")
    })
    .await;
    assert_eq!(shown["answering"], 0);
}
