//! Reads links and headings from Markdown.
//!
//! This is not a full Markdown parser. It supports only what the pages of this repository use: inline links and
//! pictures, `[text](target)`, and headings with `#`. Code is skipped.

use std::path::Path;

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

/// The links of a page, in order.
pub fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, prose) in prose(text) {
        let mut rest = prose.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, after)) = after.split_once(')') else { break };
            links.push(Link { line, target: target.trim().to_owned() });
            rest = after;
        }
    }
    links
}

/// The anchors of a page: one for each heading. If it equals an earlier one, the lowest number from 1 that makes it
/// unique is appended.
pub fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in lines_outside_of_fences(text) {
        let hashes = line.chars().take_while(|letter| *letter == '#').count();
        let Some(heading) = line.get(hashes..).filter(|_| (1..=6).contains(&hashes)) else { continue };
        let Some(heading) = heading.strip_prefix(' ') else { continue };
        let name = anchor(heading);
        let mut free = name.clone();
        let mut number = 1;
        while anchors.contains(&free) {
            free = format!("{name}-{number}");
            number += 1;
        }
        anchors.push(free);
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

/// The lines of a page without code blocks, with their numbers from 1, and with inline code blanked.
fn prose(text: &str) -> Vec<(usize, String)> {
    lines_outside_of_fences(text).map(|(number, line)| (number, without_code(line))).collect()
}

fn lines_outside_of_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<usize> = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let ticks = line.trim_start().chars().take_while(|letter| *letter == '`').count();
        match fence {
            Some(opening) => {
                if ticks >= opening {
                    fence = None;
                }
                None
            }
            None if ticks >= 3 => {
                fence = Some(ticks);
                None
            }
            None => Some((index + 1, line)),
        }
    })
}

fn without_code(line: &str) -> String {
    let mut is_code = false;
    let blank = line.chars().map(|letter| {
        if letter == '`' {
            is_code = !is_code;
        }
        if is_code { ' ' } else { letter }
    });
    blank.collect()
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

[six](https://example.org)
";
        let found: Vec<(usize, String)> = links(text).into_iter().map(|link| (link.line, link.target)).collect();
        let expected = [(1, "a.md"), (1, "b.png"), (1, "d.md#e"), (13, "https://example.org")];
        assert_eq!(found, expected.map(|(line, target)| (line, target.to_owned())));
        assert!(links(text)[3].is_outside() && !links(text)[0].is_outside());
    }

    #[test]
    fn anchors_of_headings_match_those_of_forges() {
        let text = "# `memory.strategy`: how agents forget\n\n## A, B\n\n```\n# no\n```\n\n## A, B\n\n#none\n";
        assert_eq!(anchors(text), ["memorystrategy-how-agents-forget", "a-b", "a-b-1"]);
    }
}
