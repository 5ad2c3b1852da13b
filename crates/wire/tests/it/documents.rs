//! Tests that `docs/wire.md` has the tables that are derived from the code.

use std::fs;
use std::path::Path;

use mario_testing::{check_stored, replaced_part};
use mario_wire::{bounds_table, schema_tables};

/// Replaces the text between the comments `<!-- mark -->` and `<!-- end of mark -->`.
fn replaced(text: &str, mark: &str, content: &str) -> String {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
    replaced_part(text, &begin, &end, &format!("\n{content}\n"))
}

#[test]
fn the_page_has_the_tables_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/wire.md");
    let found = fs::read_to_string(&path).expect("the page is there");
    let wanted = replaced(&found, "bounds", bounds_table().trim_end());
    let wanted = replaced(&wanted, "schema", schema_tables().trim_end());
    check_stored(&path, &wanted, "UPDATE_DOCUMENTS");
}
