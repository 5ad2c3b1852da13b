//! Reads arrays whose elements depend on earlier ones, element by element, without a tree of JSON values in between.

use serde::Deserialize;
use serde::de::{self, SeqAccess};

/// Implements `Deserialize` for a type that is written as such an array. Type parameters come first, in brackets.
macro_rules! from_array {
    ([$($parameter:ident: $bound:ident),*] $name:ty, $what:literal, $elements:ident => $body:expr) => {
        impl<'de $(, $parameter: $bound)*> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                struct ArrayVisitor<T>(std::marker::PhantomData<T>);
                impl<'de $(, $parameter: $bound)*> serde::de::Visitor<'de> for ArrayVisitor<$name> {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str(concat!($what, ", an array"))
                    }

                    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut $elements: A) -> Result<$name, A::Error> {
                        $body
                    }
                }
                deserializer.deserialize_seq(ArrayVisitor(std::marker::PhantomData::<$name>))
            }
        }
    };
    ($name:ty, $what:literal, $elements:ident => $body:expr) => {
        from_array!([] $name, $what, $elements => $body);
    };
}
pub(crate) use from_array;

/// The next element of an array, which must exist.
pub(crate) fn next<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(elements: &mut A, name: &str) -> Result<T, A::Error> {
    elements.next_element()?.ok_or_else(|| de::Error::custom(format_args!("it ends before its {name}")))
}
