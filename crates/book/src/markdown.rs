//! Reads links and headings from Markdown, with the parser that documentation tools use.

use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A link or a picture of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The line that it is in, counted from 1.
    pub line: usize,
    /// Its target, as written, without spaces around it.
    pub target: String,
}

impl Link {
    /// Whether it leads outside of the repository.
    pub fn is_outside(&self) -> bool {
        is_outside(&self.target)
    }
}

/// Whether a target is outside of the repository: a web or mail address, or embedded data.
pub fn is_outside(target: &str) -> bool {
    ["http://", "https://", "mailto:", "data:"].iter().any(|scheme| target.starts_with(scheme))
}

/// Whether a path is that of a Markdown page.
pub fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// The links of a page, in order: inline ones, those with a reference, and the addresses between angle brackets.
pub fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (event, range) in parser(text).into_offset_iter() {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
            let line = text[..range.start].matches('\n').count() + 1;
            links.push(Link { line, target: dest_url.into_string() });
        }
    }
    links
}

/// The anchors of a page, one for each heading, in order. An anchor that equals an earlier one gets a suffix: `-1`, or
/// the next number that makes it unique.
pub fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut heading = None;
    for event in parser(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let Some(heading) = heading.take() else { continue };
                let name = anchor(&heading);
                let numbered = (1..).map(|number| format!("{name}-{number}"));
                let free = std::iter::once(name.clone()).chain(numbered).find(|anchor| !anchors.contains(anchor));
                anchors.extend(free);
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    anchors
}

/// The anchor of a heading, as GitHub and mdBook both derive it.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_and_pictures_and_skips_code() {
        let text = "\
[one](a.md) and ![two](b.png), `[no](c.md)` and [`code`](d.md#e)

```sh
[no](f.md)
```

````text
```
[no](g.md)
```
````

[six](https://example.org) and [seven][7], but ``[`no](h.md)``

[7]: i.md
";
        let found: Vec<(usize, String)> = links(text).into_iter().map(|link| (link.line, link.target)).collect();
        let expected = [(1, "a.md"), (1, "b.png"), (1, "d.md#e"), (13, "https://example.org"), (13, "i.md")];
        assert_eq!(found, expected.map(|(line, target)| (line, target.to_owned())));
        assert!(links(text)[3].is_outside() && !links(text)[0].is_outside());
    }

    #[test]
    fn anchors_of_headings_match_those_of_forges() {
        let text = "# `memory.strategy`: how agents forget\n\n## A, B\n\n```\n# no\n```\n\n## A, B\n\n#none\n";
        assert_eq!(anchors(text), ["memorystrategy-how-agents-forget", "a-b", "a-b-1"]);
    }
}
