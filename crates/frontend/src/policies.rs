//! Loads and checks the policies that a user names, and formats their decisions and errors.

use std::collections::BTreeSet;

use mario_check::{Bounds, CheckReport, check};
use mario_diagnostics::Source;
use mario_policy::{
    Acceptance, Constant, Decision, Ending, Explainer, FactsError, Finding, KnowledgeBase, Policy, PolicyError,
    PolicySettings, Solution, find_unknown_call, unknown_keys,
};
use mario_prolog::{Engine, Explanation, LoadError, Symbols};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::hints::{Diagnostic, Hint};
use crate::policy_texts::Text;
use crate::problems::diagnostics;

/// The hint for a text without operations.
pub const NO_OPERATION_HINT: &str = "a policy says `operation(Operation, Instance, Target) :- …`";

/// Compiles a policy. Its warnings are added to `warnings`, even if its text has errors, but not if it defines no
/// operation or halts.
pub fn load_policy(
    engine: &Engine,
    text: &Text,
    settings: PolicySettings,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Policy, Failure> {
    let (name, program) = (&text.source.name, &text.source.text);
    match Policy::load(engine, name, program, Some(text.resolver()), settings) {
        Ok(policy) => {
            warnings.extend(diagnostics(policy.warnings()));
            Ok(policy)
        }
        Err(error) => Err(policy_failure(&error, engine, text, warnings)),
    }
}

/// Compiles a policy so that its decisions can be explained. Its warnings are added to `warnings` as by
/// [`load_policy`].
pub fn load_explainer(
    engine: &Engine,
    text: &Text,
    settings: PolicySettings,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Explainer, Failure> {
    let (name, program) = (&text.source.name, &text.source.text);
    match Explainer::load(engine, name, program, Some(text.resolver()), settings) {
        Ok(explainer) => {
            warnings.extend(diagnostics(explainer.policy().warnings()));
            Ok(explainer)
        }
        Err(error) => Err(policy_failure(&error, engine, text, warnings)),
    }
}

fn policy_failure(error: &PolicyError, engine: &Engine, text: &Text, warnings: &mut Vec<Diagnostic>) -> Failure {
    match error {
        PolicyError::Load { problems, .. } => load_failure(problems, warnings),
        PolicyError::NoOperation { .. } => {
            let budget = PolicySettings::default().budget;
            let source = &text.source;
            let accepts = Acceptance::load(engine, &source.name, &source.text, Some(text.resolver()), budget).is_ok();
            let hint = if accepts { Hint::TestAcceptance } else { NO_OPERATION_HINT.into() };
            Failure::input(Diagnostic::from_error(error).hint(hint))
        }
        PolicyError::Halted { .. } => Failure::input(Diagnostic::from_error(error)),
    }
}

/// The failure for a text that could not be loaded. Its warnings are added to `warnings`.
pub fn load_failure(problems: &LoadError, warnings: &mut Vec<Diagnostic>) -> Failure {
    warnings.extend(diagnostics(&problems.warnings));
    Failure::Input(diagnostics(&problems.errors))
}

/// Returns the instance with the id `named` or, without it, the only instance in the facts. `name` is the name of the
/// facts in errors.
pub fn find_instance(facts: &KnowledgeBase, named: Option<&str>, name: &str) -> Result<Constant, Failure> {
    facts.find_instance(named).map_err(|error| {
        let diagnostic = match named {
            Some(id) => Diagnostic::error(format!("`{name}` has no instance `{id}`")),
            None => Diagnostic::error(format!("cannot tell for which instance of `{name}` to decide")),
        };
        let hint = if facts.instances().len() == 0 {
            "say which instance the agent manages: `serviceInstance(Instance, Application, Node).`".into()
        } else {
            Hint::NameInstance
        };
        Failure::input(diagnostic.caused_by(&error).hint(hint))
    })
}

/// The failure for facts with errors, each with its position; `what` names the kind of text.
pub fn facts_failure(error: &FactsError, source: &Source, what: &str) -> Failure {
    let diagnostics = error.problems.iter().map(|problem| {
        let mut diagnostic = Diagnostic::error(format!("cannot read the {what} `{}`", error.name)).at(
            source,
            problem.span.clone(),
            problem.message.clone(),
        );
        diagnostic.hints.extend(problem.hint.clone().map(Hint::Text));
        diagnostic
    });
    Failure::Input(diagnostics.collect())
}

/// The diagnostic for a policy whose search for solutions did not complete; `None` if it did. `text` is the text of the
/// policy, if it is available to locate the error.
pub fn undecided(ending: &Ending, policy_name: &str, text: Option<&Text>, engine: &Engine) -> Option<Diagnostic> {
    let mut diagnostic = Diagnostic::error(format!("policy `{policy_name}` did not decide"));
    match ending {
        Ending::Complete => return None,
        Ending::Exhausted(resource) => {
            diagnostic.causes.push(format!("it ran out of {resource}"));
            diagnostic = diagnostic.hint(Hint::RaiseBudget);
        }
        Ending::Exception(exception) => {
            diagnostic.causes.push(exception.message.clone());
            diagnostic = match text.and_then(|text| unknown_call(exception, text, engine)) {
                Some(place) => place(diagnostic),
                None => {
                    diagnostic.causes.push(exception.term.clone());
                    diagnostic.hints.extend(exception.hint.clone().map(Hint::Text));
                    diagnostic
                }
            };
        }
        Ending::Halted => diagnostic.causes.push("it called halt".to_owned()),
    }
    Some(diagnostic)
}

/// If the exception reports the call of an undefined predicate, returns a function that adds the position of the call
/// and a hint to a diagnostic. Searches the text for the call, because the exception has no position.
fn unknown_call(
    exception: &Explanation,
    text: &Text,
    engine: &Engine,
) -> Option<impl FnOnce(Diagnostic) -> Diagnostic> {
    let called = exception.term.strip_prefix("error(existence_error(procedure, ")?;
    let called = &called[..called.find("), ")?];
    let finding = find_unknown_call(engine, &text.source.name, &text.source.text, &|| text.resolver(), called)?;
    Some(move |diagnostic: Diagnostic| {
        let source = Source::new(finding.place.source_name(), finding.place.source_text());
        let mut diagnostic = diagnostic.at(&source, finding.place.span.clone(), "");
        diagnostic.hints.extend(finding.hint.map(Hint::Text));
        diagnostic
    })
}

/// The file and the line of the clause that produced a solution; `None` if [`Policy::clauses`] does not list the
/// clause.
pub fn place<'a>(solution: &Solution, policy: &'a Policy) -> Option<(&'a str, usize)> {
    policy.clauses().get(solution.clause()).map(|place| (place.source_name(), place.position().0))
}

/// The solutions of a decision as JSON: an array of operation, instance and target for each, including invalid ones.
pub fn operations(decision: &Decision, symbols: &Symbols) -> Value {
    decision.solutions.iter().map(|solution| json!(solution.texts(symbols))).collect()
}

/// A decision as `mario policy decide --format json` prints it.
pub fn decision_json(decision: &Decision, policy: &Policy) -> Value {
    let clauses: Value = decision
        .solutions
        .iter()
        .map(|solution| match place(solution, policy) {
            Some((file, line)) => json!({"clause": solution.clause() + 1, "file": file, "line": line}),
            None => json!({"clause": solution.clause() + 1}),
        })
        .collect();
    let mut object = json!({
        "ops": operations(decision, policy.symbols()),
        "clauses": clauses,
        "inferences": decision.inferences,
    });
    add_faults(&mut object, decision);
    object
}

/// Adds `invalid` if the decision has invalid proposals, and `error` if it did not end normally.
pub fn add_faults(object: &mut Value, decision: &Decision) {
    let invalid: Vec<Value> = decision
        .solutions
        .iter()
        .enumerate()
        .filter_map(|(index, solution)| match solution {
            Solution::Invalid(invalid) => Some(json!({"op": index + 1, "fault": invalid.fault.description()})),
            Solution::Proposal(_) => None,
        })
        .collect();
    if !invalid.is_empty() {
        object["invalid"] = invalid.into();
    }
    if decision.ending != Ending::Complete {
        object["error"] = decision.ending.to_string().into();
    }
}

/// Checks a policy by analysis and bounded exploration. If `keys` is given, the policy may read only extra facts with
/// these keys. `progress` is called with the number of worlds explored so far.
pub fn check_policy(
    engine: &Engine,
    text: &Text,
    settings: PolicySettings,
    keys: Option<&BTreeSet<String>>,
    progress: &mut dyn FnMut(usize),
) -> Result<CheckReport, Failure> {
    let source = &text.source;
    let bounds = Bounds::default();
    match check(engine, &source.name, &source.text, &|| text.resolver(), settings, &bounds, &mut |worlds| {
        progress(worlds);
    }) {
        Ok(mut report) => {
            let unknown = |keys| unknown_keys(engine, &source.name, &source.text, &|| text.resolver(), keys);
            report.findings.extend(keys.and_then(|keys| unknown(keys).ok()).unwrap_or_default());
            Ok(report)
        }
        Err(PolicyError::Load { problems, .. }) => Err(Failure::Input(diagnostics(&problems.errors))),
        Err(error @ PolicyError::NoOperation { .. }) => {
            Err(Failure::input(Diagnostic::from_error(&error).hint(NO_OPERATION_HINT)))
        }
        Err(error) => Err(Failure::input(Diagnostic::from_error(&error))),
    }
}

/// The report on a policy, as `mario policy check --format json` prints it for each file.
pub fn report_json(name: &str, report: &CheckReport) -> Value {
    let exploration = report.exploration.as_ref().map(|exploration| {
        json!({
            "worlds": exploration.worlds,
            "decisions": exploration.decisions,
            "inferences_max": exploration.inferences_max,
            "silent_clauses": exploration.silent_clauses,
            "acted": exploration.acted,
            "ended_early": exploration.ended_early,
        })
    });
    let allowed = report.allowed.iter().map(|allowed| {
        let mut value = finding_json(&allowed.finding);
        value["reason"] = json!(allowed.reason);
        value
    });
    json!({
        "file": name,
        "findings": report.findings.iter().map(finding_json).collect::<Vec<_>>(),
        "allowed": allowed.collect::<Vec<_>>(),
        "exploration": exploration,
    })
}

fn finding_json(finding: &Finding) -> Value {
    let (line, column) = finding.place.position();
    json!({
        "finding": finding.kind.code(),
        "file": finding.place.source_name(),
        "line": line,
        "column": column,
        "span": [finding.place.span.start, finding.place.span.end],
        "message": finding.message,
        "hint": finding.hint,
        "story": finding.story,
    })
}
