//! The precompiled library. An engine loads this image instead of parsing and compiling the library's text.
//!
//! The image is the file `src/library.image`. `UPDATE_LIBRARY=1 cargo test -p mario-prolog image` rebuilds it; without
//! the variable, the test fails if the image is out of date. An image whose fingerprint differs from that of this crate
//! is not used: the library is then compiled from its text, which takes longer and has the same result.

use super::{LIBRARY, bare_program};
use crate::instruction::{Instruction, Label};
use crate::program::{Clauses, Definition, Origin, Predicate, Program};
use crate::stored::StoredTerm;
use crate::symbols::Symbols;
use crate::term::Functor;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;

static IMAGE: &[u8] = include_bytes!("../library.image");

/// The data that the library adds to a program of builtins only.
#[derive(Serialize, Deserialize)]
struct Image<'a> {
    fingerprint: u64,
    #[serde(borrow)]
    names: Vec<&'a str>,
    code: Vec<Instruction>,
    /// The predicates that the library adds, in the order of their numbers; `None` for a predicate that is called but
    /// has no clauses.
    predicates: Vec<(Functor, Option<Clauses>)>,
    clause_lists: Vec<Label>,
    literals: Vec<StoredTerm>,
}

/// The program of builtins and library, loaded from the image; `None` if the image does not match this crate.
pub(super) fn program() -> Option<Program> {
    unpack(IMAGE)
}

fn unpack(bytes: &[u8]) -> Option<Program> {
    let symbols = Symbols::new();
    let mut program = bare_program(&symbols);
    let image: Image = postcard::from_bytes(bytes).ok()?;
    if image.fingerprint != fingerprint(&program) {
        return None;
    }
    for name in image.names {
        // The library writes no `$` name that is not one of its helpers.
        symbols.internal(name);
    }
    program.code.extend(image.code);
    program.clause_lists = image.clause_lists;
    program.literals = image.literals;
    for (functor, clauses) in image.predicates {
        let id = program.predicates.len() as u32;
        let origin = if clauses.is_some() { Origin::Library } else { Origin::User };
        let definition = clauses.map_or(Definition::Undefined, Definition::Clauses);
        program.predicates.push(Predicate { functor, definition, origin, sources: Vec::new() });
        program.lookup.insert(functor, id);
    }
    program.take_shortcuts();
    Some(program)
}

/// A hash of the data that an image depends on: the texts of the library, the sources of instructions and indexes, the
/// names in `bare`, and how many predicates and builtins `bare` has.
fn fingerprint(bare: &Program) -> u64 {
    let mut hasher = FxHasher::default();
    for (_, text) in LIBRARY {
        hasher.write(text.as_bytes());
    }
    hasher.write(include_bytes!("../instruction.rs"));
    hasher.write(include_bytes!("../program/index.rs"));
    for name in bare.symbols.names() {
        hasher.write(name.as_bytes());
        hasher.write_u8(0);
    }
    hasher.write_usize(bare.predicates.len());
    hasher.write_usize(bare.builtins.len());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;

    /// The image of the library, compiled from its text.
    fn pack() -> Vec<u8> {
        let compiled = Engine::from_text();
        let library = compiled.library();
        let bare = bare_program(&Symbols::new());
        let named = bare.symbols.names().count();
        let names: Vec<String> = library.symbols.names().map(str::to_owned).collect();
        assert!(library.dynamic.is_empty() && library.row_calls.is_empty() && library.relations.is_empty());
        assert!(library.flags == bare.flags, "the library sets no flags");
        let clauses = |predicate: &Predicate| match &predicate.definition {
            Definition::Clauses(clauses) => Some(clauses.clone()),
            Definition::Undefined => None,
            _ => unreachable!("the library is made of clauses"),
        };
        let added = &library.predicates[bare.predicates.len()..];
        let image = Image {
            fingerprint: fingerprint(&bare),
            names: names[named..].iter().map(String::as_str).collect(),
            code: library.code[bare.code.len()..].to_vec(),
            predicates: added.iter().map(|predicate| (predicate.functor, clauses(predicate))).collect(),
            clause_lists: library.clause_lists.clone(),
            literals: library.literals.clone(),
        };
        postcard::to_extend(&image, Vec::new()).expect("a vector takes it")
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the image is a file of the repository")]
    fn the_image_is_up_to_date() {
        let fresh = pack();
        if std::env::var_os("UPDATE_LIBRARY").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/library.image");
            std::fs::write(path, &fresh).expect("the image can be written");
            return;
        }
        let hint = "the library or what compiles it was changed: `UPDATE_LIBRARY=1 cargo test -p mario-prolog image` makes the image again";
        assert!(fresh == IMAGE, "{hint}");
    }

    #[test]
    fn an_engine_from_the_image_equals_one_from_the_text() {
        let (image, text) = (Engine::new(), Engine::from_text());
        let (image, text) = (image.library(), text.library());
        assert!(image.symbols.names().eq(text.symbols.names()));
        assert_eq!(image.code, text.code);
        assert_eq!(image.clause_lists, text.clause_lists);
        assert_eq!(image.literals, text.literals);
        assert_eq!(image.lookup, text.lookup);
        assert_eq!(image.predicates.len(), text.predicates.len());
        for (ours, theirs) in image.predicates.iter().zip(&text.predicates) {
            assert_eq!((ours.functor, ours.origin), (theirs.functor, theirs.origin));
            match (&ours.definition, &theirs.definition) {
                (Definition::Clauses(ours), Definition::Clauses(theirs)) => assert_eq!(ours, theirs),
                (ours, theirs) => assert_eq!(std::mem::discriminant(ours), std::mem::discriminant(theirs)),
            }
        }
        assert_eq!(format!("{:?}", image.shortcuts), format!("{:?}", text.shortcuts));
        assert_eq!(format!("{:?}", image.control), format!("{:?}", text.control));
        assert!(image.operators == text.operators && image.flags == text.flags);
    }

    #[test]
    fn an_image_with_another_fingerprint_is_not_used() {
        assert!(unpack(&[]).is_none());
        assert!(unpack(&IMAGE[..IMAGE.len() / 2]).is_none());
        let mut other = IMAGE.to_vec();
        other[0] ^= 1;
        assert!(unpack(&other).is_none());
    }
}
