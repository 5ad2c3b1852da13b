//! The file in which an owner describes an application: its JSON schema, and its errors with their positions.

use schemars::generate::SchemaSettings;

use super::{ApplicationFile, run};
use crate::config::{ConfigError, Positions};
use crate::workloads::WorkloadSettings;

/// The drivers that nodes have.
const DRIVERS: [&str; 2] = ["process", "sample"];

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
    if !DRIVERS.contains(&file.run.driver.as_str()) {
        let message = format!("there is no driver `{}`", file.run.driver.escape_debug());
        let known = "`process` runs a program, and `sample` a small HTTP service inside mario";
        mistakes.push(positions.mistake(&["run", "driver"], message).hint(known));
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
