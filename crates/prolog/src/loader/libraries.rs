//! The libraries that a program can request with `use_module(library(Name))`.
//!
//! Their predicates are always available. Requesting a missing library is an error, so that a program fails when it is
//! loaded rather than at its first call of a missing predicate.

/// Libraries of SWI-Prolog whose predicates are available, in alphabetical order.
const LIBRARIES: &[&str] = &[
    "aggregate",
    "apply",
    // In SWI-Prolog, this library makes calls of `maplist/2` and similar predicates faster. Here it has no effect.
    "apply_macros",
    "assoc",
    "coroutining",
    "dcg/basics",
    "dcg/high_order",
    "dif",
    "error",
    "listing",
    "lists",
    "occurs",
    "option",
    "ordsets",
    "pairs",
    "solution_sequences",
    "sort",
    "terms",
    "ugraphs",
    "when",
    "yall",
];

/// Common libraries that are missing, with the reason.
const MISSING: &[(&str, &str)] = &[
    ("backcomp", "it has names that are out of use"),
    ("debug", "of it, `assertion/1` is built in"),
    ("dicts", "there are no dicts here"),
    ("edinburgh", "it has names that are out of use"),
    ("prolog_stack", "a program cannot look at the machine that runs it"),
    ("random", "a program has the same answers each time"),
    ("readutil", "a program cannot read files and streams"),
    ("settings", "a program cannot read and write files"),
    ("system", "a program cannot change the system that runs it"),
    ("tabling", "tabling is not supported"),
    ("thread", "a program has one thread"),
];

/// Whether the predicates of `library(name)` are available.
pub(crate) fn is_library(name: &str) -> bool {
    LIBRARIES.contains(&name)
}

/// Why a library is missing, if known, and the list of available libraries.
pub(super) fn about_missing(name: &str) -> String {
    let why = MISSING.iter().find(|(missing, _)| *missing == name).map(|(_, why)| format!("{why}; "));
    format!("{}these libraries exist: {}", why.unwrap_or_default(), LIBRARIES.join(", "))
}
