//! Atoms: interned names.
//!
//! [`Symbols`] is shared by programs, machines and hosts. It grows when text is loaded, when a host interns a name, and
//! in a session at a prompt. Atoms created by a *running* policy live in the machine's own [`Atoms`] and are removed
//! before its next query, so a hostile policy cannot grow the shared table.
//!
//! The names of the library's helper predicates, such as `'$divert'`, are atoms of their own: see [`is_internal`]. A text
//! that writes `'$divert'` gets an ordinary atom with the same name, which no helper has. So no text can call a helper.

use rustc_hash::FxHashMap;
use std::sync::{Arc, RwLock};

/// An interned name. Equal names have equal atoms within one [`Symbols`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Atom(pub(crate) u32);

/// A bit that is set in atoms that are local to a query.
const LOCAL: u32 = 1 << 31;

macro_rules! well_known {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)*) => {
        /// Atoms that every table contains, in a fixed order.
        #[allow(missing_docs)]
        pub mod atoms {
            use super::Atom;
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            #[repr(u32)]
            enum Order { $($name),* }
            $(pub const $name: Atom = Atom(Order::$name as u32);)*
            pub(super) const TEXTS: &[&str] = &[$($text),*];
        }
    };
}

well_known! {
    NIL = "[]"; DOT = "."; CURLY = "{}"; COMMA = ","; BAR = "|"; SEMICOLON = ";"; ARROW = "->";
    SOFT_ARROW = "*->"; NOT = "\\+"; NECK = ":-"; QUERY = "?-"; DCG_ARROW = "-->"; CUT = "!";
    COLON = ":"; CARET = "^"; TRUE = "true"; FALSE = "false"; FAIL = "fail"; OTHERWISE = "otherwise";
    CALL = "call"; FINDALL = "findall"; FORALL = "forall"; ONCE = "once";
    IGNORE = "ignore"; AGGREGATE_ALL = "aggregate_all"; COUNT = "count"; SUM = "sum"; MAX = "max";
    MIN = "min"; BAG = "bag"; SET = "set";
    POWER = "**"; MOD = "mod"; REM = "rem"; DIV = "div"; SHIFT_LEFT = "<<"; SHIFT_RIGHT = ">>"; BIT_AND = "/\\";
    BIT_OR = "\\/"; XOR = "xor"; BACKSLASH = "\\"; ABS = "abs"; SIGN = "sign"; GCD = "gcd"; LCM = "lcm"; MSB = "msb";
    LSB = "lsb"; POPCOUNT = "popcount"; GETBIT = "getbit"; POWM = "powm"; SUCC = "succ"; PLUS_NAME = "plus";
    EVAL = "eval"; FLOAT = "float"; INTEGER = "integer"; TRUNCATE = "truncate"; TRUNC = "trunc"; ROUND = "round";
    FLOOR = "floor"; CEILING = "ceiling"; CEIL = "ceil"; FLOAT_INTEGER_PART = "float_integer_part";
    FLOAT_FRACTIONAL_PART = "float_fractional_part"; SQRT = "sqrt"; SIN = "sin"; COS = "cos"; TAN = "tan";
    ASIN = "asin"; ACOS = "acos"; ATAN = "atan"; ATAN2 = "atan2"; SINH = "sinh"; COSH = "cosh"; TANH = "tanh";
    ASINH = "asinh"; ACOSH = "acosh"; ATANH = "atanh"; COT = "cot"; ACOT = "acot"; EXP = "exp"; LOG = "log";
    LOG2 = "log2"; LOG10 = "log10"; COPYSIGN = "copysign"; NEXTTOWARD = "nexttoward"; PI = "pi"; E = "e"; INF = "inf";
    INFINITE = "infinite"; NAN = "nan"; EPSILON = "epsilon"; MAX_TAGGED_INTEGER = "max_tagged_integer";
    MIN_TAGGED_INTEGER = "min_tagged_integer"; MAX_INTEGER = "max_integer"; MIN_INTEGER = "min_integer";
    PLUS = "+"; MINUS = "-"; STAR = "*"; SLASH = "/"; DOUBLE_SLASH = "//"; EQUALS = "=";
    IS = "is"; NUMBER_EQ = "=:=";
    NUMBER_NE = "=\\="; LESS = "<"; LESS_EQ = "=<"; GREATER = ">"; GREATER_EQ = ">=";
    ERROR = "error"; CONTEXT = "context"; TYPE_ERROR = "type_error"; DOMAIN_ERROR = "domain_error";
    EXISTENCE_ERROR = "existence_error"; PERMISSION_ERROR = "permission_error";
    REPRESENTATION_ERROR = "representation_error"; EVALUATION_ERROR = "evaluation_error";
    RESOURCE_ERROR = "resource_error"; INSTANTIATION_ERROR = "instantiation_error";
    UNINSTANTIATION_ERROR = "uninstantiation_error"; SYNTAX_ERROR = "syntax_error";
    PROCEDURE = "procedure"; SYSTEM = "system"; USER = "user"; VAR = "$VAR";
    MODULE = "module"; DYNAMIC = "dynamic"; DISCONTIGUOUS = "discontiguous"; INITIALIZATION = "initialization";
    OP = "op"; SET_PROLOG_FLAG = "set_prolog_flag"; USE_MODULE = "use_module"; CONSULT = "consult";
    ENSURE_LOADED = "ensure_loaded"; INCLUDE = "include"; LIBRARY = "library"; END_OF_FILE = "end_of_file";
    WAKE = "$wake"; RULE = "=>"; GUARDED_RULE = "?=>"; NO_RULE = "$no_rule"; NONVAR = "nonvar"; IDENTICAL = "==";
}

