//! Tests of the public interface.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod anchors;
mod colonies;
mod confirmation;
mod hostile;
mod judging;
mod operators;
mod owners;
mod pair;
mod recovery;
mod routing;
mod sleep;
mod strangers;
mod transfers;
