//! Generates `assets/types.d.ts`, the types of the page's data for the type checker of its scripts.

use std::path::Path;

use ts_rs::Dummy;

use super::series::Samples;
use super::{PageData, codes};
use crate::declarations::Declarations;

/// The types that are serialised by hand, with names for the members of their lists.
const BY_HAND: &str = "\
/** An element of a drawing: content is an element, a text, or the index of a part. */
type Drawn = [tag: string, attributes: Record<string, string | number>, ...content: (Drawn | string | number)[]];
/** A code of EVENT, and what the event is about. */
type ReplayEvent = [moment: number, code: number, ...about: number[]];
/** What an agent saw and decided, at one evaluation or at several in a row. */
type Decision = [
  first: number, last: number, count: number, node: number, free: number, seen: Seen, explanation: number, policy: number,
];
type Seen = [
  requests?: RequestFact[], inhibited?: Wish[], solutions?: Solution[], ending?: string | null, random?: number | null,
];
/** The neighbour is the index of a node, or -1 for the agent's own. */
type RequestFact = [neighbour: number, rate: number, latency: number];
/** An index into OPERATIONS, and a node, a flavour, or -1 for the agent's own node. */
type Wish = [operation: number, target: number | string];
/** As a wish; a text in the place of an operation says why the answer is not valid. */
type Solution = [operation: number | string, target: number | string | null, clause: number];
";

#[test]
fn declared_types_match_the_data_of_the_page() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/types.d.ts");
    let declarations = Declarations::new().with::<PageData<'static>>().with::<Samples<Dummy>>();
    declarations.hold_against(&file, &format!("{BY_HAND}{}", codes::declarations()));
}
