//! The tables by which the script of the page decodes operations and kinds of explanation lines. They are generated
//! from the lists that define the codes.

use mario_domain::AgentOperation;

use crate::explanations;

/// The tables as JavaScript.
pub(crate) fn script() -> String {
    let operations: Vec<String> =
        AgentOperation::ALL.iter().map(|operation| format!("\"{}\"", operation.as_str())).collect();
    let roles: Vec<String> = explanations::LINE_ROLES.iter().map(|role| format!("\"{}\"", role.as_str())).collect();
    format!("const OPERATIONS = [{}];\nconst LINE_ROLES = [{}];\n", operations.join(", "), roles.join(", "))
}

/// The types of the tables, for the type checker of the script.
#[cfg(test)]
pub(crate) const DECLARATIONS: &str = "declare const OPERATIONS: string[];\ndeclare const LINE_ROLES: string[];\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_the_order_of_their_codes() {
        let script = script();
        assert!(script.contains(r#"LINE_ROLES = ["proposed", "missed", "code", "met", "failed", "fact","#), "{script}");
        assert!(script.contains(r#"["undeploy", "migrate", "replicate", "adapt", "sleep", "wake"]"#), "{script}");
    }
}
