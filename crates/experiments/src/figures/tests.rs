use super::*;

const HEADER: &str = r#"{"mario_trace":1,"program":"by hand","scenario":"small","seed":1,"duration":300,"step":100,
"evaluation_period":10,"detail":"operations","observation":"arrivals","routing":"nearest","arbitration":"managers","memory":"sliding",
"applications":[{"id":"quick","hardware":1,"max_rate":4,"max_latency":1,"kind":"LS","policy":0},
{"id":"strong","hardware":2,"max_rate":8,"max_latency":9,"kind":"WS","policy":0}],
"nodes":[{"id":"cloud","capacity":"unbounded","tier":0,"neighbours":[1]},{"id":"edge","capacity":2,"tier":1,"neighbours":[0]}],
"policies":[{"name":"p","memory":0,"files":[["p.pl","operation(migrate, i, edge)."]]}],
"users":[{"id":"ann","application":0},{"id":"bob","application":0},{"id":"eve","application":1}]}"#;

fn figures(records: &str) -> TraceFigures {
    let text = format!("{}\n{}", HEADER.replace('\n', ""), records.replace("\n    ", "\n"));
    from_trace(text.trim_start().as_bytes()).expect("a trace")
}

/// The records of a run with two applications, three users and three steps.
const SMALL: &str = r#"["deployed",0,1,0,0,0]
    ["deployed",0,2,1,0,0]
    ["handover",0,0,null,1]
    ["handover",0,1,null,1]
    ["handover",0,2,null,1]
    ["cycle",10,[[1,"replicate",1,"accepted",3],[2,"nop"]]]
    ["handover",100,0,1,0]
    ["handover",100,2,1,0]
    ["cycle",110,[[1,"migrate",1,"accepted"],[2,"replicate",1,"inhibited",{"node":"edge","rule":"capacity","needed":2,"free":0}],[3,"nop"]]]
    ["cycle",120,[[1,"nop"],[2,"migrate",1,"inhibited",{"node":"edge","rule":"capacity","needed":2,"free":0}],[3,"undeploy","accepted"]]]
    ["handover",200,1,1,0]
    ["cycle",210,[[1,"nop"],[2,"nop"]]]
    ["responses",300,0,6,1,18,[[4,6]]]
    ["responses",300,1,4,0,10,[[4,4]]]
    ["usage",300,0,8,12]
    ["usage",300,1,4,6]
    ["client",300,0,2,1,8]
    ["client",300,1,4,0,10]
    ["client",300,2,4,0,10]
    ["end",300,{"evaluations":12,"operations":3,"inhibited":2,"handovers":6,"served":10,"lost":1,"instances":2}]
"#;

#[test]
fn figures_of_a_small_trace_equal_those_computed_by_hand() {
    let found = figures(SMALL);
    assert!(found.is_complete);
    let [all, quick, strong] = &found.figures.groups[..] else { panic!("all, LS and WS") };
    assert_eq!([&all.group, &quick.group, &strong.group], ["all", "LS", "WS"]);
    assert_eq!([all.movements, quick.movements, strong.movements], [3, 2, 1]);
    let counts =
        |undeploy, nop, migrate, replicate, inhibited| OperationCounts { undeploy, nop, migrate, replicate, inhibited };
    assert_eq!(all.operations, counts(1, 5, 1, 1, 2));
    assert_eq!(quick.operations, counts(1, 3, 1, 1, 0));
    assert_eq!(strong.operations, counts(0, 2, 0, 0, 2));
    let ratios = quick.per_movement.expect("users moved");
    assert_eq!((ratios.undeploy, ratios.replicate, ratios.inhibited), (0.5, 0.5, 0.0));
    // After the cycles there are 3, 3, 2 and 2 instances.
    assert_eq!(all.instances, MeanAndMax { mean: 2.5, max: 3 });
    // Ann waits 4 on average and Bob 2.5, so the mean response time of `quick` is 3.25. That of `strong` is 2.5.
    assert_eq!((quick.response, strong.response, all.response), (Some(3.25), Some(2.5), Some(2.875)));
    assert_eq!((quick.service_usage, strong.service_usage, all.service_usage), (Some(1.5), Some(1.5), Some(1.5)));
    // In the steps after the first there are 2 and 1 movements, and 2 and 0 operations.
    assert!(all.pearson_r.is_some_and(|r| (r - 1.0).abs() < 1e-12));
    // With the first step, movements are 3, 2, 1 and operations 1, 2, 0: r is 1 / sqrt(2 * 2).
    assert!(all.pearson_r_with_start.is_some_and(|r| (r - 0.5).abs() < 1e-12));
    assert_eq!((strong.pearson_r, strong.pearson_r_with_start), (None, None), "nothing happened");
    assert_eq!(all.cycles_to_steady_state, Some(MeanAndMax { mean: 1.0, max: 2 }));
    assert_eq!((found.figures.evaluations, found.figures.served, found.figures.lost), (12, 10, 1));
    let left: Vec<bool> = found.placement.applications.iter().map(|application| application.left_the_top).collect();
    assert_eq!(left, [true, false]);
    assert_eq!(found.placement.inhibited_by_rule, BTreeMap::from([("capacity", 2)]));
    assert_eq!(found.placement.overloads, 0);
}

