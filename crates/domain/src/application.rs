//! Applications and their flavours.

use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use crate::{ApplicationId, FlavourId, Hardware, OwnerId, Quantity};

/// An application: the descriptor that all its instances share, `service/4` in a policy.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// The id of the application.
    pub id: ApplicationId,
    /// The owner, if known.
    #[serde(default)]
    pub owner: Option<OwnerId>,
    /// The hardware that one instance needs on its node.
    pub hardware: Hardware,
    /// The maximum number of client requests that one instance can handle in one evaluation period.
    pub max_rate: Quantity,
    /// The latency that a client request tolerates, in milliseconds.
    pub max_latency: Quantity,
    /// The flavours: alternative ways to run the application. The first is the default and must repeat `hardware`,
    /// `max_rate` and `max_latency`. Empty if the application has no flavours.
    #[serde(default)]
    pub flavours: Vec<Flavour>,
    /// How its instances sleep; `None` if they cannot.
    #[serde(default)]
    pub sleep: Option<Sleep>,
}

/// The hardware that an instance of an application keeps while it sleeps, and the time that it takes to wake.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sleep {
    /// The hardware that a sleeping instance keeps.
    pub keeps: Hardware,
    /// The time that an instance takes to start when it wakes, in time units of the scenario; 0 for live nodes, which
    /// do not use it.
    pub start: Quantity,
}

/// Whether an instance is awake.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wakefulness {
    /// The workload is running or starting.
    #[default]
    Awake,
    /// The workload is stopped or stopping. The agent continues.
    Asleep,
}

impl Wakefulness {
    /// Whether the instance is asleep.
    pub const fn is_asleep(self) -> bool {
        matches!(self, Wakefulness::Asleep)
    }
}

impl Default for Sleep {
    /// A sleeping instance keeps no hardware and starts immediately.
    fn default() -> Sleep {
        Sleep { keeps: Hardware::NONE, start: Quantity::whole(0) }
    }
}

/// A way to run an application: `flavour/6` in a policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flavour {
    /// The id of the flavour.
    #[serde(rename = "flavour")]
    pub id: FlavourId,
    /// The hardware that one instance needs on its node.
    pub hardware: Hardware,
    /// The maximum number of client requests that one instance can handle in one evaluation period.
    pub max_rate: Quantity,
    /// The latency that a client request tolerates, in milliseconds.
    pub max_latency: Quantity,
    /// The quality of the answers, in a unit that the application's owner chooses.
    pub quality: Quantity,
}

/// The index of a flavour in [`Application::flavours`]. The default is 0, which instances of an application without
/// flavours have, too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FlavourIndex(pub u16);

impl FlavourIndex {
    /// The flavour of a newly deployed instance.
    pub const DEFAULT: FlavourIndex = FlavourIndex(0);

    const fn position(self) -> usize {
        self.0 as usize
    }
}

impl Application {
    /// The maximum number of flavours. It is low because every agent sees all of them.
    pub const FLAVOURS_MAX: usize = 16;

    /// The flavour at an index; `None` if the index is out of range, as every index is for an application without
    /// flavours.
    pub fn flavour(&self, index: FlavourIndex) -> Option<&Flavour> {
        self.flavours.get(index.position())
    }

    /// The index of the flavour with this id; `None` if the application has no such flavour.
    pub fn find_flavour(&self, id: &FlavourId) -> Option<FlavourIndex> {
        let position = self.flavours.iter().position(|flavour| flavour.id == *id)?;
        u16::try_from(position).ok().map(FlavourIndex)
    }

    /// The hardware that one instance in a flavour needs on its node when it is awake.
    pub fn needed_in(&self, index: FlavourIndex) -> Hardware {
        self.flavour(index).map_or(self.hardware, |flavour| flavour.hardware)
    }

    /// The hardware that one instance in a flavour occupies on its node, depending on whether it is awake.
    pub fn held_in(&self, index: FlavourIndex, wakefulness: Wakefulness) -> Hardware {
        match wakefulness {
            Wakefulness::Awake => self.needed_in(index),
            Wakefulness::Asleep => self.sleep.unwrap_or_default().keeps,
        }
    }

    /// The maximum number of client requests that one instance in a flavour can handle in one evaluation period.
    pub fn max_rate_in(&self, index: FlavourIndex) -> Quantity {
        self.flavour(index).map_or(self.max_rate, |flavour| flavour.max_rate)
    }

    /// A description of what is wrong with the flavours; `None` if they are valid.
    pub fn flavour_fault(&self) -> Option<String> {
        let first = self.flavours.first()?;
        if self.flavours.len() > Application::FLAVOURS_MAX {
            return Some(format!("an application has at most {} flavours", Application::FLAVOURS_MAX));
        }
        let own = (self.hardware, self.max_rate, self.max_latency);
        if (first.hardware, first.max_rate, first.max_latency) != own {
            return Some(format!("the first flavour, {}, does not have the application's own numbers", first.id));
        }
        let is_twice = |(position, flavour): (usize, &Flavour)| {
            self.flavours[..position].iter().any(|before| before.id == flavour.id)
        };
        let (_, twice) = self.flavours.iter().enumerate().find(|listed| is_twice(*listed))?;
        Some(format!("the flavour {} is there twice", twice.id))
    }
}

