//! Parses TOML into a tree in which every value has its place in the text.
//!
//! Layers are merged in this form, so that an error in the result still points into the file that caused it.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::mistake::{MISTAKES_MAX, Mistake, Place, Text};

/// A value and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The place of the value.
    pub place: Place,
    /// The place of its key; `None` if it has no key, like an element of a list.
    pub key_place: Option<Place>,
    /// The number of the layer that set the value. Later layers have higher numbers.
    pub layer: u32,
    /// The value.
    pub value: Value,
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// An integer outside of the range of `i64`, as written.
    Large(String),
    /// Any other number.
    Float(f64),
    /// A text.
    String(String),
    /// A date or a time, as written.
    Datetime(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// A table, which keeps the order of its keys.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    /// The keys, each with its value.
    pub entries: Vec<(String, Node)>,
}

/// One step of a path to a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At<'a> {
    /// A key of a table.
    Key(&'a str),
    /// A position in a list, from 0.
    Index(usize),
}

impl<'a> From<&'a str> for At<'a> {
    fn from(key: &'a str) -> At<'a> {
        At::Key(key)
    }
}

impl From<usize> for At<'_> {
    fn from(index: usize) -> Self {
        At::Index(index)
    }
}

impl Table {
    /// The value at a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, node)| node)
    }

    /// The table at a key; `None` if there is no value, or a value that is not a table.
    pub fn table(&self, key: &str) -> Option<&Table> {
        match self.get(key) {
            Some(Node { value: Value::Table(table), .. }) => Some(table),
            _ => None,
        }
    }

    /// The value at a key, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|(known, _)| known == key).map(|(_, node)| node)
    }

    /// Removes a key. Returns its value, if there was one.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let position = self.entries.iter().position(|(known, _)| known == key)?;
        Some(self.entries.remove(position).1)
    }

    /// The value at a path of keys and list positions. If it is not written, its nearest ancestor that is; `None` if
    /// there is none.
    pub fn nearest(&self, path: &[At<'_>]) -> Option<&Node> {
        let At::Key(first) = path.first()? else { return None };
        let mut node = self.get(first)?;
        for step in &path[1..] {
            let next = match (&node.value, step) {
                (Value::Table(table), At::Key(key)) => table.get(key),
                (Value::List(elements), At::Index(index)) => elements.get(*index),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        Some(node)
    }
}

impl Value {
    /// A description of the value for a message.
    pub fn describe(&self) -> String {
        match self {
            Value::Boolean(value) => format!("`{value}`"),
            Value::Integer(value) => format!("the number {value}"),
            Value::Large(digits) => format!("the number {digits}"),
            Value::Float(value) => format!("the number {value:?}"),
            Value::String(value) => format!("the text {value:?}"),
            Value::Datetime(value) => format!("the date {value}"),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }
}

/// The parser's message for a duplicate key.
const DUPLICATE: &str = "duplicate key";

/// Parses TOML and returns the parts without errors. Adds the first [`MISTAKES_MAX`] errors to `mistakes`, and one
/// error with the number of the others.
pub fn parse(text: &Arc<Text>, layer: u32, mistakes: &mut Vec<Mistake>) -> Table {
    let (table, errors) = DeTable::parse_recoverable(&text.text);
    // If the first error is not a duplicate key, duplicate keys are not reported: the parser may have misread the text.
    let is_first_or_own = |(index, error): &(usize, &toml::de::Error)| *index == 0 || error.message() != DUPLICATE;
    let errors: Vec<&toml::de::Error> = match errors.first() {
        Some(first) if first.message() != DUPLICATE => {
            errors.iter().enumerate().filter(is_first_or_own).map(|(_, error)| error).collect()
        }
        _ => errors.iter().collect(),
    };
    mistakes.extend(errors.iter().take(MISTAKES_MAX).map(|error| syntax_mistake(text, 0, error)));
    if let Some(next) = errors.get(MISTAKES_MAX) {
        let message =
            format!("this is not TOML in {} more places, of which this is the first", errors.len() - MISTAKES_MAX);
        let mistake = syntax_mistake(text, 0, next);
        mistakes.push(Mistake { message, ..mistake }.hint("mend those before first: one mistake often causes others"));
    }
    Reader { text, layer, offset: 0 }.table(table.into_inner())
}

/// Parses the text from `offset` to its end as one TOML value.
pub fn parse_value(text: &Arc<Text>, offset: usize, layer: u32) -> Result<Node, Mistake> {
    let value = DeValue::parse(&text.text[offset..]).map_err(|error| syntax_mistake(text, offset, &error))?;
    Ok(Reader { text, layer, offset }.node(value, None))
}

fn syntax_mistake(text: &Arc<Text>, offset: usize, error: &toml::de::Error) -> Mistake {
    let span = error.span().unwrap_or(0..0);
    let message = error.message().trim().replace('\n', ", ");
    let place = Place { text: Arc::clone(text), span: span.start + offset..span.end + offset };
    Mistake::new(format!("this is not TOML: {message}")).at(Some(place)).hint(match message.as_str() {
        DUPLICATE => "write each key once",
        _ => "look for a missing quote, bracket or `=` here",
    })
}

struct Reader<'a> {
    text: &'a Arc<Text>,
    layer: u32,
    offset: usize,
}

impl Reader<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        Place { text: Arc::clone(self.text), span: span.start + self.offset..span.end + self.offset }
    }

    fn table(&self, table: DeTable<'_>) -> Table {
        let mut entries: Vec<(String, Node)> = Vec::with_capacity(table.len());
        for (key, value) in table {
            let key_place = self.place(key.span());
            entries.push((key.into_inner().into_owned(), self.node(value, Some(key_place))));
        }
        // The parser sorts keys alphabetically; users expect the order in which they wrote them.
        entries.sort_by_key(|(_, node)| node.key_place.as_ref().map_or(0, |place| place.span.start));
        Table { entries }
    }

    fn list(&self, list: DeArray<'_>) -> Vec<Node> {
        list.into_iter().map(|value| self.node(value, None)).collect()
    }

    fn node(&self, value: Spanned<DeValue<'_>>, key_place: Option<Place>) -> Node {
        let place = self.place(value.span());
        let value = match value.into_inner() {
            DeValue::Boolean(value) => Value::Boolean(value),
            DeValue::Integer(value) => match i64::from_str_radix(value.as_str(), value.radix()) {
                Ok(value) => Value::Integer(value),
                Err(_) => Value::Large(value.as_str().to_owned()),
            },
            DeValue::Float(value) => Value::Float(value.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::String(value) => Value::String(value.into_owned()),
            DeValue::Datetime(value) => Value::Datetime(value.to_string()),
            DeValue::Array(list) => Value::List(self.list(list)),
            DeValue::Table(table) => Value::Table(self.table(table)),
        };
        Node { place, key_place, layer: self.layer, value }
    }
}
