use super::*;
use crate::index::NodeIndex;
use mario_domain::Duration;

use GraphFormat::{Gexf, Gml, GraphMl, NodeLink};

fn read(format: GraphFormat, text: &str) -> Result<Topology, GraphError> {
    read_graph(text.as_bytes(), format, &GraphDefaults::default())
}

/// Checks that a text is rejected at `at_fault` with a message that contains `message`.
#[track_caller]
fn check(format: GraphFormat, text: &str, at_fault: &str, message: &str) {
    let error = read(format, text).expect_err(text);
    assert!(error.to_string().contains(message), "{text}\n{error}");
    assert_eq!(&text[error.span.clone()], at_fault, "{text}\n{error}");
}

#[test]
fn errors_in_graphml_are_located() {
    let check = |inside: &str, at_fault: &str, message: &str| {
        let keys = "<key id='l' for='edge' attr.name='latency' attr.type='double'/>\
                    <key id='c' for='node' attr.name='capacity' attr.type='int'/>";
        check(
            GraphMl,
            &format!("<graphml>{keys}<graph edgedefault='undirected'>{inside}</graph></graphml>"),
            at_fault,
            message,
        );
    };
    check("", "<graph edgedefault='undirected'>", "the graph has no node");
    check("<node/>", "<node/>", "`<node>` needs an `id`");
    check("<node id='a'/><node id='a'/>", "<node id='a'/>", "two nodes `a`");
    check("<node id='self'/>", "<node id='self'/>", "`self`");
    check("<node id=''/>", "<node id=''/>", "at least one character");
    check("<node id='a'/><edge source='a' target='b'/>", "<edge source='a' target='b'/>", "no node `b`");
    check("<node id='a'/><edge source='a'/>", "<edge source='a'/>", "`<edge>` needs a `target`");
    check("<node id='a'/><edge source='a' target='a'/>", "<edge source='a' target='a'/>", "to itself");
    check("<node id='a'><data key='c'>-1</data></node>", "<data key='c'>", "`capacity` must be a number of units");
    check("<node id='a'><data key='c'>99999999999999999999</data></node>", "<data key='c'>", "`capacity` must be");
    check("<node id='a'><data key='c'>1.5</data></node>", "<data key='c'>", "`capacity` must be");
    check("<node id='a'><data key='lat'>1</data></node>", "<node id='a'>", "latitude and longitude go together");
    check("<node id='a'><data key='lat'>91</data></node>", "<data key='lat'>", "`latitude` must be");
    check("<node id='a'><data key='tier'>-1</data></node>", "<data key='tier'>", "`tier` must be");
    check("<node id='a'><data key='access_point'>maybe</data></node>", "<data key='access_point'>", "true or false");
    let edge = "<node id='a'/><node id='b'/><edge source='a' target='b'><data key='l'>LATENCY</data></edge>";
    for latency in ["-3", "nan", "1e999", "soon", ""] {
        check(&edge.replace("LATENCY", latency), "<data key='l'>", "`latency` must be a number of milliseconds");
    }
    check("<node id='a'/><hyperedge/>", "<hyperedge/>", "edges between two nodes");
    check("<node id='a'><graph/></node>", "<graph/>", "one plain graph");
    let twice = "<node id='a'/><node id='b'/><edge source='a' target='b'/><edge source='b' target='a'/>";
    check(twice, "<edge source='b' target='a'/>", "linked already");
}

