//! `split_string/4`.

use super::{Accept, Kind, charge, reserve, text_of};
use crate::builtins::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::store::View;
use crate::symbols::atoms;
use crate::term::Term;
use rustc_hash::FxHashSet;

pub(crate) const TABLE: &[Builtin] = &[det("split_string", Code::D4(split_string))];

/// `split_string(+Text, +Separators, +Pad, -Strings)`: each character of `Separators` is a separator; the characters of
/// `Pad` are removed from both ends of each part.
fn split_string(core: &mut Core, text: Term, separators: Term, pad: Term, strings: Term) -> Solved {
    let text = text_of(core, text, Accept::Text, "text")?;
    let separators = text_of(core, separators, Accept::Text, "text")?;
    let pad = text_of(core, pad, Accept::Text, "text")?;
    if !matches!(core.store.view(strings), View::Variable(_) | View::List(_) | View::Atom(atoms::NIL)) {
        return Err(Fault::Type("list", strings).into());
    }
    charge(core, BYTES_PER_CHARACTER * (text.len() + separators.len() + pad.len()))?;
    let mut parts = Vec::new();
    let pieces = split(&text, &Characters::of(&separators), &Characters::of(&pad));
    // Each piece takes two words in `pieces`, and at most five more as an element of the result.
    reserve(core, 56 * pieces.len())?;
    for part in pieces {
        core.store.charge(PART_CELLS)?;
        parts.push(Kind::String.make(core, part)?);
    }
    let parts = core.store.list(&parts, Term::NIL);
    core.unify(strings, parts)
}

/// The number of bytes charged for each byte of the text, the separators and the padding.
const BYTES_PER_CHARACTER: usize = 4;

/// Cost of a part, in addition to its text.
const PART_CELLS: u64 = 4;

/// A set of characters. Both the text and the separators may be long, so a linear search for each character would be
/// quadratic.
struct Characters {
    ascii: u128,
    others: FxHashSet<char>,
}

impl Characters {
    fn of(text: &str) -> Characters {
        let (ascii, others): (Vec<char>, Vec<char>) = text.chars().partition(char::is_ascii);
        Characters {
            ascii: ascii.into_iter().fold(0, |set, character| set | 1 << u32::from(character)),
            others: others.into_iter().collect(),
        }
    }

    fn contains(&self, character: char) -> bool {
        if character.is_ascii() {
            self.ascii >> u32::from(character) & 1 == 1
        } else {
            self.others.contains(&character)
        }
    }
}

fn split<'a>(text: &'a str, separators: &Characters, pad: &Characters) -> Vec<&'a str> {
    let is_separator = |character: char| separators.contains(character);
    let is_pad = |character: char| pad.contains(character);
    let mut rest = text.trim_matches(is_pad);
    let mut parts = Vec::new();
    while let Some(end) = rest.find(is_separator) {
        parts.push(rest[..end].trim_matches(is_pad));
        let after = &rest[end..];
        // A separator that is also padding absorbs the padding after it, so that several in a row count as one.
        let unpadded = after.trim_start_matches(is_pad);
        rest = if unpadded.len() < after.len() {
            unpadded
        } else {
            &after[after.chars().next().map_or(0, char::len_utf8)..]
        };
    }
    parts.push(rest.trim_matches(is_pad));
    parts
}

#[cfg(test)]
mod tests {
    use super::{Characters, split};

    #[test]
    fn separators_that_are_padding_collapse() {
        for (text, separators, pad, expected) in [
            ("a.b.c", ".", "", &["a", "b", "c"][..]),
            ("", "", "", &[""]),
            ("/data//jan///nice/path", "/", "", &["", "data", "", "jan", "", "", "nice", "path"]),
            ("//a//b//", "/", "/", &["a", "b"]),
            ("a,;,b", ",;", ",", &["a", "", "", "b"]),
            ("a,//b", "/,", "/", &["a", "", "b"]),
            (" / / ", "/", " ", &["", "", ""]),
            ("  ", " ", " ", &[""]),
            ("éaé", "a", "é", &["", ""]),
        ] {
            let (first, second) = (Characters::of(separators), Characters::of(pad));
            assert_eq!(split(text, &first, &second), expected, "{text:?} {separators:?} {pad:?}");
        }
    }
}
