//! Tests that the scripts and styles of the pages and the Python package have the operations of the table.

use std::path::Path;

use mario_domain::AgentOperation;
use mario_testing::check_stored;

/// The first line of each file, without the marks of a comment.
const ORIGIN: &str = "Generated from `agent_operations!`: UPDATE_DOCUMENTS=1 cargo test -p mario-domain operations";

/// Compares a file with its expected content, or writes it if `UPDATE_DOCUMENTS` is set.
#[track_caller]
fn check(path: &str, wanted: &str) {
    check_stored(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path), wanted, "UPDATE_DOCUMENTS");
}

#[test]
fn scripts_of_pages_have_every_operation_with_the_kind_of_its_target() {
    let mut text = format!("// {ORIGIN}\n\n");
    text += "/** What the target of each operation of agents is. They are in the order of their codes. */\n";
    text += "const OPERATION_TARGETS = {\n";
    for operation in AgentOperation::ALL {
        let target = match (operation.asks_for_place(), operation.asks_for_flavour()) {
            (true, _) => "\"node\"",
            (false, true) => "\"flavour\"",
            (false, false) => "null",
        };
        text += &format!("  {operation}: {target},\n");
    }
    text += "};\n\n/** @typedef {keyof typeof OPERATION_TARGETS} AgentOperation */\n\n";
    text += "/** The operations by their codes. */\n";
    text += "const OPERATIONS = /** @type {AgentOperation[]} */ (Object.keys(OPERATION_TARGETS));\n";
    check("crates/page/assets/operations.js", &text);
}

/// An operation with a target node is a line, and any other one a ring.
#[test]
fn styles_of_pages_have_the_marks_of_every_operation() {
    let mut text = format!("/* {ORIGIN} */\n");
    for operation in AgentOperation::ALL {
        let (width, key) = if operation.asks_for_place() {
            ("", format!("  border-color: var(--{operation});\n"))
        } else {
            let ring = format!(
                "  width: 9px;\n  height: 9px;\n  border: 2px solid var(--{operation});\n  border-radius: 50%;\n"
            );
            ("  stroke-width: 2.4;\n", ring)
        };
        text += &format!(
            ".judgements li.{operation} {{\n  border-color: var(--{operation});\n}}\n\
             .stage .mark.{operation} {{\n  stroke: var(--{operation});\n{width}}}\n\
             .mark-key.{operation}::before {{\n{key}}}\n"
        );
    }
    check("crates/page/assets/operations.css", &text);
}

#[test]
fn the_python_package_has_every_operation() {
    let list = |name: &str, says: &str, operations: &[AgentOperation]| {
        let lines: Vec<String> = operations.iter().map(|operation| format!("    \"{operation}\",\n")).collect();
        format!("\n#: {says}\n{name} = (\n{})\n", lines.concat())
    };
    let to_nodes: Vec<AgentOperation> = AgentOperation::ALL.into_iter().filter(|one| one.asks_for_place()).collect();
    let text = format!(
        "\"\"\"The operations of agents.\n\n{ORIGIN}\n\"\"\"\n\nfrom __future__ import annotations\n{}{}",
        list("OPERATIONS", "All operations, in the order of their codes.", &AgentOperation::ALL),
        list("TO_NODES", "Those whose target is a node.", &to_nodes),
    );
    check("python/mario_fog/operations.py", &text);
}
