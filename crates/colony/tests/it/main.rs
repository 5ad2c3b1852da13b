//! Tests of the public interface.

mod colonies;
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
