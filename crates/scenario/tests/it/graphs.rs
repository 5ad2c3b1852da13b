//! Reads one graph in all formats, as written by networkx.

use std::fs;
use std::path::Path;

use mario_domain::{Capacity, Duration, FactValue, Id, NodeId};
use mario_scenario::Topology;
use mario_scenario::topology::{GraphDefaults, GraphFormat, read_graph};

/// One graph in all formats, written by networkx 3.6.
const FILES: [(&str, GraphFormat); 4] = [
    ("town.graphml", GraphFormat::GraphMl),
    ("town.gexf", GraphFormat::Gexf),
    ("town.gml", GraphFormat::Gml),
    ("town.json", GraphFormat::NodeLink),
];

fn bytes(file: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(file)).expect("it is there")
}

fn read(file: &str, format: GraphFormat) -> Topology {
    read_graph(&bytes(file), format, &GraphDefaults::default()).expect(file)
}

#[test]
fn a_networkx_graph_is_the_same_infrastructure_in_every_format() {
    for (file, format) in FILES {
        let town = read(file, format);
        let ids: Vec<String> = town.nodes().map(|(_, node)| node.id.to_string()).collect();
        assert_eq!(ids, ["cloud", "edge one", "ap1", "7"], "{file}");
        let find = |id: NodeId| town.find(&id).expect("there");
        let [cloud, edge, one] = ["cloud", "edge one", "ap1"].map(|name| find(NodeId::name(name).expect("a name")));
        let seven = find(NodeId::number(7));
        let capacities = [cloud, edge, one, seven].map(|node| town.node(node).capacity);
        let unit = Capacity::units(1);
        assert_eq!(capacities, [Capacity::Unbounded, Capacity::units(6), unit, unit], "{file}");
        assert_eq!([cloud, edge, one, seven].map(|node| town.node(node).tier), [0, 1, 2, 2], "{file}");
        assert_eq!(town.access_points().collect::<Vec<_>>(), [one, seven], "{file}");
        let place = town.node(edge).position.expect("on the map");
        assert_eq!((place.latitude.to_bits(), place.longitude.to_bits()), (41.9_f64.to_bits(), 12.5_f64.to_bits()));
        assert_eq!(town.node(cloud).position, None);
        let link = |from, to| *town.link(town.link_between(from, to).expect("linked"));
        assert_eq!(town.link_count(), 6, "{file}");
        for (from, to, latency, bandwidth) in
            [(cloud, edge, 3.0, Some(10.5)), (one, edge, 1.5, None), (edge, seven, 1.0, None)]
        {
            let link = link(from, to);
            assert_eq!((link.latency, link.bandwidth), (Duration::of(latency), bandwidth), "{file}");
        }
        let region = &town.node(cloud).facts[0];
        assert_eq!((region.subject.to_string(), region.key.to_string()), ("cloud".to_owned(), "region".to_owned()));
        assert_eq!(region.value, FactValue::name("eu").expect("a name"), "{file}");
        assert_eq!(town.node(edge).facts[0].value, FactValue::Number(0.25), "{file}");
        let green = &town.node(one).facts[0].value;
        // GML has no booleans: networkx writes 1 for true.
        let yes = FactValue::name("true").expect("a name");
        let expected = if format == GraphFormat::Gml { FactValue::Id(Id::number(1)) } else { yes };
        assert_eq!(*green, expected, "{file}");
    }
}

