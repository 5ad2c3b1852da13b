//! Converts help texts and comments to Markdown.

/// Converts paragraphs to Markdown. A paragraph whose lines are all indented by two spaces or more becomes a code
/// block, without the indentation that its lines share.
pub(super) fn markdown<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines.into_iter().collect();
    let paragraphs = lines.split(|line| line.trim().is_empty()).filter(|lines| !lines.is_empty());
    let texts = paragraphs.map(|lines| {
        if lines.iter().all(|line| line.starts_with("  ")) {
            let margin = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
            let lines: Vec<&str> = lines.iter().map(|line| &line[margin..]).collect();
            format!("```text\n{}\n```", lines.join("\n"))
        } else {
            lines.iter().map(|line| plain(line.trim())).collect::<Vec<_>>().join("\n")
        }
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Escapes Markdown characters, except in code between backquotes.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut is_code = false;
    for letter in text.chars() {
        is_code ^= letter == '`';
        if !is_code && "\\*_<>[]#".contains(letter) {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

/// Like [`plain`], for the cell of a table, where a bar must be escaped even within code.
pub(super) fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_markdown_and_keeps_code() {
        assert_eq!(plain("a *b* `c_*|` <d>"), "a \\*b\\* `c_*|` \\<d\\>");
        assert_eq!(cell("a *b* `c|`"), "a \\*b\\* `c\\|`");
        let text = ["One", " two.", "", "  an <example>", "    of it", "", "Three."];
        assert_eq!(markdown(text), "One\ntwo.\n\n```text\nan <example>\n  of it\n```\n\nThree.");
    }
}
