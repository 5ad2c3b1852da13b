//! Recomputes the decisions of agents from the facts in the trace, and explains them with the same texts as `mario
//! policy explain`.
//!
//! Texts, lines and parts that explanations share are stored once.

use std::num::NonZero;
use std::thread;

use mario_domain::Capacity;
use mario_policy::{Explainer, Line, LineRole, PolicySettings};
use mario_prolog::{Allowance, Engine};
use mario_trace::reader::FactsAndDecision;
use mario_trace::{InstanceRef, State};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::recorded::{Knowledge, Situation, VisibleHistory, resolver};
use mario_experiments::runs::{Progress, in_parallel};

/// The inferences for explaining the decisions of one trace, unless the user sets another number: a few seconds.
pub const EXPLAINING_INFERENCES_DEFAULT: u64 = 150_000_000;
/// The maximum number of explained cases. An explanation takes half a kilobyte of the page.
pub(crate) const EXPLAINED_MAX: usize = 3_000;
/// The least budget of one explanation, in inferences. With less, most explanations would be cut short, so with a small
/// budget fewer cases are explained.
const SHARE_MIN: u64 = 10_000;
/// The number of cases that a thread explains at a time.
const CHUNK: usize = 64;
/// The inferences for loading the policies of a trace.
const LOADING_INFERENCES: u64 = 100_000_000;

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
    /// The index of the agent's instance in [`State::instances`].
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
    /// For each of the first cases, the indices of the parts of its explanation. Empty if its policy can no longer be
    /// loaded; `None` if the budget was used up before.
    all: Vec<Option<Vec<u32>>>,
    #[serde(skip)]
    pub(crate) extent: Explained,
}

/// How many decisions of a run are explained. Decisions of an agent from the same knowledge count once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Explained {
    /// All different decisions.
    pub all: usize,
    /// Those that are explained, at least in part.
    pub explained: usize,
    /// Those of which a part of the explanation was cut short by the budget.
    pub cut: usize,
    /// The limit on explanations in a page.
    pub limit: usize,
}

/// Explains the first cases, at most [`EXPLAINED_MAX`], in order, with at most about this many inferences. Each case has
/// a fixed share of the budget, so the result does not depend on the number of threads.
pub(crate) fn explain(
    state: &State,
    cases: &[Case],
    inferences: u64,
    progress: &mut dyn FnMut(usize, usize),
) -> Explanations {
    let shown = cases.len().min(EXPLAINED_MAX);
    let affordable = shown.min(usize::try_from(inferences / SHARE_MIN).unwrap_or(usize::MAX));
    let share = inferences.checked_div(affordable as u64).unwrap_or(0);
    let chunks: Vec<&[Case]> = cases[..affordable].chunks(CHUNK).collect();
    let jobs = thread::available_parallelism().map_or(1, NonZero::get);
    let loading = Allowance::new(LOADING_INFERENCES);
    let mut table = ExplanationTable::default();
    table.text("");
    table.explanations.extent = Explained { all: cases.len(), limit: EXPLAINED_MAX, ..Explained::default() };
    in_parallel(
        jobs,
        &chunks,
        |chunk, _| explain_chunk(state, chunk, share, &loading),
        |news| {
            if let Progress::Done(_, explained) = news {
                explained.iter().for_each(|case| table.add(case));
                progress(table.explanations.all.len(), affordable);
            }
            true
        },
    );
    table.explanations.all.resize(shown, None);
    table.explanations
}

/// The explanation of a case, as lines in parts; `None` if the budget was used up before it.
struct ExplainedCase {
    parts: Option<Vec<Vec<Line>>>,
    is_cut: bool,
}

fn explain_chunk(state: &State, cases: &[Case], share: u64, loading: &Allowance) -> Vec<ExplainedCase> {
    let engine = Engine::new();
    let header = state.header();
    let mut knowledge = Knowledge::new(header, &engine);
    let mut explainers: FxHashMap<u32, Option<Explainer>> = FxHashMap::default();
    // What a case does not need is left to the next ones of the chunk. A decision itself may take more than its share.
    let (mut granted, mut used) = (0, 0);
    let mut explained = Vec::with_capacity(cases.len());
    for case in cases {
        granted += share;
        if used >= granted {
            explained.push(ExplainedCase { parts: None, is_cut: false });
            continue;
        }
        let placed = state.instance(InstanceRef(case.instance));
        let explainer = explainers.entry(case.policy).or_insert_with(|| {
            let policy = &header.policies[case.policy as usize];
            let (name, text) = policy.files.first()?;
            let mut settings = PolicySettings::default();
            settings.budget.inferences = header.decision_budget.unwrap_or(settings.budget.inferences);
            let explainer = Explainer::load_within(&engine, name, text, Some(resolver(policy)), settings, loading);
            let mut explainer = explainer.ok()?;
            explainer.set_allowance(None);
            Some(explainer)
        });
        let situation = Situation {
            application: placed.application,
            instance: &placed.id,
            node: case.node,
            free: case.free,
            flavour: case.flavour,
            is_asleep: case.is_asleep,
            seen: &case.seen,
            visible_history: &case.visible_history,
        };
        explained.push(match explainer {
            None => ExplainedCase { parts: Some(Vec::new()), is_cut: false },
            Some(explainer) => {
                let (facts, instance) =
                    knowledge.of(header, &situation, |_, neighbour| !case.unreached.contains(&neighbour));
                let (explanation, inferences) = explainer.explain_within(facts, instance, granted - used);
                used += inferences;
                let error = explanation.error_line().map(|line| vec![line]);
                let parts = explanation.parts().into_iter().chain(error).collect();
                ExplainedCase { parts: Some(parts), is_cut: explanation.is_cut() }
            }
        });
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
    fn add(&mut self, case: &ExplainedCase) {
        self.explanations.extent.explained += usize::from(case.parts.is_some());
        self.explanations.extent.cut += usize::from(case.is_cut);
        let places = case.parts.as_ref().map(|parts| {
            let places = parts.iter().map(|lines| {
                let lines: Vec<u32> = lines.iter().map(|line| self.line(line)).collect();
                place_of(lines, &mut self.part_places, &mut self.explanations.parts)
            });
            places.collect()
        });
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
        let case = |parts: Option<Vec<Vec<Line>>>| ExplainedCase { parts, is_cut: false };
        table.add(&case(Some(vec![common.clone(), vec![line(0, "idle(s1)", None), line(1, "a", None)]])));
        table.add(&case(Some(vec![common])));
        table.add(&case(None));
        let explanations = table.explanations;
        assert_eq!(explanations.texts, ["", "idle(s1)", "fails", "library.pl:20", "a"]);
        assert_eq!(explanations.lines, [vec![1, 4, 1, 2, 0, 3], vec![0, 4, 1, 2], vec![1, 4, 4, 2]]);
        assert_eq!(explanations.parts, [vec![0], vec![1, 2]]);
        assert_eq!(explanations.all, [Some(vec![0, 1]), Some(vec![0]), None]);
        assert_eq!(explanations.extent.explained, 2);
    }
}
