//! The policy language: text, terms, compiled program, machine.
