//! Tests that records have the forms documented in `docs/trace.md`, and that a failed write ends a trace.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod join;
mod reading;

use std::io::{self, Write};

use mario_domain::{
    AgentOperation, Application, ApplicationId, Capacity, Duration, Hardware, Id, Inhibition, InstanceId, NodeId,
    Quantity, Rule, Time,
};
use mario_trace::{
    ApplicationRef, Cause, Detail, Evaluation, FactsAndDecision, Header, HeaderApplication, HeaderNode, HeaderPolicy,
    HeaderUser, Neighbour, NodeRef, Outcome, PlacementValue, PolicyRef, Proposal, Regret, RequestFact, Solution,
    Target, TraceWriter, UserRef, UserResults, Verdict, Version,
};

const APPLICATION: ApplicationRef = ApplicationRef(0);
const NODES: [NodeRef; 2] = [NodeRef(0), NodeRef(1)];

fn application() -> Application {
    Application {
        id: ApplicationId::name("video").expect("a name"),
        owner: None,
        hardware: Hardware::units(2),
        max_rate: Quantity::whole(10),
        max_latency: Quantity::whole(5),
        flavours: Vec::new(),
        sleep: None,
    }
}

fn node(name: &str) -> NodeId {
    NodeId::name(name).expect("a name")
}

/// Returns the lines of a trace of two nodes, one application and two users, with the records that `write` adds.
fn written(detail: Detail, write: impl FnOnce(&mut TraceWriter<Vec<u8>>)) -> Vec<String> {
    let (application, nodes, users) = (application(), ["top", "edge"].map(node), [1, 2].map(Id::number));
    let files = [("p.pl".to_owned(), "operation(_, _, _) :- fail.\n".to_owned())];
    let header = Header {
        version: Version::Second,
        scenario: "small",
        seed: 7,
        duration: Duration::of(100.0),
        step: Duration::of(50.0),
        evaluation_period: Duration::of(10.0),
        decision_budget: None,
        detail,
        observation: "arrivals",
        routing: "nearest",
        arbitration: "managers",
        memory: "sliding",
        forgets_every: None,
        notice: None,
        applications: vec![HeaderApplication {
            application: &application,
            kind: "WS",
            policy: PolicyRef(0),
            is_anchor: false,
        }],
        calls: Vec::new(),
        traffic: None,
        tiers: &[],
        measures: false,
        models: None,
        live: None,
        nodes: (0..)
            .zip(&nodes)
            .map(|(tier, id)| HeaderNode {
                id,
                capacity: Capacity::units(4),
                tier,
                neighbours: vec![NODES[1 - usize::from(tier)]],
                position: None,
                is_access_point: tier == 1,
                acceptance: None,
            })
            .collect(),
        facts: Vec::new(),
        policies: vec![HeaderPolicy { name: "p", memory: 3, files: &files }],
        acceptances: Vec::new(),
        users: users.iter().map(|id| HeaderUser { id, application: APPLICATION }).collect(),
    };
    let mut writer = TraceWriter::new(Vec::new(), &header);
    assert!(writer.is_of(&header));
    write(&mut writer);
    let bytes = writer.finish(Time::at(100.0)).expect("memory");
    String::from_utf8(bytes).expect("text").lines().map(str::to_owned).collect()
}

fn proposal(operation: AgentOperation, target: Target<NodeRef>) -> Proposal<Target<NodeRef>> {
    Proposal { operation, target }
}

/// Records an evaluation of instance 5 on the second node.
fn evaluate(writer: &mut TraceWriter<Vec<u8>>, time: Time, is_same: bool) {
    let instance = InstanceId::number(5);
    let free = Capacity::units(1);
    let evaluation =
        Evaluation { instance: &instance, application: APPLICATION, node: NODES[1], free, rate: 2.5, max_rate: None };
    let nowhere = Id::name("nowhere").expect("a name");
    let decided = (!is_same).then(|| FactsAndDecision {
        requests: [RequestFact::new(Neighbour::Own, 2.0, 0.0), RequestFact::new(Neighbour::Node(NODES[0]), 0.5, 3.0)],
        inhibited: [proposal(AgentOperation::Migrate, Target::Unknown(nowhere))],
        solutions: [
            Solution::Proposal { proposal: proposal(AgentOperation::Replicate, Target::Own), clause: 1 },
            Solution::Invalid { why: "no".to_owned(), clause: 2 },
        ],
        ending: None,
        random: Some(9),
    });
    writer.evaluation(time, &evaluation, decided);
}