/// Whether a name is that of a helper predicate if the library writes it: `$` and a lowercase letter. (`$VAR` is the
/// same name for all.)
pub(crate) fn is_internal(name: &str) -> bool {
    matches!(name.as_bytes(), [b'$', second, ..] if second.is_ascii_lowercase())
}

/// The shared, append-only table of names.
pub struct Symbols {
    names: boxcar::Vec<Box<str>>,
    index: RwLock<FxHashMap<Box<str>, Atom>>,
    /// The atoms of the language itself and its library, which only [`Symbols::internal`] returns.
    internal: RwLock<FxHashMap<Box<str>, Atom>>,
}

impl Symbols {
    /// A table with only the well-known atoms.
    #[allow(clippy::new_ret_no_self)]
    pub fn new() -> Arc<Symbols> {
        let symbols = Symbols { names: boxcar::Vec::new(), index: RwLock::default(), internal: RwLock::default() };
        for text in atoms::TEXTS {
            symbols.internal(text);
        }
        Arc::new(symbols)
    }

    /// The atom named `name`, created if it does not exist.
    pub fn intern(&self, name: &str) -> Atom {
        self.find(name).unwrap_or_else(|| self.add(&self.index, name))
    }

    /// The atom that the library means by `name`: the same as that of [`Symbols::intern`], except for the names of
    /// helper predicates. Must not be called with a name from outside, such as one in a fact.
    // For `policy`, which adds helper predicates of its own.
    #[doc(hidden)]
    pub fn internal(&self, name: &str) -> Atom {
        if !is_internal(name) {
            return self.intern(name);
        }
        find(&self.internal, name).unwrap_or_else(|| self.add(&self.internal, name))
    }

    fn add(&self, index: &RwLock<FxHashMap<Box<str>, Atom>>, name: &str) -> Atom {
        let mut index = index.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(&atom) = index.get(name) {
            return atom;
        }
        let position = self.names.push(name.into());
        let atom = Atom(u32::try_from(position).expect("fewer than 2^31 names are loaded"));
        index.insert(name.into(), atom);
        atom
    }

    /// Whether this is the atom of a helper predicate.
    pub(crate) fn is_internal(&self, atom: Atom) -> bool {
        let name = self.name(atom);
        is_internal(name) && find(&self.internal, name) == Some(atom)
    }

