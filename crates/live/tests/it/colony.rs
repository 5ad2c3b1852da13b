//! A colony of daemons on loopback. Each is a separate process, which tests kill and restart.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mario_live::application::{ApplicationFile, sign};
use mario_live::identity::{
    Authority, CertificateContent, Identity, Role, application_id, node_id, write_private, write_public,
};
use mario_live::operators::{Client, DEPLOY_KEY, Method, Reply};
use mario_policy::PolicyText;
use mario_testing::{Scratch, free_address};
use mario_trace::join::join;
use serde_json::Value;

/// How long a step may take on a busy machine before a test fails.
pub const TIMEOUT: Duration = Duration::from_mins(1);

/// Daemons, their directory, and the authority that signs their certificates.
pub struct Colony {
    pub directory: Scratch,
    pub authority: Authority,
    pub daemons: Vec<Daemon>,
    /// The hard limit of open files of daemons that are started from now on; their soft limit is then 300.
    pub open_files_max: Option<u64>,
    runtime: tokio::runtime::Runtime,
}

/// One daemon, up or down.
pub struct Daemon {
    pub name: String,
    pub config: PathBuf,
    pub links: SocketAddr,
    pub ingress: SocketAddr,
    pub operators: SocketAddr,
    process: Option<Child>,
}

impl Daemon {
    /// A daemon that was not started, with a configuration that exists, and its addresses for neighbours, clients and
    /// operators.
    pub fn new(name: &str, config: PathBuf, [links, ingress, operators]: [SocketAddr; 3]) -> Daemon {
        Daemon { name: name.to_owned(), config, links, ingress, operators, process: None }
    }
}

impl Colony {
    /// Creates a chain of daemons with these names, each with `capacity` units of hardware, without starting them.
    pub fn new(test: &str, names: &[&str], capacity: u64) -> Colony {
        let directory = Scratch::new(test);
        let authority = Authority::new("harbour", 10).expect("an authority");
        authority.save(&directory).expect("saved");
        let daemons = names
            .iter()
            .map(|name| Daemon {
                name: (*name).to_owned(),
                config: directory.join(name).join("node.toml"),
                links: free_address(),
                ingress: free_address(),
                operators: free_address(),
                process: None,
            })
            .collect();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread");
        let mut colony = Colony { directory, authority, daemons, open_files_max: None, runtime };
        let ada = colony.authority.operator("ada", Role::ALL.to_vec()).expect("a name");
        colony.certificate("ada", &ada, 5);
        let shop =
            colony.authority.application(application_id("shop").expect("a name"), Vec::new(), vec!["/shop".to_owned()]);
        colony.certificate("shop", &shop, 5);
        for index in 0..names.len() {
            colony.write_config(index, capacity);
        }
        colony
    }

    /// Writes a new certificate and its key, `NAME.pem` and `NAME.key`, to the colony's directory. Returns the path of
    /// the certificate.
    pub fn certificate(&self, name: &str, certified: &CertificateContent, days: i64) -> PathBuf {
        let issued = self.authority.issue(certified, days).expect("issued");
        let path = self.directory.join(format!("{name}.pem"));
        let _ = fs::remove_file(&path);
        let _ = fs::remove_file(path.with_extension("key"));
        write_public(&path, &issued.certificate_pem).expect("written");
        write_private(&path.with_extension("key"), &issued.key_pem).expect("written");
        path
    }

