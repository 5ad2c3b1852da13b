//! The process driver, with real processes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mario_colony::{JournalId, WorkloadId};
use mario_domain::{ApplicationId, InstanceId, NodeId};
use mario_live::seams::{Driver, DriverContext, Health, Run, Task};
use mario_live::workloads::{Cgroups, Enforcer, Launcher, Ports, Process, ProcessDriver};
use mario_testing::Scratch;

/// A driver with its own directory. When it is dropped, it kills the processes of its workloads that are left, and
/// fails the test if there were any.
struct Bench {
    directory: Scratch,
    journal: JournalId,
    driver: ProcessDriver,
}

static BENCHES: AtomicU32 = AtomicU32::new(0);

fn launcher() -> Launcher {
    Launcher {
        binary: env!("CARGO_BIN_EXE_workload").into(),
        launch: vec!["launch".to_owned()],
        sample: vec!["sample".to_owned()],
    }
}

impl Bench {
    fn new() -> Bench {
        let number = BENCHES.fetch_add(1, Ordering::Relaxed);
        let directory = Scratch::new("workloads");
        let journal = JournalId(u128::from(std::process::id()) << 64 | u128::from(number));
        Bench { driver: driver(&directory, journal, Cgroups::none(), 64 << 10), directory, journal }
    }

    /// Another driver with the same directory and journal, as a restarted daemon would have.
    fn restarted(&self) -> ProcessDriver {
        driver(&self.directory, self.journal, Cgroups::none(), 64 << 10)
    }

    fn mark(&self) -> String {
        format!("{:032x}/", self.journal.0)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let left = marked(&self.mark());
        for &pid in &left {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
        assert!(left.is_empty() || std::thread::panicking(), "processes are left: {left:?}");
    }
}

fn driver(directory: &Path, journal: JournalId, cgroups: Cgroups, log_bytes_max: u64) -> ProcessDriver {
    let context =
        DriverContext { node: NodeId::name("here").unwrap(), journal, directory: directory.to_owned(), log_bytes_max };
    ProcessDriver::new(context, launcher(), cgroups, Ports::new(20_000..=29_999, journal.0 as u64 * 131))
}

/// The running processes whose mark, the variable `MARIO_WORKLOAD`, starts with this prefix.
fn marked(prefix: &str) -> Vec<i32> {
    let wanted = format!("MARIO_WORKLOAD={prefix}");
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let is_dead = fs::read_to_string(format!("/proc/{pid}/stat"))
            .map_or(true, |stat| stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z')));
        !is_dead && environment.split(|&byte| byte == 0).any(|variable| variable.starts_with(wanted.as_bytes()))
    })
    .collect()
}

