//! Errors of decoding and encoding, each with the field in which it occurred.

use std::error::Error;
use std::fmt;

/// Why bytes are not a message or a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecodeError {
    pub(crate) place: Place,
    pub(crate) problem: Problem,
}

/// Why a message or a record cannot be written: it exceeds a bound that its reader enforces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncodeError {
    pub(crate) place: Place,
    pub(crate) problem: Problem,
}

/// The path of fields to a value, innermost first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place(Vec<&'static str>);

/// A problem of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes end inside a value.
    Truncated,
    /// A number has more than 64 bits, or is outside the range of its field.
    NumberTooLarge {
        /// The largest value of the field.
        max: u64,
    },
    /// The field's content has another wire type than expected.
    WrongContent,
    /// A wire type that no field has, such as a group.
    UnknownContent {
        /// The wire type.
        wire_type: u8,
    },
    /// A required field is missing.
    Missing,
    /// A singular field occurs twice.
    Twice,
    /// More bytes than the field may have.
    TooLong {
        /// The size in bytes.
        bytes: usize,
        /// The maximum that is allowed.
        bytes_max: usize,
    },
    /// More entries than the list may have.
    TooMany {
        /// The maximum that is allowed.
        entries_max: usize,
    },
    /// A text is not UTF-8.
    NotText,
    /// A name is empty, or `self` where a node is meant.
    NotAnId,
    /// A number of a fact, a rate or a latency is infinite, NaN, or negative.
    NotAQuantity,
    /// An alternative that this version does not know.
    UnknownAlternative {
        /// The number of its field.
        number: u32,
    },
    /// A field that this version does not know, in a record of the journal.
    UnknownField {
        /// Its number.
        number: u32,
    },
    /// A record of the journal in a format that this version does not know.
    UnknownFormat {
        /// The format of the record.
        format: u64,
        /// The newest format that this version knows.
        format_max: u64,
    },
}

impl DecodeError {
    pub(crate) fn inside(mut self, field: &'static str) -> DecodeError {
        self.place.0.push(field);
        self
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Whether the bytes may be valid in a newer version. Such a message is dropped; any other error means that the
    /// neighbour does not speak the protocol, and its session is closed.
    pub fn is_newer(&self) -> bool {
        matches!(
            self.problem,
            Problem::UnknownAlternative { .. } | Problem::UnknownField { .. } | Problem::UnknownFormat { .. }
        )
    }
}

impl EncodeError {
    pub(crate) fn inside(mut self, field: &'static str) -> EncodeError {
        self.place.0.push(field);
        self
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl From<Problem> for DecodeError {
    fn from(problem: Problem) -> DecodeError {
        DecodeError { place: Place::default(), problem }
    }
}

impl From<Problem> for EncodeError {
    fn from(problem: Problem) -> EncodeError {
        EncodeError { place: Place::default(), problem }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("the whole");
        }
        formatter.write_str("`")?;
        for (position, field) in self.0.iter().rev().enumerate() {
            formatter.write_str(if position == 0 { "" } else { "." })?;
            formatter.write_str(field)?;
        }
        formatter.write_str("`")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Truncated => formatter.write_str("the bytes end inside a value"),
            Problem::NumberTooLarge { max } => write!(formatter, "the number is larger than {max}"),
            Problem::WrongContent => formatter.write_str("the content is of another sort than that of the field"),
            Problem::UnknownContent { wire_type } => write!(formatter, "no field has content of sort {wire_type}"),
            Problem::Missing => formatter.write_str("it is missing"),
            Problem::Twice => formatter.write_str("it is there twice"),
            Problem::TooLong { bytes, bytes_max } => {
                write!(formatter, "it has {bytes} bytes, and at most {bytes_max} are allowed")
            }
            Problem::TooMany { entries_max } => write!(formatter, "it has more than {entries_max} entries"),
            Problem::NotText => formatter.write_str("it is not UTF-8"),
            Problem::NotAnId => formatter.write_str("it is empty or reserved, and cannot be an id"),
            Problem::NotAQuantity => formatter.write_str("it is negative, infinite or not a number"),
            Problem::UnknownAlternative { number } => {
                write!(formatter, "alternative {number} is unknown to this version")
            }
            Problem::UnknownField { number } => write!(formatter, "field {number} is unknown to this version"),
            Problem::UnknownFormat { format, format_max } => {
                write!(formatter, "it is in format {format}, and this version reads formats up to {format_max}")
            }
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot read {}: {}", self.place, self.problem)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot write {}: {}", self.place, self.problem)
    }
}

impl Error for DecodeError {}
impl Error for EncodeError {}
