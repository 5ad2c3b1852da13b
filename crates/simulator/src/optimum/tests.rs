//! The objective on small worlds, and searches against a search through everything.
