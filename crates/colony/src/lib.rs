//! The rules of one node.
