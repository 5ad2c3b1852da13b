//! A colony of daemons, each in its own network namespace, under faults: killed daemons and workloads, cut links, a
//! partition, a full disk, and peers that must be rejected.
//!
//! ```text
//! this test ── unshare ──► its second half, in new namespaces (network, mounts, processes)
//!                            │  a bridge; relays that delay and cut links; clients; an operator
//!                            └─ 13 namespaces with a daemon each, in a tree
//! ```
//!
//! However the second half ends, the kernel then kills every process in its namespaces, and removes the namespaces and
//! their mounts.

mod clients;
mod nodes;
mod relays;
mod strangers;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clients::Load;
use nodes::{Nodes, TREE};
use relays::Relays;

/// The environment variable that passes the test's directory to the second half.
const INSIDE: &str = "MARIO_TEST_INSIDE";

/// The second half is killed after this time.
const TEST_TIMEOUT: Duration = Duration::from_secs(290);

/// How long a step may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(90);

#[test]
fn a_tree_of_daemons_survives_all_faults_and_its_trace_passes_the_audit() {
    if let Err(why) = can_make_namespaces() {
        assert!(env::var("CI").as_deref() != Ok("true"), "{why}, and CI must not skip this test");
        eprintln!("skipped: {why}");
        return;
    }
    let directory = env::temp_dir().join(format!("mario-namespaces-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a temporary directory");
    let output = directory.join("output.txt");
    let log = fs::File::create(&output).expect("a log");
    let mut child = Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"])
        // The shell is process 1, which must reap orphaned processes.
        .args(["sh", "-c", "\"$0\" \"$@\"; exit $?"])
        .arg(env::current_exe().expect("the own program"))
        .args(["namespaces::second_half", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(INSIDE, &directory)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a log"))
        .stderr(log)
        .spawn()
        .expect("unshare runs");
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break Some(status);
        }
        if begun.elapsed() > TEST_TIMEOUT {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let text = fs::read_to_string(&output).unwrap_or_default();
    println!("{text}");
    assert_eq!(processes_in(&directory), Vec::<PathBuf>::new(), "no process is left");
    let is_good = status.is_some_and(|status| status.success()) && text.contains("test result: ok. 1 passed");
    if is_good || env::var_os("MARIO_TEST_KEEP").is_none() {
        let _ = fs::remove_dir_all(&directory);
    }
    assert!(is_good, "the second half failed or took longer than {TEST_TIMEOUT:?}");
}

/// Checks that this machine lets the test create namespaces. The error says why not.
fn can_make_namespaces() -> Result<(), String> {
    let tried = Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"])
        .args([
            "sh",
            "-c",
            "mount -t tmpfs tmpfs /run && mkdir /run/netns && ip netns add try && ip link add br0 type bridge",
        ])
        .stdin(Stdio::null())
        .output();
    match tried {
        Err(error) => Err(format!("there is no unshare ({error})")),
        Ok(output) if !output.status.success() => {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(format!("network namespaces cannot be made, for which root and iproute2 are needed ({message})"))
        }
        Ok(_) => Ok(()),
    }
}

/// The working directories of all processes that run in a directory or below it.
fn processes_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let running = entries.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok());
    running.filter(|path| path.starts_with(directory)).collect()
}

/// Waits until a condition is true. Prints the nodes' logs and panics after [`TIMEOUT`].
#[track_caller]
fn wait(nodes: &Nodes, what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > TIMEOUT {
            nodes.show_logs();
            panic!("{what}: not within {TIMEOUT:?}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("{:6.1} s  {what} ({:.1} s)", nodes.begun.elapsed().as_secs_f64(), begun.elapsed().as_secs_f64());
}

#[test]
#[ignore = "runs in the namespaces that the first half makes"]
fn second_half() {
    let Some(directory) = env::var_os(INSIDE).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    let mut nodes = Nodes::new(&directory, runtime.handle().clone());
    let relays = Relays::new(runtime.handle());
    for index in 0..TREE.len() {
        nodes.start(index);
    }
    wait(&nodes, "all links are up", || {
        (0..TREE.len()).all(|index| nodes.get(index, "/v1/status")["links_up"] == Nodes::neighbours(index).len())
    });

    let calm = moves_and_replications(&nodes, &runtime);
    killed_daemon(&mut nodes);
    killed_workload(&nodes);
    cut_link_and_partition(&nodes, &relays);
    full_disk(&nodes);
    strangers::connect_as_each_stranger(&nodes);
    let (answered, failed) = calm.stop();
    println!("client requests in all: {answered} answered, {failed} failed");
    assert!(answered > 0);
    ends_in_a_trace_without_findings(&mut nodes, &directory);
}

/// Deploys the shop, which follows its clients, and the nomad, which keeps migrating. Checks that both do so under load
/// without a failed request. Returns the load, which continues.
fn moves_and_replications(nodes: &Nodes, runtime: &tokio::runtime::Runtime) -> Load {
    let shop = nodes.deploy("r", "shop", nodes::FOLLOWS);
    let nomad = nodes.deploy("r", "nomad", nodes::WANDERS);
    wait(nodes, "clients of all nodes reach both applications", || {
        (0..TREE.len()).all(|index| ["shop", "nomad"].iter().all(|host| clients::is_served(nodes, index, host)))
    });
    let load = Load::begin(runtime.handle(), &[("a1", "shop"), ("c3", "shop"), ("b", "nomad"), ("r", "nomad")]);
    wait(nodes, "12 migrations under load", || nodes.counted("mario_arrived_total") >= 13.0);
    wait(nodes, "the shop is at both of its clients", || {
        ["a1", "c3"].iter().all(|name| nodes.hosts(Nodes::index(name), "shop"))
    });
    let (answered, failed) = load.counts();
    println!("while {shop} and {nomad} moved: {answered} requests answered, {failed} failed");
    assert!(answered > 0);
    assert_eq!(failed, 0, "no request fails while instances move");
    load
}

/// Sends SIGKILL to a daemon that the wandering instance visits, and checks that the restarted daemon gets its links
/// back and that the instance migrates again.
fn killed_daemon(nodes: &mut Nodes) {
    let b = Nodes::index("b");
    nodes.kill(b);
    let r = Nodes::index("r");
    wait(nodes, "its neighbours notice that b is gone", || {
        nodes.get(r, "/v1/status")["links_up"] == Nodes::neighbours(r).len() - 1
    });
    nodes.start(b);
    wait(nodes, "b is back", || nodes.get(b, "/v1/status")["links_up"] == Nodes::neighbours(b).len());
    let before = nodes.counted("mario_arrived_total");
    wait(nodes, "the nomad wanders on", || nodes.counted("mario_arrived_total") > before);
}

/// Sends SIGKILL to the workloads of a node, and checks that the node restarts them.
fn killed_workload(nodes: &Nodes) {
    let index = Nodes::index("a1");
    let before = nodes.workloads(index);
    assert!(!before.is_empty(), "the shop runs at a1");
    for pid in &before {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid), nix::sys::signal::Signal::SIGKILL);
    }
    wait(nodes, "the killed workload of a1 runs again", || {
        let after = nodes.workloads(index);
        !after.is_empty() && after.iter().all(|pid| !before.contains(pid)) && nodes.hosts(index, "shop")
    });
}

/// Cuts a link and restores it, then partitions the network and heals it. Checks which links are up, and that clients
/// are served.
fn cut_link_and_partition(nodes: &Nodes, relays: &Relays) {
    let links_up = |name: &str| nodes.get(Nodes::index(name), "/v1/status")["links_up"].clone();
    relays.cut(&[("a", "a2")]);
    wait(nodes, "the cut link is down at both ends", || links_up("a") == 3 && links_up("a2") == 0);
    relays.heal();
    wait(nodes, "the cut link is up again", || links_up("a") == 4 && links_up("a2") == 1);
    relays.cut(&[("r", "b"), ("r", "c")]);
    wait(nodes, "two subtrees are cut off", || links_up("b") == 3 && links_up("c") == 3);
    // An instance of the shop is on the same side of the partition as `c3`.
    assert!(clients::is_served(nodes, Nodes::index("c3"), "shop"));
    relays.heal();
    wait(nodes, "the partition has healed", || links_up("b") == 4 && links_up("c") == 4);
    wait(nodes, "clients on both sides reach the shop", || {
        ["b2", "c3", "a1", "r"].iter().all(|name| clients::is_served(nodes, Nodes::index(name), "shop"))
    });
}

/// Checks that a node with a full disk is unhealthy and refuses deploys, and that it accepts and runs an instance once
/// there is room again.
fn full_disk(nodes: &Nodes) {
    let index = Nodes::index(nodes::SMALL_DISK);
    let filler = nodes.data(index).join("filler");
    let mut written = 0;
    if let Ok(mut file) = fs::File::create(&filler) {
        while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {
            written += 4096;
        }
    }
    println!("the disk of {} is full after {written} bytes", nodes::SMALL_DISK);
    // The policy is large, so that it needs disk space.
    let policy = format!("{}\n% {}", nodes::STAYS, "x".repeat(200_000));
    let mut attempt = 0;
    wait(nodes, "a deploy on the full disk is refused", || {
        attempt += 1;
        let reply = nodes.try_deploy(nodes::SMALL_DISK, "ballast", &policy, 1_000 + attempt);
        reply.is_some_and(|reply| reply.status == 507 && reply.text.contains("No space left"))
    });
    assert_eq!(nodes.get(index, "/healthz")["is_healthy"], false);
    fs::remove_file(&filler).expect("removed");
    wait(nodes, "with room on the disk, a deploy is accepted", || {
        attempt += 1;
        nodes
            .try_deploy(nodes::SMALL_DISK, "ballast", &policy, 1_000 + attempt)
            .is_some_and(|reply| reply.status == 200)
    });
    wait(nodes, "and it runs", || nodes.hosts(index, "ballast"));
}

/// Undeploys all instances and stops all daemons. Checks that mario can join the traces of the nodes, that its audit
/// of the result has no findings, and that it can write a report.
fn ends_in_a_trace_without_findings(nodes: &mut Nodes, directory: &Path) {
    wait(nodes, "all is quiet but the nomad", || {
        (0..TREE.len()).all(|index| nodes.get(index, "/v1/status")["in_custody"] == 0)
    });
    nodes.end_instances();
    for index in 0..TREE.len() {
        nodes.stop(index);
    }
    let trace = directory.join("colony.jsonl");
    let mut joining = super::mario();
    joining.args(["trace", "join"]).args((0..TREE.len()).map(|index| nodes.data(index))).arg("--out").arg(&trace);
    let joined = joining.output().expect("it runs");
    print!("{}", super::stderr(&joined));
    assert!(joined.status.success());
    let audited = super::run(["audit".as_ref(), trace.as_os_str()]);
    let report = super::stdout(&audited);
    println!("{report}{}", super::stderr(&audited));
    assert!(audited.status.success() && report.ends_with("nothing is wrong\n"), "the auditor finds something");
    let page = directory.join("colony.html");
    let shown = super::run(["report".as_ref(), trace.as_os_str(), "--out".as_ref(), page.as_os_str()]);
    assert!(shown.status.success() && page.exists(), "{}", super::stderr(&shown));
}