    fn write_config(&mut self, index: usize, capacity: u64) {
        let daemon = &self.daemons[index];
        let certified = self.authority.node(node_id(&daemon.name).expect("a name"), Vec::new());
        let certificate = self.certificate(&daemon.name, &certified, 5);
        let mut text = format!(
            "id = \"{}\"\ncapacity = {capacity}\n[listen]\nlinks = \"{}\"\ningress = \"{}\"\noperators = \"{}\"\n\
             [identity]\nauthority = \"{}\"\ncertificate = \"{}\"\nkey = \"{}\"\n\
             [timing]\nevaluation_ms = 400\nprepare_ms = 20000\nreservation_ms = 30000\nresend_ms = 100\nresend_ms_max = 1000\n\
             silence_ms = 3000\n",
            daemon.name,
            daemon.links,
            daemon.ingress,
            daemon.operators,
            self.directory.join("ca.pem").display(),
            certificate.display(),
            certificate.with_extension("key").display(),
        );
        let neighbours = [index.checked_sub(1), Some(index + 1)];
        for neighbour in neighbours.into_iter().flatten().filter_map(|neighbour| self.daemons.get(neighbour)) {
            text += &format!("[[neighbours]]\nid = \"{}\"\naddress = \"{}\"\n", neighbour.name, neighbour.links);
        }
        fs::create_dir_all(daemon.config.parent().expect("a directory")).expect("made");
        fs::write(&daemon.config, text).expect("written");
    }

    /// Appends settings to the configuration of a daemon.
    pub fn configure(&self, index: usize, settings: &str) {
        let path = &self.daemons[index].config;
        let text = fs::read_to_string(path).expect("written before");
        fs::write(path, text + settings).expect("written");
    }

