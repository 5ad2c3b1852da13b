//! The shipped scenarios.

use std::path::PathBuf;

use mario_settings::Text;

const PRESETS: [(&str, &str); 4] = [
    ("paper", include_str!("../../../scenarios/paper.toml")),
    ("prototype", include_str!("../../../scenarios/prototype.toml")),
    ("city", include_str!("../../../scenarios/city.toml")),
    ("shop", include_str!("../../../scenarios/shop.toml")),
];

/// The names of all presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

pub(crate) fn text(name: &str) -> Option<Text> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(name, text)| Text {
        name: format!("preset {name}"),
        text: (*text).to_owned(),
        directory: PathBuf::new(),
    })
}

/// The users of the paper's experiment, listed as attachments.
pub(crate) fn recorded_users() -> Text {
    Text {
        name: "recorded users".to_owned(),
        text: include_str!("../../../scenarios/recorded-users.json").to_owned(),
        directory: PathBuf::new(),
    }
}

/// A commented scenario file as a starting point for a new one.
pub const fn starting_text() -> &'static str {
    include_str!("../../../scenarios/new.toml")
}
