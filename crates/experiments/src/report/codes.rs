//! The tables by which the script decodes the numbers of operations, and of the kinds of explanation lines. They are
//! generated from the lists that define the numbers.

use mario_domain::AgentOperation;

use super::explanations;

/// The tables as JavaScript.
pub(crate) fn script() -> String {
    let operations: Vec<String> =
        AgentOperation::ALL.iter().map(|operation| format!("\"{}\"", operation.as_str())).collect();
    let looks: Vec<String> = explanations::LOOKS.iter().map(|look| format!("\"{}\"", look.as_str())).collect();
    format!("const OPERATIONS = [{}];\nconst LOOKS = [{}];\n", operations.join(", "), looks.join(", "))
}

/// The types of the tables, for the type checker of the script.
#[cfg(test)]
pub(crate) const DECLARATIONS: &str = "declare const OPERATIONS: string[];\ndeclare const LOOKS: string[];\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_the_order_of_their_codes() {
        let script = script();
        assert!(script.contains(r#"LOOKS = ["proposed", "missed", "code", "met", "failed", "fact","#), "{script}");
        assert!(script.contains(r#"["undeploy", "migrate", "replicate", "adapt", "sleep", "wake"]"#), "{script}");
    }
}
