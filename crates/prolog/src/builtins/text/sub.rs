//! Substrings by position, length or content, and character codes by position.

use super::{Accept, Kind, bound_text_of, charge, error_ball, size_argument, text_of, unify_candidate};
use crate::builtins::{Builtin, Code, State, Step, det, nondet};
use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::meter::Resource;
use crate::store::View;
use crate::term::Term;

pub(crate) const TABLE: &[Builtin] = &[
    nondet("sub_atom", 5, sub_atom),
    nondet("sub_string", 5, sub_string),
    nondet("string_code", 3, string_code),
    det("get_string_code", Code::D3(get_string_code)),
];

fn sub_atom(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    sub_text(core, arguments, state, Kind::Atom, "atom")
}

fn sub_string(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    sub_text(core, arguments, state, Kind::String, "string")
}

/// A position in a text, in characters and in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    characters: usize,
    bytes: usize,
}

impl Place {
    const START: Place = Place { characters: 0, bytes: 0 };

    fn pack(self) -> u64 {
        (self.characters as u64) << 32 | self.bytes as u64
    }

    fn unpack(word: u64) -> Place {
        Place { characters: (word >> 32) as usize, bytes: word as u32 as usize }
    }
}

/// A text with the data needed to convert positions between characters and bytes quickly.
struct Counted<'a> {
    text: &'a str,
    is_ascii: bool,
    characters: usize,
}

impl<'a> Counted<'a> {
    fn new(text: &'a str) -> Counted<'a> {
        let is_ascii = text.is_ascii();
        Counted { text, is_ascii, characters: if is_ascii { text.len() } else { text.chars().count() } }
    }

    /// The position `characters` characters after `from`; `None` if the text is too short.
    fn advance(&self, from: Place, characters: usize) -> Option<Place> {
        if characters > self.characters - from.characters {
            return None;
        }
        let bytes = if self.is_ascii {
            characters
        } else {
            let rest = &self.text[from.bytes..];
            rest.char_indices().nth(characters).map_or(rest.len(), |(index, _)| index)
        };
        Some(Place { characters: from.characters + characters, bytes: from.bytes + bytes })
    }

    /// The start of the first occurrence of `part` at or after `from`; `None` if there is none.
    fn find(&self, from: Place, part: &str) -> Option<Place> {
        let skipped = self.text[from.bytes..].find(part)?;
        let between = &self.text[from.bytes..from.bytes + skipped];
        let characters = if self.is_ascii { skipped } else { between.chars().count() };
        Some(Place { characters: from.characters + characters, bytes: from.bytes + skipped })
    }
}

/// The arguments that describe the substring: the number of characters before it, in it and after it, and its text.
/// `None` for those that are unbound.
struct Wanted {
    before: Option<usize>,
    length: Option<usize>,
    after: Option<usize>,
    part: Option<String>,
}

/// A match. `next` is the state from which to search for the next match; `None` if there are no more.
struct Found {
    start: Place,
    end: Place,
    next: Option<State>,
}

impl Wanted {
    /// The first match at or after `state`; `None` if there is none. The state is a packed start and, if lengths are
    /// enumerated, a packed end.
    fn find(&self, text: &Counted, state: State) -> Option<Found> {
        if let Some(part) = &self.part {
            return self.find_known(text, state, part);
        }
        let total = text.characters;
        let single = |before: usize, length: usize| {
            let start = text.advance(Place::START, before)?;
            Some(Found { start, end: text.advance(start, length)?, next: None })
        };
        match (self.before, self.length, self.after) {
            (Some(before), Some(length), _) => single(before, length),
            (Some(before), None, Some(after)) => single(before, total.checked_sub(before)?.checked_sub(after)?),
            (None, Some(length), Some(after)) => single(total.checked_sub(after)?.checked_sub(length)?, length),
            (Some(before), None, None) => {
                let start = text.advance(Place::START, before)?;
                let end = if state.1 == 0 { start } else { Place::unpack(state.1) };
                let next = text.advance(end, 1).map(|next| (start.pack(), next.pack()));
                Some(Found { start, end, next })
            }
            (None, Some(length), None) => {
                let start = Place::unpack(state.0);
                let end = text.advance(start, length)?;
                let next = (end.characters < total).then(|| text.advance(start, 1)).flatten();
                Some(Found { start, end, next: next.map(|next| (next.pack(), 0)) })
            }
            (None, None, Some(after)) => {
                let start = Place::unpack(state.0);
                let end = text.advance(start, total.checked_sub(after)?.checked_sub(start.characters)?)?;
                let next = (start != end).then(|| text.advance(start, 1)).flatten();
                Some(Found { start, end, next: next.map(|next| (next.pack(), 0)) })
            }
            (None, None, None) => {
                let (start, end) = (Place::unpack(state.0), Place::unpack(state.1));
                let next = match text.advance(end, 1) {
                    Some(longer) => Some((start.pack(), longer.pack())),
                    None => text.advance(start, 1).map(|next| (next.pack(), next.pack())),
                };
                Some(Found { start, end, next })
            }
        }
    }

