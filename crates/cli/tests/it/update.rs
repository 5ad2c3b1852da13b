//! `mario app update`, `mario app rollback`, `mario app shadow` and `mario node explain` against a daemon.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use mario_testing::{Scratch, wait_for};
use serde_json::Value;

use crate::{mario, stderr, stdout};

/// How long a step may take on a slow machine.
const TIMEOUT: Duration = Duration::from_mins(1);

const STAYS: &str = "operation(undeploy, I, self) :- serviceInstance(I, _, nowhere).\n";
/// A policy that proposes at every evaluation to migrate to a neighbour, which the check of policies reports.
const RESTLESS: &str = "operation(migrate, I, N) :- serviceInstance(I, _, M), node(M, _, Ns), member(N, Ns).\n";

struct Node {
    directory: Scratch,
    process: Child,
    operators: String,
}

impl Drop for Node {
    /// Undeploys all instances first, because their workloads would outlive the daemon.
    fn drop(&mut self) {
        let read = |arguments: &[&str]| -> Option<Value> {
            serde_json::from_slice(&self.asked(&[arguments, &["--format", "json"]].concat()).stdout).ok()
        };
        let list = read(&["app", "list"]);
        for instance in list.iter().filter_map(|list| list["instances"].as_array()).flatten() {
            self.asked(&["app", "undeploy", instance["instance"].as_str().unwrap_or_default()]);
        }
        let deadline = Instant::now() + Duration::from_secs(10);
        let has_copies = || read(&["node", "status"]).is_some_and(|status| status["status"]["draining_copies"] != 0);
        while has_copies() && Instant::now() < deadline {
            sleep(Duration::from_millis(50));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    mario().current_dir(directory).args(arguments).output().expect("it runs")
}

fn must(directory: &Path, arguments: &[&str]) -> String {
    let output = run(directory, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

impl Node {
    fn start(test: &str) -> Node {
        let directory = Scratch::new(test);
        must(&directory, &["ca", "init", "harbour"]);
        must(&directory, &["ca", "node", "a"]);
        must(&directory, &["ca", "operator", "ada", "--role", "look", "--role", "deploy"]);
        must(&directory, &["ca", "application", "shop"]);
        let config = "id = \"a\"\ncapacity = 4\n[listen]\nlinks = \"127.0.0.1:0\"\ningress = \"127.0.0.1:0\"\n\
                      operators = \"127.0.0.1:0\"\n[identity]\nauthority = \"ca/ca.pem\"\ncertificate = \"a.pem\"\n\
                      key = \"a.key\"\n[timing]\nevaluation_ms = 300\n";
        fs::write(directory.join("a.toml"), config).expect("written");
        let log = fs::File::create(directory.join("log")).expect("a log");
        let mut process = mario()
            .current_dir(&directory)
            .args(["node", "--config", "a.toml"])
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("it runs");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("it listens");
        let operators = line.trim().rsplit(' ').next().expect("an address").to_owned();
        Node { directory, process, operators }
    }

    fn sign(&self, version: u32, policy: &str) -> String {
        self.sign_as(&format!("shop-{version}"), version, policy, "")
    }

    /// Signs a description under a name, with further keys of `[run]`.
    fn sign_as(&self, name: &str, version: u32, policy: &str, run: &str) -> String {
        fs::write(self.directory.join(format!("{name}.pl")), policy).expect("written");
        let text = format!(
            "id = \"shop\"\nversion = {version}\nhardware = 1\nmax_rate = 10\nmax_latency = 20\n\
             policy = \"{name}.pl\"\n[run]\ndriver = \"sample\"\n{run}"
        );
        fs::write(self.directory.join(format!("{name}.toml")), text).expect("written");
        let (file, signed) = (format!("{name}.toml"), format!("{name}.signed"));
        must(&self.directory, &["app", "sign", &file, "--as", "shop.pem", "--out", &signed]);
        signed
    }

    /// Signs a description of a program.
    fn sign_program(&self, name: &str, version: u32, program: &str) -> String {
        fs::write(self.directory.join(format!("{name}.pl")), STAYS).expect("written");
        let text = format!(
            "id = \"shop\"\nversion = {version}\nhardware = 1\nmax_rate = 10\nmax_latency = 20\n\
             policy = \"{name}.pl\"\n[run]\ndriver = \"process\"\ncommand = [\"{program}\"]\n"
        );
        fs::write(self.directory.join(format!("{name}.toml")), text).expect("written");
        let (file, signed) = (format!("{name}.toml"), format!("{name}.signed"));
        must(&self.directory, &["app", "sign", &file, "--as", "shop.pem", "--out", &signed]);
        signed
    }

    /// Deploys version 1, whose policy proposes nothing. Returns the name of its signed description.
    fn deployed(&self) -> String {
        let first = self.sign(1, STAYS);
        wait_for("it is deployed", TIMEOUT, || {
            self.asked(&["app", "deploy", &first, "--once", "1"]).status.success().then_some(())
        });
        first
    }

    fn asked(&self, arguments: &[&str]) -> Output {
        run(&self.directory, &[arguments, &["--node", &self.operators, "--as", "ada.pem"]].concat())
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.asked(&[arguments, &["--format", "json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        serde_json::from_str(&stdout(&output)).expect("JSON")
    }

    /// The versions of the instances, in the order of the instances.
    fn versions(&self) -> Vec<u64> {
        let list = self.json(&["app", "list"]);
        list["instances"].as_array().expect("a list").iter().filter_map(|one| one["version"].as_u64()).collect()
    }

    /// Fails unless a command ends with exit code 2 and names all these words.
    fn must_refuse(&self, arguments: &[&str], words: &[&str]) {
        let output = self.asked(arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{arguments:?}: {words:?} in {text}");
    }
}

#[test]
fn several_nodes_are_listed_together_and_one_command_changes_one_node() {
    let (one, other) = (Node::start("several-one"), Node::start("several-other"));
    let first = one.deployed();
    // Both colonies have an operator `ada`; the second one trusts only its own.
    let both = ["--node", &one.operators, "--node", &one.operators, "--as", "ada.pem"];
    let output = run(&one.directory, &[&["app", "list"], &both[..]].concat());
    let text = stdout(&output);
    assert!(output.status.success() && text.matches("INSTANCE").count() == 2, "{text}{}", stderr(&output));
    assert_eq!(text.matches(one.operators.as_str()).count(), 2, "{text}");
    let output = run(&one.directory, &[&["node", "status", "--format", "json"], &both[..]].concat());
    let list: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(
        (&list[0]["address"], &list[1]["answer"]["status"]["node"]),
        (&one.operators.clone().into(), &"a".into())
    );
    // A node that does not answer is an error; the answers of the others are printed.
    let mixed = ["app", "list", "--node", &one.operators, "--node", &other.operators, "--as", "ada.pem"];
    let output = run(&one.directory, &mixed);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(stdout(&output).contains("shop") && stderr(&output).contains(&other.operators), "{}", stderr(&output));
    // What changes a node is for one node, and nothing is done.
    for command in
        [&["app", "deploy", &first][..], &["node", "drain"], &["app", "undeploy", "shop"], &["app", "show", "shop"]]
    {
        let output = run(&one.directory, &[command, &both[..]].concat());
        let text = stderr(&output);
        assert!(output.status.code() == Some(2) && text.contains("is for one node"), "{command:?}: {text}");
    }
    assert_eq!(one.versions(), [1]);
    // The status has the certificates, and `app show` the state of the copy.
    let status = stdout(&one.asked(&["node", "status"]));
    assert!(status.contains("the certificate of the node expires in ") && status.contains("copies down"), "{status}");
    let shown = stdout(&one.asked(&["app", "show", "shop"]));
    assert!(shown.lines().any(|line| line.starts_with("copy ")), "{shown}");
}

#[test]
fn a_policy_is_checked_rolled_out_as_a_canary_and_rolled_back() {
    let node = Node::start("roll");
    let first = node.deployed();
    assert!(node.asked(&["app", "deploy", &first, "--once", "2"]).status.success());
    assert_eq!(node.versions(), [1, 1]);

    // Findings of the check are reported, and nothing changes without --force.
    let restless = node.sign(2, RESTLESS);
    let output = node.asked(&["app", "update", &restless]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--force") && stderr(&output).contains("shop-2.pl"), "{}", stderr(&output));
    assert_eq!(node.versions(), [1, 1]);
    let output = node.asked(&["app", "update", &restless, "--force", "--canary"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("VERSION"), "{}", stdout(&output));
    let mut versions = node.versions();
    versions.sort_unstable();
    assert_eq!(versions, [1, 2], "one instance tries it");
    let undone = node.json(&["app", "rollback", "shop", "--from", "2"]);
    assert_eq!(undone["instances"].as_array().map(Vec::len), Some(1));
    assert_eq!(node.versions(), [1, 1]);

    let third = node.sign(3, &STAYS.replace("nowhere", "elsewhere"));
    let updated = node.json(&["app", "update", &third]);
    assert_eq!(updated["instances"].as_array().map(Vec::len), Some(2), "{updated}");
    assert_eq!(node.versions(), [3, 3]);
    let other = node.asked(&["app", "rollback", "bank", "--from", "3"]);
    assert!(other.status.code() == Some(2) && stderr(&other).contains("bank"), "{}", stderr(&other));

    // The last decision of an agent is explained.
    let list = node.json(&["app", "list"]);
    let instance = list["instances"][0]["instance"].as_str().expect("an id");
    let text = wait_for("a decision by the updated policy is explained", TIMEOUT, || {
        let explained = node.asked(&["node", "explain", instance]);
        Some(stdout(&explained)).filter(|text| explained.status.success() && text.contains("elsewhere"))
    });
    assert!(text.contains("undeploy"), "{text}");
    assert!(node.json(&["node", "explain", instance])["parts"].is_array());
    for one in list["instances"].as_array().expect("a list") {
        assert!(node.asked(&["app", "undeploy", one["instance"].as_str().expect("an id")]).status.success());
    }
    wait_for("the node is quiet", TIMEOUT, || {
        (node.json(&["node", "status"])["status"]["is_quiet"] == true).then_some(())
    });
}

#[test]
fn a_canary_is_promoted_and_a_rollback_touches_only_what_it_names() {
    let node = Node::start("promote");
    let first = node.deployed();
    for key in ["2", "3"] {
        assert!(node.asked(&["app", "deploy", &first, "--once", key]).status.success());
    }
    let changed = |answer: &Value| {
        let instances = answer["instances"].as_array().expect("a list");
        instances.iter().filter(|one| one["is_changed"] == true).count()
    };
    // A canary, repeated, is still one canary. The same command without --canary updates the others.
    let second = node.sign(2, &STAYS.replace("nowhere", "elsewhere"));
    assert_eq!(changed(&node.json(&["app", "update", &second, "--canary"])), 1);
    assert_eq!(changed(&node.json(&["app", "update", &second, "--canary"])), 0);
    let mut versions = node.versions();
    versions.sort_unstable();
    assert_eq!(versions, [1, 1, 2]);
    let promoted = node.json(&["app", "update", &second]);
    assert_eq!((changed(&promoted), promoted["instances"].as_array().map(Vec::len)), (2, Some(3)), "{promoted}");
    assert_eq!(node.versions(), [2, 2, 2]);
    let repeated = node.asked(&["app", "update", &second]);
    assert!(repeated.status.success(), "{}", stderr(&repeated));
    assert!(stderr(&repeated).contains("3 instances had it already"), "{}", stderr(&repeated));
    // The same content, signed once more, is the same description.
    let copy = node.sign_as("shop-2", 2, &STAYS.replace("nowhere", "elsewhere"), "");
    assert_eq!(changed(&node.json(&["app", "update", &copy])), 0);

    // Another description with the same version, and an older one, change nothing.
    let other = node.sign_as("other", 2, STAYS, "");
    let digest = node.json(&["app", "list"])["instances"][0]["digest"].as_str().expect("a digest").to_owned();
    node.must_refuse(&["app", "update", &other], &["version 2 with digest", &digest, "higher version"]);
    node.must_refuse(&["app", "update", &first], &["runs version 2", "has version 1"]);
    node.must_refuse(&["app", "deploy", &first], &["has version 1", "runs version 2", "--force"]);
    assert!(node.asked(&["app", "deploy", &first, "--once", "3"]).status.success(), "it was deployed before");
    assert_eq!(node.versions(), [2, 2, 2]);

    // All three could be rolled back to version 1, but only the canary of version 3 is undone.
    let third = node.sign(3, STAYS);
    assert_eq!(changed(&node.json(&["app", "update", &third, "--canary"])), 1);
    node.must_refuse(&["app", "rollback", "shop"], &["version 3 (1 instance, before that 2)", "--from 3"]);
    for count in [1, 0] {
        assert_eq!(changed(&node.json(&["app", "rollback", "shop", "--from", "3"])), count);
        assert_eq!(node.versions(), [2, 2, 2]);
    }
    assert_eq!(changed(&node.json(&["app", "update", &third])), 3);
    // An instance that was never updated is named, and left as it is.
    let deployed = node.asked(&["app", "deploy", &third]);
    assert!(deployed.status.success(), "{}", stderr(&deployed));
    node.must_refuse(&["app", "rollback", "shop", "--from", "3"], &[stdout(&deployed).trim(), "still run version 3"]);
    let mut versions = node.versions();
    versions.sort_unstable();
    assert_eq!(versions, [2, 2, 2, 3]);
    assert!(node.asked(&["app", "undeploy", stdout(&deployed).trim()]).status.success());
    wait_for("there is room", TIMEOUT, || {
        node.asked(&["app", "deploy", &first, "--force"]).status.success().then_some(())
    });
}

#[test]
fn an_interrupted_update_is_completed_by_the_same_command() {
    let node = Node::start("interrupted");
    let first = node.deployed();
    assert!(node.asked(&["app", "deploy", &first, "--once", "2"]).status.success());
    // The restart of a copy takes a second, so that the command can be killed between two instances.
    let second = node.sign_as("slow", 2, STAYS, "settings = { start-ms = \"1000\" }\n");
    let mut update = mario()
        .current_dir(&node.directory)
        .args(["app", "update", &second, "--node", &node.operators, "--as", "ada.pem"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    wait_for("one instance is updated", TIMEOUT, || node.versions().contains(&2).then_some(()));
    update.kill().expect("killed");
    update.wait().expect("it ended");
    let completed = node.json(&["app", "update", &second]);
    assert_eq!(completed["instances"].as_array().map(Vec::len), Some(2), "{completed}");
    assert_eq!(node.versions(), [2, 2]);
    let list = node.json(&["app", "list"]);
    let states = list["instances"].as_array().expect("a list").iter().map(|one| &one["copy"]["state"]);
    assert!(states.into_iter().all(|state| state == "healthy"), "{list}");
}

#[test]
fn an_update_to_a_program_that_cannot_run_ends_with_the_cause_and_the_way_back() {
    let node = Node::start("broken");
    node.deployed();
    let broken = node.sign_program("broken", 2, "/no/such/program");
    let begun = Instant::now();
    let output = node.asked(&["app", "update", &broken]);
    let text = stderr(&output);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(output.status.code(), Some(2), "{text}");
    for part in ["does not become healthy", "`/no/such/program`: No such file", "mario app rollback shop --from 2"] {
        assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
    }
    let undone = node.asked(&["app", "rollback", "shop", "--from", "2"]);
    assert!(undone.status.success(), "{}", stderr(&undone));

    // A deploy of it ends, too.
    let begun = Instant::now();
    node.must_refuse(
        &["app", "deploy", &node.sign_program("new", 3, "/no/such/program"), "--wait"],
        &["cannot run: cannot start: `/no/such/program`: No such file", "install the program on the node"],
    );
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn a_deploy_that_cannot_be_watched_deploys_nothing() {
    let node = Node::start("blind");
    let first = node.deployed();
    must(&node.directory, &["ca", "operator", "bob", "--role", "deploy"]);
    for _ in 0..2 {
        let arguments = ["app", "deploy", &first, "--wait", "--node", &node.operators, "--as", "bob.pem"];
        let output = run(&node.directory, &arguments);
        let text = stderr(&output);
        assert!(output.status.code() == Some(2) && text.contains("nothing is deployed"), "{text}");
    }
    assert_eq!(node.versions(), [1]);
}

/// A policy that proposes to undeploy at every evaluation.
const LEAVES: &str = "operation(undeploy, I, self) :- serviceInstance(I, _, _).\n";

#[test]
fn a_shadow_policy_is_evaluated_and_its_proposals_are_never_requested() {
    let node = Node::start("shadow");
    node.deployed();
    let none = node.asked(&["app", "shadow", "shop"]);
    assert!(none.status.code() == Some(2) && stderr(&none).contains("has no shadow"), "{}", stderr(&none));
    let leaves = node.sign(2, LEAVES);
    let refused = node.asked(&["app", "update", &leaves, "--shadow", "--canary"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    let set = node.json(&["app", "update", &leaves, "--shadow", "--force"]);
    assert_eq!(set["shadows"][0]["version"], 2, "{set}");
    let compared = wait_for("the policies differ twice", TIMEOUT, || {
        Some(node.json(&["app", "shadow", "shop"])).filter(|compared| compared["differ"].as_u64() >= Some(2))
    });
    assert_eq!(compared["evaluations"], compared["differ"], "{compared}");
    assert_eq!((&compared["failed"], &compared["same"]), (&0.into(), &0.into()), "{compared}");
    let difference = &compared["differences"][0];
    assert_eq!((&difference["policy"], &difference["shadow"]), (&"nothing".into(), &"undeploy".into()), "{compared}");
    assert_eq!(node.versions(), [1], "what the shadow proposes is not asked for");
    let text = stdout(&node.asked(&["app", "shadow", "shop"]));
    assert!(text.contains("where they differ") && text.contains("undeploy"), "{text}");
    assert!(fs::read_to_string(node.directory.join("log")).expect("a log").contains("shadow-differs"));

    let ended = node.json(&["app", "shadow", "shop", "--end"]);
    assert!(ended["differ"].as_u64() >= Some(2), "{ended}");
    assert_eq!(node.asked(&["app", "shadow", "shop"]).status.code(), Some(2));
}
