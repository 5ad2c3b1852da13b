//! The libraries that a program can ask for with `use_module(library(Name))`.
//!
//! Their predicates are there without being asked for. Asking for a library that is missing is an error, so that a program does not
//! start whose first call of one of its predicates would fail.

/// Libraries of SWI-Prolog whose predicates are there, in the order of the alphabet.
const LIBRARIES: &[&str] = &[
    "aggregate",
    "apply",
    // An optimisation of calls that are compiled here anyway.
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

/// Libraries that other programs may rightly expect, and why they cannot be had.
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

/// Whether the predicates of `library(name)` are there.
pub(crate) fn is_library(name: &str) -> bool {
    LIBRARIES.contains(&name)
}

/// Why a library is missing, if that is known, and what there is instead.
pub(super) fn about_missing(name: &str) -> String {
    let why = MISSING.iter().find(|(missing, _)| *missing == name).map(|(_, why)| format!("{why}; "));
    format!("{}these libraries exist: {}", why.unwrap_or_default(), LIBRARIES.join(", "))
}
