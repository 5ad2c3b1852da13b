//! Compares `assets/types.d.ts`, which declares the page's data for the type checker of its scripts, with the structs.

use std::path::Path;

use super::charts::ShownChart;
use super::event::ColonyEvent;
use super::shown::{InstanceDetails, NodeDetails, Snapshot};
use crate::declarations::Declarations;

#[test]
fn declared_types_match_the_data_of_the_page() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/types.d.ts");
    let declarations = Declarations::new()
        .with::<Snapshot>()
        .with::<NodeDetails>()
        .with::<InstanceDetails>()
        .with::<ColonyEvent>()
        .with::<ShownChart>();
    declarations.compare_with_file(&file, "");
}
