//! Compares `assets/types.d.ts`, which declares the page's data for the type checker of its scripts, with the structs.

use std::path::Path;

use ts_rs::Dummy;

use crate::PageData;
use crate::codes::DECLARATIONS;
use crate::declarations::Declarations;
use crate::replay::{Decision, Event};
use crate::series::Samples;

/// The TypeScript types of structs whose serialisation is written by hand.
const BY_HAND: &str = "\
/** Records as columns, which `recordsOf` turns back into records. No data has `record`: it carries the type. */
type Columns<T> = { length: number, columns: Record<string, unknown[] | ColumnOfLists>, record?: T };
/** A column whose values are lists of records: the length of each list, and the records of all. */
type ColumnOfLists = { lengths: number[], rows: Columns<unknown> };
/** An event with the index of its time. */
type ReplayEvent = EventOfKind & { moment: number };
";

#[test]
fn declared_types_match_the_data_of_the_page() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/types.d.ts");
    let declarations =
        Declarations::new().with::<PageData<'static>>().with::<Samples<Dummy>>().with::<Event>().with::<Decision>();
    declarations.compare_with_file(&file, &format!("{BY_HAND}{DECLARATIONS}"));
}