#[test]
fn the_header_names_the_format_and_the_tables() {
    let lines = written(Detail::Full, |_| {});
    let expected = concat!(
        r#"{"mario_trace":2,"program":"mario "#,
        env!("CARGO_PKG_VERSION"),
        r#"","scenario":"small","seed":7,"duration":100.0,"step":50.0,"evaluation_period":10.0,"detail":"full","#,
        r#""observation":"arrivals","routing":"nearest","arbitration":"managers","memory":"sliding","#,
        r#""applications":[{"id":"video","hardware":2,"max_rate":10,"max_latency":5,"kind":"WS","policy":0}],"#,
        r#""nodes":[{"id":"top","capacity":4,"tier":0,"neighbours":[1]},"#,
        r#"{"id":"edge","capacity":4,"tier":1,"neighbours":[0],"access_point":true}],"facts":[],"#,
        r#""policies":[{"name":"p","memory":3,"files":[["p.pl","operation(_, _, _) :- fail.\n"]]}],"#,
        r#""acceptances":[],"users":[{"id":1,"application":0},{"id":2,"application":0}]}"#
    );
    assert_eq!(lines[0], expected);
}

#[test]
fn a_full_trace_has_every_record_in_the_documented_form() {
    let instance = InstanceId::number(5);
    let full = Verdict::Inhibited(Inhibition::capacity(node("top"), Hardware::units(2), Capacity::units(1)));
    let leaving = Verdict::Inhibited(Inhibition { node: node("edge"), rule: Rule::Leaving });
    let value = |served| PlacementValue { present: 1, satisfied: 1, served, latency_millionths: -3, instances: 2 };
    let lines = written(Detail::Full, |writer| {
        writer.deployed(Time::at(0.0), &instance, APPLICATION, NODES[1], PolicyRef(0));
        writer.handover(Time::at(0.0), UserRef(1), None, Some(NODES[1]));
        evaluate(writer, Time::at(10.0), false);
        evaluate(writer, Time::at(20.5), true);
        writer.cycle(Time::at(30.0), |cycle| {
            let judged = |proposal, verdict| Outcome::Judged { instance: instance.clone(), proposal, verdict };
            cycle.outcome(&Outcome::Nop(instance.clone()));
            let accepted = Verdict::Accepted(Some(InstanceId::number(6)));
            cycle.outcome(&judged(proposal(AgentOperation::Replicate, Target::Own), accepted));
            cycle.outcome(&judged(proposal(AgentOperation::Migrate, Target::Node(NODES[0])), full));
            cycle.outcome(&Outcome::Deploy { node: NODES[1], application: 0, policy: None, verdict: leaving });
        });
        writer.regret(Time::at(30.0), &Regret { search: "exact", users: 2, actual: value(1), best: value(2) });
        writer.node_leaving(Time::at(31.0), NODES[1]);
        writer.link_down(Time::at(32.0), NODES[0], NODES[1]);
        writer.node_down(Time::at(33.0), NODES[1], Cause::Leave, [(instance.clone(), APPLICATION)].into_iter());
        writer.served(UserRef(1), APPLICATION, Duration::of(4.0));
        writer.lost(UserRef(1), APPLICATION);
        writer.responses(Time::at(50.0));
        writer.sent(UserRef(1), APPLICATION, &UserResults { served: 3, lost: 1, response: Duration::of(12.0) });
    });
    let expected = [
        r#"["deployed",0,5,0,1,0]"#,
        r#"["handover",0,1,null,1]"#,
        r#"["evaluation",10,5,1,1,[["self",2,0],[0,0.5,3]],[["migrate",{"unknown":"nowhere"}]],[["replicate","self",1],["invalid","no",2]],null,9]"#,
        r#"["evaluation",20.5,5,1,1,"same"]"#,
        r#"["cycle",30,[[5,"nop"],[5,"replicate","self","accepted",6],[5,"migrate",0,"inhibited",{"node":"top","rule":"capacity","needed":2,"free":1}],[null,"deploy",1,"inhibited",{"node":"edge","rule":"leaving"},0]]]"#,
        r#"["regret",30,"exact",2,[1,1,1,-3,2],[1,1,2,-3,2]]"#,
        r#"["node-leaving",31,1]"#,
        r#"["link-down",32,0,1]"#,
        r#"["node-down",33,1,"leave",[5]]"#,
        r#"["responses",50,0,1,1,4,[[8,1]]]"#,
        r#"["responses",100,0,2,0,8,[[8,2]]]"#,
        r#"["usage",100,0,2,0.5]"#,
        r#"["client",100,0,0,0,0]"#,
        r#"["client",100,1,3,1,12]"#,
        r#"["end",100,{"evaluations":2,"operations":1,"inhibited":2,"handovers":1,"served":3,"lost":1,"instances":1}]"#,
    ];
    assert_eq!(lines[1..], expected);
}

