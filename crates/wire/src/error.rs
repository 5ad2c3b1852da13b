//! Errors of decoding and encoding, with the path to the field in which they occurred.

use std::error::Error;
use std::fmt;

/// Why bytes could not be decoded as a message, a record or a ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecodeError {
    pub(crate) path: FieldPath,
    pub(crate) problem: Problem,
}

/// Why a message, a record or a ledger cannot be encoded: a value exceeds its bound, or a number is not finite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncodeError {
    pub(crate) path: FieldPath,
    pub(crate) problem: Problem,
}

/// The path of fields to a value, innermost first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FieldPath(Vec<&'static str>);

/// What is wrong with a value.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes end inside a value.
    Truncated,
    /// A number has more than 64 bits, or is too large for its field.
    NumberTooLarge {
        /// The largest value of the field.
        max: u64,
    },
    /// The field has a different wire type than expected.
    WrongContent,
    /// A wire type that no field has, such as a group.
    UnknownContent {
        /// The wire type.
        wire_type: u8,
    },
    /// A required field is missing, or no alternative is set.
    Missing,
    /// A field that may occur only once occurs twice, or two alternatives are set.
    Twice,
    /// A field or a frame has more bytes than allowed.
    TooLong {
        /// The size in bytes.
        bytes: usize,
        /// The maximum size in bytes.
        bytes_max: usize,
    },
    /// A list has more entries than allowed.
    TooMany {
        /// The maximum number of entries.
        entries_max: usize,
    },
    /// A text is not UTF-8.
    NotText,
    /// A name is empty, or the name of a node is `self`.
    NotAnId,
    /// A number is infinite or NaN, or a quantity such as a rate or a latency limit is negative.
    NotAQuantity,
    /// An alternative that this version does not know.
    UnknownAlternative {
        /// The number of its field, or its code if it is a constant.
        number: u32,
    },
    /// A journal record or a ledger has a field that this version does not know.
    UnknownField {
        /// Its number.
        number: u32,
    },
    /// A journal record or a ledger has a format that this version does not know.
    UnknownFormat {
        /// The format that was read.
        format: u64,
        /// The newest format that this version knows.
        format_max: u64,
    },
}

impl DecodeError {
    pub(crate) fn inside(mut self, field: &'static str) -> DecodeError {
        self.path.0.push(field);
        self
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Whether the bytes may be valid in a newer version: they contain an unknown alternative, field or format. Any
    /// other error means that they are malformed, or that a value exceeds its bound.
    pub fn is_newer(&self) -> bool {
        matches!(
            self.problem,
            Problem::UnknownAlternative { .. } | Problem::UnknownField { .. } | Problem::UnknownFormat { .. }
        )
    }
}

impl EncodeError {
    pub(crate) fn inside(mut self, field: &'static str) -> EncodeError {
        self.path.0.push(field);
        self
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl From<Problem> for DecodeError {
    fn from(problem: Problem) -> DecodeError {
        DecodeError { path: FieldPath::default(), problem }
    }
}

impl From<Problem> for EncodeError {
    fn from(problem: Problem) -> EncodeError {
        EncodeError { path: FieldPath::default(), problem }
    }
}

impl fmt::Display for FieldPath {
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
        write!(formatter, "cannot read {}: {}", self.path, self.problem)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot write {}: {}", self.path, self.problem)
    }
}

impl Error for DecodeError {}
impl Error for EncodeError {}
