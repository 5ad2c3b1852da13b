//! The error type of the deserializer. It translates the messages of serde for users.

use std::error::Error;
use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::mistake::{Mistake, Place};

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// An error that is being propagated. Its path is collected from the innermost step outwards.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) mistake: Box<Mistake>,
    pub(super) path: Vec<Step>,
    /// The missing key, if that is the error.
    pub(super) missing: Option<&'static str>,
    /// The place of the table that directly contains the invalid key or value, if it is known.
    pub(super) table: Option<Place>,
}

impl Trouble {
    pub(super) fn about(mistake: Mistake) -> Trouble {
        Trouble { mistake: Box::new(mistake), path: Vec::new(), missing: None, table: None }
    }

    pub(super) fn located(mut self, place: &Place) -> Trouble {
        self.mistake.place.get_or_insert_with(|| place.clone());
        self
    }

    pub(super) fn below(mut self, step: Step) -> Trouble {
        self.path.push(step);
        self
    }
}

impl de::Error for Trouble {
    fn custom<T: fmt::Display>(message: T) -> Trouble {
        let message = message.to_string();
        // Messages of the types that are read may contain a hint after the separator.
        let mistake = match message.split_once(HINT) {
            Some((message, hint)) => Mistake::new(message).hint(hint),
            None => match remedy(&message) {
                Some(hint) => Mistake::new(message).hint(hint),
                None => Mistake::new(message),
            },
        };
        Trouble::about(mistake)
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Trouble {
        let (expected, hint) = in_words(&expected.to_string());
        let mistake = Mistake::new(format!("expected {expected}, found {}", describe(unexpected)));
        let number = match unexpected {
            Unexpected::Str(text) => text
                .trim()
                .split_once(|character: char| !"0123456789.".contains(character))
                .map_or(Some((text.trim(), true)), |(number, _)| Some((number, false))),
            _ => None,
        };
        Trouble::about(match number {
            _ if expected == "a list" && matches!(unexpected, Unexpected::Map) => {
                mistake.hint("for a list of tables, write the name in two brackets: `[[…]]`")
            }
            Some((number, true)) if !number.is_empty() && expected.contains("number") => {
                mistake.hint(format!("write {number}, without quotes"))
            }
            // The number alone is no remedy: the unit of the text may be another one than that of the key.
            Some((number, false)) if !number.is_empty() && expected.contains("number") => {
                mistake.hint("write a number without quotes and without a unit")
            }
            _ => mistake.hint(hint),
        })
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Trouble {
        Trouble::invalid_type(unexpected, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Trouble {
        let (expected, hint) = in_words(&expected.to_string());
        Trouble::about(Mistake::new(format!("expected {expected}, found {length} of them")).hint(hint))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Trouble {
        let mistake = Mistake::new(format!("`{variant}` is none of the words that are known here"));
        Trouble::about(mistake.known(variant, "known are", expected.iter().copied()))
    }

    fn missing_field(field: &'static str) -> Trouble {
        let mistake = Mistake::new(format!("`{field}` is missing")).hint(format!("add `{field} = …`"));
        Trouble { missing: Some(field), ..Trouble::about(mistake) }
    }
}

/// The separator between a message and its remedy in the text of a custom error.
pub const HINT: &str = "\u{1f}";

/// Translates the name of an expected type, from serde or from the types that are read, for users. Returns the expectation, and a
/// hint on what to write.
fn in_words(expected: &str) -> (String, String) {
    let (words, hint) = match expected {
        "u16" => ("a whole number from 0 to 65535", "write a number such as 8"),
        "u32" => ("a whole number from 0 to 4294967295", "write a number such as 8"),
        "u64" | "usize" => ("a whole number that is not negative", "write a number such as 8"),
        "i64" => ("a whole number", "write a number such as 8"),
        "f64" => ("a number", "write a number such as 0.5"),
        "a number" => ("a number", "write a number such as 40"),
        "a boolean" => ("`true` or `false`", "write `true` or `false`"),
        "a string" => ("a text", "put it in quotes"),
        "a sequence" => ("a list", "put the values in brackets: `[…]`"),
        "a map" => ("a table", "write `{ key = value }`"),
        "an array of length 2" => ("a list of two", "write `[…, …]`"),
        "the value of a fact: a name or a number" => (expected, "write one name or one number: a fact has one value"),
        _ if expected.starts_with("enum ") => ("a table", "write a table with the keys that are known here"),
        "a table" => ("a table", "write a table with the keys that are known here"),
        _ if expected.contains("number") => (expected, "write a number such as 10"),
        _ => (expected, "write one"),
    };
    (words.to_owned(), hint.to_owned())
}

/// The remedy for a message of `mario_domain` or of serde; `None` for other messages.
fn remedy(message: &str) -> Option<&'static str> {
    let remedies = [
        ("the value of a fact is", "write one name or one number: a fact has one value"),
        ("rate or latency", "write a finite number, 0 or more"),
        ("at least one character", "write a name"),
        ("`self`", "choose another id"),
        ("is finite", "write a finite number"),
        ("duplicate field", "write it once"),
        ("is there twice", "write it once"),
        ("no hardware of the kind", "write one of the kinds that are known"),
        ("is a whole number from 0 to", "write a whole number in that range"),
    ];
    remedies.into_iter().find(|(part, _)| message.contains(part)).map(|(_, remedy)| remedy)
}

fn describe(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the number {value}"),
        Unexpected::Signed(value) => format!("the number {value}"),
        Unexpected::Float(value) => format!("the number {value:?}"),
        Unexpected::Str(value) => format!("the text {value:?}"),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mistake.fmt(formatter)
    }
}

impl Error for Trouble {}
