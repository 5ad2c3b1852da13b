//! Measures processor time per request and hop, compared with nginx, and then resident memory.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::Options;
use crate::nodes::Authority;

const CONNECTIONS: usize = 32;
const RUNS: usize = 3;
const HOPS: f64 = 2.0;

/// Processes that are stopped when this value is dropped.
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &self.0 {
            // `kill` sends SIGTERM. A master of nginx that gets SIGKILL leaves its worker behind.
            let _ = Command::new("kill").arg(child.id().to_string()).status();
        }
        for child in &mut self.0 {
            let deadline = Instant::now() + Duration::from_secs(3);
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub fn compare(options: &Options) {
    let directory = std::env::temp_dir().join(format!("mario-bench-traffic-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory");
    let authority = Authority::new();
    let (_, _, certificate, key) = authority.certificate("node.test");
    for (name, text) in [("root.pem", authority.root_pem()), ("node.pem", certificate), ("node.key", key)] {
        fs::write(directory.join(name), text).expect("a file");
    }
    let [sample, first, second, nginx_first, nginx_second] = ports();
    let mut processes = Processes(Vec::new());
    processes.0.push(role("role-sample", &["--listen", &sample.to_string(), "--answer-bytes", "1024"]));
    let path = directory.display().to_string();
    let second_node = role("role-node", &[&path, "-", &second.to_string(), "-", &sample.to_string()]);
    let first_node = role("role-node", &[&path, &first.to_string(), "-", &second.to_string(), "-"]);
    let ours = vec![first_node.id(), second_node.id()];
    processes.0.extend([second_node, first_node]);
    let nginx = nginx(&directory, nginx_first, nginx_second, sample);
    let theirs = nginx.as_ref().map(|processes| workers(&processes.0)).unwrap_or_default();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let length = Duration::from_secs(options.seconds);
    let (mut own, mut other) = (Vec::new(), Vec::new());
    println!(
        "processor time per request and hop, {CONNECTIONS} connections, 1 KiB answers, mutual TLS between the two hops"
    );
    for run in 0..RUNS {
        let figure = runtime.block_on(measure(first, &ours, length));
        println!("  run {run}: mario {}", figure.text());
        own.push(figure.per_hop_us);
        if !theirs.is_empty() {
            let figure = runtime.block_on(measure(nginx_first, &theirs, length));
            println!("  run {run}: nginx {}", figure.text());
            if figure.failed == 0 {
                other.push(figure.per_hop_us);
            }
        }
    }
    let own = median(&mut own);
    if other.is_empty() {
        println!("mario {own:.1} µs per request and hop (nginx was not found, or failed)");
    } else {
        let other = median(&mut other);
        println!("mario {own:.1} µs, nginx {other:.1} µs per request and hop: {:.2} times (goal: 1.5)", own / other);
    }
    for (name, pid) in ["first", "second"].iter().zip(&ours) {
        println!("resident memory of the {name} node's data plane: {:.1} MB", resident_kb(*pid) as f64 / 1000.0);
    }
    drop(nginx);
    drop(processes);
    let _ = fs::remove_dir_all(directory);
}

struct Figure {
    per_hop_us: f64,
    requests: u64,
    failed: u64,
    per_second: f64,
}

impl Figure {
    fn text(&self) -> String {
        format!(
            "{:.1} µs per request and hop; {} requests, {:.0} per second, {} failed",
            self.per_hop_us, self.requests, self.per_second, self.failed
        )
    }
}

async fn measure(address: SocketAddr, pids: &[u32], length: Duration) -> Figure {
    // Warms connections and caches before measuring.
    load(address, Duration::from_millis(500)).await;
    let before: f64 = pids.iter().map(|&pid| processor_seconds(pid)).sum();
    let begin = Instant::now();
    let (requests, failed) = load(address, length).await;
    let spent: f64 = pids.iter().map(|&pid| processor_seconds(pid)).sum::<f64>() - before;
    Figure {
        per_hop_us: spent * 1e6 / requests.max(1) as f64 / HOPS,
        requests,
        failed,
        per_second: requests as f64 / begin.elapsed().as_secs_f64(),
    }
}

/// Runs a closed-loop client on each of [`CONNECTIONS`] connections until `length` has passed. Returns the numbers of
/// all requests and of failed requests.
async fn load(address: SocketAddr, length: Duration) -> (u64, u64) {
    let end = Instant::now() + length;
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            tokio::spawn(async move {
                let (mut requests, mut failed) = (0, 0);
                let stream = loop {
                    match TcpStream::connect(address).await {
                        Ok(stream) => break stream,
                        Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                    }
                };
                stream.set_nodelay(true).expect("a socket");
                let (mut sender, connection) =
                    hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a connection");
                tokio::spawn(connection);
                while Instant::now() < end {
                    let request =
                        Request::get("/").header("host", "video.test").body(Empty::<Bytes>::new()).expect("a request");
                    requests += 1;
                    let is_fine = match sender.send_request(request).await {
                        Ok(response) => {
                            let is_ok = response.status() == 200;
                            is_ok
                                && response.into_body().collect().await.is_ok_and(|body| body.to_bytes().len() == 1024)
                        }
                        Err(_) => false,
                    };
                    failed += u64::from(!is_fine);
                    if sender.ready().await.is_err() {
                        break;
                    }
                }
                (requests, failed)
            })
        })
        .collect();
    let mut sum = (0, 0);
    for client in clients {
        let (requests, failed) = client.await.expect("a client");
        sum = (sum.0 + requests, sum.1 + failed);
    }
    sum
}

