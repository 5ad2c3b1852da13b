//! A serde deserializer for trees. Its errors have a place in the text.
//!
//! serde stops at the first error. To find more, the invalid value is removed from the tree and the tree is read again,
//! until there are no more errors or a limit is reached.

mod trouble;

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::mistake::{MISTAKES_MAX, Mistake, Place};
use crate::tree::{Node, Table, Value};
use trouble::{Step, Trouble};

pub use trouble::HINT;

/// What messages about unknown keys know beside the keys themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vocabulary {
    /// Keys that are called differently in another table, each with the other name.
    pub synonyms: &'static [(&'static str, &'static str)],
    /// Keys of the outermost table that are not part of the settings.
    pub outer_keys: &'static [&'static str],
}

/// The key that states the kind of a table.
pub const KIND: &str = "kind";

/// The serde name of enums whose tables must state their kind. Tables of other enums have the first kind by default.
const KIND_REQUIRED: &str = "kind is required";

/// The search for errors reads at most about this number of values. After each error, it reads the tree again from the
/// start.
const VALUES_MAX: usize = 10_000_000;

/// Reads a tree, or returns its errors, up to a limit. `whole` is the place of errors about the tree as a whole.
pub fn read<T: DeserializeOwned>(tree: &Table, whole: &Place, vocabulary: Vocabulary) -> Result<T, Vec<Mistake>> {
    let mut tree = Node { place: whole.clone(), key_place: None, layer: 0, value: Value::Table(tree.clone()) };
    let mut mistakes = Vec::new();
    let mistakes_max = (VALUES_MAX / count(&tree)).clamp(1, MISTAKES_MAX);
    // The removed keys, each with the place of its table.
    let mut taken_out: Vec<(Place, Step)> = Vec::new();
    loop {
        match T::deserialize(Reader { node: &tree, section: "", fields: None, vocabulary }) {
            Ok(value) if mistakes.is_empty() => return Ok(value),
            Ok(_) => return Err(mistakes),
            Err(trouble) => {
                let path: Vec<Step> = trouble.path.iter().rev().cloned().collect();
                let is_removed = remove(&mut tree, &path);
                // A key that was removed because of an error must not be reported as missing.
                let is_reported = trouble.missing.is_some_and(|key| {
                    taken_out.iter().any(|(table, taken): &(Place, Step)| {
                        Some(table) == trouble.mistake.place.as_ref() && *taken == Step::Key(key.to_owned())
                    })
                });
                if !is_reported {
                    mistakes.push(*trouble.mistake);
                }
                if mistakes.len() >= mistakes_max {
                    mistakes.push(
                        Mistake::new(format!("after {} mistakes no more were looked for", mistakes.len()))
                            .hint("mend those that were found, and check it again"),
                    );
                    return Err(mistakes);
                }
                if !is_removed {
                    return Err(mistakes);
                }
                if let (Some(table), Some(step)) = (trouble.table, path.last()) {
                    taken_out.push((table, step.clone()));
                }
            }
        }
    }
}

