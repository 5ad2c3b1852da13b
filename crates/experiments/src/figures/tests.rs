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

/// Two applications, three users and three steps.
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
fn a_small_trace_has_the_figures_that_a_person_finds() {
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
    // Ann waits 4 on average and Bob 2.5, so `quick` answers after 3.25; `strong` after 2.5.
    assert_eq!((quick.response, strong.response, all.response), (Some(3.25), Some(2.5), Some(2.875)));
    assert_eq!((quick.service_usage, strong.service_usage, all.service_usage), (Some(1.5), Some(1.5), Some(1.5)));
    // In the steps after the first, 2 and 1 movements meet 2 and 0 operations.
    assert!(all.pearson_r.is_some_and(|r| (r - 1.0).abs() < 1e-12));
    // With the first, movements are 3, 2, 1 and operations 1, 2, 0: r is 1 / sqrt(2 * 2).
    assert!(all.pearson_r_with_start.is_some_and(|r| (r - 0.5).abs() < 1e-12));
    assert_eq!((strong.pearson_r, strong.pearson_r_with_start), (None, None), "nothing happened");
    assert_eq!(all.cycles_to_steady_state, Some(MeanAndMax { mean: 1.0, max: 2 }));
    assert_eq!((found.figures.evaluations, found.figures.served, found.figures.lost), (12, 10, 1));
    let left: Vec<bool> = found.whereabouts.applications.iter().map(|application| application.left_the_top).collect();
    assert_eq!(left, [true, false]);
    assert_eq!(found.whereabouts.inhibited_by_rule, BTreeMap::from([("capacity", 2)]));
    assert_eq!(found.whereabouts.overloads, 0);
}

#[test]
fn a_node_that_carries_too_much_is_noticed() {
    let found = figures("[\"deployed\",0,1,0,1,0]\n[\"deployed\",0,2,1,1,0]\n");
    assert_eq!(found.whereabouts.overloads, 1);
}

#[test]
fn without_movements_there_is_no_ratio_no_correlation_and_no_steady_state() {
    let found = figures("[\"deployed\",0,1,0,0,0]\n[\"cycle\",10,[[1,\"nop\"]]]\n");
    let all = &found.figures.groups[0];
    assert_eq!((all.movements, all.per_movement), (0, None));
    assert_eq!((all.pearson_r, all.pearson_r_with_start, all.cycles_to_steady_state), (None, None, None));
    assert!(!found.is_complete, "there is no end");
    assert_eq!((all.response, all.service_usage), (None, None));
}

#[test]
fn an_empty_run_has_figures_too() {
    let found = figures("");
    assert_eq!(found.figures.groups[0].instances, MeanAndMax { mean: 0.0, max: 0 });
}

#[test]
fn a_migration_under_a_new_id_is_one_instance() {
    let found = figures(
        "[\"deployed\",0,1,0,0,0]\n[\"cycle\",10,[[1,\"migrate\",1,\"accepted\",7]]]\n[\"cycle\",20,[[7,\"undeploy\",\"accepted\"]]]\n",
    );
    let instances: Vec<u64> = found.cycles[0].iter().map(|cycle| cycle.instances).collect();
    assert_eq!(instances, [1, 0]);
    assert_eq!(found.figures.groups[1].operations.undeploy, 1);
}
