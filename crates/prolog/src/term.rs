//! Machine words that represent Prolog terms.
//!
//! The low three bits are the tag, which determines the meaning of the rest:
//!
//! | tag       | payload                                                        |
//! |-----------|----------------------------------------------------------------|
//! | `REF`     | address of a variable cell; unbound if the cell refers to itself |
//! | `ATT`     | address of an attributed variable cell; the next cell holds its suspended goals |
//! | `STR`     | address of a functor cell followed by the arguments            |
//! | `LIS`     | address of two cells, head and tail                            |
//! | `ATM`     | atom id                                                        |
//! | `INT`     | integer of 61 bits, sign included                              |
//! | `BOX`     | address of a box header followed by raw words (float, big integer, string) |
//! | `HDR`     | functor or box header; not a term                  |
//!
//! Addresses are indices into one [`Store`](crate::store::Store) or, in a
//! [`StoredTerm`](crate::stored::StoredTerm), into its own block.

use crate::symbols::Atom;
use serde::{Deserialize, Serialize};

/// The tag in the low bits of a [`Term`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Tag {
    Ref = 0,
    Att = 1,
    Str = 2,
    Lis = 3,
    Atm = 4,
    Int = 5,
    Box = 6,
    Hdr = 7,
}

const TAGS: [Tag; 8] = [Tag::Ref, Tag::Att, Tag::Str, Tag::Lis, Tag::Atm, Tag::Int, Tag::Box, Tag::Hdr];

/// A Prolog term: a copyable handle. Its other cells, if any, are in the store or block in which it was created.
///
/// A handle stays valid until the machine backtracks past its creation, collects garbage or is reset. Reading it later
/// may return an arbitrary term or panic, but is never undefined behaviour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Term(pub(crate) u64);

/// Largest integer that fits in a word; larger ones are boxed.
pub(crate) const SMALL_MAX: i64 = (1 << 60) - 1;
/// Smallest integer that fits in a word.
pub(crate) const SMALL_MIN: i64 = -(1 << 60);

impl Term {
    #[inline(always)]
    pub(crate) const fn new(tag: Tag, payload: u64) -> Term {
        Term(payload << 3 | tag as u64)
    }

    #[inline(always)]
    pub(crate) fn tag(self) -> Tag {
        TAGS[(self.0 & 7) as usize]
    }

    #[inline(always)]
    pub(crate) const fn has_tag(self, tag: Tag) -> bool {
        self.0 & 7 == tag as u64
    }

    /// The payload of the word, as an address.
    #[inline(always)]
    pub(crate) const fn address(self) -> usize {
        (self.0 >> 3) as usize
    }

    #[inline(always)]
    pub(crate) const fn reference(address: usize) -> Term {
        Term::new(Tag::Ref, address as u64)
    }

    #[inline(always)]
    pub(crate) const fn attributed(address: usize) -> Term {
        Term::new(Tag::Att, address as u64)
    }

    #[inline(always)]
    pub(crate) const fn structure(address: usize) -> Term {
        Term::new(Tag::Str, address as u64)
    }

    #[inline(always)]
    pub(crate) const fn list(address: usize) -> Term {
        Term::new(Tag::Lis, address as u64)
    }

    #[inline(always)]
    pub(crate) const fn boxed(address: usize) -> Term {
        Term::new(Tag::Box, address as u64)
    }

    /// The term for an atom.
    #[inline(always)]
    pub const fn atom(atom: Atom) -> Term {
        Term::new(Tag::Atm, atom.0 as u64)
    }

    /// The atom, if the word is one.
    #[inline(always)]
    pub(crate) const fn as_atom(self) -> Option<Atom> {
        if self.has_tag(Tag::Atm) { Some(Atom((self.0 >> 3) as u32)) } else { None }
    }

    /// An integer that is known to fit in a word.
    #[inline(always)]
    pub(crate) const fn small(value: i64) -> Term {
        Term((value << 3) as u64 | Tag::Int as u64)
    }

