//! The daemons, their namespaces, and their operator.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mario_live::application::{ApplicationFile, sign};
use mario_live::identity::{
    Authority, CertificateContent, Identity, Role, application_id, node_id, write_private, write_public,
};
use mario_live::operators::{Client, DEPLOY_KEY, Method, Reply};
use mario_policy::PolicyText;
use mario_testing::wait_for;
use serde_json::Value;
use tokio::runtime::Handle;

/// The 13 nodes of the tree, each with its parent.
pub const TREE: [(&str, Option<&str>); 13] = [
    ("r", None),
    ("a", Some("r")),
    ("b", Some("r")),
    ("c", Some("r")),
    ("a1", Some("a")),
    ("a2", Some("a")),
    ("a3", Some("a")),
    ("b1", Some("b")),
    ("b2", Some("b")),
    ("b3", Some("b")),
    ("c1", Some("c")),
    ("c2", Some("c")),
    ("c3", Some("c")),
];

/// The node whose data directory is on a file system of 4 MiB.
pub const SMALL_DISK: &str = "b3";

/// A policy that migrates to the neighbour through which all requests come. If they come through several neighbours, or
/// some come from the own node, it replicates to the first of these neighbours.
pub const FOLLOWS: &str = "
operation(migrate, I, N) :- asks(I, N), \\+ (asks_at_all(I, M), M \\== N).
operation(replicate, I, N) :- asks(I, N), asks_at_all(I, M), M \\== N, !.
asks(I, N) :- requests(I, N, _, _), N \\== self.
asks_at_all(I, N) :- requests(I, N, _, _).
";

/// A policy that proposes to migrate at every evaluation: from `r` and `b1` to `b`, and from `b` to `r` or `b1`, at
/// random.
pub const WANDERS: &str = "
operation(migrate, I, b) :- serviceInstance(I, _, r).
operation(migrate, I, b1) :- serviceInstance(I, _, b), fact(I, random, R), 0 is R mod 2.
operation(migrate, I, r) :- serviceInstance(I, _, b).
operation(migrate, I, b) :- serviceInstance(I, _, b1).
";

/// A policy that proposes nothing.
pub const STAYS: &str = "operation(undeploy, I, self) :- serviceInstance(I, _, nowhere).";

/// Configured neighbours of the root that have no daemon; the test connects in their name.
pub const IMPOSTORS: [&str; 2] = ["babble", "mute"];

