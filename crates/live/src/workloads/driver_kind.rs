//! The drivers by name.

/// A driver that nodes may have. Configurations and descriptions of applications name it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DriverKind {
    /// Runs a program.
    Process,
    /// Runs the sample service of `mario` itself, as a process.
    Sample,
}

impl DriverKind {
    /// All drivers.
    pub const ALL: [DriverKind; 2] = [DriverKind::Process, DriverKind::Sample];

    /// The driver of a name.
    pub fn of_name(name: &str) -> Option<DriverKind> {
        DriverKind::ALL.into_iter().find(|driver| driver.name() == name)
    }

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            DriverKind::Process => "process",
            DriverKind::Sample => "sample",
        }
    }

    /// What it runs.
    const fn purpose(self) -> &'static str {
        match self {
            DriverKind::Process => "runs a program",
            DriverKind::Sample => "runs a small HTTP service inside mario",
        }
    }

    /// The names of all drivers and what they run, for hints.
    pub fn purposes() -> String {
        DriverKind::ALL.map(|driver| format!("`{}` {}", driver.name(), driver.purpose())).join(", ")
    }

    /// The names of all drivers, for hints.
    pub fn names() -> String {
        DriverKind::ALL.map(|driver| format!("`{}`", driver.name())).join(", ")
    }
}
