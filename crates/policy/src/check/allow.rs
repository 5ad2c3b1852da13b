//! Comments that allow a finding: `% mario: allow ping-pong, because …`.

use std::ops::Range;

use mario_prolog::{Loaded, Place};

use super::finding::{Finding, FindingKind};

/// A finding that the text allows.
#[derive(Clone, Debug)]
pub struct AllowedFinding {
    /// The finding that is allowed.
    pub finding: Finding,
    /// The reason stated by the author.
    pub reason: String,
}

struct Allowance {
    kind: FindingKind,
    reason: String,
    source: String,
}

/// The prefix of a comment that allows a finding.
const OPENING: &str = "% mario: allow ";

/// Separates the findings that comments allow from the others. A comment applies to the findings in its own file; a
/// comment in the policy's main file applies to the findings in all files. Invalid `allow` comments become findings,
/// too.
pub(super) fn apply_allowances(
    found: Vec<Finding>,
    loaded: &Loaded,
    name: &str,
) -> (Vec<Finding>, Vec<AllowedFinding>) {
    let mut findings = Vec::new();
    let mut allowances: Vec<Allowance> = Vec::new();
    let mut places: Vec<&Place> = Vec::new();
    for place in loaded.trees.iter().map(|tree| &tree.place) {
        if !places.iter().any(|known| known.source_name() == place.source_name()) {
            places.push(place);
        }
    }
    for place in places {
        for (span, rest) in comments(place.source_text()) {
            let (code, reason) = rest.split_once(',').unwrap_or((rest, ""));
            let (code, reason) = (code.trim(), reason.trim());
            match FindingKind::find(code) {
                Some(kind) if !reason.is_empty() => {
                    allowances.push(Allowance {
                        kind,
                        reason: reason.to_owned(),
                        source: place.source_name().to_owned(),
                    });
                }
                Some(_) => findings.push(
                    Finding::new(FindingKind::UnknownAllowance, place.at(span), "this does not say why")
                        .hint(format!("write `{OPENING}{code}, ` and the reason")),
                ),
                None => {
                    let codes: Vec<&str> = FindingKind::ALL.iter().map(|kind| kind.code()).collect();
                    let message = format!("there is no finding `{code}`");
                    findings.push(
                        Finding::new(FindingKind::UnknownAllowance, place.at(span), message)
                            .hint(format!("findings are {}", codes.join(", "))),
                    );
                }
            }
        }
    }
    let mut allowed = Vec::new();
    for finding in found {
        let source = finding.place.source_name();
        let allowance = allowances.iter().find(|allowance| {
            allowance.kind == finding.kind && (allowance.source == source || allowance.source == name)
        });
        match allowance {
            Some(allowance) => allowed.push(AllowedFinding { reason: allowance.reason.clone(), finding }),
            None => findings.push(finding),
        }
    }
    (findings, allowed)
}

/// The span of each line that starts with the prefix, and the rest of that line.
fn comments(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        let rest = line.trim_end().strip_prefix(OPENING)?;
        Some((at..at + line.trim_end().len(), rest))
    })
}
