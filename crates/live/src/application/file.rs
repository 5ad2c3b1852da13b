//! The file in which an owner describes an application: its JSON schema, and its errors with their positions.

use schemars::generate::SchemaSettings;

use super::{ApplicationFile, run};
use crate::config::{ConfigError, Positions};
use crate::workloads::{DriverKind, WorkloadSettings};

/// The JSON schema of an application's description, generated from [`ApplicationFile`].
pub fn schema_text() -> String {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<ApplicationFile>();
    let mut text = serde_json::to_string_pretty(&schema.to_value()).expect("a schema is plain data");
    text.push('\n');
    text
}

/// Parses the description of an application. The errors include those that would otherwise show only when a node starts
/// a copy, such as a command without an absolute path.
pub fn read(name: &str, text: &str) -> Result<ApplicationFile, ConfigError> {
    let positions = Positions::new(text);
    let hint = "docs/applications.md and `mario app schema` describe the keys of this file";
    let file: ApplicationFile = toml::from_str(text).map_err(|error| positions.unreadable(name, &error, hint))?;
    let mut mistakes = Vec::new();
    if DriverKind::of_name(&file.run.driver).is_none() {
        let message = format!("there is no driver `{}`", file.run.driver.escape_debug());
        mistakes.push(positions.mistake(&["run", "driver"], message).hint(DriverKind::purposes()));
    } else if let Some(run) = positions.keep(&mut mistakes, &["run"], run(file.run.clone()))
        && let Err(fault) = WorkloadSettings::of(&run)
    {
        let path: Vec<&str> = std::iter::once("run").chain(fault.path.iter().map(String::as_str)).collect();
        let mistake = positions.mistake(&path, fault.message);
        mistakes.push(match fault.hint {
            Some(hint) => mistake.hint(hint),
            None => mistake,
        });
    }
    if mistakes.is_empty() { Ok(file) } else { Err(positions.error(name, mistakes)) }
}