#[test]
fn a_text_that_is_not_a_graph_is_rejected() {
    check(GraphMl, "<svg/>", "<svg/>", "expected `<graphml>`");
    check(GraphMl, "<graphml></graphml>", "<graphml></graphml>", "needs a `<graph>`");
    check(GraphMl, "<graphml><graph><node id='a'/>", "<graph>", "ends before `<graph>` is closed");
    check(GraphMl, "", "", "needs a `<graph>`");
    check(Gexf, "<svg/>", "<svg/>", "expected `<gexf>`");
    check(Gexf, "<gexf><graph><nodes></nodes></graph></gexf>", "<graph>", "no node");
    check(Gexf, "<gexf><graph><nodes><node id='a'>", "<node id='a'>", "ends before `<node>` is closed");
    check(Gml, "", "", "needs a `graph [ ... ]`");
    check(Gml, "graph [ node [ id 1 ]", "graph", "expected `]`");
    check(Gml, "graph [ node [ label \"a\" ] ]", "node [ label \"a\" ]", "`node` needs an `id`");
    check(Gml, "graph [ node [ id 1 ] ] ]", "]", "nothing is open");
    check(Gml, "graph [ node [ id ] ]", "id", "expected a value for the key");
    check(Gml, "graph [ 5 ]", "5", "expected a key");
    check(Gml, "graph [ node [ id 1x ] ]", "1x", "expected a key, a number");
    check(Gml, "graph [ node [ id \"a ] ]", "\"a ] ]", "at the end of the text in quotes");
    check(Gml, "graph [ node [ id 1 ] edge [ source 1 target 2 ] ]", "edge [ source 1 target 2 ]", "no node `2`");
    check(NodeLink, "[]", "[]", "expected an object with `nodes`");
    check(NodeLink, "{\"nodes\": []}", "{\"nodes\": []}", "needs `edges`");
    check(NodeLink, "{\"nodes\": 5, \"edges\": []}", "5", "expected a list");
    check(NodeLink, "{\"nodes\": [], \"edges\": []}", "{\"nodes\": [], \"edges\": []}", "no node");
    check(NodeLink, "{\"nodes\": [\n {\"id\": 1},\n {\"id\": [2]}], \"links\": []}", "[2]", "a name or an integer");
    check(NodeLink, "{\"nodes\": [{\"id\": 1}, {\"id\": 1}], \"links\": []}", "{\"id\": 1}", "two nodes `1`");
    check(NodeLink, "{\"nodes\": [{\"id\": 1.5}], \"links\": []}", "{\"id\": 1.5}", "a name or an integer");
    check(NodeLink, "{\"nodes\": [\n{\"id\": oops}]}", "o", "not JSON");
    check(NodeLink, "{\"nodes\": [", "[", "not JSON");
    let error = read_graph(b"graph [ \xff", Gml, &GraphDefaults::default()).expect_err("no text");
    assert_eq!((error.span, error.problem), (8..9, GraphProblem::NotUtf8));
}

#[test]
fn deep_nesting_is_rejected_or_skipped() {
    let deep = 100_000;
    let json = format!("{{\"nodes\": {}{}, \"edges\": []}}", "[".repeat(deep), "]".repeat(deep));
    assert!(read(NodeLink, &json).expect_err("too deep").to_string().contains("expected a node"));
    let gml = format!("graph [ node [ id 1 {}{} ] ]", "x [ ".repeat(deep), "] ".repeat(deep));
    assert_eq!(read(Gml, &gml).expect("a graph").node_count(), 1);
    let xml = format!(
        "<graphml><graph><node id='a'><data key='k'>{}{}</data></node></graph></graphml>",
        "<x>".repeat(deep),
        "</x>".repeat(deep)
    );
    assert_eq!(read(GraphMl, &xml).expect("a graph").node_count(), 1);
}

#[test]
fn directed_edges_form_a_link_if_both_directions_agree() {
    let text = |edges: &str| format!("graph [ directed 1 node [ id 1 ] node [ id 2 ] {edges} ]");
    let both = text("edge [ source 1 target 2 latency 4 ] edge [ source 2 target 1 latency 4.0 ]");
    let graph = read(Gml, &both).expect("a graph");
    assert_eq!(graph.link_count(), 2);
    let one = "edge [ source 1 target 2 latency 4 ]";
    check(Gml, &text(one), one, "make the graph undirected");
    let other = "edge [ source 2 target 1 latency 5 ]";
    check(Gml, &text(&format!("{one} {other}")), other, "another latency or bandwidth");
    check(Gml, &text(&format!("{one} {one}")), one, "linked already");
}

#[test]
fn missing_attributes_have_the_default_values() {
    let path = "graph [ node [ id 1 ] node [ id 2 capacity 5 ] node [ id 3 ] node [ id 9 ]
        edge [ source 1 target 2 ] edge [ source 2 target 3 latency 2 bandwidth 8 ] ]";
    let graph = read(Gml, path).expect("a graph");
    let tiers: Vec<u16> = graph.nodes().map(|(_, node)| node.tier).collect();
    assert_eq!(tiers, [1, 0, 1, 2], "hops from the node with most hardware");
    let marked = |graph: &Topology| graph.access_points().map(|node| node.0).collect::<Vec<u32>>();
    assert_eq!(marked(&graph), [0, 2]);
    let link = |from, to| *graph.link(graph.link_between(NodeIndex(from), NodeIndex(to)).expect("linked"));
    assert_eq!((link(1, 0).latency, link(1, 0).bandwidth), (Duration::of(1.0), None));
    assert_eq!((link(1, 2).latency, link(1, 2).bandwidth), (Duration::of(2.0), Some(8.0)));
    let defaults = GraphDefaults {
        capacity: Capacity::Unbounded,
        latency: Duration::of(7.0),
        bandwidth: Some(3.0),
        access_points: DefaultAccessPoints::All,
        size_bits: 8.0,
        origin: None,
    };
    let graph = read_graph(path.as_bytes(), Gml, &defaults).expect("a graph");
    assert_eq!(graph.node(NodeIndex(0)).capacity, Capacity::Unbounded);
    assert_eq!(marked(&graph), [0, 1, 2, 3]);
    let wrong = GraphDefaults { latency: Duration::of(-1.0), ..defaults };
    assert!(read_graph(path.as_bytes(), Gml, &wrong).is_err());
}

