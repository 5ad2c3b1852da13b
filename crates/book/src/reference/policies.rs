//! Generates the page of the shipped policies, each with the comment at the top of its file and its program.

use std::path::Path;

use super::GeneratedPage;
use super::prose::markdown;
use crate::{BookError, files};

/// Returns the page of all Prolog files in `policies` except tests: policies of agents, policies of node managers, and
/// the files that these load.
pub(super) fn page(root: &Path) -> Result<GeneratedPage, BookError> {
    let mut managing = Vec::new();
    let mut accepting = Vec::new();
    let mut loaded = Vec::new();
    for file in files::below(&root.join("policies"), ".pl")? {
        if file.ends_with(".test.pl") {
            continue;
        }
        let text = files::read(&root.join("policies").join(&file))?;
        let has_clause_of = |name: &str| text.lines().any(|line| line.starts_with(name));
        let group = if has_clause_of("operation(") {
            &mut managing
        } else if has_clause_of("accept(") || has_clause_of("reject(") {
            &mut accepting
        } else {
            &mut loaded
        };
        group.push(section(&file, &text));
    }
    let text = format!(
        "# Policies that ship\n\nA policy of agents is chosen by its name with `--policy NAME`, or with `policy = \"NAME\"` in a scenario; one of \
         node managers with `acceptance = \"NAME\"`. What follows is what the files say.\n\n## Policies of agents\n\n{}\n## Policies of node managers\n\n{}\n## What policies load\n\n{}",
        managing.concat(),
        accepting.concat(),
        loaded.concat()
    );
    Ok(GeneratedPage::new("Policies that ship", 0, "reference/policies.md", text))
}

fn section(file: &str, text: &str) -> String {
    let name = file.strip_suffix(".pl").unwrap_or(file);
    let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix('%')).collect();
    let program: Vec<&str> = text.lines().skip(comment.len()).collect();
    let program = program.join("\n");
    format!(
        "### {name}\n\n{}\n\n```prolog\n{}\n```\n\nIn the repository: [policies/{file}](../policies/{file}).\n\n",
        markdown(comment.iter().map(|line| line.strip_prefix(' ').unwrap_or(line))),
        program.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_has_the_comment_as_text_and_the_program_verbatim() {
        let text = "% Calm: does <nothing>.\n%\n%   node(N)   a fact\n\noperation(a, _, _) :- fail.\n";
        let expected = "### calm\n\nCalm: does \\<nothing\\>.\n\n```text\nnode(N)   a fact\n```\n\n\
                        ```prolog\noperation(a, _, _) :- fail.\n```\n\nIn the repository: [policies/calm.pl](../policies/calm.pl).\n\n";
        assert_eq!(section("calm.pl", text), expected);
    }
}