    /// All names, in order of creation.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(_, name)| &**name)
    }

    /// The atom named `name`, if it exists.
    pub fn find(&self, name: &str) -> Option<Atom> {
        find(&self.index, name)
    }

    /// The name of an atom of this table; empty for an atom that is local to a query.
    pub fn name(&self, atom: Atom) -> &str {
        self.names.get(atom.0 as usize).map_or("", |name| name)
    }
}

fn find(index: &RwLock<FxHashMap<Box<str>, Atom>>, name: &str) -> Option<Atom> {
    index.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(name).copied()
}

/// Memory of a name in bytes. The name is stored in the table and in the index. Both have free slots, and exist twice
/// while they grow.
fn name_bytes(name: &str) -> usize {
    2 * name.len() + 160
}

/// The memory of a local table with more names than this is freed before the next query.
const KEPT_NAMES: usize = 1 << 12;

/// The table for new names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    /// The shared table, for loaded text, its directives, and sessions at a prompt.
    Shared,
    /// Like [`Scope::Shared`], for texts of the library, whose helper predicates have names of their own.
    Library,
    /// A table that belongs to one [`Atoms`], for names that a machine creates while a query runs, and for names in
    /// texts that are only analysed.
    Local,
}

/// A view of the shared table with additional names of a query.
pub(crate) struct Atoms {
    shared: Arc<Symbols>,
    scope: Scope,
    local: Vec<Box<str>>,
    local_index: FxHashMap<Box<str>, Atom>,
    local_bytes: usize,
}

impl Atoms {
    pub(crate) fn new(shared: Arc<Symbols>, scope: Scope) -> Atoms {
        Atoms { shared, scope, local: Vec::new(), local_index: FxHashMap::default(), local_bytes: 0 }
    }

    pub(crate) fn intern(&mut self, name: &str) -> Atom {
        if self.scope == Scope::Library && is_internal(name) {
            return self.shared.internal(name);
        }
        if self.scope != Scope::Local {
            return self.shared.find(name).unwrap_or_else(|| {
                self.local_bytes += name_bytes(name);
                self.shared.intern(name)
            });
        }
        if let Some(&atom) = self.local_index.get(name) {
            return atom;
        }
        if let Some(atom) = self.shared.find(name) {
            return atom;
        }
        let atom = Atom(self.local.len() as u32 | LOCAL);
        self.local.push(name.into());
        self.local_index.insert(name.into(), atom);
        self.local_bytes += name_bytes(name);
        atom
    }

    /// The atom that the library means by `name`: see [`Symbols::internal`].
    pub(crate) fn internal(&self, name: &str) -> Atom {
        self.shared.internal(name)
    }

    /// Whether this is the atom of a helper predicate.
    pub(crate) fn is_internal(&self, atom: Atom) -> bool {
        !Atoms::is_local(atom) && self.shared.is_internal(atom)
    }

    /// Sets the table for new names; returns the previous one.
    pub(crate) fn set_scope(&mut self, scope: Scope) -> Scope {
        std::mem::replace(&mut self.scope, scope)
    }

    /// The number of names in the local table.
    pub(crate) fn made(&self) -> usize {
        self.local.len()
    }

    /// The atom of one character.
    pub(crate) fn character(&mut self, character: char) -> Atom {
        self.intern(character.encode_utf8(&mut [0; 4]))
    }

    pub(crate) fn name(&self, atom: Atom) -> &str {
        if atom.0 & LOCAL == 0 { self.shared.name(atom) } else { &self.local[(atom.0 & !LOCAL) as usize] }
    }

    /// Whether the atom belongs to the running query only.
    pub(crate) fn is_local(atom: Atom) -> bool {
        atom.0 & LOCAL != 0
    }

    /// Bytes of names created by the query in either table; counted against the heap budget.
    pub(crate) fn local_bytes(&self) -> usize {
        self.local_bytes
    }

    /// Removes the local names of the last query, and sets [`Atoms::local_bytes`] to 0.
    pub(crate) fn reset(&mut self) {
        self.local_bytes = 0;
        if self.local.len() > KEPT_NAMES {
            self.local = Vec::new();
            self.local_index = FxHashMap::default();
        } else if !self.local.is_empty() {
            self.local.clear();
            self.local_index.clear();
        }
    }
}
