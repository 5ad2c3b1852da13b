//! `split_string/4`.

use super::{Accept, Kind, reserve, text_of};
use crate::builtins::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::store::View;
use crate::symbols::atoms;
use crate::term::Term;

pub(crate) const TABLE: &[Builtin] = &[det("split_string", Code::D4(split_string))];

/// `split_string(+Text, +Separators, +Pad, -Strings)`: each character of `Separators` separates,
/// each of `Pad` is removed from both ends of what lies between.
fn split_string(core: &mut Core, text: Term, separators: Term, pad: Term, strings: Term) -> Solved {
    let text = text_of(core, text, Accept::Text, "text")?;
    let separators = text_of(core, separators, Accept::Text, "text")?;
    let pad = text_of(core, pad, Accept::Text, "text")?;
    if !matches!(core.store.view(strings), View::Variable(_) | View::List(_) | View::Atom(atoms::NIL)) {
        return Err(Fault::Type("list", strings).into());
    }
    let mut parts = Vec::new();
    for part in split(&text, &separators, &pad) {
        parts.push(Kind::String.make(core, part)?);
    }
    reserve(core, 16 * parts.len())?;
    let parts = core.store.list(&parts, Term::NIL);
    core.unify(strings, parts)
}

fn split<'a>(text: &'a str, separators: &str, pad: &str) -> Vec<&'a str> {
    let is_separator = |character: char| separators.contains(character);
    let is_pad = |character: char| pad.contains(character);
    let mut rest = text.trim_matches(is_pad);
    let mut parts = Vec::new();
    while let Some(end) = rest.find(is_separator) {
        parts.push(rest[..end].trim_matches(is_pad));
        let after = &rest[end..];
        // A separator that is padding too swallows the padding that follows: so many of them in
        // a row separate once.
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
    use super::split;

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
            assert_eq!(split(text, separators, pad), expected, "{text:?} {separators:?} {pad:?}");
        }
    }
}
