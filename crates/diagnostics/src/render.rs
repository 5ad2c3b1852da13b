//! Renders a [`Diagnostic`] as text.
//!
//! The `annotate-snippets` crate draws the snippet: it handles tabs, wide characters, overlapping labels and lines
//! longer than the screen. This module passes only valid input to it. It also removes the empty gutter lines around a
//! snippet, because most messages show one source line and are easier to read in five lines than in seven.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Snippet};

use crate::{Diagnostic, Label, Severity, Source};

/// The maximum total length of the source lines of a snippet, in bytes: drawing time grows with it, and longer snippets
/// are unreadable anyway.
const DRAWN_BYTES_MAX: usize = 1 << 20;

/// Renders diagnostics, with or without colour.
#[derive(Clone, Debug)]
pub struct Renderer {
    snippets: annotate_snippets::Renderer,
}

impl Renderer {
    /// A renderer that produces no escape sequences, for files, pipes and `NO_COLOR`.
    pub fn plain() -> Self {
        Self { snippets: annotate_snippets::Renderer::plain() }
    }

    /// A renderer that produces ANSI colours, for terminals.
    pub fn coloured() -> Self {
        Self { snippets: annotate_snippets::Renderer::styled().hyperlink(false) }
    }

    /// Returns one diagnostic as text. The text ends with a newline.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut problem = Group::with_title(level.primary_title(printable(&diagnostic.title)));
        let mut causes = Vec::new();
        if let Some(source) = &diagnostic.source {
            problem = problem.element(place(source, &diagnostic.labels, &mut causes));
        }
        causes.extend(diagnostic.causes.iter().cloned());
        let causes = causes
            .iter()
            .map(|cause| Group::with_title(Level::NOTE.with_name("cause").secondary_title(printable(cause))));
        let hints = diagnostic
            .hints
            .iter()
            .map(|hint| Group::with_title(Level::HELP.with_name("hint").secondary_title(printable(hint))));
        let groups: Vec<Group<'_>> = std::iter::once(problem).chain(causes).chain(hints).collect();
        without_empty_gutters(&self.snippets.render(&groups))
    }

    /// Returns several diagnostics as text, in the given order, separated by empty lines.
    pub fn render_all<'a>(&self, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> String {
        let rendered: Vec<String> = diagnostics.into_iter().map(|diagnostic| self.render(diagnostic)).collect();
        rendered.join("\n")
    }
}

/// The snippet of the fault: the lines from the first to the last label. If these exceed [`DRAWN_BYTES_MAX`], only the
/// lines of the fault; if these do, too, only its line and column. The texts of labels that are not drawn are added to
/// `causes`.
fn place<'a>(source: &'a Source, labels: &'a [Label], causes: &mut Vec<String>) -> Element<'a> {
    let spans: Vec<Range<usize>> = labels.iter().map(|label| nearest_valid(&source.text, &label.span)).collect();
    let fits = |count: usize| window(&source.text, &spans[..count]).len() <= DRAWN_BYTES_MAX;
    let drawn = [labels.len(), labels.len().min(1)].into_iter().find(|count| fits(*count));
    for (label, span) in labels.iter().zip(&spans).skip(drawn.unwrap_or(0)).filter(|(label, _)| !label.text.is_empty())
    {
        causes.push(format!("{} (line {})", label.text, source.line_of(span.start)));
    }
    match drawn {
        Some(count) => snippet(source, &labels[..count], &spans[..count]).into(),
        None => {
            let start = spans.first().map_or(0, |span| span.start);
            let line_start = source.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
            let column = source.text[line_start..start].chars().count() + 1;
            Origin::path(printable(&source.name)).line(source.line_of(start)).char_column(column).into()
        }
    }
}

fn snippet<'a>(
    source: &'a Source,
    labels: &'a [Label],
    spans: &[Range<usize>],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let window = window(&source.text, spans);
    let annotations = spans.iter().zip(labels).enumerate().map(|(index, (span, label))| {
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        kind.span(span.start - window.start..span.end - window.start).label(printable(&label.text))
    });
    Snippet::source(&source.text[window.clone()])
        .line_start(source.line_of(window.start))
        .path(printable(&source.name))
        .annotations(annotations)
}

/// The nearest valid span: inside the text, not reversed, and with both ends on character boundaries. It is empty if
/// `span` starts at the end of the text or beyond.
pub(crate) fn nearest_valid(text: &str, span: &Range<usize>) -> Range<usize> {
    if span.start >= text.len() {
        // No line follows the final newline, so point just after the last character of the last line.
        let line = text.strip_suffix('\n').unwrap_or(text);
        let end = line.strip_suffix('\r').unwrap_or(line).len();
        return end..end;
    }
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end);
    start..end.max(start)
}

/// The byte range of the whole lines from the first label to the last. Only these are passed to the drawing library, so
/// that drawing time does not depend on the size of the file.
fn window(text: &str, spans: &[Range<usize>]) -> Range<usize> {
    let first = spans.iter().map(|span| span.start).min().unwrap_or(0);
    let last = spans.iter().map(|span| span.end).max().unwrap_or(0);
    let start = text[..first].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[last..].find('\n').map_or(text.len(), |newline| last + newline + 1);
    start..end
}

/// The text with control characters, except newlines, and bidirectional controls escaped. Otherwise, a file name or a
/// policy could rewrite the terminal's content or reverse the direction of text.
fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |character| is_control(character) && character != '\n')
}

/// The text with control characters, newlines among them, and bidirectional controls escaped: for a name or a message
/// from outside that is shown within a line.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_control)
}

/// Whether a character controls a terminal, or the direction of the text after it.
fn is_control(character: char) -> bool {
    let reorders =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    reorders || character.is_control()
}

fn escaped(text: &str, is_control: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_control) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        if is_control(character) {
            printable.extend(character.escape_default());
        } else {
            printable.push(character);
        }
    }
    Cow::Owned(printable)
}

fn without_empty_gutters(rendered: &str) -> String {
    let mut kept = String::with_capacity(rendered.len() + 1);
    for line in rendered.lines().filter(|line| !is_empty_gutter(line)) {
        kept.push_str(line.trim_end());
        kept.push('\n');
    }
    kept
}

/// Whether the line contains only the `|` between line numbers and source; colour sequences are ignored.
fn is_empty_gutter(line: &str) -> bool {
    let mut characters = line.chars();
    let mut bars = 0;
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                characters.by_ref().find(char::is_ascii_alphabetic);
            }
            ' ' => {}
            '|' => bars += 1,
            _ => return false,
        }
    }
    bars == 1
}

#[cfg(test)]
mod tests;
