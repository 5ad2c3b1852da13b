//! Single routers, also with neighbours that violate the protocol, and client requests while instances move.

use std::sync::Arc;

use mario_colony::Epoch;
use mario_colony::routing::{
    Names, RouteAnnouncement, RouteLabel, Router, RouterConfig, RouterEffect, RouterInput, RoutingMessage,
    SequenceRequest, Update,
};
use mario_domain::{ApplicationId, InstanceId, NodeId, Time};

use super::network::{Network, Tally, id};
use super::shapes::Shape;

fn application() -> ApplicationId {
    ApplicationId::number(0)
}

struct One {
    router: Router,
    now: f64,
}

impl One {
    fn new(change: impl FnOnce(&mut RouterConfig)) -> One {
        let mut config = RouterConfig::new(id(0));
        change(&mut config);
        One { router: Router::new(Arc::new(config), Time::ZERO), now: 0.0 }
    }

    fn handle(&mut self, input: RouterInput) -> Vec<(NodeId, RoutingMessage)> {
        let mut effects = Vec::new();
        self.router.handle(Time::at(self.now), input, &mut effects);
        let sent = effects.into_iter().filter_map(|effect| match effect {
            RouterEffect::Send { to, message } => Some((to, message)),
            RouterEffect::Changed(_) => None,
        });
        sent.collect()
    }

    fn up(&mut self, neighbour: usize) -> Vec<(NodeId, RoutingMessage)> {
        self.handle(RouterInput::LinkUp { neighbour: id(neighbour), cost: 10 })
    }

    fn hear(&mut self, from: usize, number: u64, label: RouteLabel) -> Vec<(NodeId, RoutingMessage)> {
        let routes = vec![RouteAnnouncement { application: application(), label: Some(label), names: None }];
        let message = RoutingMessage::Update(Update { number, is_table: false, routes });
        self.handle(RouterInput::Received { from: id(from), message })
    }
}

fn label(sequence: u64, metric: u32) -> RouteLabel {
    RouteLabel { sequence, metric }
}

#[test]
fn an_infeasible_label_is_not_used_until_its_sequence_is_newer() {
    let mut one = One::new(|_| {});
    one.up(1);
    one.up(2);
    one.hear(1, 1, label(1, 5));
    assert_eq!(one.router.next_hop(&application()), Some(&id(1)));
    assert_eq!(one.router.best_announced(&application()), Some(label(1, 15)));
    // 20 is not better than 15, the best announced: the path through 2 may lead back to this node.
    one.hear(2, 1, label(1, 20));
    let sent = one.handle(RouterInput::LinkDown { neighbour: id(1) });
    assert_eq!(one.router.next_hop(&application()), None);
    let request = SequenceRequest { application: application(), sequence: 2, hops_left: 255 };
    assert_eq!(sent, [(id(2), RoutingMessage::Request(request))]);
    one.hear(2, 2, label(2, 20));
    assert_eq!(one.router.next_hop(&application()), Some(&id(2)));
}

#[test]
fn a_host_raises_the_sequence_on_request_within_plausible_bounds() {
    let mut one = One::new(|_| {});
    one.up(1);
    one.handle(RouterInput::Hosted { application: application(), instance: InstanceId::number(1), epoch: Epoch(1) });
    let mut ask = |sequence| {
        let request = SequenceRequest { application: application(), sequence, hops_left: 3 };
        one.handle(RouterInput::Received { from: id(1), message: RoutingMessage::Request(request) });
        one.router.labels(&application(), &id(1))[0].expect("announced").sequence
    };
    assert_eq!(ask(7), 7);
    assert_eq!(ask(3), 7, "it never goes back");
    assert_eq!(ask(u64::MAX), 7, "nobody has announced that sequence");
    assert_eq!(ask(1 << 62), 1 << 62);
    assert_eq!(one.router.refused(), 1);
}

#[test]
fn tables_are_bounded_and_rejected_entries_are_counted() {
    let mut one = One::new(|config| {
        config.limits.applications_max = 5;
        config.limits.routes_per_neighbour_max = 3;
    });
    one.up(1);
    one.up(2);
    for (from, names) in [(1, 0..10), (2, 10..20)] {
        let routes = names.map(|name| RouteAnnouncement {
            application: ApplicationId::number(name),
            label: Some(label(1, 1)),
            names: None,
        });
        let message = RoutingMessage::Update(Update { number: 1, is_table: true, routes: routes.collect() });
        one.handle(RouterInput::Received { from: id(from), message });
    }
    assert_eq!(one.router.applications().count(), 5);
    assert_eq!(one.router.refused(), 15);
    let own = ApplicationId::number(99);
    let instance = InstanceId::number(1);
    one.handle(RouterInput::Hosted { application: own.clone(), instance, epoch: Epoch(1) });
    assert_eq!(one.router.distance(&own), Some(0), "what is here has room");
    one.handle(RouterInput::LinkDown { neighbour: id(1) });
    one.handle(RouterInput::LinkDown { neighbour: id(2) });
    one.now = 1_000_000.0;
    for _ in 0..3 {
        one.handle(RouterInput::Timeout);
    }
    assert_eq!(one.router.applications().collect::<Vec<_>>(), [&own], "what is gone is forgotten");
}

