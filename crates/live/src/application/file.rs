//! The file in which an owner describes an application: its JSON schema, and its errors with their places.

use std::path::Path;
use std::sync::OnceLock;

use mario_settings::{At, File};
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{ApplicationFile, run};
use crate::config::{ConfigError, keep};
use crate::workloads::{DriverKind, WorkloadSettings};

/// The JSON schema of an application's description, generated from [`ApplicationFile`] at the first call.
fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<ApplicationFile>().to_value()
    })
}

/// The JSON schema of an application's description as text, for editors and for programs that write such files.
pub fn schema_text() -> String {
    let mut text = serde_json::to_string_pretty(schema()).expect("a schema is plain data");
    text.push('\n');
    text
}

/// Parses the description of an application. The errors include those that would otherwise show only when a node starts
/// a copy, such as a command without an absolute path.
pub fn read(name: &str, text: &str) -> Result<ApplicationFile, ConfigError> {
    let source = File::parse(name, text, Path::new(""));
    let file: ApplicationFile = source.read(schema()).map_err(|mistakes| ConfigError::new(name, mistakes))?;
    let mut mistakes = Vec::new();
    if DriverKind::of_name(&file.run.driver).is_none() {
        let message = format!("there is no driver `{}`", file.run.driver.escape_debug());
        mistakes.push(source.mistake(&["run".into(), "driver".into()], message).hint(DriverKind::purposes()));
    } else if let Some(run) = keep(&source, &["run".into()], run(file.run.clone()), &mut mistakes)
        && let Err(fault) = WorkloadSettings::of(&run)
    {
        let steps = fault.path.iter().map(|step| step.parse().map_or(At::Key(step), At::Index));
        let path: Vec<At<'_>> = std::iter::once(At::Key("run")).chain(steps).collect();
        let mistake = source.mistake(&path, fault.message);
        mistakes.push(match fault.hint {
            Some(hint) => mistake.hint(hint),
            None => mistake,
        });
    }
    if mistakes.is_empty() { Ok(file) } else { Err(ConfigError::new(name, mistakes)) }
}
