//! `docs/wire.md` has the tables that are derived from the code.

use std::fs;
use std::path::Path;

use mario_wire::{bounds_table, schema_tables};

/// Replaces the text between two marks.
fn replaced(text: &str, mark: &str, content: &str) -> String {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
    let (before, rest) = text.split_once(&begin).expect("the page has the mark");
    let (_, after) = rest.split_once(&end).expect("the page has the end mark");
    format!("{before}{begin}\n{content}\n{end}{after}")
}

#[test]
fn the_page_has_the_tables_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/wire.md");
    let found = fs::read_to_string(&path).expect("the page is there");
    let wanted = replaced(&found, "bounds", bounds_table().trim_end());
    let wanted = replaced(&wanted, "schema", schema_tables().trim_end());
    if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
        fs::write(&path, wanted).expect("the page can be written");
        return;
    }
    assert!(found == wanted, "`docs/wire.md` is not up to date: run the tests with UPDATE_DOCUMENTS=1");
}
