//! Checks that the example files for clusters call mario with valid arguments, and that their parts add up to the whole
//! sweep.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use super::{place, read, shell, yaml};

/// Installs a fake `mario` that prints its command line, one word per line.
fn note_instead_of_running(directory: &Path) {
    let program = directory.join("mario");
    fs::write(&program, "#!/bin/sh\nprintf '%s\\n' mario \"$@\"\n").expect("the test's own directory is writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// Returns the words of the command line with which a script calls mario.
fn call(script: &str, directory: &Path, environment: &[(String, String)]) -> Vec<String> {
    let own_mario_first = format!("PATH=\"$PWD:$PATH\"\n{script}");
    let mut command = shell(&own_mario_first, directory);
    let output = command.envs(environment.iter().cloned()).output().expect("there is a shell");
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Checks that the parser accepts a call, and returns its shard.
fn accepted_shard(call: &[String]) -> String {
    let parsed = mario_cli::command().try_get_matches_from(call);
    assert!(parsed.is_ok(), "{call:?}: {}", parsed.expect_err("just asked"));
    let position = call.iter().position(|word| word == "--shard").expect("a part of a sweep");
    call[position + 1].clone()
}

fn all_shards(count: usize) -> BTreeSet<String> {
    (1..=count).map(|shard| format!("{shard}/{count}")).collect()
}

/// The documents of a manifest.
fn documents(path: &str) -> Vec<Value> {
    yaml::documents(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value:?} is no text")).to_owned()
}

/// Checks the kind, the restart policy and the volume of a Job, and that its first container runs a shell script.
/// Returns that container and the script.
fn container(job: &Value) -> (&Value, String) {
    assert_eq!((text(&job["apiVersion"]), text(&job["kind"])), ("batch/v1".to_owned(), "Job".to_owned()));
    let pod = &job["spec"]["template"]["spec"];
    assert_eq!(text(&pod["restartPolicy"]), "Never");
    let container = &pod["containers"][0];
    let command: Vec<String> = container["command"].as_array().expect("a list").iter().map(text).collect();
    assert_eq!(command[..2], ["/bin/sh", "-euc"]);
    let volume = &pod["volumes"][0];
    assert_eq!(container["volumeMounts"][0]["name"], volume["name"]);
    assert_eq!(text(&volume["persistentVolumeClaim"]["claimName"]), "mario-results");
    (container, command[2].clone())
}

#[test]
fn the_pods_of_kubernetes_make_all_parts_of_the_sweep() {
    let directory = place("kubernetes");
    note_instead_of_running(&directory);
    let documents = documents("docs/cluster/sweep.yaml");
    assert_eq!(text(&documents[0]["metadata"]["name"]), "mario-results");
    let job = &documents[1];
    assert_eq!(text(&job["spec"]["completionMode"]), "Indexed");
    let completions = job["spec"]["completions"].as_u64().expect("a number") as usize;
    let (container, script) = container(job);
    let given = container["env"].as_array().expect("a list");
    let given: Vec<(String, String)> =
        given.iter().map(|variable| (text(&variable["name"]), text(&variable["value"]))).collect();
    let shards: BTreeSet<String> = (0..completions)
        .map(|index| {
            let mut environment = given.clone();
            environment.push(("JOB_COMPLETION_INDEX".to_owned(), index.to_string()));
            accepted_shard(&call(&script, &directory, &environment))
        })
        .collect();
    assert_eq!(shards, all_shards(completions));
}

#[test]
fn the_job_that_merges_joins_the_parts_that_the_pods_left() {
    let directory = place("merge");
    note_instead_of_running(&directory);
    let documents = documents("docs/cluster/merge.yaml");
    let (_, script) = container(&documents[0]);
    let words = call(&script, &directory, &[]);
    let parsed = mario_cli::command().try_get_matches_from(&words);
    assert!(parsed.is_ok(), "{words:?}");
    assert_eq!(words, ["mario", "merge", "/results/part-*", "--out", "/results/all"]);
}

#[test]
fn the_tasks_of_slurm_make_all_parts_of_the_sweep() {
    let directory = place("slurm");
    note_instead_of_running(&directory);
    let script = read("docs/cluster/sweep.slurm");
    let option = |name: &str| {
        let line = script.lines().find_map(|line| line.strip_prefix(&format!("#SBATCH --{name}=")));
        line.unwrap_or_else(|| panic!("no {name}")).to_owned()
    };
    let (first, last) =
        option("array").split_once('-').map(|(first, last)| (first.to_owned(), last.to_owned())).expect("a range");
    assert_eq!(first, "1", "shards count from 1");
    let count: usize = last.parse().expect("a number");
    let shards: BTreeSet<String> = (1..=count)
        .map(|task| {
            let environment =
                [("SLURM_ARRAY_TASK_ID", task.to_string()), ("SLURM_CPUS_PER_TASK", option("cpus-per-task"))]
                    .map(|(name, value)| (name.to_owned(), value));
            accepted_shard(&call(&script, &directory, &environment))
        })
        .collect();
    assert_eq!(shards, all_shards(count));
    assert!(directory.join("results").is_dir(), "made by the script");
}
