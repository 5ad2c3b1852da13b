//! Derives the encoder, decoder and documentation of each type from one table.
//!
//! A row of a table has the number of a field, its name, its type, its presence, and the codec of its content:
//!
//! ```text
//! message! { Label { 1 sequence: u64 = Required(Unsigned), 2 metric: u32 = Required(Unsigned) } }
//! ```
//!
//! `message!` is for structs. `alternatives!` is for enums, which are encoded as a message in which exactly one field
//! is set. If a type gains a field or a variant, its table does not compile until a row is added for it.

mod codecs;

use std::sync::Arc;

use crate::error::{DecodeError, EncodeError, Problem};
use crate::raw::{Content, Fields};

pub(crate) use codecs::{
    Bits128, Double, Excerpt, Flag, Nested, Octets, Signed, Text, Unsigned, Word, read_text, write_text,
};

/// How fields with unknown numbers are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unknown {
    /// Skipped, because a neighbour of a newer version may send more fields.
    Skip,
    /// Rejected, because a journal must be understood completely.
    Refuse,
}

/// A type that is encoded as a message, and can describe itself in `docs/wire.md`.
pub(crate) trait Schema: Sized {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError>;
    fn read(fields: Fields<'_>, unknown: Unknown) -> Result<Self, DecodeError>;
    /// Adds the table of the type, and those that it refers to, to the page. Returns the table's name.
    fn describe(page: &mut Page) -> &'static str;
}

/// Encodes and decodes a value as the content of one field.
pub(crate) trait Codec<T> {
    fn write(&self, number: u32, value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError>;
    fn read(&self, content: Content<'_>, unknown: Unknown) -> Result<T, DecodeError>;
    fn describe(&self, page: &mut Page) -> String;
}

/// Whether a field is required, and how often it may occur.
pub(crate) trait Presence<F> {
    type Slot: Default;
    fn write(&self, number: u32, field: &F, out: &mut Vec<u8>) -> Result<(), EncodeError>;
    fn take(&self, slot: &mut Self::Slot, content: Content<'_>, unknown: Unknown) -> Result<(), DecodeError>;
    fn finish(&self, slot: Self::Slot) -> Result<F, Problem>;
    fn describe(&self, page: &mut Page) -> (String, String);
}

/// An empty slot, in which the values of a field are collected.
pub(crate) fn slot<F, P: Presence<F>>(_: &P) -> P::Slot {
    P::Slot::default()
}

/// A field that occurs exactly once.
pub(crate) struct Required<C>(pub(crate) C);

/// A field that occurs at most once.
pub(crate) struct Optional<C>(pub(crate) C);

/// A field that is omitted if it has the default value, and otherwise occurs once.
pub(crate) struct OrDefault<C>(pub(crate) C);

/// A field that occurs once for each entry of a list, up to a maximum number of entries.
pub(crate) struct List<C>(pub(crate) C, pub(crate) usize);

impl<T, C: Codec<T>> Presence<T> for Required<C> {
    type Slot = Option<T>;

    fn write(&self, number: u32, field: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.0.write(number, field, out)
    }

    fn take(&self, slot: &mut Option<T>, content: Content<'_>, unknown: Unknown) -> Result<(), DecodeError> {
        take_once(&self.0, slot, content, unknown)
    }

    fn finish(&self, slot: Option<T>) -> Result<T, Problem> {
        slot.ok_or(Problem::Missing)
    }

    fn describe(&self, page: &mut Page) -> (String, String) {
        ("required".to_owned(), self.0.describe(page))
    }
}

impl<T, C: Codec<T>> Presence<Option<T>> for Optional<C> {
    type Slot = Option<T>;

    fn write(&self, number: u32, field: &Option<T>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        field.as_ref().map_or(Ok(()), |value| self.0.write(number, value, out))
    }

    fn take(&self, slot: &mut Option<T>, content: Content<'_>, unknown: Unknown) -> Result<(), DecodeError> {
        take_once(&self.0, slot, content, unknown)
    }

    fn finish(&self, slot: Option<T>) -> Result<Option<T>, Problem> {
        Ok(slot)
    }

    fn describe(&self, page: &mut Page) -> (String, String) {
        ("optional".to_owned(), self.0.describe(page))
    }
}

impl<T: Default + PartialEq, C: Codec<T>> Presence<T> for OrDefault<C> {
    type Slot = Option<T>;

    fn write(&self, number: u32, field: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if *field == T::default() { Ok(()) } else { self.0.write(number, field, out) }
    }

    fn take(&self, slot: &mut Option<T>, content: Content<'_>, unknown: Unknown) -> Result<(), DecodeError> {
        take_once(&self.0, slot, content, unknown)
    }

    fn finish(&self, slot: Option<T>) -> Result<T, Problem> {
        Ok(slot.unwrap_or_default())
    }

    fn describe(&self, page: &mut Page) -> (String, String) {
        ("optional".to_owned(), self.0.describe(page))
    }
}

impl<T, C: Codec<T>> Presence<Vec<T>> for List<C> {
    type Slot = Vec<T>;

    fn write(&self, number: u32, field: &Vec<T>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if field.len() > self.1 {
            return Err(Problem::TooMany { entries_max: self.1 }.into());
        }
        field.iter().try_for_each(|value| self.0.write(number, value, out))
    }

    fn take(&self, slot: &mut Vec<T>, content: Content<'_>, unknown: Unknown) -> Result<(), DecodeError> {
        if slot.len() == self.1 {
            return Err(Problem::TooMany { entries_max: self.1 }.into());
        }
        slot.push(self.0.read(content, unknown)?);
        Ok(())
    }

    fn finish(&self, slot: Vec<T>) -> Result<Vec<T>, Problem> {
        Ok(slot)
    }

    fn describe(&self, page: &mut Page) -> (String, String) {
        (format!("list, at most {}", self.1), self.0.describe(page))
    }
}

fn take_once<T>(
    codec: &impl Codec<T>,
    slot: &mut Option<T>,
    content: Content<'_>,
    unknown: Unknown,
) -> Result<(), DecodeError> {
    if slot.is_some() {
        return Err(Problem::Twice.into());
    }
    *slot = Some(codec.read(content, unknown)?);
    Ok(())
}

impl<T: Schema> Schema for Arc<T> {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        T::write(self, out)
    }

    fn read(fields: Fields<'_>, unknown: Unknown) -> Result<Arc<T>, DecodeError> {
        T::read(fields, unknown).map(Arc::new)
    }

    fn describe(page: &mut Page) -> &'static str {
        T::describe(page)
    }
}

/// The tables that were added so far, for the documentation.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) tables: Vec<Table>,
}

/// The table of one type.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) is_choice: bool,
    pub(crate) rows: Vec<Row>,
}

