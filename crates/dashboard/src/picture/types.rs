//! The types of the page's data for the type checker of its scripts, `assets/types.d.ts`.

use std::path::Path;

use super::happening::Happening;
use super::history::Point;
use super::shown::Snapshot;
use crate::declarations::Declarations;

#[test]
fn types_of_the_page_are_those_of_what_it_is_sent() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/types.d.ts");
    let declarations = Declarations::new().with::<Snapshot>().with::<Happening>().with::<Point>();
    declarations.hold_against(&file, "");
}
