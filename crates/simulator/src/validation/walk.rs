//! A serde serializer that writes nothing: it passes every number in a value, and every length, to a visitor. Restored
//! checkpoints are validated with it.

use std::fmt;

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
    SerializeTupleVariant, Serializer,
};

/// The location of a number: the innermost struct and its field, or the enum and its variant, or the newtype struct.
/// For a variant with named fields, `container` is the variant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Site {
    pub(super) container: &'static str,
    pub(super) field: &'static str,
    /// If the number is in a newtype struct, the field that has this struct as its value.
    pub(super) holder: &'static str,
}

/// Checks the numbers of a value. Each function returns whether the number is valid.
pub(super) trait Visitor {
    /// A non-negative integer.
    fn natural(&mut self, site: Site, value: u64) -> bool;
    /// A signed integer.
    fn integer(&mut self, site: Site, value: i64) -> bool;
    fn float(&mut self, site: Site, value: f64) -> bool;
    /// The length of a list or map. `depth` is the number of enclosing lists within the same field.
    fn length(&mut self, site: Site, depth: u32, length: usize) -> bool;
}

/// Returns whether all numbers in a value are valid.
pub(super) fn walk(value: &impl Serialize, visitor: &mut impl Visitor) -> bool {
    value.serialize(Walker { visitor, site: Site::default(), depth: 0 }).is_ok()
}

struct Walker<'v, V> {
    visitor: &'v mut V,
    site: Site,
    depth: u32,
}

/// A number or a length in the value is invalid.
#[derive(Debug)]
struct Fault;

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number is out of its range")
    }
}

impl std::error::Error for Fault {}

impl serde::ser::Error for Fault {
    fn custom<T: fmt::Display>(_: T) -> Fault {
        Fault
    }
}

fn judge(may_be: bool) -> Result<(), Fault> {
    if may_be { Ok(()) } else { Err(Fault) }
}

impl<V: Visitor> Walker<'_, V> {
    fn again(&mut self, value: &(impl Serialize + ?Sized), depth: u32) -> Result<(), Fault> {
        value.serialize(Walker { visitor: &mut *self.visitor, site: self.site, depth })
    }

    fn within(&mut self, value: &(impl Serialize + ?Sized), field: &'static str) -> Result<(), Fault> {
        let site = Site { container: self.site.container, field, holder: "" };
        value.serialize(Walker { visitor: &mut *self.visitor, site, depth: 0 })
    }

    fn entering(self, container: &'static str, field: &'static str) -> Self {
        Walker { site: Site { container, field, holder: self.site.field }, depth: 0, ..self }
    }
}

macro_rules! naturals {
    ($($name:ident $type:ty),*) => { $(
        fn $name(self, value: $type) -> Result<(), Fault> {
            judge(self.visitor.natural(self.site, u64::from(value)))
        }
    )* };
}

macro_rules! integers {
    ($($name:ident $type:ty),*) => { $(
        fn $name(self, value: $type) -> Result<(), Fault> {
            judge(self.visitor.integer(self.site, i64::from(value)))
        }
    )* };
}

impl<V: Visitor> Serializer for Walker<'_, V> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    naturals! { serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64 }
    integers! { serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64 }

    // The state of a random generator: any value is valid.
    fn serialize_u128(self, _: u128) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_i128(self, _: i128) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Fault> {
        judge(self.visitor.float(self.site, f64::from(value)))
    }

    fn serialize_f64(self, value: f64) -> Result<(), Fault> {
        judge(self.visitor.float(self.site, value))
    }

    fn serialize_bool(self, _: bool) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_char(self, _: char) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_str(self, _: &str) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<(), Fault> {
        value.serialize(self.entering(name, ""))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        value.serialize(self.entering(name, variant))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Fault> {
        judge(self.visitor.length(self.site, self.depth, length.unwrap_or(0)))?;
        Ok(Walker { depth: self.depth + 1, ..self })
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Fault> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Self, Fault> {
        Ok(self.entering(name, ""))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self, Fault> {
        Ok(self.entering(name, variant))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, Fault> {
        self.serialize_seq(length)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Self, Fault> {
        Ok(self.entering(name, ""))
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Self, Fault> {
        Ok(self.entering(variant, ""))
    }

    // Some types, such as ids, have a human-readable and a binary form. Checkpoints have the binary one.
    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! elements {
    ($($trait:ident $function:ident),*) => { $(
        impl<V: Visitor> $trait for Walker<'_, V> {
            type Ok = ();
            type Error = Fault;

            fn $function<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                self.again(value, self.depth)
            }

            fn end(self) -> Result<(), Fault> {
                Ok(())
            }
        }
    )* };
}

elements! {
    SerializeSeq serialize_element, SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field
}

impl<V: Visitor> SerializeMap for Walker<'_, V> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        self.again(key, self.depth)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.again(value, self.depth)
    }

    fn end(self) -> Result<(), Fault> {
        Ok(())
    }
}

macro_rules! fields {
    ($($trait:ident),*) => { $(
        impl<V: Visitor> $trait for Walker<'_, V> {
            type Ok = ();
            type Error = Fault;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, field: &'static str, value: &T) -> Result<(), Fault> {
                self.within(value, field)
            }

            fn end(self) -> Result<(), Fault> {
                Ok(())
            }
        }
    )* };
}

fields! { SerializeStruct, SerializeStructVariant }
