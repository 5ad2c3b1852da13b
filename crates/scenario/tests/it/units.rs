//! Quantities that are written with a unit.

use std::path::Path;

use mario_domain::Quantity;
use mario_scenario::{Document, NoFiles, Resolved, ScenarioError};

use crate::scenarios::{Texts, preset};

fn resolved(text: &str) -> Result<Resolved, ScenarioError> {
    Document::file(Path::new("s.toml"), text, &mut NoFiles).resolve(&mut NoFiles)
}

fn is(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}

fn bandwidth(overrides: &[&str]) -> f64 {
    preset("paper", overrides).settings.network.bandwidth.expect("it is set").value()
}

#[test]
fn a_bandwidth_with_a_unit_is_converted_to_size_units_per_millisecond() {
    // A size unit is a byte by default: 100 Mbps are 12,500 bytes per millisecond.
    for (written, expected) in [
        ("100 Mbps", 12_500.0),
        ("100Mbit/s", 12_500.0),
        ("1 Gbps", 125_000.0),
        ("800 kbit/s", 100.0),
        ("2 MB/s", 2_000.0),
    ] {
        assert!(is(bandwidth(&[&format!("network.bandwidth={written}")]), expected), "{written}");
    }
    assert!(is(bandwidth(&["network.bandwidth=100 Mbps", "energy.size_bits=8000"]), 12.5));
    assert!(is(bandwidth(&["network.bandwidth=7"]), 7.0));
    let size = preset("paper", &["network.message_size=10 kB"]).settings.network.message_size.value();
    assert!(is(size, 10_000.0));
}

#[test]
fn a_latency_and_hardware_may_have_a_unit() {
    let text = "preset = \"paper\"\nreset = [\"application\"]\n[[application]]\nid = \"a\"\nmax_rate = 9\nmax_latency = \"2 s\"\n\
                hardware = { units = 1 }\n";
    let scenario = resolved(text).unwrap_or_else(|error| panic!("{:#?}", error.mistakes)).scenario;
    assert_eq!(scenario.applications[0].application.max_latency, Quantity::whole(2_000));
    let hardware = "hardware = { memory_mb = \"2 GB\", bandwidth_mbps = \"1 Gbps\", storage_gb = \"1 TB\" }";
    let kinds = text.replace("hardware = { units = 1 }", hardware);
    let scenario = resolved(&kinds).unwrap_or_else(|error| panic!("{:#?}", error.mistakes)).scenario;
    let needed = scenario.applications[0].application.hardware.to_string();
    for amount in ["2000 memory_mb", "1000 bandwidth_mbps", "1000 storage_gb"] {
        assert!(needed.contains(amount), "{needed}");
    }
}

#[test]
fn a_rate_with_a_unit_is_converted_to_requests_per_evaluation_period() {
    let rate = |overrides: &[&str]| preset("paper", overrides).scenario.applications[0].application.max_rate;
    // The default period of agents is 200 ms.
    for (written, expected) in [
        (&["application.app1.max_rate=100/s"][..], Quantity::whole(20)),
        (&["application.app1.max_rate=100 /s", "agents.period=2 s"], Quantity::whole(200)),
        (&["application.app1.max_rate=6000/min", "agents.period=5"], Quantity::fraction(0.5).expect("finite")),
        (&["application.app1.max_rate=100", "agents.period=5"], Quantity::whole(100)),
    ] {
        assert_eq!(rate(written), expected, "{written:?}");
    }
}

#[test]
fn a_unit_of_another_quantity_is_refused_with_those_that_exist() {
    let error = Document::preset("paper").map(|mut document| {
        document.set(&["network.bandwidth=100 mbps".to_owned(), "application.app1.max_latency=5 kB".to_owned()]);
        document.resolve(&mut NoFiles).expect_err("unknown units")
    });
    let mistakes: Vec<String> = error.expect("a preset").mistakes.iter().map(ToString::to_string).collect();
    assert_eq!(mistakes.len(), 2, "{mistakes:#?}");
    assert!(mistakes[0].contains("unknown unit of bandwidth: `mbps` (did you mean `Mbps`?"), "{}", mistakes[0]);
    assert!(mistakes[0].contains("a number alone is in size units of `energy.size_bits` bits"), "{}", mistakes[0]);
    assert!(mistakes[1].contains("unknown unit of time: `kB` (units: ms, s, min, h, us"), "{}", mistakes[1]);
}

/// A tree whose links have these bandwidths.
fn with_links(bandwidths: [&str; 2]) -> Result<Resolved, ScenarioError> {
    let [first, second] = bandwidths;
    let graph = format!(
        r#"{{"nodes": [{{"id": "a", "hardware": 4}}, {{"id": "b", "hardware": 4}}, {{"id": "c", "hardware": 4}}],
           "edges": [{{"source": "a", "target": "b", "latency": 1{first}}}, {{"source": "b", "target": "c", "latency": 1{second}}}]}}"#
    );
    let text = "[topology]\nkind = \"file\"\nfile = \"g.json\"\n[network]\noccupancy = \"transmission\"\n\
                [mobility]\nkind = \"static\"\nusers = 1\n[[application]]\nid = \"q\"\nmax_rate = 9\nmax_latency = 9\n";
    let mut files = Texts::default().with("g.json", &graph);
    let document = Document::file(Path::new("s.toml"), text, &mut files);
    document.resolve(&mut files)
}

#[test]
fn transmission_needs_a_bandwidth_of_every_link_wherever_it_is_stated() {
    let with = ", \"bandwidth\": 10";
    let resolved = with_links([with, with]);
    assert!(resolved.is_ok(), "{:#?}", resolved.err().map(|error| error.mistakes));
    let some = with_links([with, ""]).expect_err("a link without a bandwidth").mistakes[0].to_string();
    assert!(some.contains("1 of 2 links have no bandwidth, such as that from `b` to `c`"), "{some}");
    let none = with_links(["", ""]).expect_err("no bandwidth").mistakes[0].to_string();
    assert!(none.contains("no link has a bandwidth"), "{none}");
}
