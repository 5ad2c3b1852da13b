//! Quotes names and text so that they are read back unchanged.

use crate::reader::characters::{is_name_part, is_name_start, is_symbol};
use std::fmt::Write;

/// The form of escape sequences for characters that cannot be printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Escapes {
    /// `\x1B\`, as in ISO.
    Hexadecimal,
    /// `\u001B`.
    Unicode,
}

/// Whether the atom `name` can be written without quotes and read back unchanged.
pub(crate) fn is_plain_atom(name: &str) -> bool {
    match name {
        "[]" | "{}" | "!" | ";" => return true,
        "" | "." => return false,
        _ => {}
    }
    if name.starts_with(is_name_start) {
        return name.chars().all(is_name_part);
    }
    name.chars().all(is_symbol) && !name.starts_with("/*")
}

/// Appends `content` between quotes, with escapes.
pub(crate) fn push_quoted(text: &mut String, content: &str, quote: char, escapes: Escapes) {
    text.push(quote);
    for character in content.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\x07' => text.push_str("\\a"),
            '\x08' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\x0b' => text.push_str("\\v"),
            '\x0c' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            _ if character == quote => {
                text.push('\\');
                text.push(quote);
            }
            _ if is_printable(character) => text.push(character),
            _ => push_code(text, u32::from(character), escapes),
        }
    }
    text.push(quote);
}

fn push_code(text: &mut String, code: u32, escapes: Escapes) {
    let written = match escapes {
        Escapes::Hexadecimal => write!(text, "\\x{code:X}\\"),
        Escapes::Unicode if code <= 0xffff => write!(text, "\\u{code:04X}"),
        Escapes::Unicode => write!(text, "\\U{code:08X}"),
    };
    written.expect("writing to a string never fails");
}

fn is_printable(character: char) -> bool {
    // Characters that Rust does not escape in debug output are printable. So are quotes and combining marks, which Rust
    // escapes.
    character == '"' || character == '\'' || is_name_part(character) || character.escape_debug().len() == 1
}
