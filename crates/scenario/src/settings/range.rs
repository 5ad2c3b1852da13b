//! The ranges of plain numbers in the settings: they are in the schema, and
//! [`check_ranges`](mario_settings::ranges::check_ranges) checks files against them.
//!
//! Each key names its range by `#[schemars(with = …)]`, so schema, checks and documentation have one source for the
//! range and its reason.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Declares ranges: the name, the type in the schema, the smallest and the largest number, and the reason.
macro_rules! ranges {
    ($($(#[$doc:meta])* $name:ident: $type:literal, $min:literal to $max:literal, $why:literal;)*) => { $(
        $(#[$doc])*
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": $type, "minimum": $min, "maximum": $max, "$comment": $why })
            }
        }
    )* };
}

ranges! {
    /// The seed of all random numbers.
    Seed: "integer", 0 to 9_223_372_036_854_775_807_u64, "TOML has no larger integers";
    /// A share of a whole.
    Share: "number", 0 to 1, "it is a part of a whole";
    /// An hour of the day.
    Hour: "number", 0 to 24, "a day has 24 hours";
    /// A duration within a day, in hours.
    Hours: "number", 0 to 12, "a day of 24 hours has two of these";
    /// A distance, in metres.
    Metres: "number", 0 to 100_000_000, "the circumference of the earth is 40,000,000 m";
    /// A duration in the movements of users on the map, in seconds.
    Seconds: "number", 0 to 1_000_000_000, "1e9 s are 31 years";
    /// A latitude or a longitude.
    Degrees: "number", -180 to 180, "latitudes are from -90 to 90 degrees, and longitudes from -180 to 180";
    /// A number of nodes, or of children or links of a node.
    NodeCount: "integer", 1 to 16_777_216, "more nodes do not fit into memory";
    /// The number of access points in each direction.
    GridSize: "integer", 1 to 2048, "4096 would make more nodes than the 16777216 that fit into memory";
    /// The number of levels of a tree below the cloud.
    Depth: "integer", 0 to 24, "with two children each, a deeper tree has more nodes than fit into memory";
    /// The number of users.
    UserCount: "integer", 0 to 16_777_216, "more users do not fit into memory";
    /// The number of users who arrive in a step.
    ArrivalCount: "integer", 1 to 16_777_216, "more users do not fit into memory";
    /// The number of steps.
    StepCount: "integer", 1 to 1_000_000, "the steps of users are kept in memory";
    /// A mean number of steps.
    MeanSteps: "number", 1 to 1_000_000_000, "a stay is at least one step, and no run has more steps";
    /// The number of parts into which the track of a user is divided.
    PartCount: "integer", 1 to 999_999, "each part is a step, and the steps of users are kept in memory";
    /// The number of districts in each direction.
    DistrictCount: "integer", 1 to 1000, "a million districts have a million times the hotspots";
    /// The number of hotspots.
    HotspotCount: "integer", 0 to 16_777_216, "more do not fit into memory";
    /// The number of applications.
    ApplicationCount: "integer", 0 to 100_000, "every agent has facts about every application";
    /// The number of requests of a call.
    CallCount: "integer", 1 to 1000, "each of them is sent for every client request";
    /// Units of hardware.
    Units: "integer", 0 to 1_000_000_000, "the sum over all nodes and instances has to fit into 64 bits";
    /// A rate, a latency or a quality.
    Amount: "number", 0 to 1e12, "quotients of such numbers are finite";
    /// A bound of a random rate or latency.
    WholeAmount: "integer", 0 to 1_000_000_000, "a 32-bit number is drawn";
    /// The number of evaluations for which an inhibition is remembered.
    Evaluations: "integer", 0 to 1_000_000, "the inhibitions are kept in memory, and read at every evaluation";
    /// A number of evaluations, at least one.
    EvaluationNumber: "integer", 1 to 1_000_000, "the first evaluation is number 1";
    /// The number of evaluations between the announcement of an eviction and the eviction.
    Notice: "integer", 1 to 1_000_000, "an eviction is announced, and no run has more evaluations";
    /// The budget of a decision, in inferences.
    Inferences: "integer", 1 to 10_000_000_000_u64, "a decision of that size takes minutes";
    /// The number of records of a trace.
    RecordCount: "integer", 0 to 1_000_000_000_000_u64, "no trace has more";
    /// The number of a tier, from 0 at the top.
    TierNumber: "integer", 0 to 65_535, "tiers are counted in 16 bits";
}
