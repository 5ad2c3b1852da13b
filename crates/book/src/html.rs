//! Reads links and link targets from HTML.

/// The links and the link targets of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The values of all attributes that refer to a file or a page (`href`, `src`, `data` and `poster`), as written.
    pub targets: Vec<String>,
    /// The ids of its elements.
    pub ids: Vec<String>,
}

/// Reads a page. Comments and the content of scripts are skipped; everything else that looks like an element is treated
/// as one.
pub fn read(text: &str) -> Page {
    let mut page = Page::default();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let name_end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let name = rest[..name_end].to_ascii_lowercase();
        if name.is_empty() {
            continue;
        }
        let (attributes, after) = attributes(&rest[name_end..]);
        rest = after;
        for (key, value) in attributes {
            match key.as_str() {
                "id" => page.ids.push(value),
                "href" | "src" | "data" | "poster" => page.targets.push(value),
                _ => {}
            }
        }
        if name == "script" {
            rest = rest.split_once("</script>").map_or("", |(_, after)| after);
        }
    }
    page
}

/// Returns the attributes of an element with their values, and the text after the element.
fn attributes(mut rest: &str) -> (Vec<(String, String)>, &str) {
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
        if let Some(after) = rest.strip_prefix('>') {
            return (attributes, after);
        }
        let end = rest.find(|letter: char| letter.is_whitespace() || "=>/".contains(letter)).unwrap_or(rest.len());
        if end == 0 {
            // Skips a `=` without a name, and stops at the end of the text.
            let Some(letter) = rest.chars().next() else { return (attributes, rest) };
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let key = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        let Some(value) = rest.strip_prefix('=') else {
            attributes.push((key, String::new()));
            continue;
        };
        let (value, after) = value_of(value.trim_start());
        attributes.push((key, unescape(value)));
        rest = after;
    }
}

fn value_of(rest: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(quoted) = rest.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    let end = rest.find(|letter: char| letter.is_whitespace() || letter == '>').unwrap_or(rest.len());
    rest.split_at(end)
}

fn unescape(value: &str) -> String {
    value.replace("&quot;", "\"").replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_links_pictures_and_ids_in_any_notation() {
        let page = read(
            r#"<!doctype html><!-- <a href="no"> --><h1 id=top>x</h1>
<a class="header" HREF='a.html#b&amp;c'>1 < 2</a><img src="p.svg" alt="a > b"/><script src="s.js">"<a href='no'>"</script>
<link rel=stylesheet href=c.css><input disabled id="last">"#,
        );
        assert_eq!(page.targets, ["a.html#b&c", "p.svg", "s.js", "c.css"]);
        assert_eq!(page.ids, ["top", "last"]);
    }

    #[test]
    fn terminates_on_any_text() {
        for text in ["<", "<a", "<a href", "<a href=", "<a href=\"", "<a =x>", "<!--", "<script>", "<ä>", "a<é b"] {
            assert_eq!(read(text).ids, Vec::<String>::new(), "{text}");
        }
    }
}