#[test]
fn an_overloaded_node_is_counted() {
    let found = figures("[\"deployed\",0,1,0,1,0]\n[\"deployed\",0,2,1,1,0]\n");
    assert_eq!(found.placement.overloads, 1);
}

#[test]
fn ratio_correlation_and_steady_state_are_undefined_without_movements() {
    let found = figures("[\"deployed\",0,1,0,0,0]\n[\"cycle\",10,[[1,\"nop\"]]]\n");
    let all = &found.figures.groups[0];
    assert_eq!((all.movements, all.per_movement), (0, None));
    assert_eq!((all.pearson_r, all.pearson_r_with_start, all.cycles_to_steady_state), (None, None, None));
    assert!(!found.is_complete, "there is no end");
    assert_eq!((all.response, all.service_usage), (None, None));
}

#[test]
fn an_empty_run_has_figures() {
    let found = figures("");
    assert_eq!(found.figures.groups[0].instances, MeanAndMax { mean: 0.0, max: 0 });
}

#[test]
fn a_migration_under_a_new_id_does_not_add_an_instance() {
    let found = figures(
        "[\"deployed\",0,1,0,0,0]\n[\"cycle\",10,[[1,\"migrate\",1,\"accepted\",7]]]\n[\"cycle\",20,[[7,\"undeploy\",\"accepted\"]]]\n",
    );
    let instances: Vec<u64> = found.cycles[0].iter().map(|cycle| cycle.instances).collect();
    assert_eq!(instances, [1, 0]);
    assert_eq!(found.figures.groups[1].operations.undeploy, 1);
}

/// The records of a run in which the edge is down from 200 to 250. Before that, `quick` replicates and migrates to it
/// and undeploys its replica, and a replication of `strong` is inhibited there.
const MEASURED: &str = r#"["deployed",0,1,0,0,0]
    ["deployed",0,2,1,0,0]
    ["cycle",10,[[1,"replicate",1,"accepted",3],[2,"nop"]]]
    ["cycle",110,[[1,"migrate",1,"accepted"],[2,"replicate",1,"inhibited",{"node":"edge","rule":"capacity","needed":2,"free":0}],[3,"nop"]]]
    ["cycle",120,[[3,"undeploy","accepted"]]]
    ["node-down",200,1,"crash",[1]]
    ["node-up",250,1]
    ["responses",300,0,6,1,13,[[4,6]]]
    ["usage",300,0,8,12]
    ["usage",300,1,4,6]
    ["latency",300,0,6,2.3,[[64,3],[73,3]]]
    ["latency",300,1,0,0,[]]
    ["traffic",300,1000]
    ["end",300,{"evaluations":12,"operations":3,"inhibited":1,"handovers":0,"served":6,"lost":1,"instances":1}]
"#;

fn measured(header: &str) -> Measurements {
    let text = format!("{}\n{}", header.replace('\n', ""), MEASURED.replace("\n    ", "\n"));
    from_trace(text.trim_start().as_bytes()).expect("a trace").measured
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-12 * other.abs()
}

