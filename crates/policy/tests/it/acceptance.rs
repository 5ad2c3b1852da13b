//! Tests that node managers judge requests by their policies, within the available hardware.

use std::fs;

use mario_domain::{
    AgentId, Application, ApplicationId, Capacity, Fact, FactValue, Hardware, Id, Inhibition, Instance, InstanceId,
    Node, NodeId, Operation, OwnerId, Quantity, Request, Rule, Target, Verdict,
};
use mario_policy::{Acceptance, AcceptanceError, ManagerView, PolicySettings};
use mario_prolog::{Engine, Machine};

use crate::policies;

fn node_id(name: &str) -> NodeId {
    NodeId::name(name).expect("a name")
}

fn video() -> Application {
    Application {
        id: ApplicationId::name("video").expect("a name"),
        owner: Some(OwnerId::name("acme").expect("a name")),
        hardware: Hardware::units(4),
        max_rate: Quantity::whole(10),
        max_latency: Quantity::whole(25),
        flavours: Vec::new(),
        sleep: None,
    }
}

fn replicate(from: &str, to: &str) -> Request {
    let operation = Operation::Replicate(Target::Node(node_id(to)));
    Request::by_agent(AgentId::number(1), InstanceId::number(1), node_id(from), video().id, operation).expect("valid")
}

fn judge(text: &str, free: u64, request: &Request) -> Verdict {
    let engine = Engine::new();
    let acceptance = Acceptance::load(&engine, "accept.pl", text, None, PolicySettings::default().budget)
        .expect("an acceptance policy");
    let node = Node::new(node_id("n42"), Capacity::units(8), vec![node_id("n41")]).expect("valid");
    let mut view = ManagerView::new(engine.symbols(), &node, Capacity::units(free));
    view.push_application(&video());
    view.push_instance(&Instance {
        id: InstanceId::name("s9").expect("a name"),
        application: video().id,
        node: node_id("n42"),
    });
    view.push_fact(&Fact {
        subject: Id::name("n42").expect("a name"),
        key: Id::name("region").expect("a name"),
        value: FactValue::name("eu").expect("a name"),
    });
    acceptance.judge(&mut Machine::new(&engine), &view, request, video().hardware)
}

fn inhibited(rule: Rule) -> Verdict {
    Verdict::Inhibited(Inhibition { node: node_id("n42"), rule })
}

#[test]
fn accepts_what_fits_by_default() {
    let text = fs::read_to_string(policies().join("accept-what-fits.pl")).expect("it is shipped");
    assert_eq!(judge(&text, 4, &replicate("n41", "n42")), Verdict::Accepted);
    let full = inhibited(Rule::Capacity { needed: Hardware::units(4), free: Capacity::units(3) });
    assert_eq!(judge(&text, 3, &replicate("n41", "n42")), full);
    assert_eq!(judge(&text, 0, &replicate("n42", "n41")), Verdict::Accepted);
    assert_eq!(judge(&text, 4, &Request::deploy(video().id, node_id("n42"))), Verdict::Accepted);
}

#[test]
fn no_policy_overrides_the_hardware() {
    assert!(matches!(
        judge("accept(_).", 3, &replicate("n41", "n42")),
        Verdict::Inhibited(Inhibition { rule: Rule::Capacity { .. }, .. })
    ));
}

#[test]
fn a_policy_sees_the_node_its_instances_and_their_owner() {
    for goal in [
        "node(n42, 4, [n41])",
        "capacity(n42, 8)",
        "serviceInstance(s9, video, n42)",
        "service(video, 4, 10, 25)",
        "owner(video, acme)",
        "fact(n42, region, eu)",
        "R = request(replicate, 1, video, n41, n42)",
    ] {
        let text = format!("accept(R) :- {goal}, R = R.");
        assert_eq!(judge(&text, 4, &replicate("n41", "n42")), Verdict::Accepted, "{goal}");
    }
    let deploy = Request::deploy(video().id, node_id("n42"));
    assert_eq!(judge("accept(request(deploy, none, video, none, n42)).", 4, &deploy), Verdict::Accepted);
}

#[test]
fn a_rejection_overrides_and_states_its_reason() {
    let text = "accept(_). reject(request(_, _, App, _, n42), 'not yours') :- owner(App, acme).";
    let reason = "not yours".to_owned();
    assert_eq!(judge(text, 8, &replicate("n41", "n42")), inhibited(Rule::Acceptance { reason }));
    assert_eq!(judge(text, 8, &replicate("n42", "n41")), Verdict::Accepted);
    let only_rejects = "reject(request(migrate, _, _, _, _), full(now)).";
    assert_eq!(judge(only_rejects, 8, &replicate("n41", "n42")), Verdict::Accepted);
    let Verdict::Inhibited(inhibition) = judge("accept(_) :- fail.", 8, &replicate("n41", "n42")) else {
        panic!("nothing accepts it")
    };
    assert_eq!(inhibition.rule, Rule::Acceptance { reason: "no clause of accept/1 holds".to_owned() });
}

#[test]
fn a_policy_that_fails_inhibits() {
    for (text, expected) in [
        ("accept(_) :- gone.", "gone"),
        ("accept(_) :- loop. loop :- loop.", "inferences"),
        ("accept(_). reject(_, _) :- throw(oops).", "oops"),
        ("accept(_) :- halt.", "halt"),
    ] {
        let Verdict::Inhibited(inhibition) = judge(text, 8, &replicate("n41", "n42")) else { panic!("{text}") };
        let Rule::AcceptanceFailed { cause } = inhibition.rule else { panic!("{text}: {inhibition:?}") };
        assert!(cause.contains(expected), "{text}: {cause}");
    }
}

#[test]
fn refuses_a_text_that_is_not_an_acceptance_policy() {
    let engine = Engine::new();
    let load = |text| Acceptance::load(&engine, "accept.pl", text, None, PolicySettings::default().budget);
    assert!(matches!(load("a."), Err(AcceptanceError::NoRule { .. })));
    assert!(matches!(load("accept(_). node(a, 1)."), Err(AcceptanceError::Load { .. })));
    assert!(matches!(load("accept(_"), Err(AcceptanceError::Load { .. })));
}
