//! The figures of a run as a table.

use std::fmt::Write;

use mario_domain::AgentOperation;
use mario_scenario::{Scenario, Search};
use mario_simulator::{GroupFigures, RegretFigures, Summary, ValueComparison};

use crate::console::{column_width, many};

/// The result of a run as a table: one column for all applications, and one for each kind.
pub(super) fn text(summary: &Summary, scenario: &Scenario) -> String {
    let figures = &summary.figures;
    let mut text = format!(
        "{}, seed {}: {} until time {}, on {} with {}\npolicy: {}\n\n",
        summary.scenario,
        summary.seed,
        many(scenario.applications.len(), "application"),
        summary.duration,
        many(summary.nodes, "node"),
        many(summary.users, "user"),
        summary.policies.join(", ")
    );
    let widths: Vec<usize> = figures.groups.iter().map(|group| column_width([&group.group]).max(10) + 2).collect();
    if summary.management != "agents" {
        let end = text.len() - 1;
        text.insert_str(end, &format!("management: {}\n", summary.management));
    }
    let row = |text: &mut String, name: &str, value: &dyn Fn(&GroupFigures) -> String| {
        let _ = write!(text, "{name:<34}");
        for (group, width) in figures.groups.iter().zip(&widths) {
            let _ = write!(text, "{:>width$}", value(group));
        }
        text.push('\n');
    };
    row(&mut text, "", &|group| group.group.clone());
    row(&mut text, "movements of users", &|group| group.movements.to_string());
    row(&mut text, "replicate", &|group| group.operations.replicate.to_string());
    row(&mut text, "migrate", &|group| group.operations.migrate.to_string());
    row(&mut text, "undeploy", &|group| group.operations.undeploy.to_string());
    if figures.groups.iter().any(|group| group.operations.deploy > 0) {
        row(&mut text, "deploy, by operators", &|group| group.operations.deploy.to_string());
    }
    let mut row_of_some = |name: &str, count: &dyn Fn(&GroupFigures) -> u64| {
        if figures.groups.iter().any(|group| count(group) > 0) {
            row(&mut text, name, &|group| count(group).to_string());
        }
    };
    for operation in AgentOperation::ALL {
        row_of_some(operation.as_str(), &|group| group.further.accepted(operation));
    }
    row_of_some("woken, by client requests", &|group| group.further.woken);
    row_of_some("not woken: inhibited", &|group| group.further.not_woken);
    row_of_some("evicted, by owners of nodes", &|group| group.further.evicted);
    row_of_some("shrunk, by owners of nodes", &|group| group.further.shrunk);
    row(&mut text, "inhibited", &|group| group.operations.inhibited.to_string());
    let ratio = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.3}"));
    row(&mut text, "replicate per movement", &|group| ratio(group.per_movement.map(|ratios| ratios.replicate)));
    row(&mut text, "migrate per movement", &|group| ratio(group.per_movement.map(|ratios| ratios.migrate)));
    row(&mut text, "undeploy per movement", &|group| ratio(group.per_movement.map(|ratios| ratios.undeploy)));
    row(&mut text, "instances, mean", &|group| format!("{:.1}", group.instances.mean));
    row(&mut text, "instances, at most", &|group| group.instances.max.to_string());
    row(&mut text, "response time, mean", &|group| ratio(group.response));
    row(&mut text, "service usage, mean", &|group| ratio(group.service_usage));
    row(&mut text, "r of movements and operations", &|group| ratio(group.pearson_r));
    row(&mut text, "the same with the start", &|group| ratio(group.pearson_r_with_start));
    let steady = |group: &GroupFigures| group.cycles_to_steady_state;
    row(&mut text, "cycles to steady state, mean", &|group| ratio(steady(group).map(|spread| spread.mean)));
    row(&mut text, "cycles to steady state, at most", &|group| {
        steady(group).map_or_else(|| "n/a".to_owned(), |spread| spread.max.to_string())
    });
    if let Some(regret) = &figures.regret {
        text += &regret_text(regret);
    }
    let unanswered = match summary.unanswered() {
        0 => String::new(),
        unanswered => format!(", {unanswered} unanswered at the end"),
    };
    let _ = writeln!(
        text,
        "\n{} client requests sent, {} served, {} lost{unanswered}, over {} hops; {} evaluations",
        summary.emitted, figures.served, figures.lost, summary.hops, figures.evaluations
    );
    text
}

/// A table of how far the placement was from the best one, or from the best known one if the search was greedy.
fn regret_text(regret: &RegretFigures) -> String {
    let best = match regret.against {
        Search::Exact => "the best placement",
        Search::Greedy => "the best placement known",
    };
    let mut text =
        format!("\n{:<34}{:>12}{:>12}{:>12}{:>12}\n", format!("against {best}"), "actual", "best", "regret", "at most");
    let mut row = |name: &str, versus: &ValueComparison, at_most: Option<i64>| {
        let at_most = at_most.map(|most| most.to_string()).unwrap_or_default();
        let (actual, best, regret) = (versus.actual, versus.best, versus.regret);
        let _ = writeln!(text, "{name:<34}{actual:>12.3}{best:>12.3}{regret:>12.3}{at_most:>12}");
    };
    row("satisfied users, mean", &regret.satisfied, Some(regret.satisfied_regret_max));
    row("latency of a user, mean", &regret.latency, None);
    row("instances, mean", &regret.instances, None);
    let _ = writeln!(
        text,
        "optimal in {} of {} activations, with {:.1} users on average",
        regret.optimal, regret.activations, regret.users
    );
    text
}