#[test]
fn a_summary_trace_has_counts_instead_of_individual_records() {
    let lines = written(Detail::Summary, |writer| {
        writer.deployed(Time::at(0.0), &InstanceId::number(5), APPLICATION, NODES[1], PolicyRef(0));
        writer.handover(Time::at(0.0), UserRef(0), None, Some(NODES[1]));
        writer.handover(Time::at(0.0), UserRef(1), None, Some(NODES[1]));
        evaluate(writer, Time::at(10.0), false);
        writer.count_evaluations(APPLICATION, 3, 7.5);
        writer.count_cycle(Time::at(30.0), |counts| {
            counts.nops(APPLICATION, 2);
            counts.inhibited(APPLICATION, Rule::CAPACITY, 3);
            counts.accepted(APPLICATION, AgentOperation::Migrate, (NODES[1], Some(NODES[0])), None);
            counts.accepted(APPLICATION, AgentOperation::Replicate, (NODES[0], Some(NODES[0])), Some(NODES[1]));
            counts.deployed(APPLICATION, NODES[1]);
            counts.not_deployed(APPLICATION, Rule::Down.as_str());
        });
        writer.node_up(Time::at(40.0), NODES[0]);
        writer.node_down(Time::at(41.0), NODES[1], Cause::Crash, [(InstanceId::number(6), APPLICATION)].into_iter());
        writer.served(UserRef(1), APPLICATION, Duration::of(4.0));
    });
    let expected = [
        r#"["deployed",0,5,0,1,0]"#,
        r#"["handovers",0,[[0,2]]]"#,
        r#"["counts",30,[[0,2,0,1,1,3,1,1]],[["capacity",3],["down",1]],[[0,0,1],[0,1,2]]]"#,
        r#"["gone",41,[[0,1,1]]]"#,
        r#"["responses",100,0,1,0,4,[[8,1]]]"#,
        r#"["usage",100,0,4,1]"#,
        r#"["clients",100,0,1,1,0,4]"#,
        r#"["end",100,{"evaluations":4,"operations":3,"inhibited":4,"handovers":2,"served":1,"lost":0,"instances":2}]"#,
    ];
    assert_eq!(lines[1..], expected);
}

/// A writer that accepts at most this number of bytes in total, and fails on more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn nothing_is_written_after_a_failure() {
    let header = Header {
        version: Version::Second,
        scenario: "empty",
        seed: 0,
        duration: Duration::of(1.0),
        step: Duration::of(1.0),
        evaluation_period: Duration::of(1.0),
        decision_budget: None,
        detail: Detail::Full,
        observation: "arrivals",
        routing: "nearest",
        arbitration: "managers",
        memory: "sliding",
        forgets_every: None,
        notice: None,
        applications: Vec::new(),
        calls: Vec::new(),
        traffic: None,
        tiers: &[],
        measures: false,
        models: None,
        live: None,
        nodes: Vec::new(),
        facts: Vec::new(),
        policies: Vec::new(),
        acceptances: Vec::new(),
        users: Vec::new(),
    };
    let mut writer = TraceWriter::new(Full(1_000), &header);
    assert!(writer.failure().is_none());
    (0..100).for_each(|_| writer.link_up(Time::at(0.5), NODES[0], NODES[1]));
    assert!(writer.failure().is_some());
    assert!(writer.finish(Time::at(1.0)).is_err());
}
