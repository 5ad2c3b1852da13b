//! Converts problems in Prolog texts into diagnostics.

use mario_diagnostics::Source;
use mario_prolog::{Problem, Severity};

use crate::hints::{Diagnostic, Hint};

/// Converts the problems of a loader into diagnostics. Diagnostics about the same file share its text.
pub fn diagnostics(problems: &[Problem]) -> Vec<Diagnostic> {
    let mut sources: Vec<Source> = Vec::new();
    let mut diagnostics = Vec::with_capacity(problems.len());
    for problem in problems {
        let known = sources.iter().find(|source| &*source.name == problem.source_name()).cloned();
        let source = known.unwrap_or_else(|| {
            let source = Source::new(problem.source_name(), problem.source_text());
            sources.push(source.clone());
            source
        });
        let mut diagnostic = match problem.severity {
            Severity::Error => Diagnostic::error(format!("cannot load `{}`", problem.source_name())).at(
                &source,
                problem.span.clone(),
                problem.message.clone(),
            ),
            Severity::Warning => Diagnostic::warning(problem.message.clone()).at(&source, problem.span.clone(), ""),
        };
        diagnostic.hints.extend(problem.hint.clone().map(Hint::Text));
        diagnostics.push(diagnostic);
    }
    diagnostics
}
