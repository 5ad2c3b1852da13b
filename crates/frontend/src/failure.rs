//! Why a command could not do its work, and who can fix it.

use std::io;

use crate::hints::Diagnostic;

/// Why a command could not do its work.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The user can fix it: the arguments, or the files that the arguments name, are wrong.
    Input(Vec<Diagnostic>),
    /// The environment is at fault: the input may be right, but a file or a device fails.
    Environment(Vec<Diagnostic>),
    /// The command was interrupted.
    Interrupted(Vec<Diagnostic>),
    /// The process that reads standard output has closed it; there is nothing to report.
    OutputClosed,
}

impl Failure {
    /// One problem with the input.
    pub fn input(diagnostic: Diagnostic) -> Self {
        Self::Input(vec![diagnostic])
    }

    /// A failed operation on a file that the user named. `title` names the operation and the file, and must start with
    /// `cannot write` or `cannot make` for an output. The kind of `error` decides whether the input or the environment
    /// is at fault.
    pub fn file(title: impl Into<String>, error: &io::Error) -> Self {
        let title = title.into();
        let is_output = ["cannot write", "cannot make"].iter().any(|attempt| title.starts_with(attempt));
        let diagnostic = Diagnostic::error(title).caused_by(error);
        match error.kind() {
            io::ErrorKind::NotFound if is_output => {
                Self::input(diagnostic.hint("make the directory that it is to be in first, or name another place"))
            }
            io::ErrorKind::NotFound => Self::input(diagnostic.hint("check the path")),
            io::ErrorKind::PermissionDenied if is_output => {
                Self::Environment(vec![diagnostic.hint("you may not write there: name another place")])
            }
            io::ErrorKind::PermissionDenied => Self::Environment(vec![diagnostic.hint("you may not read it")]),
            io::ErrorKind::IsADirectory => Self::input(diagnostic.hint("name a file, not a directory")),
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                Self::input(diagnostic.hint("name a directory, not a file"))
            }
            io::ErrorKind::UnexpectedEof => Self::input(diagnostic.hint("the file ends too early: is it complete?")),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidData => {
                Self::input(diagnostic)
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Environment(vec![diagnostic.hint("make room, or name a place on another disk")])
            }
            io::ErrorKind::FileTooLarge => Self::Environment(vec![
                diagnostic.hint("raise the limit of `ulimit -f`, or name a place on another disk"),
            ]),
            _ => Self::Environment(vec![diagnostic]),
        }
    }

    /// The diagnostics to show to the user.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Input(diagnostics) | Self::Environment(diagnostics) | Self::Interrupted(diagnostics) => diagnostics,
            Self::OutputClosed => &[],
        }
    }
}