fn role(role: &str, arguments: &[&str]) -> Child {
    Command::new(std::env::current_exe().expect("a path")).arg(role).args(arguments).spawn().expect("a process")
}

/// Starts two chained nginx processes with one worker each. Like the nodes, they use persistent connections and write
/// no access logs. Returns `None` if nginx is not installed.
fn nginx(directory: &Path, first: SocketAddr, second: SocketAddr, sample: SocketAddr) -> Option<Processes> {
    let found = Command::new("nginx").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return None;
    }
    let tls = |prefix: &str| {
        let path = directory.display();
        format!("{prefix}ssl_certificate {path}/node.pem; {prefix}ssl_certificate_key {path}/node.key;")
    };
    let root = directory.join("root.pem").display().to_string();
    let front = format!(
        "upstream next {{ server {second}; keepalive 64; }} server {{ listen {first}; keepalive_requests 1000000000; location / {{ proxy_pass https://next; {} \
         proxy_ssl_trusted_certificate {root}; proxy_ssl_verify on; proxy_ssl_name node.test; proxy_ssl_server_name on; proxy_ssl_session_reuse on; \
         proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_set_header Host $host; }} }}",
        tls("proxy_")
    );
    let back = format!(
        "upstream next {{ server {sample}; keepalive 64; }} server {{ listen {second} ssl; {} ssl_client_certificate {root}; ssl_verify_client on; \
         keepalive_requests 1000000000; location / {{ proxy_pass http://next; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_set_header Host $host; }} }}",
        tls("")
    );
    let start = |name: &str, servers: &str| {
        let path = directory.join(format!("{name}.conf"));
        let own = directory.join(name);
        fs::create_dir_all(&own).expect("a directory");
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {}; ", own.join(kind).display()))
            .concat();
        let text = format!(
            "daemon off; worker_processes 1; pid {pid}; error_log stderr crit; events {{ worker_connections 1024; }} \
             http {{ access_log off; {temporary} {servers} }}",
            pid = own.join("pid").display()
        );
        fs::write(&path, text).expect("a file");
        Command::new("nginx").arg("-c").arg(&path).arg("-p").arg(&own).spawn().expect("nginx")
    };
    let processes = Processes(vec![start("back", &back), start("front", &front)]);
    std::thread::sleep(Duration::from_millis(500));
    Some(processes)
}

/// Returns the process ids of the nginx masters and their workers.
fn workers(masters: &[Child]) -> Vec<u32> {
    let mut pids: Vec<u32> = masters.iter().map(Child::id).collect();
    for entry in fs::read_dir("/proc").expect("proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let parent = stat(pid).and_then(|fields| fields.get(1)?.parse::<u32>().ok());
        if masters.iter().any(|master| parent == Some(master.id())) {
            pids.push(pid);
        }
    }
    pids
}

fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(PathBuf::from(format!("/proc/{pid}/stat"))).ok()?;
    Some(text.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect())
}

fn processor_seconds(pid: u32) -> f64 {
    let fields = stat(pid).unwrap_or_default();
    let ticks: f64 = [11, 12].iter().filter_map(|&field: &usize| fields.get(field)?.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

fn resident_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn ports<const N: usize>() -> [SocketAddr; N] {
    let listeners: [TcpListener; N] = std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("an address"))
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
