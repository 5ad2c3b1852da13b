//! The settings of a workload for the drivers `process` and `sample`.

use std::collections::BTreeMap;

use crate::seams::Run;

use super::cgroup::CgroupLimits;
use super::driver_kind::DriverKind;

/// The settings of a workload, parsed and checked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WorkloadSettings {
    /// The resource limits of the workload.
    pub limits: CgroupLimits,
    /// Environment variables whose values are passed in private files; the variable `NAME_FILE` then holds the path.
    pub secret_files: Vec<String>,
}

/// What is wrong with the `run` table of an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingFault {
    /// The keys that lead to the wrong value in the table.
    pub path: Vec<String>,
    /// The message.
    pub message: String,
    /// How the owner can fix it, if that is known.
    pub hint: Option<String>,
}

impl SettingFault {
    fn new(path: &[&str], message: impl Into<String>) -> SettingFault {
        SettingFault { path: path.iter().map(|&key| key.to_owned()).collect(), message: message.into(), hint: None }
    }
}

const ARGUMENTS_MAX: usize = 256;
const TEXT_BYTES_MAX: usize = 4096;

impl WorkloadSettings {
    /// Parses and checks the settings and the command of a workload. The error says which is wrong.
    pub fn of(run: &Run) -> Result<WorkloadSettings, SettingFault> {
        let mut settings = WorkloadSettings {
            limits: CgroupLimits {
                memory_bytes: run.memory_bytes_max,
                cpu_milli: run.cpu_millis_max,
                processes_max: None,
                open_files_max: None,
            },
            secret_files: Vec::new(),
        };
        for (key, value) in &run.settings {
            let at = |message: String| SettingFault::new(&["settings", key], message);
            settings.set(run, key, value).map_err(at)?;
        }
        if settings.limits.memory_bytes.is_some_and(|bytes| bytes < 1 << 20) {
            let message = "no workload fits into less than 1 MiB of memory";
            return Err(SettingFault::new(&["memory_bytes_max"], message));
        }
        if settings.limits.cpu_milli == Some(0) {
            let message = "a workload without processor time never starts";
            return Err(SettingFault::new(&["cpu_millis_max"], message));
        }
        check_command(run)?;
        Ok(settings)
    }

    fn set(&mut self, run: &Run, key: &str, value: &str) -> Result<(), String> {
        match key {
            "processes-max" => self.limits.processes_max = Some(number(key, value, 1)?),
            "open-files-max" => self.limits.open_files_max = Some(number(key, value, 16)?),
            "secret-files" => self.secret_files = names(key, value)?,
            // Used by the data plane.
            "protocol" => _ = protocol(&run.settings)?,
            // Settings of the sample service.
            "work-us" | "start-ms" | "answer-bytes" if run.driver == DriverKind::Sample.name() => {
                number(key, value, 0)?;
            }
            _ => return Err(format!("driver `{}` has no setting `{key}`", run.driver)),
        }
        Ok(())
    }
}

/// The protocol that a workload speaks on its port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Protocol {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2 without TLS, with prior knowledge, as gRPC services speak it.
    H2c,
}

/// The protocol that settings name; HTTP/1.1 by default.
pub fn protocol(settings: &BTreeMap<String, String>) -> Result<Protocol, String> {
    match settings.get("protocol").map(String::as_str) {
        None | Some("http1") => Ok(Protocol::Http1),
        Some("h2c") => Ok(Protocol::H2c),
        Some(other) => Err(format!("`protocol` is `http1` or `h2c`, not `{}`", other.escape_debug())),
    }
}

