//! Character classes of the syntax.

/// Whether `character` is layout: white space, or the null character.
pub(crate) fn is_layout(character: char) -> bool {
    character.is_whitespace() || character == '\0'
}

/// Whether `character` is a symbol character, which forms names such as `=..`.
pub(crate) fn is_symbol(character: char) -> bool {
    if character.is_ascii() {
        return matches!(
            character,
            '+' | '-' | '*' | '/' | '\\' | '^' | '<' | '>' | '=' | '~' | ':' | '.' | '?' | '@' | '#' | '&' | '$'
        );
    }
    !is_name_part(character) && !is_layout(character) && !character.is_control()
}

/// Whether a variable may start with `character`.
pub(crate) fn is_variable_start(character: char) -> bool {
    character == '_' || character.is_uppercase() || is_titlecase(character)
}

/// Whether an unquoted name may start with `character`.
pub(crate) fn is_name_start(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_lowercase();
    }
    character.is_alphabetic() && !is_variable_start(character)
}

/// Whether `character` may continue a name or a variable.
pub(crate) fn is_name_part(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    character.is_alphanumeric() || is_combining(character)
}

/// Whether `character`, which is not uppercase, is a titlecase letter such as `ǅ`: it is not lowercase, but has a
/// lowercase form.
fn is_titlecase(character: char) -> bool {
    !character.is_ascii() && !character.is_lowercase() && !character.to_lowercase().eq([character])
}

/// Whether `character` is in one of the main Unicode blocks of combining marks, such as the accents of decomposed
/// letters.
fn is_combining(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}