/// The number of values in a tree, including its root.
fn count(node: &Node) -> usize {
    match &node.value {
        Value::Table(table) => 1 + table.entries.iter().map(|(_, node)| count(node)).sum::<usize>(),
        Value::List(elements) => 1 + elements.iter().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// Removes the value at a path. Returns whether there was one.
fn remove(node: &mut Node, path: &[Step]) -> bool {
    let (Some(step), rest) = (path.first(), path.get(1..).unwrap_or_default()) else { return false };
    match (&mut node.value, step) {
        (Value::Table(table), Step::Key(key)) => match table.get_mut(key) {
            Some(below) if !rest.is_empty() => remove(below, rest),
            _ => table.remove(key).is_some(),
        },
        (Value::List(elements), Step::Index(index)) => match elements.get_mut(*index) {
            Some(below) if !rest.is_empty() => remove(below, rest),
            Some(_) => {
                elements.remove(*index);
                true
            }
            None => false,
        },
        _ => false,
    }
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    node: &'a Node,
    /// The key of this value, or of the list that contains it; empty for the root.
    section: &'a str,
    /// The kind of the table, and the number of the layer that set it, which is 0 for the default kind; `None` if the
    /// table has no kinds.
    fields: Option<(&'a str, u32)>,
    vocabulary: Vocabulary,
}

impl<'a> Reader<'a> {
    fn entries(&self, table: &'a Table, known: Option<&'static [&'static str]>) -> Result<Entries<'a>, Trouble> {
        let mut entries = Vec::with_capacity(table.entries.len());
        for (key, node) in &table.entries {
            if self.fields.is_some() && key == KIND {
                continue;
            }
            if let Some(known) = known
                && !known.contains(&key.as_str())
            {
                // The key is from an earlier layer than the kind, so it may belong to another kind and is ignored.
                if self.fields.is_some_and(|(_, layer)| node.layer < layer) {
                    continue;
                }
                return Err(self.unknown_key(key, node, known));
            }
            entries.push((key.as_str(), node));
        }
        Ok(Entries {
            rest: entries.into_iter(),
            value: None,
            table: self.node.place.clone(),
            vocabulary: self.vocabulary,
        })
    }

    fn unknown_key(&self, key: &str, node: &Node, known: &'static [&'static str]) -> Trouble {
        let mut message = format!("unknown key `{key}`");
        if !self.section.is_empty() {
            message += &format!(" in `{}`", self.section);
        }
        if let Some((kind, _)) = self.fields {
            message += &format!(" of kind `{kind}`");
        }
        let place = node.key_place.as_ref().unwrap_or(&node.place);
        let mistake = Mistake::new(message).at(Some(place.clone()));
        let synonym = self.vocabulary.synonyms.iter().find(|(wrong, right)| *wrong == key && known.contains(right));
        let mistake = if let Some((_, meant)) = synonym {
            mistake.hint(format!("did you mean `{meant}`?"))
        } else if self.section.is_empty() {
            mistake.known(key, "known are", known.iter().copied().chain(self.vocabulary.outer_keys.iter().copied()))
        } else {
            mistake.known(key, "known are", known.iter().copied())
        };
        Trouble {
            path: vec![Step::Key(key.to_owned())],
            table: Some(self.node.place.clone()),
            ..Trouble::about(mistake)
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Trouble;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        let result = match &self.node.value {
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(*value),
            },
            Value::Large(digits) => Err(Trouble::custom(format!(
                "the number {digits} has more than 64 bits{HINT}write a number nearer to 0"
            ))),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::String(value) => visitor.visit_str(value),
            Value::Datetime(value) => {
                Err(Trouble::invalid_type(Unexpected::Other(&format!("the date {value}")), &visitor))
            }
            Value::List(elements) => {
                let (section, vocabulary) = (self.section, self.vocabulary);
                visitor.visit_seq(Elements { rest: elements.iter(), section, next: 0, vocabulary })
            }
            Value::Table(table) => visitor.visit_map(self.entries(table, None)?),
        };
        result.map_err(|trouble| trouble.located(&self.node.place))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Trouble> {
        match &self.node.value {
            Value::Table(table) => {
                let entries = self.entries(table, Some(fields))?;
                visitor.visit_map(entries).map_err(|trouble| {
                    // A missing key is reported at the start of its table.
                    trouble.located(&self.node.place)
                })
            }
            // Not passed to `visitor`, because a derived visitor would also accept a list of the fields in order.
            _ => self.deserialize_any(OnlyTable(visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Trouble> {
        match &self.node.value {
            Value::String(word) if name == KIND_REQUIRED || name == KIND => {
                Err(Trouble::invalid_type(Unexpected::Str(word), &"a table").located(&self.node.place))
            }
            Value::String(word) if !variants.contains(&word.as_str()) => {
                let mistake =
                    Mistake::new(format!("`{word}` is not a `{}`", self.section)).at(Some(self.node.place.clone()));
                Err(Trouble::about(mistake.known(word, "known are", variants.iter().copied())))
            }
            Value::String(word) => {
                visitor.visit_enum(Word { word }).map_err(|trouble| trouble.located(&self.node.place))
            }
            Value::Table(table) => {
                // A table without a kind has the first kind, unless a kind is required.
                let (kind, layer, place) = match table.get(KIND) {
                    None if name == KIND_REQUIRED => {
                        let mistake = Mistake::new(format!("`{KIND}` is missing")).at(Some(self.node.place.clone()));
                        let words = variants.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
                        let mistake = mistake.hint(format!("add `{KIND} = …`: one of {words}"));
                        return Err(Trouble::about(mistake));
                    }
                    None => (variants.first().copied().unwrap_or_default(), 0, &self.node.place),
                    Some(Node { value: Value::String(kind), layer, place, .. }) => (kind.as_str(), *layer, place),
                    Some(node) => {
                        let message = format!("`{KIND}` is a text, not {}", node.value.describe());
                        let mistake = Mistake::new(message).at(Some(node.place.clone()));
                        let mistake = mistake.known("", "known are", variants.iter().copied());
                        return Err(Trouble::about(mistake));
                    }
                };
                if !variants.contains(&kind) {
                    let mistake = Mistake::new(format!("`{kind}` is not a kind of `{}`", self.section));
                    let mistake = mistake.at(Some(place.clone())).known(kind, "kinds", variants.iter().copied());
                    return Err(Trouble::about(mistake));
                }
                visitor.visit_enum(Kind { kind, reader: Reader { fields: Some((kind, layer)), ..self } })
            }
            _ if name == KIND_REQUIRED || name == KIND => self.deserialize_any(OnlyTable(visitor)),
            other => {
                let mistake = Mistake::new(format!("`{}` is a word, not {}", self.section, other.describe()));
                let mistake = mistake.at(Some(self.node.place.clone()));
                Err(Trouble::about(mistake.known("", "known are", variants.iter().copied())))
            }
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// Rejects every scalar or list with an error that says that a table is expected.
struct OnlyTable<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for OnlyTable<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table")
    }
}

struct Entries<'a> {
    rest: std::vec::IntoIter<(&'a str, &'a Node)>,
    value: Option<(&'a str, &'a Node)>,
    /// The place of the table.
    table: Place,
    vocabulary: Vocabulary,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Trouble;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Trouble> {
        self.value = self.rest.next();
        let Some((key, node)) = self.value else { return Ok(None) };
        let place = node.key_place.as_ref().unwrap_or(&node.place);
        let key_reader: StrDeserializer<'_, Trouble> = key.into_deserializer();
        match seed.deserialize(key_reader) {
            Ok(value) => Ok(Some(value)),
            Err(trouble) => Err(trouble.located(place).below(Step::Key(key.to_owned()))),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Trouble> {
        let (key, node) = self.value.take().ok_or_else(|| Trouble::custom("a value without a key"))?;
        let vocabulary = self.vocabulary;
        seed.deserialize(Reader { node, section: key, fields: None, vocabulary }).map_err(|mut trouble| {
            if trouble.path.is_empty() {
                trouble.table = Some(self.table.clone());
            }
            trouble.located(&node.place).below(Step::Key(key.to_owned()))
        })
    }
}

struct Elements<'a> {
    rest: std::slice::Iter<'a, Node>,
    section: &'a str,
    next: usize,
    vocabulary: Vocabulary,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Trouble;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Trouble> {
        let Some(node) = self.rest.next() else { return Ok(None) };
        let step = Step::Index(self.next);
        self.next += 1;
        seed.deserialize(Reader { node, section: self.section, fields: None, vocabulary: self.vocabulary })
            .map(Some)
            .map_err(|trouble| trouble.located(&node.place).below(step))
    }
}

/// An enum variant that is written as a word.
struct Word<'a> {
    word: &'a str,
}

impl<'de> EnumAccess<'de> for Word<'_> {
    type Error = Trouble;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Trouble> {
        let word: StrDeserializer<'_, Trouble> = self.word.into_deserializer();
        Ok((seed.deserialize(word)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'_> {
    type Error = Trouble;

    fn unit_variant(self) -> Result<(), Trouble> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Trouble> {
        Err(Trouble::custom(format!("expected a table, found the text {:?}", self.word)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Trouble> {
        Err(Trouble::invalid_type(Unexpected::Str(self.word), &visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Trouble> {
        Err(Trouble::invalid_type(Unexpected::Str(self.word), &visitor))
    }
}

/// An enum variant that is written as a table with a kind.
struct Kind<'a> {
    kind: &'a str,
    reader: Reader<'a>,
}

impl<'de> EnumAccess<'de> for Kind<'_> {
    type Error = Trouble;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Trouble> {
        let kind: StrDeserializer<'_, Trouble> = self.kind.into_deserializer();
        Ok((seed.deserialize(kind)?, self))
    }
}

impl<'de> VariantAccess<'de> for Kind<'_> {
    type Error = Trouble;

    fn unit_variant(self) -> Result<(), Trouble> {
        match &self.reader.node.value {
            Value::Table(table) => self.reader.entries(table, Some(&[])).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Trouble> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Trouble> {
        self.reader.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Trouble> {
        self.reader.deserialize_struct("", fields, visitor)
    }
}