fn check_command(run: &Run) -> Result<(), SettingFault> {
    let wrong = |message: &str| SettingFault::new(&["command"], message);
    if run.driver == DriverKind::Sample.name() {
        return if run.command.is_empty() { Ok(()) } else { Err(wrong("driver `sample` takes no command")) };
    }
    match run.command.first() {
        None => {
            let hint = "write the program's absolute path and its arguments, e.g. command = [\"/usr/bin/python3\", \"/opt/shop.py\"]";
            return Err(SettingFault { hint: Some(hint.to_owned()), ..wrong("driver `process` needs a command") });
        }
        Some(program) if !program.starts_with('/') => {
            let message = format!(
                "`{}` is not an absolute path: no search path is the same on all nodes",
                program.escape_debug()
            );
            let hint = format!(
                "write the path at which it is installed on the nodes, e.g. /usr/bin/{}",
                program.rsplit('/').next().unwrap_or_default().escape_debug()
            );
            let fault = SettingFault::new(&["command", "0"], message);
            return Err(SettingFault { hint: Some(hint), ..fault });
        }
        Some(_) => {}
    }
    let is_fit = |text: &String| text.len() <= TEXT_BYTES_MAX && !text.contains('\0');
    if run.command.len() > ARGUMENTS_MAX || !run.command.iter().all(is_fit) {
        let message =
            format!("a command has at most {ARGUMENTS_MAX} texts of {TEXT_BYTES_MAX} bytes without zero bytes");
        return Err(wrong(&message));
    }
    Ok(())
}

fn number(key: &str, value: &str, least: u64) -> Result<u64, String> {
    match value.parse() {
        Ok(number) if number >= least => Ok(number),
        _ => Err(format!("`{key}` is a whole number of at least {least}, not `{}`", value.escape_debug())),
    }
}

fn names(key: &str, value: &str) -> Result<Vec<String>, String> {
    let is_name = |name: &str| {
        !name.is_empty() && name.len() <= 128 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let names: Vec<String> = value.split(',').map(|name| name.trim().to_owned()).collect();
    if names.len() > 64 || !names.iter().all(|name| is_name(name)) {
        return Err(format!("`{key}` is at most 64 names of variables with commas between them"));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(driver: &str, command: &[&str], settings: &[(&str, &str)]) -> Run {
        Run {
            driver: driver.to_owned(),
            command: command.iter().map(|&text| text.to_owned()).collect(),
            settings: settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
            ..Run::default()
        }
    }

    #[test]
    fn settings_are_read() {
        let run = run(
            "process",
            &["/bin/true"],
            &[("processes-max", "4"), ("secret-files", "A, B_C"), ("protocol", "h2c"), ("open-files-max", "64")],
        );
        let settings = WorkloadSettings::of(&run).unwrap();
        assert_eq!(settings.limits.processes_max, Some(4));
        assert_eq!(settings.limits.open_files_max, Some(64));
        assert_eq!(settings.secret_files, ["A", "B_C"]);
        assert_eq!(protocol(&run.settings), Ok(Protocol::H2c));
    }

    #[test]
    fn errors_name_the_wrong_setting() {
        let cases = [
            (run("process", &["true"], &[]), "`true` is not an absolute path"),
            (run("process", &[], &[]), "needs a command"),
            (run("process", &["/bin/true"], &[("procesess-max", "4")]), "no setting `procesess-max`"),
            (run("process", &["/bin/true"], &[("open-files-max", "4")]), "at least 16, not `4`"),
            (run("process", &["/bin/true"], &[("work-us", "4")]), "no setting `work-us`"),
            (run("process", &["/bin/true"], &[("protocol", "spdy")]), "`http1` or `h2c`, not `spdy`"),
            (run("process", &["/bin/true"], &[("secret-files", "../A")]), "names of variables"),
            (run("process", &["/bin/true", "a\0b"], &[]), "without zero bytes"),
            (run("sample", &["/bin/true"], &[]), "takes no command"),
            (run("sample", &[], &[("work-us", "-1")]), "`work-us` is a whole number"),
            (Run { memory_bytes_max: Some(1000), ..run("process", &["/bin/true"], &[]) }, "1 MiB"),
        ];
        for (run, expected) in cases {
            let problem = WorkloadSettings::of(&run).unwrap_err();
            assert!(problem.message.contains(expected), "{problem:?}");
        }
    }
}
