//! Colours for light and dark are written down once, in the palette of `crates/page`. Everything else refers to them.

use crate::{Finding, SourceFile, Workspace};

/// The crate that has the palette.
const HOME: &str = "crates/page/";
const EXTENSIONS: [&str; 4] = [".css", ".html", ".js", ".rs"];

// Each is written in two parts, so that this file does not break its own rule.
const DARK: [&str; 2] = [concat!("prefers-", "color-scheme"), concat!("light-", "dark(")];

/// Applies the rule: outside of `crates/page`, no CSS, HTML, JavaScript or Rust file that distinguishes dark from light
/// has hexadecimal colours.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let is_elsewhere = |file: &&SourceFile| {
        !file.path.starts_with(HOME) && EXTENSIONS.iter().any(|extension| file.path.ends_with(extension))
    };
    let files = workspace.files.iter().filter(is_elsewhere);
    let second = files.filter(|file| DARK.iter().any(|mark| file.text.contains(mark)) && has_colour(&file.text));
    let message = "has a palette for dark of its own: use the colours of `crates/page/assets/palette.css`";
    second.map(|file| Finding::new(file.path.as_str(), message)).collect()
}

/// Whether a text has a colour such as `#1c2128` or `#ddd`.
fn has_colour(text: &str) -> bool {
    let is_colour = |(start, _): (usize, &str)| {
        let digits = text[start + 1..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let ends = text[start + 1 + digits..].chars().next().is_none_or(|next| !next.is_alphanumeric());
        (digits == 3 || digits == 6) && ends
    };
    text.match_indices('#').any(is_colour)
}