#[test]
fn keys_of_graphml_and_gexf_may_have_defaults() {
    let graphml = "<graphml><key id='c' for='node' attr.name='capacity' attr.type='int'><default>4</default></key>\
                   <graph><node id='a'/><node id='b'><data key='c'>2</data></node></graph></graphml>";
    let gexf = "<gexf><graph><attributes class='node'><attribute id='0' title='capacity' type='integer'>\
                <default>4</default></attribute></attributes><nodes><node id='a'/><node id='b'><attvalues>\
                <attvalue for='0' value='2'/></attvalues></node></nodes></graph></gexf>";
    for (format, text) in [(GraphMl, graphml), (Gexf, gexf)] {
        let graph = read(format, text).expect("a graph");
        let capacities: Vec<Capacity> = graph.nodes().map(|(_, node)| node.capacity).collect();
        assert_eq!(capacities, [Capacity::units(4), Capacity::units(2)]);
    }
}

#[test]
fn metres_of_nodes_are_relative_to_the_origin_and_facts_without_one() {
    let path = "graph [ node [ id 1 x 0 y 500.5 ] node [ id 2 x -1000 y 0 ] edge [ source 1 target 2 ] ]";
    let origin = Position { latitude: 60.0, longitude: 10.0 };
    let defaults = GraphDefaults { origin: Some(origin), ..GraphDefaults::default() };
    let graph = read_graph(path.as_bytes(), Gml, &defaults).expect("a graph");
    let [north, west] = [0, 1].map(|node| graph.node(NodeIndex(node)).position.expect("on the map"));
    assert!((north.distance_m(origin) - 500.5).abs() < 1e-3 && north.latitude > 60.0, "{north:?}");
    assert!((west.distance_m(origin) - 1_000.0).abs() < 0.1 && west.longitude < 10.0, "{west:?}");
    let graph = read_graph(path.as_bytes(), Gml, &GraphDefaults::default()).expect("a graph");
    assert_eq!((graph.node(NodeIndex(0)).position, graph.node(NodeIndex(0)).facts.len()), (None, 2));
    for (attributes, message) in [
        ("x 1", "latitude and longitude go together: one is missing"),
        ("x 1 y 2 latitude 3 longitude 4", "latitude and longitude go together: one is missing"),
        ("x 1 y 9000000", "`x` and `y` lead off the map"),
        ("x 1 y far", "`y` must be a number of metres from -1e8 to 1e8"),
    ] {
        let text = format!("graph [ node [ id 1 {} ] ]", attributes.replace("far", "\"far\""));
        let error = read_graph(text.as_bytes(), Gml, &defaults).expect_err(attributes);
        assert_eq!(error.to_string(), message, "{attributes}");
    }
}

#[test]
fn attributes_named_like_kinds_of_hardware_are_capacities() {
    let graph =
        "graph [ node [ id 1 memory_mb 512 capacity 5 GPU 1 ] node [ id 2 storage_gb 7 ] edge [ source 1 target 2 ] ]";
    let graph = read(Gml, graph).expect("a graph");
    let capacities: Vec<String> = graph.nodes().map(|(_, node)| node.capacity.to_string()).collect();
    // The default capacity is one unit.
    assert_eq!(capacities, ["5 and 1 gpu and 512 memory_mb", "1 and 7 storage_gb"]);
    let text = "graph [ node [ id 1 memory_mb 1.5 ] ]";
    check(Gml, text, "memory_mb 1.5", "`memory_mb` must be a whole number from 0 to 4294967295");
    let text = "graph [ node [ id 1 capacity \"inf\" gpu 2 ] ]";
    check(Gml, text, "gpu 2", "`gpu` must be left out where the capacity is unbounded");
}
