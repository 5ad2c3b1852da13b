//! Independent checks over traces.