impl Serialize for Application {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Binary formats have no field names, so they cannot omit a field.
        let has_owner = self.owner.is_some() || !serializer.is_human_readable();
        let has_flavours = !self.flavours.is_empty() || !serializer.is_human_readable();
        let has_sleep = self.sleep.is_some() || !serializer.is_human_readable();
        let count = 4 + usize::from(has_owner) + usize::from(has_flavours) + usize::from(has_sleep);
        let mut fields = serializer.serialize_struct("Application", count)?;
        fields.serialize_field("id", &self.id)?;
        if has_owner {
            fields.serialize_field("owner", &self.owner)?;
        }
        fields.serialize_field("hardware", &self.hardware)?;
        fields.serialize_field("max_rate", &self.max_rate)?;
        fields.serialize_field("max_latency", &self.max_latency)?;
        if has_flavours {
            fields.serialize_field("flavours", &self.flavours)?;
        }
        if has_sleep {
            fields.serialize_field("sleep", &self.sleep)?;
        }
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
            flavours: Vec::new(),
            sleep: None,
        };
        assert_eq!(serde_json::to_string(&application).expect("plain data"), json);
        assert_eq!(serde_json::from_str::<Application>(json).expect("valid"), application);
        let flavoured = r#"{"id":1,"hardware":2,"max_rate":5,"max_latency":10,"flavours":[{"flavour":"full","hardware":2,"max_rate":5,"max_latency":10,"quality":1},{"flavour":"lite","hardware":1,"max_rate":9,"max_latency":10,"quality":0.5}]}"#;
        let application: Application = serde_json::from_str(flavoured).expect("valid");
        assert_eq!(serde_json::to_string(&application).expect("plain data"), flavoured);
        let sleeping = r#"{"id":1,"hardware":2,"max_rate":5,"max_latency":10,"sleep":{"keeps":1,"start":20}}"#;
        let application: Application = serde_json::from_str(sleeping).expect("valid");
        assert_eq!(serde_json::to_string(&application).expect("plain data"), sleeping);
        assert_eq!(application.held_in(FlavourIndex::DEFAULT, Wakefulness::Awake), Hardware::units(2));
        assert_eq!(application.held_in(FlavourIndex::DEFAULT, Wakefulness::Asleep), Hardware::units(1));
        let ownerless = r#"{"id":1,"hardware":1,"max_rate":5,"max_latency":10}"#;
        let application: Application = serde_json::from_str(ownerless).expect("valid");
        assert_eq!(serde_json::to_string(&application).expect("plain data"), ownerless);
    }

    fn flavour(id: &str, units: u64) -> Flavour {
        let id = FlavourId::name(id).expect("a name");
        let (max_rate, max_latency) = (Quantity::whole(10), Quantity::fraction(0.1).expect("finite"));
        Flavour { id, hardware: Hardware::units(units), max_rate, max_latency, quality: Quantity::whole(1) }
    }

    #[test]
    fn the_first_flavour_is_the_default_and_ids_are_unique() {
        let mut application = Application {
            id: ApplicationId::number(1),
            owner: None,
            hardware: Hardware::units(4),
            max_rate: Quantity::whole(10),
            max_latency: Quantity::fraction(0.1).expect("finite"),
            flavours: Vec::new(),
            sleep: None,
        };
        assert_eq!(application.needed_in(FlavourIndex::DEFAULT), Hardware::units(4));
        assert_eq!(application.flavour_fault(), None);
        application.flavours = vec![flavour("full", 4), flavour("lite", 1)];
        assert_eq!(application.flavour_fault(), None);
        let lite = application.find_flavour(&FlavourId::name("lite").expect("a name")).expect("it is there");
        assert_eq!((lite, application.needed_in(lite)), (FlavourIndex(1), Hardware::units(1)));
        application.flavours[1].id = application.flavours[0].id.clone();
        assert!(application.flavour_fault().expect("twice").contains("twice"));
        application.flavours = vec![flavour("full", 3)];
        assert!(application.flavour_fault().expect("other numbers").contains("own numbers"));
        application.flavours = (0..17).map(|number| flavour(&format!("f{number}"), 4)).collect();
        assert!(application.flavour_fault().expect("too many").contains("at most 16"));
    }

    #[test]
    fn an_application_round_trips_through_a_binary_format() {
        for owner in [None, Some(OwnerId::name("ada").expect("a name")), Some(OwnerId::number(-3))] {
            let application = Application {
                id: ApplicationId::name("video").expect("a name"),
                owner,
                hardware: Hardware::units(300),
                max_rate: Quantity::whole(10),
                max_latency: Quantity::fraction(0.1).expect("finite"),
                flavours: vec![flavour("full", 300), flavour("lite", 3)],
                sleep: Some(Sleep::default()),
            };
            let mut memory = [0; 256];
            let bytes = postcard::to_slice(&application, &mut memory).expect("plain data");
            assert_eq!(postcard::from_bytes::<Application>(bytes).expect("the same"), application);
        }
    }
}
