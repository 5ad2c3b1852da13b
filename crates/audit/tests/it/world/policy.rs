//! The policy of agents, and a reimplementation of it in Rust.

use serde_json::{Value, json};

/// A policy that is simple enough for [`solutions`] to reimplement.
pub const POLICY: &str = "
operation(undeploy, I, self) :- \\+ requests(I, _, _, _).
operation(migrate, I, M) :- \\+ inhibited(migrate, I, _), requests(I, M, R, _), M \\== self, R > 20.
operation(replicate, I, M) :- requests(I, M, R, _), R > 9, \\+ inhibited(replicate, I, M).
operation(migrate, I, nowhere) :- requests(I, _, 5, _).
operation(replicate, I, n0) :- requests(I, _, 7, _).
operation(fly, I, self) :- requests(I, _, 8, _).
operation(replicate, I, M) :- requests(I, M, 6, _), fact(M, region, eu).
operation(migrate, I, M) :- requests(I, _, 4, _), node(_, _, Neighbours), member(M, Neighbours).
operation(migrate, I, self) :- requests(I, _, 9, _), X is foo + 1, X > 1.
";

/// The name of a target as a policy writes it.
pub fn target_name(target: &Value) -> String {
    match target {
        Value::Number(place) => format!("n{place}"),
        Value::String(own) => own.clone(),
        unknown => unknown["unknown"].as_str().expect("a name").to_owned(),
    }
}

/// The solutions of [`POLICY`], clause by clause, and the error if its evaluation ends with one.
pub fn solutions(facts: &Value, inhibited: &[Value], own: usize, near: &[usize]) -> (Vec<Value>, Option<&'static str>) {
    let facts: Vec<(Value, u64)> = facts
        .as_array()
        .expect("a list")
        .iter()
        .map(|fact| (fact[0].clone(), fact[1].as_u64().expect("a rate")))
        .collect();
    let mut solutions = Vec::new();
    if facts.is_empty() {
        solutions.push(json!(["undeploy", "self", 0]));
    }
    for (source, rate) in &facts {
        if !inhibited.iter().any(|proposal| proposal[0] == "migrate") && *source != "self" && *rate > 20 {
            solutions.push(json!(["migrate", source, 1]));
        }
    }
    for (source, rate) in &facts {
        if *rate > 9 && !inhibited.contains(&json!(["replicate", source])) {
            solutions.push(json!(["replicate", source, 2]));
        }
    }
    let with = |wanted: u64| facts.iter().filter(move |(_, rate)| *rate == wanted);
    solutions.extend(with(5).map(|_| json!(["migrate", {"unknown": "nowhere"}, 3])));
    solutions.extend(with(7).map(|_| json!(["replicate", 0, 4])));
    solutions.extend(with(8).map(|_| json!(["invalid", "there is no such operation", 5])));
    // Facts about node 1 are known there and on nodes that reach it as a neighbour.
    let knows = own == 1 || near.contains(&1);
    solutions.extend(with(6).filter(|(source, _)| knows && *source == 1).map(|_| json!(["replicate", 1, 6])));
    solutions.extend(with(4).flat_map(|_| near.iter().map(|node| json!(["migrate", node, 7]))));
    let ending = with(9).next().map(|_| "the policy raised an exception");
    (solutions, ending)
}
