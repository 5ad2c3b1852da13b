//! Tests that `docs/policies.md` lists the facts of the table.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use mario_domain::{DefinedBy, FactPredicate, SeenBy};
use mario_testing::{check_stored, replaced_part};

const BEGIN: &str = "<!-- facts -->\n";
const END: &str = "<!-- end of facts -->";

/// The facts with their aliases, as a table.
fn table() -> String {
    let mut text = "\n| fact | arguments | seen by | a text may define it |\n|---|---|---|---|\n".to_owned();
    for own in FactPredicate::ALL.into_iter().filter(|predicate| predicate.own() == *predicate) {
        let aliases = FactPredicate::ALL.into_iter().filter(|other| *other != own && other.own() == own);
        let names: Vec<String> = std::iter::once(own).chain(aliases).map(|name| format!("`{name}`")).collect();
        let seen_by = match own.row().seen_by {
            SeenBy::Agents => "agents",
            SeenBy::Managers => "managers",
            SeenBy::Both => "both",
        };
        let may_define = match own.row().defined_by {
            DefinedBy::Host => "no",
            DefinedBy::HostUnlessPolicy => "yes",
        };
        writeln!(text, "| {} | {} | {seen_by} | {may_define} |", names.join(", "), own.row().says).expect("a string");
    }
    text.push('\n');
    text
}

#[test]
fn the_page_about_policies_lists_every_fact() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policies.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    check_stored(&path, &replaced_part(&page, BEGIN, END, &table()), "UPDATE_DOCUMENTS");
}