/// One field: number, name, presence and content.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) number: u32,
    pub(crate) name: String,
    pub(crate) presence: String,
    pub(crate) content: String,
}

impl Page {
    /// Adds a table, unless there is one with this name. The new table precedes those that `rows` adds.
    pub(crate) fn add(&mut self, name: &'static str, is_choice: bool, rows: impl FnOnce(&mut Page) -> Vec<Row>) {
        if self.tables.iter().any(|table| table.name == name) {
            return;
        }
        let place = self.tables.len();
        self.tables.push(Table { name, is_choice, rows: Vec::new() });
        let mut rows = rows(self);
        rows.sort_by_key(|row| row.number);
        self.tables[place].rows = rows;
    }
}

/// Describes one field.
pub(crate) fn row<F>(number: u32, name: &str, presence: &impl Presence<F>, page: &mut Page) -> Row {
    let (presence, content) = presence.describe(page);
    Row { number, name: name.to_owned(), presence, content }
}

impl Unknown {
    /// Returns an error for the unknown field `number`, unless unknown fields are skipped.
    pub(crate) fn meets(self, number: u32) -> Result<(), Problem> {
        match self {
            Unknown::Skip => Ok(()),
            Unknown::Refuse => Err(Problem::UnknownField { number }),
        }
    }
}

/// Writes the fields of a struct or of an alternative, each of which must be bound to a variable of the same name.
macro_rules! write_fields {
    ($out:ident, $($number:literal $field:ident: $kind:ty = $presence:expr),*) => {{
        $(
            Presence::<$kind>::write(&$presence, $number, $field, $out).map_err(|error| error.inside(stringify!($field)))?;
        )*
        Ok(())
    }};
}

/// Reads the fields of a struct or of an alternative.
macro_rules! read_fields {
    ($fields:ident, $unknown:ident, [$($made:tt)*] $($number:literal $field:ident: $kind:ty = $presence:expr),*) => {{
        let mut fields: Fields<'_> = $fields;
        $( let mut $field = slot::<$kind, _>(&$presence); )*
        while let Some((number, content)) = fields.next()? {
            match number {
                $( $number => Presence::<$kind>::take(&$presence, &mut $field, content, $unknown)
                    .map_err(|error| error.inside(stringify!($field)))?, )*
                _ => {
                    let _: Content<'_> = content;
                    $unknown.meets(number)?;
                }
            }
        }
        Ok($($made)* {
            $( $field: Presence::<$kind>::finish(&$presence, $field)
                .map_err(|problem| DecodeError::from(problem).inside(stringify!($field)))?, )*
        })
    }};
}

