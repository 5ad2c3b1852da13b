//! Explains the last decision of an agent by evaluating its policy again, outside of the thread that owns the node.

use std::sync::Arc;

use mario_colony::Knowledge;
use mario_policy::{Explainer, Line, LineRole, PolicySettings};
use mario_prolog::{Allowance, Engine};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::refusal;
use crate::BUDGET;
use crate::daemon::{Answer, Refusal};

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
    pub(super) async fn explain(&self, knowledge: Arc<Knowledge>) -> Answer {
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

fn explained(engine: &Engine, knowledge: &Knowledge) -> Answer {
    let text = &knowledge.descriptor.policy;
    let Some((name, main)) = text.main() else { return Err(refusal(422, "its policy has no text")) };
    let settings = PolicySettings { memory: text.memory, budget: BUDGET };
    let allowance = Allowance::new(INFERENCES_MAX);
    let explainer = Explainer::load_within(engine, name, main, Some(text.resolver()), settings, &allowance);
    let mut explainer = explainer.map_err(|error| refusal(422, format!("its policy cannot be explained: {error}")))?;
    let explained = explainer.explain(&knowledge.facts, knowledge.instance);
    let parts: Vec<Vec<Value>> = explained.parts().iter().map(|lines| lines.iter().map(line_json).collect()).collect();
    Ok(json!({
        "explanation": explained,
        "parts": parts,
        "error": explained.error,
        "is_complete": !allowance.is_spent(),
    }))
}

/// A line of an explanation as JSON.
fn line_json(line: &Line) -> Value {
    let role = match line.role {
        LineRole::Proposed => "proposed",
        LineRole::Missed => "missed",
        LineRole::Code => "code",
        LineRole::Met => "met",
        LineRole::Failed => "failed",
        LineRole::Fact => "fact",
        LineRole::Change => "change",
        LineRole::Remark => "remark",
    };
    json!({
        "depth": line.depth, "look": role, "before": line.before, "text": line.text, "after": line.after, "place": line.place,
    })
}
