//! Compares `assets/types.d.ts`, which declares charts for the type checker of the pages' scripts, with the structs.

use std::path::Path;

use super::Chart;
use crate::declarations::Declarations;

/// The declaration of `Element`, whose serialisation is written by hand.
const BY_HAND: &str = "\
/** An element of a drawing: content is an element, a text, or the index of a part. */
type Drawn = [tag: string, attributes: Record<string, string | number>, ...content: (Drawn | string | number)[]];
";

#[test]
fn types_of_charts_are_those_of_what_is_serialised() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/types.d.ts");
    Declarations::new().with::<Chart>().compare_with_file(&file, BY_HAND);
}