    /// Starts a daemon and waits until it listens or ends. With `crash`, `before:N` or `after:N`, the daemon dies
    /// before or after the Nth write of its journal.
    pub fn start(&mut self, index: usize, crash: Option<&str>) {
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.directory.join(format!("{}.log", self.daemons[index].name)))
            .expect("a log");
        let daemon = &mut self.daemons[index];
        let mut command = match self.open_files_max {
            Some(files) => {
                let mut limited = Command::new("prlimit");
                limited.arg(format!("--nofile=300:{files}")).arg(env!("CARGO_BIN_EXE_workload"));
                limited
            }
            None => Command::new(env!("CARGO_BIN_EXE_workload")),
        };
        // The data directory is relative, as users write it.
        command.current_dir(daemon.config.parent().expect("a directory"));
        command.args(["node", "node.toml"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        command.env("MARIO_TEST_DISK_FULL", self.directory.join(format!("{}.full", daemon.name)));
        match crash {
            Some(crash) => command.env("MARIO_TEST_CRASH", crash),
            None => command.env_remove("MARIO_TEST_CRASH"),
        };
        let mut child = command.spawn().expect("the daemon starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        let _ = BufReader::new(stdout).read_line(&mut line);
        daemon.process = Some(child);
    }

    /// Whether a daemon that was started has ended on its own.
    pub fn has_ended(&mut self, index: usize) -> bool {
        let process = self.daemons[index].process.as_mut().expect("it was started");
        process.try_wait().expect("a child").is_some()
    }

    /// The process id of a running daemon.
    pub fn pid(&self, index: usize) -> u32 {
        self.daemons[index].process.as_ref().expect("it runs").id()
    }

    /// Kills a daemon with `kill -9`.
    pub fn kill(&mut self, index: usize) {
        if let Some(mut process) = self.daemons[index].process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Sends SIGTERM to a daemon and waits for its end. Returns whether it exited successfully.
    pub fn stop(&mut self, index: usize) -> bool {
        let mut process = self.daemons[index].process.take().expect("it runs");
        let pid = nix::unistd::Pid::from_raw(process.id().cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it runs");
        process.wait().expect("a child").success()
    }

    /// Asks a daemon as the operator `ada`; `None` if it does not answer.
    pub fn ask(
        &self,
        index: usize,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Option<Reply> {
        self.ask_as("ada", index, method, path, headers, body)
    }

    /// Asks a daemon as an operator with this name; `None` if it does not answer.
    pub fn ask_as(
        &self,
        name: &str,
        index: usize,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Option<Reply> {
        let identity = Identity::load_bundle(&self.directory.join(format!("{name}.pem"))).expect("an identity");
        let client = Client::new(&identity, &self.daemons[index].operators.to_string()).expect("a client");
        self.runtime.block_on(client.ask(method, path, headers, body)).ok()
    }

    /// The answer of a daemon as JSON; null if it does not answer or reports an error.
    pub fn get(&self, index: usize, path: &str) -> Value {
        self.ask(index, Method::GET, path, &[], Vec::new()).and_then(|reply| reply.json().ok()).unwrap_or_default()
    }

    /// The instances that a node owns and whose copies are healthy.
    pub fn healthy(&self, index: usize) -> Vec<String> {
        let answer = self.get(index, "/v1/instances");
        let instances = answer["instances"].as_array().cloned().unwrap_or_default();
        let is_healthy = |one: &&Value| one["state"] == "owned" && one["copy"]["state"] == "healthy";
        instances.iter().filter(is_healthy).map(|one| one["instance"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// A signed application `shop` with a policy.
    pub fn signed(&self, policy: &str) -> Vec<u8> {
        self.signed_with(policy, "hardware = 1\n", "", "")
    }

    /// Like [`Colony::signed`], with other settings: `first`, which includes the hardware, near the top, `run` in the
    /// table `run`, and `last` at the end.
    pub fn signed_with(&self, policy: &str, first: &str, run: &str, last: &str) -> Vec<u8> {
        let file: ApplicationFile = toml::from_str(&format!(
            "id = \"shop\"\n{first}max_rate = 100\nmax_latency = 50\npolicy = \"p.pl\"\nprefixes = [\"/shop\"]\n\
             run = {{ driver = \"sample\", start_timeout_ms = 30000, drain_timeout_ms = 2000{run} }}\n{last}",
        ))
        .expect("an application");
        let files = vec![("p.pl".to_owned(), policy.to_owned())];
        let policy = PolicyText { name: "p".to_owned(), files, memory: file.memory.unwrap_or(0) };
        let shop = Identity::load_bundle(&self.directory.join("shop.pem")).expect("an identity");
        sign(&file, &policy, &shop).expect("signed")
    }

    /// An application with this id and a policy, signed with the key of the certificate `ID.pem`.
    pub fn signed_by(&self, id: &str, policy: &str) -> Vec<u8> {
        let file: ApplicationFile = toml::from_str(&format!(
            "id = \"{id}\"\nhardware = 1\nmax_rate = 100\nmax_latency = 50\npolicy = \"p.pl\"\nrun = {{ driver = \"sample\" }}\n",
        ))
        .expect("an application");
        let files = vec![("p.pl".to_owned(), policy.to_owned())];
        let policy = PolicyText { name: "p".to_owned(), files, memory: file.memory.unwrap_or(0) };
        let owner = Identity::load_bundle(&self.directory.join(format!("{id}.pem"))).expect("an identity");
        sign(&file, &policy, &owner).expect("signed")
    }

    /// Deploys a signed application, and repeats this while the node is still recovering from a restart, for at most
    /// [`TIMEOUT`]. Returns the last answer; `None` if the node does not answer.
    pub fn deploy(&self, index: usize, key: &str, document: &[u8]) -> Option<Reply> {
        let begun = Instant::now();
        loop {
            let reply = self.ask(index, Method::POST, "/v1/instances", &[(DEPLOY_KEY, key)], document.to_vec())?;
            if !reply.text.contains("has just restarted") || begun.elapsed() > TIMEOUT {
                return Some(reply);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a condition is true. Fails after [`TIMEOUT`], with the logs of the daemons.
    #[track_caller]
    pub fn wait(&mut self, what: &str, mut is_so: impl FnMut(&mut Colony) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            if begun.elapsed() > TIMEOUT {
                for daemon in &self.daemons {
                    let log =
                        fs::read_to_string(self.directory.join(format!("{}.log", daemon.name))).unwrap_or_default();
                    eprintln!("--- {}\n{log}", daemon.name);
                }
                panic!("{what}: not within {TIMEOUT:?}");
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Sends a client's request to the ingress of a daemon. Returns the status and the body; `None` if it is not
    /// answered.
    pub fn client(&self, index: usize, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(self.daemons[index].ingress).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let status = answer.split(' ').nth(1)?.parse().ok()?;
        Some((status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()))
    }

    /// Ends every instance and every daemon, joins the parts of their traces, and audits the result. Returns the trace
    /// and the auditor's report.
    pub fn audited(&mut self) -> (String, mario_audit::AuditReport) {
        self.end_instances();
        for index in 0..self.daemons.len() {
            if self.daemons[index].process.is_some() {
                assert!(self.stop(index), "{} ends", self.daemons[index].name);
            }
        }
        let trace = self.joined();
        let report = mario_audit::audit(trace.as_bytes(), mario_audit::Options::default(), &mut |_| ());
        (trace.clone(), report.unwrap_or_else(|error| panic!("{error}\n{trace}")))
    }

    /// Joins the parts that the daemons have written into one trace.
    pub fn joined(&self) -> String {
        let parts: Vec<Vec<PathBuf>> = self.daemons.iter().map(|daemon| self.parts(&daemon.name)).collect();
        let parts: Vec<Vec<PathBuf>> = parts.into_iter().filter(|parts| !parts.is_empty()).collect();
        let open =
            |path: &Path| -> std::io::Result<Box<dyn BufRead>> { Ok(Box::new(BufReader::new(fs::File::open(path)?))) };
        let (trace, _) = join(&parts, &open, Vec::new()).expect("parts of a trace");
        String::from_utf8(trace).expect("text")
    }

    /// The parts of the trace of a daemon, in their order.
    pub fn parts(&self, name: &str) -> Vec<PathBuf> {
        let directory = self.directory.join(name).join("data/trace");
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut parts: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        parts.sort();
        parts
    }

    /// Undeploys all instances on the running daemons, repeatedly, until none is left, nor a process of a workload, for at
    /// most 20 s.
    pub fn end_instances(&mut self) {
        let begun = Instant::now();
        loop {
            let mut is_empty = true;
            for index in 0..self.daemons.len() {
                if self.daemons[index].process.is_none() {
                    continue;
                }
                let answer = self.get(index, "/v1/instances");
                for one in answer["instances"].as_array().cloned().unwrap_or_default() {
                    is_empty = false;
                    let path = format!("/v1/instances/{}", one["instance"].as_str().unwrap_or_default());
                    let _ = self.ask(index, Method::DELETE, &path, &[], Vec::new());
                }
            }
            // The process of an instance that was just deployed may not run yet.
            if is_empty && self.processes_left().is_empty() || begun.elapsed() > Duration::from_secs(20) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Returns the processes of workloads that still run: those whose working directory is in the colony's directory,
    /// except for the daemons.
    pub fn workload_processes(&self) -> Vec<i32> {
        self.processes(|_, directory| directory.starts_with(&self.directory))
    }

    /// Returns [`Colony::workload_processes`] and those that are just being started or watched for a daemon: they have
    /// another working directory, but the environment of a workload.
    fn processes_left(&self) -> Vec<i32> {
        let named = self.directory.as_os_str().as_encoded_bytes();
        self.processes(|environment, directory| {
            let is_of_workload = environment.split(|byte| *byte == 0).any(|variable| {
                variable.starts_with(b"MARIO_") && variable.windows(named.len()).any(|part| part == named)
            });
            directory.starts_with(&self.directory) || is_of_workload
        })
    }

    /// The processes, except for the daemons, whose environment and working directory satisfy a condition.
    fn processes(&self, is_wanted: impl Fn(&[u8], &Path) -> bool) -> Vec<i32> {
        let daemons: Vec<u32> = self.daemons.iter().filter_map(|daemon| Some(daemon.process.as_ref()?.id())).collect();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let directory = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if is_wanted(&environment, &directory) && !daemons.contains(&pid) {
                found.push(pid.cast_signed());
            }
        }
        found
    }
}

impl Drop for Colony {
    fn drop(&mut self) {
        // The workloads are ended before the daemons are killed, so that no process is left behind.
        self.end_instances();
        for index in 0..self.daemons.len() {
            self.kill(index);
        }
        // A daemon may have been starting a process when it was killed.
        for _ in 0..3 {
            for pid in self.processes_left() {
                let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
