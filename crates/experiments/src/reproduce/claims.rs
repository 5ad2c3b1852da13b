//! Checks the paper's claims about the behaviour of the system.
//!
//! Each claim restates a statement of the paper's evaluation as a condition on figures.

use serde::Serialize;

use super::Experiment;
use crate::figures::{GroupFigures, TraceFigures};

/// A claim of the paper, checked in one run of each experiment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Claim {
    /// The text of the claim.
    pub claim: String,
    /// Whether the claim is true in these runs.
    pub holds: bool,
    /// The figures by which the claim was judged, as text.
    pub numbers: String,
}

/// An experiment, and the figures of a run of it.
type Run<'a> = (&'a Experiment, &'a TraceFigures);

/// Checks the paper's claims in one run of each experiment. A claim about particular experiments is omitted if one of
/// them is missing.
pub fn claims(runs: &[Run<'_>]) -> Vec<Claim> {
    let judge = Judge { runs };
    let mut claims = Vec::new();
    judge.places(&mut claims);
    judge.inhibitions(&mut claims);
    judge.memory(&mut claims);
    judge.speed(&mut claims);
    judge.instances(&mut claims);
    judge.responses(&mut claims);
    judge.capacity(&mut claims);
    claims
}

struct Judge<'a> {
    runs: &'a [Run<'a>],
}

fn claim(claims: &mut Vec<Claim>, text: &str, holds: bool, numbers: impl Into<String>) {
    claims.push(Claim { claim: text.to_owned(), holds, numbers: numbers.into() });
}

