//! Recomputes the decisions of agents from the facts in the trace, and explains them with the same texts as `mario
//! policy explain`.
//!
//! Texts, lines and parts that explanations share are stored once.

use std::num::NonZero;
use std::thread;

use mario_audit::reader::{FactsAndDecision, Header};
use mario_audit::{Knowledge, Situation, VisibleHistory, resolver};
use mario_domain::Capacity;
use mario_policy::{Explainer, Line, LineRole, PolicySettings};
use mario_prolog::{Allowance, Engine};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::placement::Placement;
use crate::runs::{Progress, in_parallel};

/// The maximum number of explained cases. An explanation takes a few milliseconds, and half a kilobyte of the page.
pub(crate) const EXPLAINED_MAX: usize = 3_000;
/// The number of cases that a thread explains at a time.
const CHUNK: usize = 64;

/// The kinds of lines, indexed by their codes in the page.
pub(crate) const LINE_ROLES: [LineRole; 8] = [
    LineRole::Proposed,
    LineRole::Missed,
    LineRole::Code,
    LineRole::Met,
    LineRole::Failed,
    LineRole::Fact,
    LineRole::Change,
    LineRole::Remark,
];

/// The knowledge of an agent when it decided.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The index of the agent's instance in [`Placement`].
    pub(crate) instance: u32,
    pub(crate) node: u32,
    pub(crate) free: Capacity,
    /// The index of its instance's flavour.
    pub(crate) flavour: u32,
    /// Whether its instance was asleep.
    pub(crate) is_asleep: bool,
    /// The index of its policy.
    pub(crate) policy: u32,
    pub(crate) seen: FactsAndDecision,
    /// Its visible history.
    pub(crate) visible_history: VisibleHistory,
    /// The unreachable neighbours of its node.
    pub(crate) unreached: Vec<u32>,
}

/// Explanations as stored in the page.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Explanations {
    /// All texts, without duplicates. The first is empty.
    texts: Vec<String>,
    /// For each line: its depth, its kind, and the indices of four texts: its main text, what precedes and what follows
    /// that on the line, and the location of its clause. Trailing zeros are omitted.
    lines: Vec<Vec<u32>>,
    /// For each part of an explanation, the indices of its lines.
    parts: Vec<Vec<u32>>,
    /// For each explanation, the indices of its parts; empty if the policy can no longer be loaded.
    all: Vec<Vec<u32>>,
}

/// Explains the first cases, at most [`EXPLAINED_MAX`], in order. Ends earlier if the allowance is exhausted.
pub(crate) fn explain(
    header: &Header,
    placement: &Placement,
    cases: &[Case],
    allowance: &Allowance,
    progress: &mut dyn FnMut(usize, usize),
) -> Explanations {
    let chunks: Vec<&[Case]> = cases[..cases.len().min(EXPLAINED_MAX)].chunks(CHUNK).collect();
    let jobs = thread::available_parallelism().map_or(1, NonZero::get);
    let mut table = ExplanationTable::default();
    table.text("");
    let mut is_spent = false;
    in_parallel(
        jobs,
        &chunks,
        |chunk, _| explain_chunk(header, placement, chunk, allowance),
        |news| {
            // A case and its explanation have the same index, so chunks after an incomplete one are dropped.
            if let Progress::Done(_, explained) = news
                && !is_spent
            {
                explained.iter().for_each(|parts| table.add(parts));
                progress(table.explanations.all.len(), cases.len().min(EXPLAINED_MAX));
                is_spent = allowance.is_spent();
            }
            !is_spent
        },
    );
    table.explanations
}

