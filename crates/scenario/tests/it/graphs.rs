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
