//! `--label POLICY=TEXT`: how policies are named in charts and pages.

use std::collections::{BTreeMap, BTreeSet};

use mario_frontend::Diagnostic;

use crate::Failure;

/// Reads labels of policies. Each must be `POLICY=TEXT` with the name of one of these policies, which may contain `=`
/// itself. Two policies may not have the same label.
pub(crate) fn read_labels(asked: &[String], policies: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut labels = BTreeMap::new();
    for argument in asked {
        let named = |policy: &&String| argument.strip_prefix(policy.as_str()).is_some_and(|rest| rest.starts_with('='));
        let Some(policy) = policies.iter().filter(named).max_by_key(|policy| policy.len()) else {
            let diagnostic = Diagnostic::error(format!("`--label {argument}` names no policy of these results"));
            let known = policies.iter().map(|policy| format!("`{policy}`")).collect::<Vec<String>>().join(", ");
            return Err(Failure::input(diagnostic.hint(format!("write POLICY=TEXT; policies are {known}"))));
        };
        let text = argument[policy.len() + 1..].trim();
        if text.is_empty() || text.chars().any(char::is_control) {
            let diagnostic = Diagnostic::error(format!("`--label {argument}` has no text for `{policy}`"));
            return Err(Failure::input(diagnostic.hint(format!("write e.g. `--label '{policy}=ours'`"))));
        }
        labels.insert(policy.clone(), text.to_owned());
    }
    let mut shown = BTreeSet::new();
    for policy in policies {
        let label = labels.get(policy).unwrap_or(policy);
        if !shown.insert(label) {
            let diagnostic = Diagnostic::error(format!("two policies have the label `{label}`"));
            return Err(Failure::input(diagnostic.hint("give each policy a label of its own with --label")));
        }
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(asked: &[&str]) -> Result<BTreeMap<String, String>, Failure> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
        read_labels(&owned(asked), &owned(&["a.pl", "a.pl@memory.cycles=10", "b"]))
    }

    #[test]
    fn the_longest_policy_that_begins_a_label_is_meant() {
        let found = labels(&["a.pl@memory.cycles=10=with memory", "a.pl=ours, x = 1"]).expect("labels");
        assert_eq!(found["a.pl@memory.cycles=10"], "with memory");
        assert_eq!(found["a.pl"], "ours, x = 1");
        assert_eq!(labels(&["a.pl=ours", "b=theirs", "b=others"]).expect("labels")["b"], "others");
    }

    #[test]
    fn unknown_policies_empty_texts_and_equal_labels_are_errors() {
        for wrong in [&["c=ours"][..], &["a.pl"], &["a.pl= "], &["a.pl=b"], &["a.pl=x", "b=x"]] {
            assert!(labels(wrong).is_err(), "{wrong:?}");
        }
    }
}
