//! Assembles the page: markup, style, script and data in one self-contained file.

use mario_page::assets::{PALETTE, SCRIPTS, STYLES};
use mario_page::drawing::escape;

use crate::codes;

/// The report's own scripts, in the order in which they are concatenated.
const PROGRAM: &[&str] = &[
    include_str!("../assets/event-words.js"),
    include_str!("../assets/figure.js"),
    include_str!("../assets/tables.js"),
    include_str!("../assets/columns.js"),
    include_str!("../assets/replay-state.js"),
    include_str!("../assets/replay-layout.js"),
    include_str!("../assets/replay-stage.js"),
    include_str!("../assets/replay-explanation.js"),
    include_str!("../assets/replay-details.js"),
    include_str!("../assets/replay-areas.js"),
    include_str!("../assets/replay.js"),
    include_str!("../assets/page.js"),
];

const PRINT: &str = include_str!("../assets/print.css");

const MARKUP: &str = include_str!("../assets/page.html");

/// Returns the page with `data`, a JSON text. A live page polls its server for updates.
pub(crate) fn html(title: &str, data: &str, is_live: bool) -> String {
    let program = program();
    // Fills the markup in one pass, so that no part of the data is mistaken for a placeholder.
    let mut page = String::with_capacity(data.len() + program.len() + 65_536);
    let mut rest = MARKUP;
    while let Some((before, after)) = rest.split_once("<!--fill ") {
        let Some((name, after)) = after.split_once("-->") else { break };
        page.push_str(before);
        match name {
            "title" => page.push_str(&escape(title)),
            "style" => page.push_str(&style()),
            "program" => page.push_str(&program),
            "live" => page.push_str(if is_live { "live" } else { "file" }),
            "data" => page.push_str(&safe_in_script(data)),
            _ => {}
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

/// The content of the page's script element: the table of codes and all scripts.
pub(crate) fn program() -> String {
    format!("\n(() => {{\n\"use strict\";\n{}{}}})();\n", codes::script(), [SCRIPTS, PROGRAM].concat().concat())
}

/// The content of the page's style element.
pub(crate) fn style() -> String {
    format!("\n{}{PRINT}", STYLES.concat())
}

/// Returns a page that states why there is no report yet, and reloads after a second.
pub(crate) fn waiting(trouble: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"refresh\" content=\"1\">\n<title>mario</title>\n<link \
         rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n<p>There is no report yet.</p>\n<pre>{}</pre>\n",
        waiting_style(),
        escape(trouble)
    )
}

/// The content of the style element of [`waiting`].
pub(crate) fn waiting_style() -> String {
    format!("{PALETTE}body {{ font: 16px/1.5 system-ui, sans-serif; margin: 4rem auto; max-width: 60ch; {COLOURS} }}")
}

const COLOURS: &str = "background: var(--page); color: var(--ink);";

/// Escapes JSON so that it cannot close the script element that contains it.
fn safe_in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_its_element_or_fill_another() {
        let page = html("<b>", r#"{"label":"</script><!--fill title-->"}"#, false);
        assert!(page.contains(r#"{"label":"\u003c/script>\u003c!--fill title-->"}"#));
        assert!(page.contains("<title>&lt;b&gt;</title>"));
    }
}
