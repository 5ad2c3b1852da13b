//! Capacities and facts of nodes from the columns of a table.

use mario_domain::{Capacity, Fact, NodeId};
use mario_scenario::NodeIndex;

use crate::scenarios::{Texts, preset, resolve};

const TABLE: &str =
    "Node;Capacity;Region;Price;Free\nn3lt0ln0;4;eu;0,25;\nn0lt0ln0;unbounded;us;7;yes\nn1lt0ln0;;eu;;\n";

#[test]
fn capacities_and_facts_of_nodes_come_from_the_columns_of_a_table() {
    let mut files = Texts::default().with("nodes.csv", TABLE);
    let text = "preset = \"paper\"\n[node_table]\nfile = \"nodes.csv\"\n[[node]]\nid = \"n3lt0ln0\"\ncapacity = 9\n";
    let topology = resolve(text, &mut files).scenario.topology;
    let node = |name: &str| topology.node(topology.find(&NodeId::name(name).expect("a name")).expect("there"));
    // `[[node]]` overrides the table, and empty fields change nothing.
    assert_eq!(node("n3lt0ln0").capacity, Capacity::units(9));
    assert_eq!(node("n1lt0ln0").capacity, preset("paper", &[]).scenario.topology.node(NodeIndex(1)).capacity);
    let facts = |name: &str| {
        let shown = |fact: &Fact| format!("{}={}", fact.key, serde_json::to_string(&fact.value).expect("plain"));
        node(name).facts.iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(facts("n3lt0ln0"), ["region=\"eu\"", "price=0.25"]);
    assert_eq!(facts("n0lt0ln0"), ["region=\"us\"", "price=7", "free=\"yes\""]);
    assert_eq!(facts("n1lt0ln0"), ["region=\"eu\""]);
    let some = text.replace("[[node]]", "facts = [\"Price\"]\n[[node]]");
    let topology = resolve(&some, &mut files).scenario.topology;
    assert_eq!(topology.node(NodeIndex(0)).facts.len(), 1);
}

#[test]
fn columns_named_like_kinds_of_hardware_are_capacities_unless_they_are_asked_for_as_facts() {
    let table = "id,memory_mb,gpu,region\nn3lt0ln0,512,,eu\nn3lt0ln1,256,2,\n";
    let mut files = Texts::default().with("nodes.csv", table);
    let text = "preset = \"paper\"\n[node_table]\nfile = \"nodes.csv\"\n";
    let described = |text: &str, files: &mut Texts, name: &str| {
        let topology = resolve(text, files).scenario.topology;
        let node = topology.node(topology.find(&NodeId::name(name).expect("a name")).expect("there"));
        (node.capacity.to_string(), node.facts.iter().map(|fact| fact.key.to_string()).collect::<Vec<_>>())
    };
    // The table has no column for units, so it does not change them.
    let units = described("preset = \"paper\"\n", &mut files, "n3lt0ln0").0;
    assert_eq!(described(text, &mut files, "n3lt0ln0"), (format!("{units} and 512 memory_mb"), vec!["region".into()]));
    assert_eq!(described(text, &mut files, "n3lt0ln1"), (format!("{units} and 2 gpu and 256 memory_mb"), vec![]));
    let facts = format!("{text}facts = [\"gpu\"]\n");
    assert_eq!(
        described(&facts, &mut files, "n3lt0ln1"),
        (format!("{units} and 256 memory_mb"), vec!["gpu".to_owned()])
    );
}
