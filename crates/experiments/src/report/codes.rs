//! The numeric codes of events and operations in the data of a page. The constants of the page's script are generated
//! from the same tables.

use mario_domain::AgentOperation;

use super::explanations;

/// A kind of event in a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventCode {
    Deployed,
    Handover,
    Migrate,
    Replicate,
    Adapt,
    Undeploy,
    Inhibited,
    DeployInhibited,
    NodeDown,
    NodeUp,
    NodeLeaving,
    LinkDown,
    LinkUp,
    Evicted,
    Shrunk,
    Announced,
    Sleep,
    Wake,
    Woken,
    NotWoken,
}

/// Each kind with its name in the script, in the order of their codes.
const EVENTS: [(EventCode, &str); 20] = [
    (EventCode::Deployed, "deployed"),
    (EventCode::Handover, "handover"),
    (EventCode::Migrate, "migrate"),
    (EventCode::Replicate, "replicate"),
    (EventCode::Adapt, "adapt"),
    (EventCode::Undeploy, "undeploy"),
    (EventCode::Inhibited, "inhibited"),
    (EventCode::DeployInhibited, "deployInhibited"),
    (EventCode::NodeDown, "nodeDown"),
    (EventCode::NodeUp, "nodeUp"),
    (EventCode::NodeLeaving, "nodeLeaving"),
    (EventCode::LinkDown, "linkDown"),
    (EventCode::LinkUp, "linkUp"),
    (EventCode::Evicted, "evicted"),
    (EventCode::Shrunk, "shrunk"),
    (EventCode::Announced, "announced"),
    (EventCode::Sleep, "sleep"),
    (EventCode::Wake, "wake"),
    (EventCode::Woken, "woken"),
    (EventCode::NotWoken, "notWoken"),
];

impl EventCode {
    /// Its code in the data.
    pub(crate) const fn number(self) -> i64 {
        self as i64
    }
}

/// The tables as JavaScript.
pub(crate) fn script() -> String {
    let events: Vec<String> = EVENTS.iter().map(|(event, name)| format!("{name}: {}", event.number())).collect();
    let operations: Vec<String> =
        AgentOperation::ALL.iter().map(|operation| format!("\"{}\"", operation.as_str())).collect();
    let looks: Vec<String> = explanations::LOOKS.iter().map(|look| format!("\"{}\"", look.as_str())).collect();
    format!(
        "const EVENT = {{ {} }};\nconst OPERATIONS = [{}];\nconst LOOKS = [{}];\n",
        events.join(", "),
        operations.join(", "),
        looks.join(", ")
    )
}

/// The types of the tables, for the type checker of the script.
#[cfg(test)]
pub(crate) fn declarations() -> String {
    let events: Vec<String> = EVENTS.iter().map(|(event, name)| format!("{name}: {}", event.number())).collect();
    format!(
        "declare const EVENT: {{ {} }};\ndeclare const OPERATIONS: string[];\ndeclare const LOOKS: string[];\n",
        events.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_one_name_and_its_position_as_code() {
        for (position, (event, name)) in (0..).zip(EVENTS) {
            assert_eq!(event.number(), position, "{name}");
            assert_eq!(EVENTS.iter().filter(|(_, other)| *other == name).count(), 1, "{name}");
        }
        let script = script();
        assert!(script.contains("migrate: 2, replicate: 3"), "{script}");
        assert!(script.contains(r#"LOOKS = ["proposed", "missed", "code", "met", "failed", "fact","#), "{script}");
        assert!(script.contains(r#"["undeploy", "migrate", "replicate", "adapt", "sleep", "wake"]"#), "{script}");
    }
}
