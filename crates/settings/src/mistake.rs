//! Errors in settings, each with a message and, where known, a place in a text and a hint.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use strsim::osa_distance;

/// The number of errors after which a check stops searching, stops reporting errors, or omits hints.
pub const MISTAKES_MAX: usize = 100;

/// A text that an error can point into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The name shown to the user: a path, the name of a preset, or an option such as `--set`.
    pub name: String,
    /// The content.
    pub text: String,
    /// The directory that paths in the text are relative to.
    pub directory: PathBuf,
}

/// A place in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The text.
    pub text: Arc<Text>,
    /// The range of bytes in the text.
    pub span: Range<usize>,
}

/// One error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The error, in one line.
    pub message: String,
    /// The place, if there is one.
    pub place: Option<Place>,
    /// A related place, and a label for it.
    pub context: Option<(Place, String)>,
    /// What the user can do about it.
    pub hint: Option<String>,
}

impl Place {
    /// The line and column of the start, both counted from 1. Columns count characters.
    pub fn position(&self) -> (usize, usize) {
        let before = self.text.text.get(..self.span.start).unwrap_or(&self.text.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

impl Mistake {
    /// An error without a place.
    pub fn new(message: impl Into<String>) -> Mistake {
        Mistake { message: message.into(), place: None, context: None, hint: None }
    }

    /// Sets the place.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Mistake {
        self.place = place;
        self
    }

    /// Adds a related place, if there is one, and a label for it.
    #[must_use]
    pub fn beside(mut self, place: Option<Place>, what: impl Into<String>) -> Mistake {
        self.context = place.map(|place| (place, what.into()));
        self
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Mistake {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint: the word in `known` that was probably meant by `wrong`, or else `what` and the first known words.
    /// Adds nothing if `known` is empty.
    #[must_use]
    pub fn known<'a>(self, wrong: &str, what: &str, known: impl IntoIterator<Item = &'a str>) -> Mistake {
        let known: Vec<&str> = known.into_iter().collect();
        match did_you_mean(wrong, known.iter().copied()) {
            Some(meant) => self.hint(format!("did you mean `{meant}`?")),
            None if known.is_empty() => self,
            None => {
                // Keys are all shown. There may be thousands of ids, of which a few show what they look like.
                const KEYS_MAX: usize = 40;
                const SHOWN: usize = 12;
                let (count, rest) = match known.len() {
                    all if all <= KEYS_MAX => (all, String::new()),
                    all => (SHOWN, format!(", and {} more", all - SHOWN)),
                };
                let shown = known.iter().take(count).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
                self.hint(format!("{what}: {shown}{rest}"))
            }
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            let (line, column) = place.position();
            write!(formatter, "{}:{line}:{column}: ", place.text.name)?;
        }
        formatter.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl Error for Mistake {}

/// The known word nearest to `wrong`, if it is near enough to be a misspelling.
pub fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A longer text is not a misspelt word, and comparing it would be slow.
    const LENGTH_MAX: usize = 64;
    // Only this many known words are compared, because comparing more would be slow.
    const COMPARED_MAX: usize = 10_000;
    let wrong = wrong.to_lowercase().replace('-', "_");
    let length = wrong.chars().count();
    if length > LENGTH_MAX {
        return None;
    }
    let cost = |word: &str| {
        let word = word.to_lowercase().replace('-', "_");
        if length >= 3 && word.starts_with(&wrong) { 1 } else { osa_distance(&wrong, &word) }
    };
    let nearest = known.into_iter().take(COMPARED_MAX).map(|word| (cost(word), word)).min_by_key(|(cost, _)| *cost);
    let is_near = |cost: usize, word: &str| cost < length && cost <= word.chars().count().max(length).div_ceil(3);
    nearest.filter(|(cost, word)| is_near(*cost, word)).map(|(_, word)| word)
}

/// Sorts errors: those without a place first, the others by text, in the order in which `mistakes` mentions the texts,
/// and within a text from top to bottom.
pub fn sort(mistakes: &mut [Mistake]) {
    let mut texts: Vec<Arc<Text>> = Vec::new();
    for place in mistakes.iter().filter_map(|mistake| mistake.place.as_ref()) {
        if !texts.iter().any(|text| Arc::ptr_eq(text, &place.text)) {
            texts.push(Arc::clone(&place.text));
        }
    }
    mistakes.sort_by_key(|mistake| {
        mistake
            .place
            .as_ref()
            .map(|place| (texts.iter().position(|text| Arc::ptr_eq(text, &place.text)), place.span.start))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_nearest_known_word() {
        let known = ["period", "phase", "kind", "max_latency"];
        for (wrong, meant) in [
            ("perod", Some("period")),
            ("preiod", Some("period")),
            ("Period", Some("period")),
            ("max-latency", Some("max_latency")),
            ("maxlatency", Some("max_latency")),
            ("max", Some("max_latency")),
            ("x", None),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(did_you_mean(wrong, known), meant, "{wrong}");
        }
        assert_eq!(did_you_mean(&"x".repeat(100_000), known), None);
    }
}
