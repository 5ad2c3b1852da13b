//! When users send client requests, and how users are assigned to applications.

use std::fmt;

use mario_domain::{ApplicationId, Id, NodeId};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, IntoDeserializer, Visitor};
use serde::{Deserialize, Serialize};

use super::{Period, Time, WrittenId, read_by_kind};

/// When users send client requests, and how users are assigned to applications.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkloadSettings {
    /// Each user sends one request every period.
    Periodic(PeriodicSettings),
    /// Each user sends requests at random times, as a Poisson process.
    Poisson(PoissonSettings),
    /// Each user alternates between on and off periods of random length, and sends requests while on.
    OnOff(OnOffSettings),
}

read_by_kind!(WorkloadSettings {
    "periodic" => Periodic(PeriodicSettings),
    "poisson" => Poisson(PoissonSettings),
    "on-off" => OnOff(OnOffSettings),
});

/// Each user sends one request every period.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PeriodicSettings {
    /// The time between two requests of a user.
    pub period: Period,
    /// The time from a user's arrival to the first request. Instead of a time, `simultaneous` means one period, and
    /// `spread` means n / N of a period for the nth of N users.
    pub phase: Phase,
    /// How users are assigned to applications, unless `[[user]]` or a file of users states the application.
    pub assignment: AssignmentKind,
}

/// Each user sends requests at random times, as a Poisson process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PoissonSettings {
    /// The mean time between two requests of a user.
    pub period: Period,
    /// How users are assigned to applications, unless `[[user]]` or a file of users states the application.
    pub assignment: AssignmentKind,
}

/// Each user alternates between on and off periods of random length, and sends requests while on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OnOffSettings {
    /// The time between two requests of a user while on.
    pub period: Period,
    /// The mean length of an on period.
    pub mean_on: Period,
    /// The mean length of an off period.
    pub mean_off: Period,
    /// How users are assigned to applications, unless `[[user]]` or a file of users states the application.
    pub assignment: AssignmentKind,
}

/// The time from a user's arrival to the first request.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Phase {
    /// One of the words.
    Word(PhaseWord),
    /// This time.
    After(Time),
}

/// The time from a user's arrival to the first request, as a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseWord {
    /// One period.
    Simultaneous,
    /// n / N of a period for the nth of N users.
    Spread,
}

/// How users are assigned to applications.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AssignmentKind {
    /// Nearly equal numbers of users and handovers for all kinds of applications, and for all applications of a kind.
    #[default]
    Balanced,
    /// Round robin over the kinds of applications, and within each kind over its applications.
    RoundRobin,
    /// Like `round-robin`, but with the users in random order.
    Random,
    /// Drawn for each user: the second application half as often as the first, the third a third as often, and so on.
    Popular,
}

/// Settings of a single user. For omitted keys, `[workload]` and `[mobility]` apply.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserSettings {
    /// The id of the user.
    #[schemars(with = "WrittenId")]
    pub id: Id,
    /// The application that the user sends requests to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub application: Option<ApplicationId>,
    /// The user's own value of `workload.period`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// The time from the user's arrival to the first request. Only for periodic workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Time>,
    /// The access point of the user. Only for static users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub node: Option<NodeId>,
}

impl WorkloadSettings {
    /// How users are assigned to applications, unless `[[user]]` or a file of users states the application.
    pub fn assignment(&self) -> AssignmentKind {
        match self {
            WorkloadSettings::Periodic(settings) => settings.assignment,
            WorkloadSettings::Poisson(settings) => settings.assignment,
            WorkloadSettings::OnOff(settings) => settings.assignment,
        }
    }
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Phase, D::Error> {
        deserializer.deserialize_any(PhaseVisitor)
    }
}

struct PhaseVisitor;

impl Visitor<'_> for PhaseVisitor {
    type Value = Phase;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`simultaneous`, `spread` or a time")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Phase, E> {
        Time::deserialize(value.into_deserializer()).map(Phase::After)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Phase, E> {
        Time::deserialize(value.into_deserializer()).map(Phase::After)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Phase, E> {
        Time::deserialize(value.into_deserializer()).map(Phase::After)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Phase, E> {
        match value {
            "simultaneous" => Ok(Phase::Word(PhaseWord::Simultaneous)),
            "spread" => Ok(Phase::Word(PhaseWord::Spread)),
            _ if value.starts_with(|character: char| character.is_ascii_alphabetic()) => {
                Err(E::unknown_variant(value, &["simultaneous", "spread"]))
            }
            _ => Time::deserialize(value.into_deserializer()).map(Phase::After),
        }
    }
}

impl Default for WorkloadSettings {
    fn default() -> WorkloadSettings {
        WorkloadSettings::Periodic(PeriodicSettings::default())
    }
}

impl Default for PeriodicSettings {
    fn default() -> PeriodicSettings {
        PeriodicSettings {
            period: Period::of(40.0),
            phase: Phase::Word(PhaseWord::Simultaneous),
            assignment: AssignmentKind::default(),
        }
    }
}

impl Default for PoissonSettings {
    fn default() -> PoissonSettings {
        PoissonSettings { period: Period::of(40.0), assignment: AssignmentKind::default() }
    }
}

impl Default for OnOffSettings {
    fn default() -> OnOffSettings {
        OnOffSettings {
            period: Period::of(40.0),
            mean_on: Period::of(2_000.0),
            mean_off: Period::of(2_000.0),
            assignment: AssignmentKind::default(),
        }
    }
}