/// Two nodes and a link in all formats, with these values.
fn with_values(latency: &str, bandwidth: &str, memory: &str) -> [(GraphFormat, String); 4] {
    [
        (
            GraphFormat::GraphMl,
            format!(
                "<graphml><key id='l' for='edge' attr.name='latency' attr.type='string'/><graph><node id='a'>\
                 <data key='memory_mb'>{memory}</data></node><node id='b'/><edge source='a' target='b'>\
                 <data key='l'>{latency}</data><data key='bandwidth'>{bandwidth}</data></edge></graph></graphml>"
            ),
        ),
        (
            GraphFormat::Gexf,
            format!(
                "<gexf><graph><attributes class='node'><attribute id='0' title='memory_mb' type='string'/></attributes>\
                 <attributes class='edge'><attribute id='1' title='latency' type='string'/>\
                 <attribute id='2' title='bandwidth' type='string'/></attributes>\
                 <nodes><node id='a'><attvalues><attvalue for='0' value='{memory}'/></attvalues></node><node id='b'/></nodes>\
                 <edges><edge id='e' source='a' target='b'><attvalues><attvalue for='1' value='{latency}'/>\
                 <attvalue for='2' value='{bandwidth}'/></attvalues></edge></edges></graph></gexf>"
            ),
        ),
        (
            GraphFormat::Gml,
            format!(
                "graph [ node [ id 0 label \"a\" memory_mb \"{memory}\" ] node [ id 1 label \"b\" ] \
                 edge [ source 0 target 1 latency \"{latency}\" bandwidth \"{bandwidth}\" ] ]"
            ),
        ),
        (
            GraphFormat::NodeLink,
            format!(
                r#"{{"nodes": [{{"id": "a", "memory_mb": "{memory}"}}, {{"id": "b"}}],
                    "edges": [{{"source": "a", "target": "b", "latency": "{latency}", "bandwidth": "{bandwidth}"}}]}}"#
            ),
        ),
    ]
}

#[test]
fn quantities_with_a_unit_are_read_in_every_format() {
    for (format, text) in with_values("5 ms", "1000 Mbps", "2 GB") {
        let graph = read_graph(text.as_bytes(), format, &GraphDefaults::default()).expect(&text);
        let (a, b) = (NodeId::name("a").expect("a name"), NodeId::name("b").expect("a name"));
        let [a, b] = [a, b].map(|node| graph.find(&node).expect("there"));
        let link = graph.link(graph.link_between(a, b).expect("linked"));
        // A size unit is a byte: 1000 Mbps are 125,000 bytes per millisecond.
        assert_eq!((link.latency, link.bandwidth), (Duration::of(5.0), Some(125_000.0)), "{text}");
        let Capacity::Bounded(hardware) = graph.node(a).capacity else { panic!("bounded: {text}") };
        assert!(hardware.to_string().contains("2000 memory_mb"), "{hardware}");
    }
    for (values, message) in [
        (["5 parsecs", "1", "1"], "unknown unit of time: `parsecs`"),
        (["5", "1 ms", "1"], "unknown unit of bandwidth: `ms`"),
        (["5", "1", "2 Mbps"], "unknown unit of amount of memory: `Mbps`"),
    ] {
        let [latency, bandwidth, memory] = values;
        for (format, text) in with_values(latency, bandwidth, memory) {
            let error = read_graph(text.as_bytes(), format, &GraphDefaults::default()).expect_err(&text);
            assert!(error.to_string().contains(message), "{error}\n{text}");
        }
    }
}

#[test]
fn hardware_in_json_may_be_an_object_as_in_a_scenario() {
    let capacity = |hardware: &str| {
        let text = format!(r#"{{"nodes": [{{"id": "a", "hardware": {hardware}}}], "edges": []}}"#);
        read_graph(text.as_bytes(), GraphFormat::NodeLink, &GraphDefaults::default())
            .map(|graph| graph.nodes().next().expect("a node").1.capacity)
            .map_err(|error| format!("{error}: {}", &text[error.span.clone()]))
    };
    for hardware in [r#"{"units": 4, "memory_mb": 2048}"#, r#"{"gpu": 2}"#, r#"{"memory_mb": "2 GB", "units": 3}"#] {
        let expected: Capacity = serde_json::from_str(&hardware.replace("\"2 GB\"", "2000")).expect(hardware);
        assert_eq!(capacity(hardware), Ok(expected), "{hardware}");
    }
    for (hardware, place) in [(r#"{"units": 4, "fpga": 1}"#, "1"), (r#"{"units": [4]}"#, "[4]"), ("[4]", "[4]")] {
        let error = capacity(hardware).expect_err(hardware);
        assert!(error.contains("a number of units, or an object of amounts") && error.ends_with(place), "{error}");
    }
}
