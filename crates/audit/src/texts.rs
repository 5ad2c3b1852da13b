//! Targets, proposals, solutions and reasons in words, for findings.

use crate::reader::{Header, Proposal, Reason, Solution, Target};

pub(crate) fn target_text(header: &Header, target: &Target) -> String {
    match target {
        Target::Own => mario_domain::SELF.to_owned(),
        Target::Node(node) => header.nodes[*node as usize].id.to_string(),
        Target::Unknown(id) | Target::Flavour(id) => id.to_string(),
    }
}

pub(crate) fn proposal_text(header: &Header, proposal: &Proposal) -> String {
    format!("{} {}", proposal.operation, target_text(header, &proposal.target))
}

pub(crate) fn solutions_text(header: &Header, solutions: &[Solution]) -> String {
    /// The maximum number of solutions shown.
    const SHOWN_MAX: usize = 6;
    if solutions.is_empty() {
        return "no solution".to_owned();
    }
    let mut texts: Vec<String> = solutions
        .iter()
        .take(SHOWN_MAX)
        .map(|solution| match solution {
            Solution::Proposal { proposal, clause } => format!("{} (clause {clause})", proposal_text(header, proposal)),
            Solution::Invalid { why, clause } => format!("no operation (clause {clause}): {why}"),
        })
        .collect();
    if solutions.len() > SHOWN_MAX {
        texts.push(format!("and {} more", solutions.len() - SHOWN_MAX));
    }
    texts.join(", ")
}

pub(crate) fn rule_text(reason: &Reason) -> String {
    format!("node {}: {}", reason.node, reason.rule)
}
