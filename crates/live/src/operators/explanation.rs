//! Explains the last decision of an agent by evaluating its policy again, outside of the thread that owns the node.

use std::sync::Arc;

use mario_colony::Knowledge;
use mario_policy::{ExplainedDecision, Explainer, Line, LineRole, PolicySettings};
use mario_prolog::{Allowance, Engine};
use tokio::sync::Semaphore;

use super::refusal;
use crate::BUDGET;
use crate::api::{self, ExplanationLine, Word};
use crate::daemon::Refusal;

/// An explanation that is serialised as the policy's crate describes it.
pub(super) type Explanation = api::Explanation<ExplainedDecision>;

/// The maximum number of concurrent explanations. Further ones are rejected.
const AT_ONCE: usize = 2;

/// The budget of one explanation, in inferences. An explanation evaluates the policy many times, with changed facts;
/// the budget covers all these evaluations.
const INFERENCES_MAX: u64 = 20_000_000;

/// Computes explanations. A clone is a handle to the same state.
#[derive(Clone)]
pub(super) struct Explanations {
    engine: Engine,
    places: Arc<Semaphore>,
}

impl Explanations {
    pub(super) fn new(engine: &Engine) -> Explanations {
        Explanations { engine: engine.clone(), places: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Explains why an agent with this knowledge decided as it did, and which changes of facts would change the
    /// decision.
    pub(super) async fn explain(&self, knowledge: Arc<Knowledge>) -> Result<Explanation, Refusal> {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return Err(Refusal {
                status: 503,
                message: "other decisions are being explained".to_owned(),
                hint: Some("repeat it in a moment".to_owned()),
            });
        };
        let engine = self.engine.clone();
        let explaining = tokio::task::spawn_blocking(move || {
            let answer = explained(&engine, &knowledge);
            drop(place);
            answer
        });
        explaining.await.unwrap_or_else(|_| Err(refusal(500, "the decision cannot be explained")))
    }
}

fn explained(engine: &Engine, knowledge: &Knowledge) -> Result<Explanation, Refusal> {
    let text = &knowledge.descriptor.policy;
    let Some((name, main)) = text.main() else { return Err(refusal(422, "its policy has no text")) };
    let settings = PolicySettings { memory: text.memory, budget: BUDGET };
    let allowance = Allowance::new(INFERENCES_MAX);
    let explainer = Explainer::load_within(engine, name, main, Some(text.resolver()), settings, &allowance);
    let mut explainer = explainer.map_err(|error| refusal(422, format!("its policy cannot be explained: {error}")))?;
    let explained = explainer.explain(&knowledge.facts, knowledge.instance);
    Ok(Explanation {
        parts: explained.parts().iter().map(|lines| lines.iter().map(line).collect()).collect(),
        error: explained.error.clone(),
        explanation: explained,
        is_complete: !allowance.is_spent(),
        is_anchor: false,
    })
}

fn line(line: &Line) -> ExplanationLine {
    let role = match line.role {
        LineRole::Proposed => api::LineRole::Proposed,
        LineRole::Missed => api::LineRole::Missed,
        LineRole::Code => api::LineRole::Code,
        LineRole::Met => api::LineRole::Met,
        LineRole::Failed => api::LineRole::Failed,
        LineRole::Fact => api::LineRole::Fact,
        LineRole::Change => api::LineRole::Change,
        LineRole::Remark => api::LineRole::Remark,
    };
    let Line { depth, before, text, after, place, .. } = line.clone();
    ExplanationLine { depth, look: Word::Known(role), before, text, after, place }
}