    /// The integer in a word tagged `INT`.
    #[inline(always)]
    pub(crate) const fn small_value(self) -> i64 {
        (self.0 as i64) >> 3
    }

    #[inline(always)]
    pub(crate) const fn fits_small(value: i64) -> bool {
        value >= SMALL_MIN && value <= SMALL_MAX
    }

    /// Whether the word is a variable, attributed or not; unbound if the word is dereferenced.
    #[inline(always)]
    pub(crate) const fn is_variable(self) -> bool {
        self.0 & 6 == 0
    }

    /// Whether the word contains an address in a store or block.
    #[inline(always)]
    pub(crate) fn is_pointer(self) -> bool {
        !matches!(self.tag(), Tag::Atm | Tag::Int | Tag::Hdr)
    }

    /// The same word with its address moved by `offset` cells.
    #[inline(always)]
    pub(crate) const fn relocated(self, offset: usize) -> Term {
        Term(self.0.wrapping_add((offset as u64) << 3))
    }

    /// The empty list.
    pub const NIL: Term = Term::atom(crate::symbols::atoms::NIL);
}

/// Name and arity of a compound term, as stored in its header cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Functor(pub(crate) u64);

/// Largest arity a compound term may have.
pub(crate) const MAX_ARITY: usize = (1 << 27) - 1;

impl Functor {
    /// `name/arity`. The arity must be below 2^27.
    #[inline(always)]
    pub const fn new(name: Atom, arity: usize) -> Functor {
        debug_assert!(arity <= MAX_ARITY);
        Functor((name.0 as u64) << 32 | (arity as u64) << 4 | Tag::Hdr as u64)
    }

    /// The name.
    #[inline(always)]
    pub const fn name(self) -> Atom {
        Atom((self.0 >> 32) as u32)
    }

    /// The number of arguments.
    #[inline(always)]
    pub const fn arity(self) -> usize {
        ((self.0 >> 4) & (MAX_ARITY as u64)) as usize
    }

    /// The header cell.
    #[inline(always)]
    pub(crate) const fn header(self) -> Term {
        Term(self.0)
    }
}

/// The kind of value in a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum BoxKind {
    /// One raw word: the bits of an `f64`.
    Float = 0,
    /// Little-endian 64-bit digits of the magnitude of a non-negative integer.
    BigPositive = 1,
    /// Little-endian 64-bit digits of the magnitude of a negative integer.
    BigNegative = 2,
    /// UTF-8 bytes, packed eight to a word; the header holds the byte length.
    Text = 3,
}

/// Header of a box: kind, and length in words (for text: in bytes).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BoxHeader(u64);

impl BoxHeader {
    /// Bit 3 distinguishes a box header from a functor.
    const IS_BOX: u64 = 8;

    #[inline(always)]
    pub(crate) const fn new(kind: BoxKind, length: usize) -> BoxHeader {
        BoxHeader((length as u64) << 8 | (kind as u64) << 4 | Self::IS_BOX | Tag::Hdr as u64)
    }

    #[inline(always)]
    pub(crate) const fn read(word: Term) -> BoxHeader {
        BoxHeader(word.0)
    }

    #[inline(always)]
    pub(crate) const fn word(self) -> Term {
        Term(self.0)
    }

    #[inline(always)]
    pub(crate) const fn is_box_header(word: Term) -> bool {
        word.0 & 15 == Self::IS_BOX | Tag::Hdr as u64
    }

    pub(crate) const fn kind(self) -> BoxKind {
        match (self.0 >> 4) & 3 {
            0 => BoxKind::Float,
            1 => BoxKind::BigPositive,
            2 => BoxKind::BigNegative,
            _ => BoxKind::Text,
        }
    }

    /// The length that was passed to [`BoxHeader::new`].
    pub(crate) const fn length(self) -> usize {
        (self.0 >> 8) as usize
    }

    /// The number of raw words after the header.
    #[inline(always)]
    pub(crate) const fn words(self) -> usize {
        match self.kind() {
            BoxKind::Text => self.length().div_ceil(8),
            _ => self.length(),
        }
    }
}