impl<'a> Judge<'a> {
    fn run(&self, name: &str) -> Option<&'a TraceFigures> {
        self.runs.iter().find(|(experiment, _)| experiment.name == name).map(|(_, figures)| *figures)
    }

    fn group(&self, name: &str, group: &str) -> Option<&'a GroupFigures> {
        self.run(name)?.figures.group(group)
    }

    /// Lists a number of each experiment, as text.
    fn each(&self, number: impl Fn(&TraceFigures) -> String) -> String {
        let parts: Vec<String> = self
            .runs
            .iter()
            .map(|(experiment, figures)| format!("{}: {}", experiment.short_title(), number(figures)))
            .collect();
        parts.join(", ")
    }

    fn places(&self, claims: &mut Vec<Claim>) {
        let rows = [
            ("policy-1", "LS", false),
            ("policy-2", "WS", false),
            ("policy-1", "WS", true),
            ("policy-2", "LS", true),
            ("policy-3", "WS", true),
            ("policy-3", "LS", true),
        ];
        for (name, kind, leaves) in rows {
            let Some(run) = self.run(name) else { continue };
            let of_kind: Vec<_> = run.placement.applications.iter().filter(|one| one.kind == kind).collect();
            let gone: Vec<&str> =
                of_kind.iter().filter(|one| one.left_the_top).map(|one| one.application.as_str()).collect();
            let what = if leaves { "leave the cloud" } else { "stay in the cloud" };
            let holds = if leaves { gone.len() == of_kind.len() } else { gone.is_empty() };
            let text = format!("under {}, {kind} applications {what}", name.replace('-', " "));
            let numbers = match gone.as_slice() {
                [] => "none of them leaves it".to_owned(),
                gone => format!("{} of {} leave it: {}", gone.len(), of_kind.len(), gone.join(", ")),
            };
            claim(claims, &text, holds, numbers);
        }
    }

    fn inhibitions(&self, claims: &mut Vec<Claim>) {
        let others = |run: &TraceFigures| -> u64 {
            let rules = run.placement.inhibited_by_rule.iter();
            rules.filter(|(rule, _)| **rule != "capacity").map(|(_, count)| count).sum()
        };
        let all: u64 = self.runs.iter().flat_map(|(_, run)| run.placement.inhibited_by_rule.values()).sum();
        let other: u64 = self.runs.iter().map(|(_, run)| others(run)).sum();
        let text = "operations are inhibited only where hardware is short";
        claim(claims, text, other == 0, format!("{other} of {all} for another reason"));
        if let Some(group) = self.group("policy-2", "all") {
            let count = group.operations.inhibited;
            claim(claims, "under policy 2, nothing is inhibited", count == 0, format!("{count} inhibited"));
        }
        for name in ["policy-1", "policy-3"] {
            if let (Some(ws), Some(ls)) = (self.group(name, "WS"), self.group(name, "LS")) {
                let (ws, ls) = (ws.operations.inhibited, ls.operations.inhibited);
                let text = format!("under {}, WS is inhibited more often than LS", name.replace('-', " "));
                claim(claims, &text, ws > ls, format!("WS {ws}, LS {ls}"));
            }
        }
    }

    fn memory(&self, claims: &mut Vec<Claim>) {
        let count = |name: &str| self.group(name, "all").map(|group| group.operations.inhibited);
        let Some(without) = count("policy-3") else { return };
        let change = |with: u64| (with as f64 - without as f64) / without as f64 * 100.0;
        let numbers = |with: u64| {
            if without == 0 {
                format!("{with}, and none without")
            } else {
                format!("{with} against {without}, {:+.0} %", change(with))
            }
        };
        if let Some(with) = count("policy-4-memory-1") {
            let text = "with a memory of 1 cycle, less is inhibited than under policy 3 (published: -23 %)";
            claim(claims, text, with < without, numbers(with));
        }
        if let Some(with) = count("policy-4-memory-10") {
            let text = "with a memory of 10 cycles, more than 80 % less is inhibited than under policy 3";
            claim(claims, text, without > 0 && change(with) < -80.0, numbers(with));
        }
        if let Some(group) = self.group("policy-4-memory-10", "LS") {
            let with = group.operations.inhibited;
            let text = "with a memory of 10 cycles, LS is hardly inhibited (published: 16 times)";
            claim(claims, text, with <= 16, format!("{with} inhibited"));
        }
    }

    fn speed(&self, claims: &mut Vec<Claim>) {
        let cycles = |run: &TraceFigures| run.figures.groups[0].cycles_to_steady_state;
        let means = self.runs.iter().filter_map(|(_, run)| cycles(run)).map(|cycles| cycles.mean);
        let (least, greatest) =
            means.fold((f64::INFINITY, 0.0_f64), |(low, high), mean| (low.min(mean), high.max(mean)));
        let text = "an allocation is steady after 1 to 2 cycles on average";
        let shown = |run: &TraceFigures| cycles(run).map_or("n/a".to_owned(), |cycles| format!("{:.2}", cycles.mean));
        claim(claims, text, least >= 1.0 && greatest <= 2.0, self.each(shown));
        let worst = self.runs.iter().filter_map(|(_, run)| cycles(run)).map(|cycles| cycles.max).max().unwrap_or(0);
        let shown = |run: &TraceFigures| cycles(run).map_or("n/a".to_owned(), |cycles| cycles.max.to_string());
        claim(claims, "an allocation is steady after 6 cycles at the latest", worst <= 6, self.each(shown));
        let most = |run: &TraceFigures| {
            let ratios = run.figures.groups[0].per_movement;
            ratios.map_or(0.0, |ratios| ratios.replicate.max(ratios.migrate).max(ratios.undeploy))
        };
        let holds = self.runs.iter().all(|(_, run)| most(run) <= 1.0);
        let text = "a movement causes at most one operation of each kind on average";
        claim(claims, text, holds, self.each(|run| format!("{:.2}", most(run))));
    }

    fn instances(&self, claims: &mut Vec<Claim>) {
        if let Some(group) = self.group("policy-1", "WS") {
            let mean = group.instances.mean;
            let text = "under policy 1 there are 20 to 25 WS instances";
            claim(claims, text, (19.5..25.5).contains(&mean), format!("{mean:.1} on average"));
        }
        if let Some(group) = self.group("policy-1", "LS") {
            let mean = group.instances.mean;
            let text = "under policy 1 there are about 7 LS instances";
            claim(claims, text, (6.0..=8.0).contains(&mean), format!("{mean:.1} on average"));
        }
        if let Some(group) = self.group("policy-2", "LS") {
            let max = group.instances.max;
            claim(claims, "under policy 2 there are up to 21 LS instances", max <= 21, format!("{max} at most"));
        }
        if let (Some(ws), Some(ls)) = (self.group("policy-3", "WS"), self.group("policy-3", "LS")) {
            let (ws, ls) = (ws.instances.max, ls.instances.max);
            let text = "under policy 3 both kinds grow to 20 instances and more";
            claim(claims, text, ws >= 20 && ls >= 20, format!("WS {ws}, LS {ls} at most"));
        }
    }

    fn responses(&self, claims: &mut Vec<Claim>) {
        let response = |name: &str, kind: &str| self.group(name, kind).and_then(|group| group.response);
        for (kind, better, worse) in [("WS", "policy-1", "policy-2"), ("LS", "policy-2", "policy-1")] {
            if let (Some(good), Some(bad)) = (response(better, kind), response(worse, kind)) {
                let (first, second) = (better.replace('-', " "), worse.replace('-', " "));
                let text = format!("{first} answers {kind} requests faster than {second}");
                claim(claims, &text, good < bad, format!("{good:.3} against {bad:.3} ms"));
            }
        }
        for (name, what) in [
            ("policy-4-memory-1", "policy 4 with a memory of 1 cycle"),
            ("policy-4-memory-10", "policy 4 with a memory of 10 cycles"),
        ] {
            let pairs = ["WS", "LS"].map(|kind| (response(name, kind), response("policy-3", kind)));
            if let [(Some(ws), Some(ws_before)), (Some(ls), Some(ls_before))] = pairs {
                let text = format!("{what} answers both kinds faster than policy 3");
                let numbers = format!("WS {ws:.3} against {ws_before:.3}, LS {ls:.3} against {ls_before:.3} ms");
                claim(claims, &text, ws < ws_before && ls < ls_before, numbers);
            }
        }
    }

    fn capacity(&self, claims: &mut Vec<Claim>) {
        let overloads: u64 = self.runs.iter().map(|(_, run)| run.placement.overloads).sum();
        claim(claims, "no node ever carries more than it can", overloads == 0, format!("{overloads} moments"));
    }
}
