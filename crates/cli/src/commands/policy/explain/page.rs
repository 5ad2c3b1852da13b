//! Explanations as one self-contained HTML page, without scripts.

use std::fmt;
use std::io::{self, Write};

use mario_diagnostics::printable_line;
use mario_page::assets::PALETTE;
use mario_policy::{ExplainedDecision, Line, LineRole};

const STYLE: &str = "\
:root { --step: 1rem; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; color: var(--ink); background: var(--page); \
font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.1rem; } summary { padding: .5rem 0; border-top: 1px solid var(--line); cursor: pointer; }
section { border-top: 1px solid var(--line); padding: .5rem 0; }
p { margin: 0; padding-left: calc(var(--depth) * var(--step)); }
code { font: .9rem/1.5 var(--mono); white-space: pre-wrap; }
small { color: var(--faint); }
.proposed, .missed { font-weight: bold; } .proposed { color: var(--good); } .missed { color: var(--bad); }
.code, .remark { color: var(--faint); } .fact code { color: var(--fact); } .failed code { color: var(--bad); }
.change { margin: .25rem 0 .25rem calc(var(--depth) * var(--step)); padding: .25rem .5rem; background: var(--card); \
border-left: 3px solid var(--good); }
@media (max-width: 40rem) { :root { --step: .6rem; } body { padding: .5rem; } }
";

/// Identifies a page written by mario; it is near the start of every page.
pub(super) const MARK: &str = "<meta name=\"generator\" content=\"mario policy explain\">";

pub(super) fn start(page: &mut dyn Write, title: &str) -> io::Result<()> {
    let title = Escaped(title);
    writeln!(page, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(page, "{MARK}\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(page, "<title>{title}</title>\n<style>\n{PALETTE}{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>")
}

/// Writes the explanation for one knowledge base. For a `line` of a batch, the explanation is collapsed under a summary
/// with the line, the instance and the proposal.
pub(super) fn section(page: &mut dyn Write, explained: &ExplainedDecision, line: Option<usize>) -> io::Result<()> {
    if let Some(line) = line {
        let (instance, outcome) = (Escaped(&explained.instance), outcome(explained));
        writeln!(page, "<details>\n<summary>line {line}, instance {instance}: {}</summary>", Escaped(&outcome))?;
    }
    let error = explained.error_line().map(|line| vec![line]);
    for lines in explained.parts().into_iter().chain(error) {
        writeln!(page, "<section>")?;
        for line in &lines {
            write_line(page, line)?;
        }
        writeln!(page, "</section>")?;
    }
    if line.is_some() { writeln!(page, "</details>") } else { Ok(()) }
}

/// A short summary of what the agent proposes.
fn outcome(explained: &ExplainedDecision) -> String {
    match (explained.proposals.first(), &explained.error) {
        (Some(first), _) => format!("{} {}", first.operation, first.target),
        (None, Some(_)) => "no decision".to_owned(),
        (None, None) => "nop".to_owned(),
    }
}

pub(super) fn end(page: &mut dyn Write) -> io::Result<()> {
    writeln!(page, "</body>\n</html>")
}

fn write_line(page: &mut dyn Write, line: &Line) -> io::Result<()> {
    let text = Escaped(&line.text);
    write!(page, "<p class=\"{}\" style=\"--depth: {}\">", line.role.as_str(), line.depth)?;
    if !line.before.is_empty() {
        write!(page, "{} ", Escaped(&line.before))?;
    }
    match line.role {
        LineRole::Code | LineRole::Met | LineRole::Failed | LineRole::Fact => write!(page, "<code>{text}</code>")?,
        LineRole::Proposed | LineRole::Missed | LineRole::Change | LineRole::Remark => write!(page, "{text}")?,
    }
    if !line.after.is_empty() {
        write!(page, ", {}", Escaped(&line.after))?;
    }
    if let Some(place) = &line.place {
        write!(page, " <small>{}</small>", Escaped(place))?;
    }
    writeln!(page, "</p>")
}

/// Displays text escaped for HTML, with control characters replaced.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => formatter.write_str("&amp;")?,
                '<' => formatter.write_str("&lt;")?,
                '>' => formatter.write_str("&gt;")?,
                '"' => formatter.write_str("&quot;")?,
                '\'' => formatter.write_str("&#39;")?,
                character if printable_line(character.encode_utf8(&mut [0; 4])).len() > character.len_utf8() => {
                    formatter.write_str("\u{fffd}")?;
                }
                character => write!(formatter, "{character}")?,
            }
        }
        Ok(())
    }
}
