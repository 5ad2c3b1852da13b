//! Tests parts of the live node, and whole daemons, with real processes and real connections on loopback.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod anchors;
#[path = "../../../report/tests/it/browser.rs"]
#[allow(dead_code, reason = "the tests of the report use more of it")]
mod browser;
mod colony;
mod nodes;

mod crashes;
mod daemons;
mod dashboard;
mod documents;
mod hostile_clients;
mod hostile_policies;
mod ingress_tls;
mod json_schema;
mod limits;
mod load;
mod maintenance;
mod names;
mod neighbours;
mod openapi;
mod owners;
mod previous_version;
mod rerouting;
mod resending;
mod restarts;
mod restored;
mod sleep;
mod strangers;
mod traces;
mod traffic;
mod updates;
mod workloads;
