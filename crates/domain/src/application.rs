//! What is run.

use serde::{Deserialize, Serialize};

use crate::{ApplicationId, Hardware, OwnerId, Quantity};

/// What is run: the descriptor that all instances of an application share, `service/4` in a policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// Which application.
    pub id: ApplicationId,
    /// Who runs it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerId>,
    /// What one instance needs of its node.
    pub hardware: Hardware,
    /// The client requests that one instance handles in one evaluation period.
    pub max_rate: Quantity,
    /// The latency that a client request tolerates, in milliseconds.
    pub max_latency: Quantity,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_has_this_json() {
        let json = r#"{"id":"video","owner":"acme","hardware":4,"max_rate":10,"max_latency":2.5}"#;
        let application = Application {
            id: ApplicationId::name("video").expect("a name"),
            owner: Some(OwnerId::name("acme").expect("a name")),
            hardware: Hardware::units(4),
            max_rate: Quantity::whole(10),
            max_latency: Quantity::fraction(2.5).expect("finite"),
        };
        assert_eq!(serde_json::to_string(&application).expect("plain data"), json);
        assert_eq!(serde_json::from_str::<Application>(json).expect("valid"), application);
        let ownerless = r#"{"id":1,"hardware":1,"max_rate":5,"max_latency":10}"#;
        let application: Application = serde_json::from_str(ownerless).expect("valid");
        assert_eq!(serde_json::to_string(&application).expect("plain data"), ownerless);
    }
}