/// The daemons of the tree, with their files.
pub struct Nodes {
    pub begun: Instant,
    pub directory: PathBuf,
    pub authority: Authority,
    runtime: Handle,
    daemons: Vec<Option<Child>>,
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().expect("iproute2");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Nodes {
    /// Creates a bridge, a namespace for each node, certificates and configurations.
    pub fn new(directory: &Path, runtime: Handle) -> Nodes {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "tmpfs", "/run"]).status().expect("mount");
        assert!(mounted.success());
        fs::create_dir_all("/run/netns").expect("made");
        ip("link set lo up");
        ip("link add br0 type bridge");
        ip("addr add 10.77.0.1/24 dev br0");
        ip("link set br0 up");
        let authority = Authority::new("harbour", 10).expect("an authority");
        authority.save(directory).expect("saved");
        let daemons = TREE.iter().map(|_| None).collect();
        let nodes = Nodes { begun: Instant::now(), directory: directory.to_path_buf(), authority, runtime, daemons };
        let ada = nodes.authority.operator("ada", Role::ALL.to_vec()).expect("a name");
        nodes.certificate("ada", &ada, 0, 5);
        for name in ["shop", "nomad", "ballast"] {
            let id = application_id(name).expect("a name");
            let application = nodes.authority.application(id, Vec::new(), vec![format!("/{name}")]);
            nodes.certificate(name, &application, 0, 5);
        }
        for name in IMPOSTORS {
            nodes.certificate(name, &nodes.authority.node(node_id(name).expect("a name"), Vec::new()), 0, 5);
        }
        for index in 0..TREE.len() {
            nodes.prepare(index);
        }
        nodes
    }

    /// Writes `NAME.pem` and `NAME.key`, valid from `from` to `to`, in days from now.
    pub fn certificate(&self, name: &str, certified: &CertificateContent, from: i64, to: i64) {
        let issued = self.authority.issue_between(certified, from, to).expect("issued");
        let path = self.directory.join(format!("{name}.pem"));
        write_public(&path, &issued.certificate_pem).expect("written");
        write_private(&path.with_extension("key"), &issued.key_pem).expect("written");
    }

    fn prepare(&self, index: usize) {
        let name = TREE[index].0;
        ip(&format!("netns add {name}"));
        ip(&format!("link add to-{name} type veth peer name eth0 netns {name}"));
        ip(&format!("link set to-{name} master br0 up"));
        ip(&format!("-n {name} addr add {}/24 dev eth0", Nodes::address(index)));
        ip(&format!("-n {name} link set eth0 up"));
        ip(&format!("-n {name} link set lo up"));
        let certified = self.authority.node(node_id(name).expect("a name"), Vec::new());
        self.certificate(name, &certified, 0, 5);
        let home = self.directory.join(name);
        fs::create_dir_all(self.data(index)).expect("made");
        if name == SMALL_DISK {
            let mut mount = Command::new("mount");
            let mounted = mount.args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(self.data(index)).status();
            assert!(mounted.expect("mount").success());
        }
        let mut text = format!(
            "id = \"{name}\"\ncapacity = 3\n[listen]\nlinks = \"0.0.0.0:7440\"\ningress = \"0.0.0.0:8080\"\n\
             operators = \"0.0.0.0:7441\"\n[identity]\nauthority = \"../ca.pem\"\ncertificate = \"../{name}.pem\"\n\
             key = \"../{name}.key\"\n[timing]\nevaluation_ms = 1500\nprepare_ms = 30000\nreservation_ms = 60000\n\
             resend_ms = 200\nresend_ms_max = 2000\nsilence_ms = 4000\n",
        );
        let impostors = IMPOSTORS.into_iter().filter(|_| index == 0);
        for neighbour in Nodes::neighbours(index).into_iter().chain(impostors) {
            let address = match TREE.iter().position(|(other, _)| *other == neighbour) {
                Some(other) => format!("10.77.0.1:{}", relay_port(index, other)),
                // No server listens there, so the root cannot connect to an impostor.
                None => "10.77.0.1:9".to_owned(),
            };
            text += &format!("[[neighbours]]\nid = \"{neighbour}\"\naddress = \"{address}\"\n");
        }
        fs::write(home.join("node.toml"), text).expect("written");
    }

    /// The neighbours of a node in the tree: its parent and its children.
    pub fn neighbours(index: usize) -> Vec<&'static str> {
        let (name, above) = TREE[index];
        let below = TREE.iter().filter(|(_, above)| *above == Some(name)).map(|(below, _)| *below);
        above.into_iter().chain(below).collect()
    }

    /// Runs a future to completion.
    pub fn block_on<T>(&self, done: impl Future<Output = T>) -> T {
        self.runtime.block_on(done)
    }

    pub fn index(name: &str) -> usize {
        TREE.iter().position(|(known, _)| *known == name).expect("a node")
    }

    pub fn address(index: usize) -> String {
        format!("10.77.0.{}", 11 + index)
    }

    pub fn links(index: usize) -> SocketAddr {
        format!("{}:7440", Nodes::address(index)).parse().expect("an address")
    }

    pub fn ingress(index: usize) -> SocketAddr {
        format!("{}:8080", Nodes::address(index)).parse().expect("an address")
    }

    pub fn data(&self, index: usize) -> PathBuf {
        self.directory.join(TREE[index].0).join("data")
    }

    pub fn log(&self, index: usize) -> String {
        fs::read_to_string(self.directory.join(format!("{}.log", TREE[index].0))).unwrap_or_default()
    }

    /// Prints the last 12 lines of each log.
    pub fn show_logs(&self) {
        for (index, (name, _)) in TREE.iter().enumerate() {
            let log = self.log(index);
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("--- {name}\n{}", lines[lines.len().saturating_sub(12)..].join("\n"));
        }
    }

    /// Starts a daemon in its namespace.
    pub fn start(&mut self, index: usize) {
        let name = TREE[index].0;
        let path = self.directory.join(format!("{name}.log"));
        let log = fs::OpenOptions::new().create(true).append(true).open(path).expect("a log");
        let child = Command::new("ip")
            .args(["netns", "exec", name, env!("CARGO_BIN_EXE_mario"), "node", "--config", "node.toml"])
            .current_dir(self.directory.join(name))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.daemons[index] = Some(child.expect("ip runs"));
    }

    /// Kills a daemon with SIGKILL. The child is the daemon itself, because `ip netns exec` starts it by `exec`.
    pub fn kill(&mut self, index: usize) {
        if let Some(mut daemon) = self.daemons[index].take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }

    /// Sends SIGTERM to a daemon, and asserts that it ends successfully.
    pub fn stop(&mut self, index: usize) {
        let Some(mut daemon) = self.daemons[index].take() else { return };
        let pid = nix::unistd::Pid::from_raw(daemon.id().cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it runs");
        assert!(daemon.wait().expect("a child").success(), "{} ends well", TREE[index].0);
    }

    fn ask(&self, index: usize, method: Method, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Option<Reply> {
        let identity = Identity::load_bundle(&self.directory.join("ada.pem")).expect("an identity");
        let client = Client::new(&identity, &format!("{}:7441", Nodes::address(index))).expect("a client");
        let asked = async {
            tokio::time::timeout(Duration::from_secs(20), client.ask(method, path, headers, body)).await.ok()?.ok()
        };
        self.runtime.block_on(asked)
    }

    /// The answer of a daemon; null if it does not answer with JSON.
    pub fn get(&self, index: usize, path: &str) -> Value {
        self.ask(index, Method::GET, path, &[], Vec::new())
            .and_then(|reply| serde_json::from_str(&reply.text).ok())
            .unwrap_or_default()
    }

    /// Sums a metric over all nodes; a node that does not answer counts as 0.
    pub fn counted(&self, metric: &str) -> f64 {
        let of = |index: usize| -> f64 {
            let text =
                self.ask(index, Method::GET, "/metrics", &[], Vec::new()).map(|reply| reply.text).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(&format!("{metric} "))).map(str::to_owned);
            line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
        };
        (0..TREE.len()).map(of).sum()
    }

    /// Deploys an application with a policy; repeats the request with the same key until it succeeds. Returns the id of
    /// the instance.
    pub fn deploy(&self, node: &str, application: &str, policy: &str) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let key = NEXT.fetch_add(1, Ordering::Relaxed);
        wait_for(&format!("{application} is deployed on {node}"), super::TIMEOUT, || {
            let answer = self.try_deploy(node, application, policy, key)?.json().ok()?;
            Some(answer["instance"].as_str().expect("an id").to_owned())
        })
    }

    /// Sends one request to deploy. Returns `None` if there is no reply.
    pub fn try_deploy(&self, node: &str, application: &str, policy: &str, key: u32) -> Option<Reply> {
        let file: ApplicationFile = toml::from_str(&format!(
            "id = \"{application}\"\nhardware = 1\nmax_rate = 100\nmax_latency = 50\npolicy = \"p.pl\"\nprefixes = [\"/{application}\"]\n\
             run = {{ driver = \"sample\", start_timeout_ms = 60000, drain_timeout_ms = 5000 }}\n",
        ))
        .expect("an application");
        let files = vec![("p.pl".to_owned(), policy.to_owned())];
        let policy = PolicyText { name: "p".to_owned(), files, memory: 0 };
        let owner = Identity::load_bundle(&self.directory.join(format!("{application}.pem"))).expect("an identity");
        let document = sign(&file, &policy, &owner).expect("signed");
        self.ask(Nodes::index(node), Method::POST, "/v1/instances", &[(DEPLOY_KEY, &key.to_string())], document)
    }

    /// Whether a node owns an instance of an application, and the copy of that instance is healthy.
    pub fn hosts(&self, index: usize, application: &str) -> bool {
        let answer = self.get(index, "/v1/instances");
        let is_it = |one: &Value| {
            one["application"] == application && one["state"] == "owned" && one["copy"]["state"] == "healthy"
        };
        answer["instances"].as_array().is_some_and(|instances| instances.iter().any(is_it))
    }

    /// The process ids of the sample services that run for a node.
    pub fn workloads(&self, index: usize) -> Vec<i32> {
        let home = self.directory.join(TREE[index].0);
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            let is_here = fs::read_link(entry.path().join("cwd")).is_ok_and(|path| path.starts_with(&home));
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            if is_here && words.split(|byte| *byte == 0).nth(1) == Some(b"workload-sample") {
                found.push(pid);
            }
        }
        found
    }

    /// Undeploys all instances, repeatedly until no node has one, and waits until all nodes are quiet.
    pub fn end_instances(&self) {
        super::wait(self, "nothing is deployed any more", || {
            let mut is_empty = true;
            for index in 0..TREE.len() {
                let answer = self.get(index, "/v1/instances");
                for one in answer["instances"].as_array().cloned().unwrap_or_default() {
                    is_empty = false;
                    let path = format!("/v1/instances/{}", one["instance"].as_str().unwrap_or_default());
                    let _ = self.ask(index, Method::DELETE, &path, &[], Vec::new());
                }
                is_empty &= self.get(index, "/v1/status")["is_quiet"] == true;
            }
            is_empty
        });
    }
}

/// The port of the relay from one node to another.
pub fn relay_port(from: usize, to: usize) -> u16 {
    10_000 + (from * 100 + to) as u16
}
