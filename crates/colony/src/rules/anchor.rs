//! Anchors: instances that do not undeploy themselves.

use mario_domain::{AgentOperation, Rule};

/// Inhibits the undeploy that the agent of an anchor proposes. Every other operation of an anchor, and every operation
/// of another instance, is judged by the other rules.
pub fn anchor(is_anchor: bool, operation: AgentOperation) -> Result<(), Rule> {
    if is_anchor && operation == AgentOperation::Undeploy { Err(Rule::Anchor) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_anchors_undeploy_is_inhibited() {
        for operation in AgentOperation::ALL {
            assert_eq!(anchor(false, operation), Ok(()));
            let inhibited = if operation == AgentOperation::Undeploy { Err(Rule::Anchor) } else { Ok(()) };
            assert_eq!(anchor(true, operation), inhibited);
        }
    }
}