#[test]
fn measures_of_applications_nodes_and_tiers_equal_those_computed_by_hand() {
    let found = measured(&HEADER.replace(r#""mario_trace":1"#, r#""mario_trace":3,"measures":true"#));
    let [quick, strong] = &found.applications[..] else { panic!("two applications") };
    assert_eq!((quick.application.as_str(), quick.kind.as_str(), quick.served, quick.lost), ("quick", "LS", 6, 1));
    // 6 requests in 0.3 seconds. All of them took longer than the tolerated 1 ms.
    assert_eq!((quick.throughput, quick.late_share, quick.response_max), (20.0, Some(1.0), Some(2.3)));
    // Three requests took from 2 to 2.03125 ms, three from 2.28125 to 2.3125. The median is the midpoint of the first
    // bucket, the other percentiles are that of the second.
    let percentiles = [quick.response_p50, quick.response_p95, quick.response_p99];
    assert_eq!(percentiles, [Some(2.015_625), Some(2.296_875), Some(2.296_875)]);
    assert_eq!((strong.late_share, strong.response_p50, strong.response_max), (None, None, None));
    assert_eq!((quick.operations.replicate, quick.operations.migrate, quick.operations.undeploy), (1, 1, 1));
    assert_eq!((strong.operations.inhibited, strong.operations.nop), (1, 1));
    // After the three cycles `quick` has 2, 2 and 1 instances, and `strong` always one.
    assert_eq!((quick.instances.max, strong.instances), (2, MeanAndMax { mean: 1.0, max: 1 }));
    assert!(is_near(quick.instances.mean, 5.0 / 3.0));
    let inhibitions = Inhibitions { node: "edge".to_owned(), rule: "capacity".to_owned(), count: 1 };
    assert_eq!(found.inhibitions, [inhibitions]);
    // The edge is up for 250 ms, with one unit in use for 100, two for 10, one for 80 and none for 60: 200 of 500
    // unit-milliseconds.
    let tiers: Vec<_> = found.tiers.iter().map(|tier| (tier.name.as_str(), tier.utilisation)).collect();
    assert_eq!(tiers, [("0", None), ("1", Some(0.4))]);
    assert_eq!(found.consumption, None);
}

#[test]
fn percentiles_of_a_trace_without_exact_times_are_within_nine_percent() {
    let found = measured(HEADER);
    let p50 = found.applications[0].response_p50.expect("requests were served");
    // The coarse bucket of the median reaches from 2 to 2.378.
    assert!(p50 > 2.0 && p50 < 2.378 && found.applications[0].response_max.is_some(), "{p50}");
}

#[test]
fn energy_money_and_carbon_equal_those_computed_by_hand() {
    let models = r#""mario_trace":3,"models":{"idle_watts":[100,10],"unit_watts":[5,2],"joules_per_bit":1e-6,"message_bits":8000,
        "unit_hour_price":[3600,7200],"gigabyte_price":2,
        "carbon":[{"region":null,"grams_per_kwh":[[0,360]]},{"region":"eu","grams_per_kwh":[[50,100],[150,400]]}]}"#;
    let facts = r#""facts":[{"subject":"edge","key":"region","value":"eu"}],"policies":"#;
    let header = HEADER.replace(r#""mario_trace":1"#, models).replace(r#""policies":"#, facts);
    let found = measured(&header);
    let cost = found.consumption.expect("there are models");
    // The cloud has 3 units in use until 110 and 2 until 300: 710 unit-milliseconds. The edge is up for 250 ms and has
    // 200 unit-milliseconds.
    let (cloud, edge) = ((100.0 * 300.0 + 5.0 * 710.0) / 1e3, (10.0 * 250.0 + 2.0 * 200.0) / 1e3);
    assert!(is_near(cloud, 33.55) && is_near(edge, 2.9));
    let of_tiers: Vec<f64> = found.tiers.iter().filter_map(|tier| tier.energy_joules).collect();
    assert!(of_tiers.len() == 2 && is_near(of_tiers[0], cloud) && is_near(of_tiers[1], edge), "{of_tiers:?}");
    // 1000 hops of 8000 bits, at a microjoule per bit.
    assert!(is_near(cost.node_joules, 36.45) && is_near(cost.link_joules, 8.0) && is_near(cost.energy_joules, 44.45));
    // 710 and 200 unit-milliseconds at a price of 1 and 2 per unit-second, and a thousandth of a gigabyte at 2 per
    // gigabyte.
    assert!(is_near(cost.money, 0.71 + 0.4 + 0.002), "{}", cost.money);
    // Each term is watts times milliseconds times grams per kilowatt-hour. The edge draws 10, 12, 14, 12, 12 and, after
    // its failure, 10 W. The intensity changes at 150.
    let edge = 10.0 * 10.0 * 100.0
        + 12.0 * 100.0 * 100.0
        + 14.0 * 10.0 * 100.0
        + 12.0 * 30.0 * 100.0
        + 12.0 * 50.0 * 400.0
        + 10.0 * 50.0 * 400.0;
    let grams = (33_550.0 * 360.0 + edge + 8_000.0 * 360.0) / 3.6e9;
    assert!(cost.carbon_grams.is_some_and(|found| is_near(found, grams)), "{cost:?} and {grams}");
}

#[test]
fn a_trace_of_counts_has_no_measures_of_nodes() {
    let header = HEADER.replace("operations", "summary");
    let records = r#"["deployed",0,1,0,0,0]
    ["counts",10,[[0,1,0,0,1,0,0,0]],[["capacity",2]],[[0,0,1],[0,1,1]]]
    ["end",300,{"evaluations":0,"operations":1,"inhibited":2,"handovers":0,"served":0,"lost":0,"instances":2}]
"#;
    let text = format!("{}\n{}", header.replace('\n', ""), records.replace("\n    ", "\n"));
    let found = from_trace(text.as_bytes()).expect("a trace").measured;
    assert_eq!((found.tiers.len(), found.inhibitions.len(), found.consumption), (0, 0, None));
    assert_eq!((found.applications[0].operations.replicate, found.applications[0].instances.max), (1, 2));
}