    fn find_known(&self, text: &Counted, state: State, part: &str) -> Option<Found> {
        let length = part.chars().count();
        if self.length.is_some_and(|wanted| wanted != length) {
            return None;
        }
        let fixed = match (self.before, self.after) {
            (Some(before), _) => Some(before),
            (None, Some(after)) => Some(text.characters.checked_sub(after)?.checked_sub(length)?),
            (None, None) => None,
        };
        let end_of = |start: Place| Place { characters: start.characters + length, bytes: start.bytes + part.len() };
        if let Some(before) = fixed {
            let start = text.advance(Place::START, before)?;
            return text.text[start.bytes..].starts_with(part).then(|| Found { start, end: end_of(start), next: None });
        }
        let start = text.find(Place::unpack(state.0), part)?;
        // Searching for the next occurrence now avoids a choice point after the last one.
        let next = text.advance(start, 1).and_then(|from| text.find(from, part)).map(|next| (next.pack(), 0));
        Some(Found { start, end: end_of(start), next })
    }
}

fn sub_text(core: &mut Core, arguments: &[Term], mut state: State, kind: Kind, expected: &'static str) -> Solved<Step> {
    let &[source, before, length, after, part] = arguments else { return Ok(Step::Fail) };
    // The name of an atom is read in place; other text is copied once per call.
    let copied = match core.store.view(source) {
        View::Atom(_) => String::new(),
        _ => text_of(core, source, Accept::Atomic, expected)?,
    };
    let wanted = Wanted {
        part: bound_text_of(core, part, Accept::Atomic, expected)?,
        before: size_argument(core, before)?,
        length: size_argument(core, length)?,
        after: size_argument(core, after)?,
    };
    loop {
        let text = match core.store.view(source) {
            View::Atom(atom) => core.atoms.name(atom),
            _ => &copied,
        };
        if u32::try_from(text.len()).is_err() {
            return Err(Raised::Exhausted(Resource::HeapBytes));
        }
        let bytes = text.len();
        let counted = Counted::new(text);
        let Some(found) = wanted.find(&counted, state) else {
            charge(core, 2 * bytes)?;
            return Ok(Step::Fail);
        };
        let (from, to, total) = (found.start.characters, found.end.characters, counted.characters);
        let content = wanted.part.is_none().then(|| text[found.start.bytes..found.end.bytes].to_owned());
        charge(core, 2 * bytes)?;
        let number = |value: usize| Term::small(value as i64);
        let content = match content {
            Some(content) => kind.make(core, &content)?,
            None => part,
        };
        let pairs = [(before, number(from)), (length, number(to - from)), (after, number(total - to)), (part, content)];
        match (unify_candidate(core, &pairs), found.next) {
            (true, Some(next)) => return Ok(Step::More(next)),
            (true, None) => return Ok(Step::Last),
            (false, Some(next)) => state = next,
            (false, None) => return Ok(Step::Fail),
        }
    }
}

/// `string_code(?Index, +Text, ?Code)`: the code at a one-based position; fails if there is no such position. If
/// `Index` is unbound, enumerates the positions.
fn string_code(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    let &[index, text, code] = arguments else { return Ok(Step::Fail) };
    let wanted = size_argument(core, index)?;
    let text = text_of(core, text, Accept::Text, "text")?;
    let code_term = |character: char| Term::small(i64::from(u32::from(character)));
    if let Some(wanted) = wanted {
        let Some(character) = wanted.checked_sub(1).and_then(|position| text.chars().nth(position)) else {
            return Ok(Step::Fail);
        };
        let unified = core.unify(code, code_term(character))?;
        return Ok(if unified { Step::Last } else { Step::Fail });
    }
    let mut place = Place::unpack(state.0);
    while let Some(character) = text[place.bytes..].chars().next() {
        place = Place { characters: place.characters + 1, bytes: place.bytes + character.len_utf8() };
        core.store.charge(3)?;
        let position = Term::small(place.characters as i64);
        if unify_candidate(core, &[(index, position), (code, code_term(character))]) {
            let is_last = place.bytes == text.len();
            return Ok(if is_last { Step::Last } else { Step::More((place.pack(), 0)) });
        }
    }
    Ok(Step::Fail)
}

/// `get_string_code(+Index, +Text, -Code)`: like `string_code/3`, but raises an error if the position is unbound or
/// does not exist.
fn get_string_code(core: &mut Core, index: Term, text: Term, code: Term) -> Solved {
    let position = match core.store.view(index) {
        View::Variable(_) => return Err(Fault::Instantiation.into()),
        View::Small(position) => position,
        View::Big => return Err(Fault::Representation("int64_t").into()),
        _ => return Err(Fault::Type("integer", index).into()),
    };
    let text = text_of(core, text, Accept::Text, "text")?;
    let character = usize::try_from(position - 1).ok().and_then(|position| text.chars().nth(position));
    if let Some(character) = character {
        return core.unify(code, Term::small(i64::from(u32::from(character))));
    }
    let (range, domain_error) = (core.atoms.intern("range"), crate::symbols::atoms::DOMAIN_ERROR);
    let range = core.store.structure(range, &[Term::small(1), Term::small(text.chars().count() as i64)]);
    let formal = core.store.structure(domain_error, &[range, index]);
    Err(error_ball(core, formal, "get_string_code", 3))
}