fn explain_chunk(header: &Header, placement: &Placement, cases: &[Case], allowance: &Allowance) -> Vec<Vec<Vec<Line>>> {
    let engine = Engine::new();
    let mut knowledge = Knowledge::new(header, &engine);
    let mut explainers: FxHashMap<u32, Option<Explainer>> = FxHashMap::default();
    let mut explained = Vec::with_capacity(cases.len());
    for case in cases {
        // When the allowance is exhausted, further explanations would be incomplete.
        if allowance.is_spent() {
            return explained;
        }
        let placed = placement.get(case.instance);
        let explainer = explainers.entry(case.policy).or_insert_with(|| {
            let policy = &header.policies[case.policy as usize];
            let (name, text) = policy.files.first()?;
            let mut settings = PolicySettings::default();
            settings.budget.inferences = header.decision_budget.unwrap_or(settings.budget.inferences);
            Explainer::load_within(&engine, name, text, Some(resolver(policy)), settings, allowance).ok()
        });
        let situation = Situation {
            policy: case.policy,
            application: placed.application,
            instance: &placed.id,
            node: case.node,
            free: case.free,
            flavour: case.flavour,
            is_asleep: case.is_asleep,
            seen: &case.seen,
            visible_history: &case.visible_history,
        };
        let parts = explainer.as_mut().map(|explainer| {
            let (facts, instance) =
                knowledge.of(header, &situation, |_, neighbour| !case.unreached.contains(&neighbour));
            let explanation = explainer.explain(facts, instance);
            let error = explanation.error_line().map(|line| vec![line]);
            explanation.parts().into_iter().chain(error).collect()
        });
        explained.push(parts.unwrap_or_default());
    }
    explained
}

/// Collects explanations without duplicate texts, lines and parts.
#[derive(Default)]
struct ExplanationTable {
    explanations: Explanations,
    text_places: FxHashMap<String, u32>,
    line_places: FxHashMap<Vec<u32>, u32>,
    part_places: FxHashMap<Vec<u32>, u32>,
}

impl ExplanationTable {
    fn add(&mut self, parts: &[Vec<Line>]) {
        let places = parts.iter().map(|lines| {
            let lines: Vec<u32> = lines.iter().map(|line| self.line(line)).collect();
            place_of(lines, &mut self.part_places, &mut self.explanations.parts)
        });
        let places = places.collect();
        self.explanations.all.push(places);
    }

    fn line(&mut self, line: &Line) -> u32 {
        let role = LINE_ROLES.iter().position(|role| *role == line.role).unwrap_or(LINE_ROLES.len() - 1);
        let place = line.place.clone().unwrap_or_default();
        let texts = [&line.text, &line.before, &line.after, &place].map(|text| self.text(text));
        let mut numbers = vec![line.depth as u32, role as u32];
        numbers.extend(texts);
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        place_of(numbers, &mut self.line_places, &mut self.explanations.lines)
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(place) = self.text_places.get(text) {
            return *place;
        }
        place_of(text.to_owned(), &mut self.text_places, &mut self.explanations.texts)
    }
}

/// Returns the index of an item in a table without duplicates, and adds the item if it is new.
fn place_of<T: Clone + Eq + std::hash::Hash>(item: T, places: &mut FxHashMap<T, u32>, table: &mut Vec<T>) -> u32 {
    let next = table.len() as u32;
    let place = *places.entry(item.clone()).or_insert(next);
    if place == next {
        table.push(item);
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(depth: usize, text: &str, place: Option<&str>) -> Line {
        let place = place.map(str::to_owned);
        Line {
            depth,
            role: LineRole::Failed,
            before: "fails".to_owned(),
            text: text.to_owned(),
            after: String::new(),
            place,
        }
    }

    #[test]
    fn common_parts_of_explanations_are_stored_once() {
        let mut table = ExplanationTable::default();
        table.text("");
        let common = vec![line(1, "idle(s1)", Some("library.pl:20"))];
        table.add(&[common.clone(), vec![line(0, "idle(s1)", None), line(1, "a", None)]]);
        table.add(&[common]);
        let explanations = table.explanations;
        assert_eq!(explanations.texts, ["", "idle(s1)", "fails", "library.pl:20", "a"]);
        assert_eq!(explanations.lines, [vec![1, 4, 1, 2, 0, 3], vec![0, 4, 1, 2], vec![1, 4, 4, 2]]);
        assert_eq!(explanations.parts, [vec![0], vec![1, 2]]);
        assert_eq!(explanations.all, [vec![0, 1], vec![0]]);
    }
}
