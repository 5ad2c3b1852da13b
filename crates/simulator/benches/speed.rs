//! How fast runs are, as ratios to figures of others.
//!
//! `cargo bench -p mario-simulator --bench speed [-- runs|hops|queue|simpy]`

use std::path::Path;
use std::time::Instant;

use mario_simulator::scenario::{Document, Files};
use mario_simulator::{Effort, Recorder, RunOptions, Scenario, Simulation};

struct Nobody;
impl Recorder for Nobody {}

struct Disk;

impl Files for Disk {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        std::fs::read(path).map_err(|error| error.to_string())
    }
}

fn run(scenario: &Scenario) -> Effort {
    let mut simulation = Simulation::new(scenario, RunOptions::default()).expect("it can be run");
    simulation.run(&mut Nobody)
}

fn runs() {
    for (name, policy) in [
        ("P1", "workload-aware"),
        ("P2", "latency-aware"),
        ("P3", "workload-and-latency-aware"),
        ("P4", "workload-and-latency-aware-with-memory"),
    ] {
        let start = Instant::now();
        let mut document = Document::preset("prototype").expect("a preset");
        document.set_attachments(&mario_reference::path(&format!("prototype/{name}/users.json")).expect("there"));
        document.set_policy(policy);
        let scenario = document.resolve(&mut Disk).expect("a scenario").scenario;
        let resolved = start.elapsed();
        let effort = run(&scenario);
        println!("{name} resolve {resolved:?} all {:?} {effort:?}", start.elapsed());
    }
}

fn hops() {
    let mut document = Document::preset("paper").expect("a preset");
    document.set(&[
        "mobility.users=10000".to_owned(),
        "mobility.first_users=10000".to_owned(),
        "topology.size=64".to_owned(),
        "duration=4000".to_owned(),
    ]);
    let scenario = document.resolve(&mut Disk).expect("a scenario").scenario;
    let start = Instant::now();
    let effort = run(&scenario);
    let took = start.elapsed().as_secs_f64();
    println!("{effort:?} {took} s, {:.2} M hops/s", effort.hops as f64 / took / 1e6);
}

fn main() {
    runs();
    hops();
}
