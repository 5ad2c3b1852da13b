//! The applications of the instances on a node.

use mario_domain::{Application, ApplicationId, FactValue, Flavour, FlavourId, Id, OwnerId, Quantity, Sleep};
use mario_policy::PolicyText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{AnyId, Hardware};

/// The applications of the instances on a node, and the facts about the node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Applications {
    /// The applications.
    pub applications: Vec<Hosted>,
    /// The facts about the node.
    #[serde(default)]
    pub facts: Vec<Fact>,
}

/// An application with an instance on the node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hosted {
    /// What its owner requires.
    pub application: ApplicationDescription,
    /// The facts about it.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// Its policy.
    pub policy: PolicyFiles,
}

/// What the owner of an application requires.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApplicationDescription {
    /// Its id.
    #[schemars(with = "AnyId")]
    pub id: ApplicationId,
    /// Its owner, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AnyId")]
    pub owner: Option<OwnerId>,
    /// The hardware that an instance needs.
    pub hardware: Hardware,
    /// How many client requests an instance handles in an evaluation period.
    #[schemars(with = "f64")]
    pub max_rate: Quantity,
    /// The tolerated latency to clients.
    #[schemars(with = "f64")]
    pub max_latency: Quantity,
    /// Its flavours; the first is the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flavours: Vec<FlavourDescription>,
    /// What it keeps when it sleeps, if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<SleepDescription>,
}

/// A flavour: a variant of an application.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FlavourDescription {
    /// Its id.
    #[schemars(with = "AnyId")]
    pub flavour: FlavourId,
    /// The hardware that an instance needs.
    pub hardware: Hardware,
    /// How many client requests an instance handles in an evaluation period.
    #[schemars(with = "f64")]
    pub max_rate: Quantity,
    /// The tolerated latency to clients.
    #[schemars(with = "f64")]
    pub max_latency: Quantity,
    /// Its quality.
    #[schemars(with = "f64")]
    pub quality: Quantity,
}

/// What an application needs when it sleeps.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SleepDescription {
    /// The hardware that a sleeping instance occupies.
    pub keeps: Hardware,
    /// How long it takes to wake.
    #[schemars(with = "f64")]
    pub start: Quantity,
}

/// A fact about a node or an application.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// What it is about.
    #[schemars(with = "AnyId")]
    pub subject: Id,
    /// Its key.
    #[schemars(with = "AnyId")]
    pub key: Id,
    /// Its value: a name or a number.
    #[schemars(with = "NameOrNumber")]
    pub value: FactValue,
}

/// The text of a policy with the files that it loads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PolicyFiles {
    /// The display name.
    pub name: String,
    /// Names and texts of the files; the policy is the first.
    pub files: Vec<(String, String)>,
    /// The number of evaluations for which an agent remembers inhibitions.
    #[serde(default)]
    pub memory: u32,
}

/// The schema of the value of a fact.
struct NameOrNumber;

impl JsonSchema for NameOrNumber {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NameOrNumber".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "number"] })
    }
}

impl From<&Application> for ApplicationDescription {
    fn from(application: &Application) -> ApplicationDescription {
        let Application { id, owner, hardware, max_rate, max_latency, flavours, sleep } = application;
        ApplicationDescription {
            id: id.clone(),
            owner: owner.clone(),
            hardware: (*hardware).into(),
            max_rate: *max_rate,
            max_latency: *max_latency,
            flavours: flavours.iter().map(FlavourDescription::from).collect(),
            sleep: sleep.map(|Sleep { keeps, start }| SleepDescription { keeps: keeps.into(), start }),
        }
    }
}

impl From<&Flavour> for FlavourDescription {
    fn from(flavour: &Flavour) -> FlavourDescription {
        let Flavour { id, hardware, max_rate, max_latency, quality } = flavour;
        FlavourDescription {
            flavour: id.clone(),
            hardware: (*hardware).into(),
            max_rate: *max_rate,
            max_latency: *max_latency,
            quality: *quality,
        }
    }
}

impl From<&mario_domain::Fact> for Fact {
    fn from(fact: &mario_domain::Fact) -> Fact {
        let mario_domain::Fact { subject, key, value } = fact;
        Fact { subject: subject.clone(), key: key.clone(), value: value.clone() }
    }
}

impl From<Fact> for mario_domain::Fact {
    fn from(Fact { subject, key, value }: Fact) -> mario_domain::Fact {
        mario_domain::Fact { subject, key, value }
    }
}

impl From<&PolicyText> for PolicyFiles {
    fn from(PolicyText { name, files, memory }: &PolicyText) -> PolicyFiles {
        PolicyFiles { name: name.clone(), files: files.clone(), memory: *memory }
    }
}

impl From<PolicyFiles> for PolicyText {
    fn from(PolicyFiles { name, files, memory }: PolicyFiles) -> PolicyText {
        PolicyText { name, files, memory }
    }
}

impl TryFrom<ApplicationDescription> for Application {
    type Error = String;

    /// Fails if the application needs a kind of hardware that this version does not know.
    fn try_from(description: ApplicationDescription) -> Result<Application, String> {
        let ApplicationDescription { id, owner, hardware, max_rate, max_latency, flavours, sleep } = description;
        let flavour = |flavour: FlavourDescription| {
            let FlavourDescription { flavour: id, hardware, max_rate, max_latency, quality } = flavour;
            Ok::<_, String>(Flavour { id, hardware: hardware.try_into()?, max_rate, max_latency, quality })
        };
        let asleep = |SleepDescription { keeps, start }| Ok::<_, String>(Sleep { keeps: keeps.try_into()?, start });
        Ok(Application {
            id,
            owner,
            hardware: hardware.try_into()?,
            max_rate,
            max_latency,
            flavours: flavours.into_iter().map(flavour).collect::<Result<_, _>>()?,
            sleep: sleep.map(asleep).transpose()?,
        })
    }
}