/// Waits for a file by which another process signals its progress.
async fn until_exists(path: &Path) {
    let deadline = Instant::now() + TIMEOUT;
    while !path.exists() {
        assert!(Instant::now() < deadline, "{} is not there", path.display());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn task(counter: u32, run: Run) -> Task {
    Task {
        workload: WorkloadId { boot: 1, counter },
        instance: InstanceId::name("video-1").unwrap(),
        application: ApplicationId::name("video").unwrap(),
        run: Arc::new(run),
        shape: 0,
        environment: Arc::new(vec![
            ("MARIO_INGRESS".to_owned(), "http://127.0.0.1:8080".to_owned()),
            ("TOKEN".to_owned(), "s3cret-value".to_owned()),
        ]),
    }
}

fn sample(settings: &[(&str, &str)]) -> Run {
    Run {
        driver: "sample".to_owned(),
        health_path: Some("/healthz".to_owned()),
        settings: settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
        ..Run::default()
    }
}

fn shell(script: &str) -> Run {
    Run {
        driver: "process".to_owned(),
        command: vec!["/bin/sh".to_owned(), "-c".to_owned(), script.to_owned()],
        settings: BTreeMap::new(),
        ..Run::default()
    }
}

async fn until_healthy(driver: &ProcessDriver, task: &Task, address: SocketAddr) -> Health {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match driver.health(task, address).await {
            Health::Unhealthy(cause) if Instant::now() > deadline => panic!("not healthy: {cause}"),
            Health::Unhealthy(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            health => return health,
        }
    }
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

async fn log_until(driver: &ProcessDriver, workload: WorkloadId, text: &str) -> String {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let log = String::from_utf8_lossy(&driver.log(workload, 1 << 20).unwrap_or_default()).into_owned();
        if log.contains(text) {
            return log;
        }
        assert!(Instant::now() < deadline, "no `{text}` in: {log}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

const TIMEOUT: Duration = Duration::from_mins(1);

#[tokio::test]
async fn the_sample_service_starts_serves_and_drains() {
    let bench = Bench::new();
    let task = task(1, sample(&[("answer-bytes", "200")]));
    let address = bench.driver.start(&task).await.unwrap();
    assert_eq!(until_healthy(&bench.driver, &task, address).await, Health::Healthy);
    let answer = get(address, "/any");
    assert!(
        answer.contains("application video\ninstance video-1\nnode here\n") && answer.contains("content-length: 200")
    );
    assert!(bench.driver.measure(task.workload).unwrap().memory_bytes > 100_000);
    assert_eq!(bench.driver.running().await.unwrap(), [task.workload]);
    bench.driver.drain(task.workload, TIMEOUT).await.unwrap();
    assert_eq!(bench.driver.ended(task.workload).await, "exited with status 0");
    assert_eq!(bench.driver.running().await.unwrap().len(), 0);
    assert_eq!(marked(&bench.mark()), [0; 0]);
    assert_eq!(bench.driver.measure(task.workload), None);
}

#[tokio::test]
async fn a_workload_gets_its_identity_and_address_but_not_the_environment_of_the_daemon() {
    let bench = Bench::new();
    let mut run =
        shell("env; echo secret is in $TOKEN_FILE; ls -l $TOKEN_FILE; cat $TOKEN_FILE | wc -c; echo done; sleep 60");
    run.settings.insert("secret-files".to_owned(), "TOKEN".to_owned());
    let task = task(1, run);
    let address = bench.driver.start(&task).await.unwrap();
    let log = log_until(&bench.driver, task.workload, "done").await;
    for expected in [
        format!("MARIO_PORT={}", address.port()),
        format!("PORT={}", address.port()),
        format!("MARIO_ADDRESS={address}"),
        "MARIO_INSTANCE=video-1".to_owned(),
        "MARIO_APPLICATION=video".to_owned(),
        "MARIO_NODE=here".to_owned(),
        "MARIO_INGRESS=http://127.0.0.1:8080".to_owned(),
        "-rw-------".to_owned(),
    ] {
        assert!(log.contains(&expected), "no `{expected}` in {log}");
    }
    assert!(log.contains("12\n") && !log.contains("s3cret-value") && !log.contains("CARGO"), "{log}");
    let workspace = bench.driver.workspace(task.workload);
    let mode = fs::metadata(workspace.given().join("TOKEN")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let record = fs::read_to_string(workspace.path().join("start.json")).unwrap();
    assert!(!record.contains("s3cret-value"));
    bench.driver.stop(task.workload).await.unwrap();
    assert!(!workspace.given().exists() && workspace.logs().exists());
}

#[tokio::test]
async fn a_crash_is_reported_with_its_cause() {
    let bench = Bench::new();
    let cases = [
        (shell("exit 7"), "exited with status 7"),
        (shell("kill -SEGV $$"), "killed by signal 11 (SIGSEGV)"),
        (
            Run { command: vec!["/no/such/program".to_owned()], ..shell("") },
            "cannot start: `/no/such/program`: No such file or directory",
        ),
    ];
    for (counter, (run, expected)) in (1..).zip(cases) {
        let task = task(counter, run);
        let address = bench.driver.start(&task).await.unwrap();
        let ended = bench.driver.ended(task.workload).await;
        assert!(ended.starts_with(expected), "{ended}");
        assert!(
            matches!(bench.driver.health(&task, address).await, Health::Ended(cause) if cause.starts_with(expected))
        );
        bench.driver.stop(task.workload).await.unwrap();
    }
}

#[tokio::test]
async fn a_workload_that_hangs_never_becomes_healthy_and_is_killed() {
    let bench = Bench::new();
    let ready = bench.directory.join("ready");
    let script = format!("trap '' TERM HUP INT; : > '{}'; while :; do sleep 1; done", ready.display());
    let task = task(1, shell(&script));
    let address = bench.driver.start(&task).await.unwrap();
    assert!(matches!(bench.driver.health(&task, address).await, Health::Unhealthy(_)));
    until_exists(&ready).await;
    // The workload ignores SIGTERM: after the timeout, it is killed with its children.
    let begin = Instant::now();
    bench.driver.drain(task.workload, Duration::from_millis(300)).await.unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(300));
    assert_eq!(bench.driver.ended(task.workload).await, "killed by signal 9 (SIGKILL)");
    assert_eq!(marked(&bench.mark()), [0; 0]);
}

#[tokio::test]
async fn one_copy_is_never_started_twice() {
    let bench = Bench::new();
    let task = task(1, sample(&[]));
    let address = bench.driver.start(&task).await.unwrap();
    assert!(bench.driver.start(&task).await.unwrap_err().to_string().contains("runs already"));
    // The next daemon knows the copy only by its mark.
    assert!(bench.restarted().start(&task).await.unwrap_err().to_string().contains("runs already"));
    assert_eq!(until_healthy(&bench.driver, &task, address).await, Health::Healthy);
    bench.driver.stop(task.workload).await.unwrap();
    // After a stop, the copy may start again. Stopping it twice, or draining a copy that never ran, is not an error.
    bench.driver.start(&task).await.unwrap();
    bench.driver.stop(task.workload).await.unwrap();
    bench.driver.stop(task.workload).await.unwrap();
    bench.driver.drain(WorkloadId { boot: 9, counter: 9 }, TIMEOUT).await.unwrap();
}

#[tokio::test]
async fn a_copy_that_is_stopped_while_it_starts_leaves_no_process() {
    let bench = Bench::new();
    for counter in 0..20 {
        let task = task(counter, sample(&[]));
        // The start is cancelled after different times, as a newer order cancels it.
        let patience = Duration::from_millis(u64::from(counter) / 2);
        let _ = tokio::time::timeout(patience, bench.driver.start(&task)).await;
        if counter % 2 == 0 {
            bench.driver.stop(task.workload).await.unwrap();
        } else {
            bench.driver.drain(task.workload, Duration::from_secs(5)).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(marked(&bench.mark()), Vec::<i32>::new(), "after copy {counter}");
    }
}

#[tokio::test]
async fn the_next_daemon_adopts_a_running_copy_and_sees_its_end() {
    let bench = Bench::new();
    let task = task(1, sample(&[]));
    let address = bench.driver.start(&task).await.unwrap();
    until_healthy(&bench.driver, &task, address).await;
    let next = bench.restarted();
    assert_eq!(next.running().await.unwrap(), [task.workload]);
    assert_eq!(next.adopt(&task).await, Some(address));
    assert_eq!(next.health(&task, address).await, Health::Healthy);
    next.drain(task.workload, TIMEOUT).await.unwrap();
    assert_eq!(next.ended(task.workload).await, "exited with status 0");
    assert_eq!(bench.restarted().adopt(&task).await, None);
    // The first driver is the parent of the shim, and has to reap it.
    bench.driver.stop(task.workload).await.unwrap();
}

#[tokio::test]
async fn a_record_with_a_recycled_process_id_is_not_adopted_and_its_process_not_touched() {
    let bench = Bench::new();
    let mut stranger = Command::new("/bin/sleep").arg("60").spawn().unwrap();
    let pid = stranger.id().cast_signed();
    // Start times have a resolution of 10 ms, and the copy must not start in the same tick as the stranger.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let task = task(1, sample(&[]));
    bench.driver.start(&task).await.unwrap();
    let path = bench.driver.workspace(task.workload).path().join("start.json");
    let record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    bench.driver.stop(task.workload).await.unwrap();
    // The shim is gone. The forged record names an unrelated process, as if the shim's process id had been reused.
    let mut forged = record.clone();
    forged["pid"] = pid.into();
    fs::write(&path, forged.to_string()).unwrap();
    let next = bench.restarted();
    assert_eq!(next.running().await.unwrap(), [task.workload]);
    assert_eq!(next.adopt(&task).await, None);
    next.stop(task.workload).await.unwrap();
    assert!(stranger.try_wait().unwrap().is_none(), "the stranger was killed");
    // A record from another boot of the system is ignored, even if process id and start time match.
    let started = Process::open(pid, started_of(pid)).unwrap().started();
    forged["started"] = started.into();
    forged["system_boot"] = "another".into();
    fs::write(&path, forged.to_string()).unwrap();
    assert_eq!(next.adopt(&task).await, None);
    next.stop(task.workload).await.unwrap();
    assert!(stranger.try_wait().unwrap().is_none(), "the stranger was killed");
    // A malformed record does not prevent a stop.
    fs::write(&path, "{").unwrap();
    assert_eq!(next.adopt(&task).await, None);
    next.stop(task.workload).await.unwrap();
    assert_eq!(next.running().await.unwrap().len(), 0);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

fn started_of(pid: i32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_shim_without_a_complete_plan_runs_nothing() {
    for plan in ["", "{\"workspace\":\"/tmp\",\"command\":[\"/bin/"] {
        let mut shim = Command::new(env!("CARGO_BIN_EXE_workload"))
            .args(["launch", "shim"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // The daemon dies before it has written the whole plan: its end of the pipe closes.
        shim.stdin.take().unwrap().write_all(plan.as_bytes()).unwrap();
        assert!(shim.wait().unwrap().success());
    }
}

#[tokio::test]
async fn descendants_that_leave_the_session_are_killed_too() {
    let bench = Bench::new();
    let task = task(1, shell("setsid sh -c 'trap \"\" TERM; sleep 300 & sleep 300' & echo started; sleep 0.2; exit 0"));
    bench.driver.start(&task).await.unwrap();
    log_until(&bench.driver, task.workload, "started").await;
    assert_eq!(bench.driver.ended(task.workload).await, "exited with status 0");
    assert!(!marked(&bench.mark()).is_empty());
    assert_eq!(bench.restarted().running().await.unwrap(), [task.workload]);
    bench.driver.stop(task.workload).await.unwrap();
    assert_eq!(marked(&bench.mark()), [0; 0]);
}

#[tokio::test]
async fn a_flood_of_output_is_bounded_and_its_end_is_kept() {
    let bench = Bench::new();
    let task = task(
        1,
        shell("i=0; while [ $i -lt 20000 ]; do echo line $i of a flood; i=$((i+1)); done; echo the end >&2; sleep 60"),
    );
    bench.driver.start(&task).await.unwrap();
    // The order between standard output and standard error is not defined.
    log_until(&bench.driver, task.workload, "the end").await;
    log_until(&bench.driver, task.workload, "line 19999 of").await;
    let logs = bench.driver.workspace(task.workload).logs();
    let bytes: u64 = fs::read_dir(logs).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!((40_000..=64 << 10).contains(&bytes), "{bytes}");
    let tail = String::from_utf8(bench.driver.log(task.workload, 120).unwrap()).unwrap();
    assert!(tail.starts_with("line 1999") && tail.contains("line 19999 of a flood\n"), "{tail}");
    bench.driver.stop(task.workload).await.unwrap();
}

#[tokio::test]
async fn a_port_taken_by_another_program_is_detected() {
    let bench = Bench::new();
    // The service starts late, so that the test can take its port first.
    let task = task(1, Run { health_path: None, ..sample(&[("start-ms", "500")]) });
    let address = bench.driver.start(&task).await.unwrap();
    let _thief = TcpListener::bind(address).unwrap();
    let answer = bench.driver.health(&task, address).await;
    assert_eq!(answer, Health::Unhealthy(format!("another program listens on port {}", address.port())));
    assert_eq!(bench.driver.ended(task.workload).await, "exited with status 3");
    let log = log_until(&bench.driver, task.workload, "cannot serve").await;
    assert!(log.contains("in use"), "{log}");
    bench.driver.stop(task.workload).await.unwrap();
    // The next copy gets another port.
    let other = Task { workload: WorkloadId { boot: 1, counter: 2 }, ..task };
    assert_ne!(bench.driver.start(&other).await.unwrap(), address);
    bench.driver.stop(other.workload).await.unwrap();
}

#[tokio::test]
async fn limits_are_enforced_or_reported_as_unenforced() {
    let bench = Bench::new();
    let mut run = shell("ulimit -n; ulimit -v; cat /proc/self/cgroup; echo done; sleep 60");
    run.memory_bytes_max = Some(512 << 20);
    run.settings.insert("open-files-max".to_owned(), "77".to_owned());
    run.settings.insert("processes-max".to_owned(), "50".to_owned());
    let task_without = task(1, run.clone());
    bench.driver.start(&task_without).await.unwrap();
    let log = log_until(&bench.driver, task_without.workload, "done").await;
    assert!(log.starts_with("77\n524288\n"), "{log}");
    let by: Vec<Enforcer> = bench.driver.enforcement(task_without.workload).iter().map(|entry| entry.by).collect();
    assert_eq!(by, [Enforcer::Rlimit, Enforcer::Nothing, Enforcer::Rlimit]);
    bench.driver.stop(task_without.workload).await.unwrap();

    let cgroups = Cgroups::detect(&format!("test-{}", std::process::id()));
    if cgroups == Cgroups::none() {
        println!("skipped: this system lets us make no control groups");
        return;
    }
    let grouped = driver(&bench.directory, bench.journal, cgroups.clone(), 64 << 10);
    let task_with = task(2, run);
    grouped.start(&task_with).await.unwrap();
    let log = log_until(&grouped, task_with.workload, "done").await;
    let by: Vec<Enforcer> = grouped.enforcement(task_with.workload).iter().map(|entry| entry.by).collect();
    assert!(by.iter().any(|by| matches!(by, Enforcer::CgroupV1 | Enforcer::CgroupV2)), "{by:?}");
    assert!(log.contains(&format!("mario-test-{}/1.2", std::process::id())), "{log}");
    grouped.stop(task_with.workload).await.unwrap();

    // A program that takes more memory than its limit.
    let mut greedy = shell("exec tail /dev/zero");
    greedy.memory_bytes_max = Some(32 << 20);
    let task_killed = task(3, greedy);
    grouped.start(&task_killed).await.unwrap();
    assert_eq!(grouped.ended(task_killed.workload).await, "killed by its memory limit (32 MiB)");
    grouped.stop(task_killed.workload).await.unwrap();
    cgroups.remove_all();
    let left =
        Command::new("find").args(["/sys/fs/cgroup", "-maxdepth", "3", "-name", "mario-test-*"]).output().unwrap();
    let left = String::from_utf8(left.stdout).unwrap();
    assert!(!left.contains(&format!("mario-test-{}", std::process::id())), "{left}");
}

/// The daemon of this test is a separate process, which is killed while its workload runs.
#[tokio::test]
async fn a_workload_outlives_a_killed_daemon_and_is_found_again() {
    let bench = Bench::new();
    let me = std::env::current_exe().unwrap();
    let mut daemon = Command::new(me)
        .args(["workloads::role_of_a_daemon", "--exact", "--nocapture", "--ignored"])
        .env("MARIO_TEST_DIRECTORY", bench.directory.path())
        .env("MARIO_TEST_JOURNAL", bench.journal.0.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until_exists(&bench.directory.join("ready")).await;
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let task = task(1, sample(&[]));
    let address = bench.driver.adopt(&task).await.expect("it still runs");
    assert_eq!(bench.driver.health(&task, address).await, Health::Healthy);
    assert!(get(address, "/").contains("instance video-1"));
    // A driver that has not adopted the workload can kill it too.
    bench.restarted().stop(task.workload).await.unwrap();
    assert!(bench.driver.ended(task.workload).await.contains("signal 9"));
    assert_eq!(marked(&bench.mark()), [0; 0]);
}

#[tokio::test]
#[ignore = "a role that another test gives to a process of its own"]
async fn role_of_a_daemon() {
    let (Ok(directory), Ok(journal)) = (std::env::var("MARIO_TEST_DIRECTORY"), std::env::var("MARIO_TEST_JOURNAL"))
    else {
        return;
    };
    let directory = PathBuf::from(directory);
    let driver = driver(&directory, JournalId(journal.parse().unwrap()), Cgroups::none(), 64 << 10);
    let task = task(1, sample(&[]));
    let address = driver.start(&task).await.unwrap();
    until_healthy(&driver, &task, address).await;
    fs::write(directory.join("ready"), "").unwrap();
    // The parent kills this process during the sleep.
    tokio::time::sleep(Duration::from_secs(30)).await;
}
