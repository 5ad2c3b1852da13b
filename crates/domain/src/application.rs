//! What is run.

use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use crate::{ApplicationId, Hardware, OwnerId, Quantity};

/// What is run: the descriptor that all instances of an application share, `service/4` in a policy.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// Which application.
    pub id: ApplicationId,
    /// Who runs it, if that is known.
    #[serde(default)]
    pub owner: Option<OwnerId>,
    /// What one instance needs of its node.
    pub hardware: Hardware,
    /// The client requests that one instance handles in one evaluation period.
    pub max_rate: Quantity,
    /// The latency that a client request tolerates, in milliseconds.
    pub max_latency: Quantity,
}

impl Serialize for Application {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Where fields have no names, none can be left out.
        let has_owner = self.owner.is_some() || !serializer.is_human_readable();
        let mut fields = serializer.serialize_struct("Application", if has_owner { 5 } else { 4 })?;
        fields.serialize_field("id", &self.id)?;
        if has_owner {
            fields.serialize_field("owner", &self.owner)?;
        }
        fields.serialize_field("hardware", &self.hardware)?;
        fields.serialize_field("max_rate", &self.max_rate)?;
        fields.serialize_field("max_latency", &self.max_latency)?;
        fields.end()
    }
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

    #[test]
    fn an_application_comes_back_from_a_binary_format() {
        for owner in [None, Some(OwnerId::name("ada").expect("a name")), Some(OwnerId::number(-3))] {
            let application = Application {
                id: ApplicationId::name("video").expect("a name"),
                owner,
                hardware: Hardware::units(300),
                max_rate: Quantity::whole(10),
                max_latency: Quantity::fraction(0.1).expect("finite"),
            };
            let mut memory = [0; 64];
            let bytes = postcard::to_slice(&application, &mut memory).expect("plain data");
            assert_eq!(postcard::from_bytes::<Application>(bytes).expect("the same"), application);
        }
    }
}