/// The table of a struct.
macro_rules! message {
    ($type:ident { $($number:literal $field:ident: $kind:ty = $presence:expr),* $(,)? }) => {
        impl Schema for $type {
            fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                let $type { $($field),* } = self;
                write_fields!(out, $($number $field: $kind = $presence),*)
            }

            fn read(fields: Fields<'_>, unknown: Unknown) -> Result<$type, DecodeError> {
                read_fields!(fields, unknown, [$type] $($number $field: $kind = $presence),*)
            }

            fn describe(page: &mut Page) -> &'static str {
                page.add(stringify!($type), false, |page| {
                    vec![$( row::<$kind>($number, stringify!($field), &$presence, page) ),*]
                });
                stringify!($type)
            }
        }
    };
}

/// The table of an enum: exactly one of the fields is set. Alternatives with one value are listed under `values`; those
/// with named fields, or without fields, under `fields`.
macro_rules! alternatives {
    ($type:ident {
        values { $($value_number:literal $value_name:ident: $value_variant:ident($value_kind:ty) = $codec:expr),* $(,)? }
        fields { $($number:literal $name:ident: $variant:ident {
            $($field_number:literal $field:ident: $kind:ty = $presence:expr),* $(,)?
        }),* $(,)? }
    }) => {
        impl Schema for $type {
            fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                match self {
                    $( $type::$value_variant(value) => {
                        Codec::<$value_kind>::write(&$codec, $value_number, value, out)
                            .map_err(|error| error.inside(stringify!($value_name)))
                    } )*
                    $( $type::$variant { $($field),* } => {
                        let write = |_out: &mut Vec<u8>| -> Result<(), EncodeError> {
                            write_fields!(_out, $($field_number $field: $kind = $presence),*)
                        };
                        put_nested(out, $number, write).map_err(|error| error.inside(stringify!($name)))
                    } )*
                }
            }

            fn read(mut fields: Fields<'_>, unknown: Unknown) -> Result<$type, DecodeError> {
                let (mut found, mut newer) = (None, None);
                while let Some((number, content)) = fields.next()? {
                    let (name, read): (&'static str, Result<$type, DecodeError>) = match number {
                        $( $value_number => (stringify!($value_name),
                            Codec::<$value_kind>::read(&$codec, content, unknown).map($type::$value_variant)), )*
                        $( $number => (stringify!($name), (|| {
                            let Content::Bytes(bytes) = content else { return Err(Problem::WrongContent.into()) };
                            let fields = Fields::new(bytes);
                            read_fields!(fields, unknown, [$type::$variant]
                                $($field_number $field: $kind = $presence),*)
                        })()), )*
                        number => {
                            newer = Some(number);
                            continue;
                        }
                    };
                    let read = read.map_err(|error| error.inside(name))?;
                    if found.replace(read).is_some() {
                        return Err(DecodeError::from(Problem::Twice).inside(name));
                    }
                }
                match (found, newer) {
                    (Some(found), None) => Ok(found),
                    (_, Some(number)) => Err(Problem::UnknownAlternative { number }.into()),
                    (None, None) => Err(Problem::Missing.into()),
                }
            }

            fn describe(page: &mut Page) -> &'static str {
                page.add(stringify!($type), true, |page| vec![
                    $( row::<$value_kind>($value_number, stringify!($value_name), &Required($codec), page), )*
                    $( {
                        let inner: Vec<Row> = vec![
                            $( row::<$kind>($field_number, stringify!($field), &$presence, page) ),*
                        ];
                        Row::inline($number, stringify!($name), &inner)
                    } ),*
                ]);
                stringify!($type)
            }
        }
    };
}

pub(crate) use {alternatives, message, read_fields, write_fields};

impl Row {
    /// The row of an alternative with named fields or without fields.
    pub(crate) fn inline(number: u32, name: &str, rows: &[Row]) -> Row {
        let field = |row: &Row| format!("{} {}: {} ({})", row.number, row.name, row.content, row.presence);
        let content = match rows {
            [] => "empty message".to_owned(),
            _ => format!("message of {}", rows.iter().map(field).collect::<Vec<String>>().join("; ")),
        };
        Row { number, name: name.to_owned(), presence: String::new(), content }
    }
}
