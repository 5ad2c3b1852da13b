//! `[[nodes]]`: settings of groups of nodes.

use mario_domain::{Capacity, FactValue, Id};

use crate::scenarios::{Texts, resolve};

#[test]
fn groups_of_nodes_are_chosen_by_tier_and_by_pattern() {
    let text = "preset = \"paper\"\ntiers = [\"cloud\", \"centre\", \"edge\", \"access\"]\n\
        [[nodes]]\ntier = \"edge\"\ncapacity = 7\nfacts = { price = 2, region = \"all\" }\n\
        [[nodes]]\nmatch = \"n2lt0*\"\nowner = \"acme\"\nacceptance = \"accept-what-fits\"\nfacts = { price = 3 }\n\
        [[nodes]]\ntier = 3\nmatch = \"*ln7\"\nfacts = { price = 9 }\n\
        [[node]]\nid = \"n2lt0ln1\"\nfacts = { price = 4 }\n";
    let scenario = resolve(text, &mut Texts::default()).scenario;
    let topology = &scenario.topology;
    let of = |id: &str| {
        let (index, node) = topology.nodes().find(|(_, node)| node.id.to_string() == id).expect("it is there");
        let facts: Vec<String> = node.facts.iter().map(|fact| format!("{}={:?}", fact.key, fact.value)).collect();
        (node.capacity, facts.join(" "), scenario.acceptance_of[index.position()].is_some())
    };
    let number = |price: i64| format!("price={:?}", FactValue::Id(Id::Number(price)));
    let name = |key: &str, word: &str| format!("{key}={:?}", FactValue::Id(Id::name(word).expect("a name")));
    let region = name("region", "all");
    assert_eq!(of("n2lt1ln1"), (Capacity::units(7), format!("{} {region}", number(2)), false));
    assert_eq!(of("n2lt0ln0"), (Capacity::units(7), format!("{region} {} {}", number(3), name("owner", "acme")), true));
    // Settings of single nodes override those of groups.
    assert_eq!(of("n2lt0ln1").1, format!("{region} {} {}", name("owner", "acme"), number(4)));
    assert_eq!(of("n3lt0ln7"), (Capacity::units(1), number(9), false));
    assert_eq!(of("n3lt0ln6").1, "");
}