#[test]
fn outdated_updates_are_ignored_and_missing_ones_requested() {
    let mut one = One::new(|_| {});
    one.up(1);
    one.hear(1, 1, label(1, 5));
    let sent = one.hear(1, 3, label(1, 3));
    assert!(sent.contains(&(id(1), RoutingMessage::Repeat)), "{sent:?}");
    one.hear(1, 2, label(1, 4));
    assert_eq!(one.router.labels(&application(), &id(1))[1], Some(label(1, 3)));
    let routes = Vec::new();
    let table = RoutingMessage::Update(Update { number: 4, is_table: true, routes });
    one.handle(RouterInput::Received { from: id(1), message: table });
    assert_eq!(one.router.distance(&application()), None, "the table has no route any more");
}

#[test]
fn a_large_table_is_sent_in_several_updates() {
    let mut one = One::new(|config| config.limits.routes_per_update_max = 2);
    for name in 0..5 {
        let application = ApplicationId::number(name);
        one.handle(RouterInput::Hosted { application, instance: InstanceId::number(name), epoch: Epoch(1) });
    }
    let sent = one.up(1);
    let pieces: Vec<(u64, bool, usize)> = sent
        .into_iter()
        .map(|(_, message)| match message {
            RoutingMessage::Update(update) => (update.number, update.is_table, update.routes.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(pieces, [(1, true, 2), (2, false, 2), (3, false, 1)]);
}

#[test]
fn messages_of_strangers_change_nothing() {
    let mut one = One::new(|_| {});
    assert!(one.hear(1, 1, label(1, 0)).is_empty());
    assert_eq!(one.router.applications().count(), 0);
}

#[test]
fn requests_follow_an_instance_that_has_moved_although_no_route_to_it_is_known() {
    let mut one = One::new(|_| {});
    one.up(1);
    let instance = InstanceId::number(1);
    one.handle(RouterInput::Hosted { application: application(), instance: instance.clone(), epoch: Epoch(1) });
    one.handle(RouterInput::Unhosted { application: application(), instance, moved_to: Some(id(1)) });
    assert_eq!(one.router.routes().get(&application()).expect("known").next, [id(1)]);
    assert_eq!(one.router.labels(&application(), &id(1))[0], Some(label(1, 0)), "what was announced stands");
    one.now = 30_000.0;
    let sent = one.handle(RouterInput::Timeout);
    assert_eq!(one.router.routes().get(&application()), None);
    let is_retraction = |message: &RoutingMessage| match message {
        RoutingMessage::Update(update) => {
            update.routes == [RouteAnnouncement { application: application(), label: None, names: None }]
        }
        _ => false,
    };
    assert!(sent.iter().any(|(_, message)| is_retraction(message)), "{sent:?}");
}

#[test]
fn no_request_is_lost_while_instances_move_multiply_and_end() {
    for seed in 0..40 {
        let mut random = mario_testing::Random::new(seed);
        let shape = match seed % 3 {
            0 => Shape::tree(40, 3, 2_000),
            1 => Shape::grid(6, 2_000),
            _ => Shape::drawn(&mut random),
        };
        let mut network = Network::new(&shape, 1, seed, |_| {});
        network.is_checked = true;
        network.deploy(0, random.below(shape.nodes));
        network.run_for(2_000.0);
        for _ in 0..60 {
            let instances: Vec<(InstanceId, usize)> =
                network.hosts[0].iter().map(|(instance, (host, _))| (instance.clone(), *host)).collect();
            let (instance, host) = instances[random.below(instances.len())].clone();
            let neighbours: Vec<usize> = network.neighbours(host).collect();
            let neighbour = neighbours[random.below(neighbours.len())];
            match random.below(6) {
                0 if instances.len() < 4 => network.deploy(0, neighbour),
                1 if instances.len() > 1 => network.undeploy(0, &instance),
                _ => network.migrate(0, &instance, neighbour),
            }
            for _ in 0..30 {
                let node = random.below(shape.nodes);
                network.ask(0, node);
                network.run_for(random.below(20_u64) as f64);
            }
        }
        network.run_for(5_000.0);
        let Tally { failed, broken, used_up, .. } = network.tally;
        assert_eq!((failed, broken, used_up), (0, 0, 0), "seed {seed}: {:?}", network.tally);
        assert_eq!(network.tally.served, 60 * 30);
    }
}

fn names(version: u64) -> Arc<Names> {
    Arc::new(Names {
        version,
        hosts: vec![format!("v{version}.example")],
        prefixes: Vec::new(),
        certificate: [1].into(),
    })
}

/// The applications whose names were sent to a neighbour, each with the version of its names.
fn announced_names(sent: &[(NodeId, RoutingMessage)], to: usize) -> Vec<(ApplicationId, u64)> {
    let updates = sent.iter().filter(|(neighbour, _)| *neighbour == id(to)).filter_map(|(_, message)| match message {
        RoutingMessage::Update(update) => Some(&update.routes),
        _ => None,
    });
    updates.flatten().filter_map(|route| Some((route.application.clone(), route.names.as_ref()?.version))).collect()
}

#[test]
fn names_travel_once_with_the_routes_and_later_ones_replace_earlier_ones() {
    let mut one = One::new(|_| {});
    one.up(1);
    one.up(2);
    let hear = |one: &mut One, number, version| {
        let label = Some(label(1, 5));
        let routes = vec![RouteAnnouncement { application: application(), label, names: Some(names(version)) }];
        let message = RoutingMessage::Update(Update { number, is_table: false, routes });
        one.handle(RouterInput::Received { from: id(1), message })
    };
    let sent = hear(&mut one, 1, 3);
    assert_eq!(announced_names(&sent, 2), [(application(), 3)]);
    assert_eq!(announced_names(&sent, 1), [], "the next hop has them already");
    assert_eq!(announced_names(&hear(&mut one, 2, 2), 2), [], "older ones are dropped");
    assert_eq!(announced_names(&hear(&mut one, 3, 3), 2), [], "and known ones are not announced again");
    assert_eq!(one.router.names(&application()).map(|names| names.version), Some(3));
    assert_eq!(announced_names(&hear(&mut one, 4, 4), 2), [(application(), 4)], "although the route is the same");
    // A table has all names. A new session starts with a table.
    let table = one.handle(RouterInput::Received { from: id(2), message: RoutingMessage::Repeat });
    assert_eq!(announced_names(&table, 2), [(application(), 4)]);
    assert_eq!(announced_names(&one.up(3), 3), [(application(), 4)]);
    one.handle(RouterInput::LinkDown { neighbour: id(3) });
    assert_eq!(announced_names(&one.up(3), 3), [(application(), 4)]);
}

#[test]
fn an_application_is_known_while_its_instance_starts_and_another_instance_is_preferred() {
    let mut one = One::new(|_| {});
    one.up(1);
    one.up(2);
    let instance = || InstanceId::number(1);
    let starting = || RouterInput::Starting { application: application(), instance: instance() };
    let sent = one.handle(starting());
    let metrics = |sent: &[(NodeId, RoutingMessage)]| -> Vec<Option<RouteLabel>> {
        let updates = sent.iter().filter_map(|(_, message)| match message {
            RoutingMessage::Update(update) => Some(&update.routes),
            _ => None,
        });
        updates.flatten().map(|route| route.label).collect()
    };
    assert_eq!(metrics(&sent), [Some(label(1, 1 << 30)); 2], "both neighbours know it, as a last resort");
    let sent = one.handle(RouterInput::Named { application: application(), names: names(1) });
    assert_eq!(announced_names(&sent, 1), [(application(), 1)]);
    let hosted = || RouterInput::Hosted { application: application(), instance: instance(), epoch: Epoch(1) };
    assert_eq!(metrics(&one.handle(hosted())), [Some(label(1, 0)); 2]);
    // Its copy fails. A neighbour with another instance is used, once its label is feasible.
    assert_eq!(metrics(&one.handle(starting())), [Some(label(2, 1 << 30)); 2]);
    assert_eq!(one.router.next_hop(&application()), None, "here");
    one.hear(2, 1, label(3, 5));
    assert_eq!(one.router.next_hop(&application()), Some(&id(2)));
    one.handle(hosted());
    assert_eq!(one.router.next_hop(&application()), None, "here again");
}

#[test]
fn names_of_hosted_applications_are_announced_and_those_of_others_are_bounded() {
    let mut one = One::new(|config| {
        config.limits.names_max = 2;
        config.limits.names_per_update_max = 1;
    });
    one.up(1);
    one.up(2);
    let routes = (1..5).map(|name| RouteAnnouncement {
        application: ApplicationId::number(name),
        label: Some(label(1, 5)),
        names: Some(names(1)),
    });
    let message = RoutingMessage::Update(Update { number: 1, is_table: false, routes: routes.collect() });
    let sent = one.handle(RouterInput::Received { from: id(1), message });
    assert_eq!(announced_names(&sent, 2).len(), 2);
    assert_eq!((one.router.applications().count(), one.router.refused()), (4, 2), "the routes are known all the same");
    let many = sent.iter().filter(|(to, _)| *to == id(2)).count();
    assert_eq!(many, 3, "a message ends with its last names");
    assert!(!one.router.wants_names(&ApplicationId::number(9), &names(1)));
    one.handle(RouterInput::Hosted { application: application(), instance: InstanceId::number(1), epoch: Epoch(1) });
    let sent = one.handle(RouterInput::Named { application: application(), names: names(1) });
    assert_eq!(announced_names(&sent, 2), [(application(), 1)], "what is here has room");
    assert_eq!(announced_names(&sent, 1), [(application(), 1)]);
}
