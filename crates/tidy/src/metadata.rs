//! The packages of the workspace and its dependencies, from `cargo metadata`.

use std::env;
use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// One package of the dependency graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its declared licence, an SPDX expression; `None` if it declares none.
    pub licence: Option<String>,
}

/// Every package that `cargo metadata` lists for all platforms and features, including the crates of the workspace and
/// what only tests and build scripts need.
pub fn packages(root: &Path) -> io::Result<Vec<Package>> {
    let metadata = read(root, &["--locked", "--all-features"])?;
    Ok(array(&metadata["packages"])
        .iter()
        .map(|package| Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: package["license"].as_str().map(str::to_owned),
        })
        .collect())
}

pub(crate) fn read(root: &Path, options: &[&str]) -> io::Result<Value> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output =
        Command::new(cargo).args(["metadata", "--format-version=1"]).args(options).current_dir(root).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr)));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
