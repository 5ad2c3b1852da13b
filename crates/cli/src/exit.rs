//! Determines the exit code of the process.

use std::process::ExitCode;

use crate::Failure;

/// The outcome of a command that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what was asked.
    Done,
    /// It was asked to check something, and the check failed.
    CheckFailed,
    /// It ran a program that chose its own status with `halt/1`.
    Halted(i32),
}

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command did what was asked.
    Success,
    /// The command performed a check that failed, or ran a program that chose a status that programs may not choose.
    CheckFailed,
    /// The user's input is at fault.
    Input,
    /// The environment is at fault.
    Environment,
    /// mario is at fault.
    Bug,
    /// The command was interrupted.
    Interrupted,
    /// A program that mario ran chose the code; see [`Exit::of_program`].
    Halted(u8),
}

impl Exit {
    /// All exits that mario itself chooses, in ascending order of their codes.
    pub const ALL: [Self; 6] =
        [Self::Success, Self::CheckFailed, Self::Input, Self::Environment, Self::Bug, Self::Interrupted];

    /// Returns the exit for a program that chose `status`; `None` if programs may not choose it.
    ///
    /// Programs may choose 0 to 125, as in shells: 126 and 127 mean that a command could not be run, higher codes mean
    /// signals, and codes above 255 do not exist. 101 is excluded because it means a bug in mario.
    pub const fn of_program(status: i32) -> Option<Self> {
        match status {
            0..=125 if status != Self::Bug.code() as i32 => Some(Self::Halted(status as u8)),
            _ => None,
        }
    }

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::CheckFailed => 1,
            Self::Input => 2,
            Self::Environment => 3,
            // The code of a Rust process that panicked.
            Self::Bug => 101,
            // The code that shells report for a process ended by SIGINT.
            Self::Interrupted => 130,
            Self::Halted(status) => status,
        }
    }

    /// The meaning of the code, for the help.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::CheckFailed => "a check failed",
            Self::Input => {
                "the input is at fault: arguments, files, a policy in `mario policy` or `mario audit` that raises an exception or exhausts its budget"
            }
            Self::Environment => "the environment is at fault: permissions, a full disk",
            Self::Bug => "a bug in mario",
            Self::Interrupted => "interrupted",
            Self::Halted(_) => "the program that was run chose it",
        }
    }
}

impl From<&Result<Outcome, Failure>> for Exit {
    fn from(result: &Result<Outcome, Failure>) -> Self {
        match result {
            // A reader that closes the output, such as `head`, has seen enough. That is not a failure.
            Ok(Outcome::Done) | Err(Failure::OutputClosed) => Self::Success,
            Ok(Outcome::CheckFailed) => Self::CheckFailed,
            Ok(Outcome::Halted(status)) => Self::of_program(*status).unwrap_or(Self::CheckFailed),
            Err(Failure::Input(_)) => Self::Input,
            Err(Failure::Environment(_)) => Self::Environment,
            Err(Failure::Interrupted(_)) => Self::Interrupted,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_documented_exit_code() {
        let cases = [
            (Ok(Outcome::Done), 0),
            (Ok(Outcome::CheckFailed), 1),
            (Ok(Outcome::Halted(0)), 0),
            (Ok(Outcome::Halted(7)), 7),
            (Ok(Outcome::Halted(100)), 100),
            (Ok(Outcome::Halted(101)), 1),
            (Ok(Outcome::Halted(125)), 125),
            (Ok(Outcome::Halted(126)), 1),
            (Ok(Outcome::Halted(130)), 1),
            (Ok(Outcome::Halted(255)), 1),
            (Ok(Outcome::Halted(256)), 1),
            (Ok(Outcome::Halted(-1)), 1),
            (Ok(Outcome::Halted(i32::MIN)), 1),
            (Ok(Outcome::Halted(i32::MAX)), 1),
            (Err(Failure::Input(Vec::new())), 2),
            (Err(Failure::Environment(Vec::new())), 3),
            (Err(Failure::Interrupted(Vec::new())), 130),
            (Err(Failure::OutputClosed), 0),
        ];
        for (result, code) in cases {
            assert_eq!(Exit::from(&result).code(), code, "{result:?}");
        }
        assert_eq!(Exit::ALL.map(Exit::code), [0, 1, 2, 3, 101, 130]);
    }
}
