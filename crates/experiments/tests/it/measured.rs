//! The measures of single applications, and the energy and carbon of a run: computed from its trace, and compared with
//! the response times and hops of the simulator.

use mario_audit::{Options, audit};
use mario_experiments::figures::from_trace;
use mario_scenario::Scenario;
use mario_simulator::{Detail, Recorder, RunOptions, RunStatistics, Served, Simulation, TraceRecorder};

use crate::figures::scenario;

/// Records the response times of each application.
struct Times(Vec<Vec<f64>>);

impl Recorder for Times {
    fn served(&mut self, served: &Served) {
        self.0[served.application.position()].push((served.ended - served.emitted).units());
    }
}

fn run(scenario: &Scenario, detail: Detail) -> (Times, String, RunStatistics) {
    let mut simulation = Simulation::new(scenario, RunOptions::default()).expect("a scenario that can be run");
    let times = Times(vec![Vec::new(); scenario.applications.len()]);
    let mut recorders = (times, TraceRecorder::new(Vec::new(), scenario, detail));
    let statistics = simulation.run(&mut recorders);
    let (times, mut trace) = recorders;
    trace.traffic(statistics.hops);
    let trace = trace.finish(scenario.end()).expect("memory");
    (times, String::from_utf8(trace).expect("text"), statistics)
}

const MEASURED: [&str; 5] = [
    "measures.applications=true",
    "energy.idle_watts=[100,20]",
    "energy.unit_watts=[4]",
    "energy.link_nanojoules_per_bit=50",
    "carbon.grams_per_kwh=250",
];

#[test]
fn percentiles_and_late_requests_match_the_individual_response_times() {
    for preset in ["paper", "prototype"] {
        let scenario = scenario(preset, &MEASURED);
        let (times, trace, statistics) = run(&scenario, Detail::Full);
        let report = audit(trace.as_bytes(), Options::default(), &mut |_| {}).expect("a trace");
        assert!(report.findings.is_empty(), "{preset}: {:?}", report.findings);
        let found = from_trace(trace.as_bytes()).expect("a trace").measured;
        for ((figures, mut times), plan) in found.applications.iter().zip(times.0).zip(&scenario.applications) {
            times.sort_by(f64::total_cmp);
            assert_eq!(figures.served as usize, times.len(), "{preset}");
            let limit = plan.application.max_latency.value() * (1.0 + 1e-9);
            let late = times.iter().filter(|time| **time > limit).count() as f64 / times.len() as f64;
            assert_eq!(figures.late_share, (!times.is_empty()).then_some(late), "{preset} {}", figures.application);
            assert_eq!(figures.response_max, times.last().copied(), "{preset} {}", figures.application);
            for (share, found) in
                [(0.5, figures.response_p50), (0.95, figures.response_p95), (0.99, figures.response_p99)]
            {
                let exact = times[((times.len() as f64 * share).ceil() as usize).max(1) - 1];
                let found = found.expect("requests were served");
                assert!(
                    (found - exact).abs() <= exact / 127.0,
                    "{preset} {} {share}: {found}, {exact}",
                    figures.application
                );
            }
        }
        let cost = found.consumption.expect("there are models");
        let expected = statistics.hops as f64 * 8.0 * 50e-9;
        assert!((cost.link_joules - expected).abs() <= 1e-12 * expected && expected > 0.0, "{cost:?}");
        assert!(
            cost.carbon_grams.is_some_and(|grams| (grams - cost.energy_joules / 3.6e6 * 250.0).abs() < 1e-9 * grams)
        );
    }
}

#[test]
fn measuring_only_adds_records_to_a_trace() {
    for overrides in [&["duration=9000"][..], &["duration=9000", "network.fidelity=flow"]] {
        for detail in [Detail::Full, Detail::Operations, Detail::Summary] {
            let [plain, measured] = [&[][..], &MEASURED].map(|more| {
                let all: Vec<&str> = overrides.iter().chain(more).copied().collect();
                run(&scenario("paper", &all), detail).1
            });
            let report = audit(measured.as_bytes(), Options::default(), &mut |_| {}).expect("a trace");
            assert!(report.findings.is_empty(), "{overrides:?}: {:?}", report.findings);
            assert!(plain.starts_with("{\"mario_trace\":2,") && measured.starts_with("{\"mario_trace\":3,"));
            let is_old = |line: &&str| !line.starts_with("[\"latency\"") && !line.starts_with("[\"traffic\"");
            let [plain, old] = [&plain, &measured].map(|text| text.lines().skip(1).filter(is_old).collect::<Vec<_>>());
            assert!(plain == old, "{overrides:?} {detail:?}");
            assert_eq!(measured.lines().count(), plain.len() + 1 + 6 + 1);
        }
    }
}
