//! The reference of all commands, generated from the same definitions as their help, completions and manual pages.

use clap::Arg;

use super::GeneratedPage;
use super::prose::{cell, markdown};

/// Returns an overview page of all commands, then a page for `mario` itself and for each command and subcommand,
/// sorted by full name.
pub(super) fn pages() -> Vec<GeneratedPage> {
    let mut commands: Vec<clap::Command> =
        mario_cli::every_command().into_iter().filter(|command| command.get_name() != "help").collect();
    // Sorted by full name, a command comes before its subcommands.
    commands.sort_by_key(full_name);
    let mut overview = String::from(
        "# Commands\n\nThese pages are made from the same description as `mario COMMAND --help`.\n\n| command | what it does |\n|---|---|\n",
    );
    let mut pages = vec![];
    for mut command in commands {
        let name = full_name(&command);
        let file = format!("{}.md", name.replace(' ', "-"));
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        overview += &format!("| [`{name}`]({file}) | {} |\n", cell(&about));
        let depth = name.split(' ').count().max(2) - 1;
        pages.push(GeneratedPage::new(format!("`{name}`"), depth, format!("reference/{file}"), text(&mut command)));
    }
    pages.insert(0, GeneratedPage::new("Commands", 0, "reference/commands.md", overview));
    pages
}

fn full_name(command: &clap::Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).to_owned()
}

fn text(command: &mut clap::Command) -> String {
    let name = full_name(command);
    let usage = command.render_usage().to_string();
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let mut text = format!("# `{name}`\n\n{}\n\n```text\n{usage}\n```\n", markdown(about.lines()));
    let is_root = !name.contains(' ');
    // Global options are listed only on the page of `mario` itself.
    let shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != "help" && (is_root || !arg.is_global_set());
    let (places, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(shown).partition(|arg| arg.is_positional());
    for (title, arguments) in [("Arguments", places), ("Options", options)] {
        if !arguments.is_empty() {
            let rows: Vec<String> = arguments.into_iter().map(row).collect();
            text += &format!("\n## {title}\n\n| | meaning |\n|---|---|\n{}\n", rows.join("\n"));
        }
    }
    let below: Vec<String> =
        command.get_subcommands().filter(|command| command.get_name() != "help").map(below).collect();
    if !below.is_empty() {
        text += &format!("\n## Commands\n\n| | what it does |\n|---|---|\n{}\n", below.join("\n"));
    }
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
    format!(
        "{text}\n{}\n",
        markdown(after.lines().flat_map(|line| if line.ends_with(':') { vec![line, ""] } else { vec![line] }))
    )
}

/// Returns the table row of an argument or option: its syntax, its meaning, its possible values and its default.
fn row(arg: &Arg) -> String {
    let value = arg.get_value_names().unwrap_or_default().join(" ");
    let mut spellings: Vec<String> = arg.get_short().map(|short| format!("-{short}")).into_iter().collect();
    spellings.extend(arg.get_long().map(|long| format!("--{long}")));
    let takes_value = arg.get_num_args().is_none_or(|count| count.takes_values());
    let mut spelling = spellings.join(", ");
    if takes_value && !value.is_empty() {
        spelling = format!("{spelling} {value}").trim().to_owned();
    }
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut meaning = cell(&help.split_whitespace().collect::<Vec<_>>().join(" "));
    let values = arg.get_possible_values();
    if takes_value && !values.is_empty() {
        let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        meaning += &format!(". One of {}", names.join(", "));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_value && !defaults.is_empty() {
        meaning += &format!(". `{}` unless given", defaults.join(" "));
    }
    if arg.is_required_set() && !arg.is_positional() {
        meaning += ". Required";
    }
    format!("| `{}` | {meaning} |", spelling.replace('|', "\\|"))
}

fn below(command: &clap::Command) -> String {
    let name = full_name(command);
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    format!("| [`{name}`]({}.md) | {} |", name.replace(' ', "-"), cell(&about))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_options_and_examples() {
        let pages = pages();
        for command in mario_cli::every_command() {
            let name = full_name(&command);
            if command.get_name() == "help" {
                continue;
            }
            let page = pages.iter().find(|page| page.title == format!("`{name}`")).expect(&name);
            for option in
                command.get_arguments().filter(|arg| (name == "mario" || !arg.is_global_set()) && !arg.is_hide_set())
            {
                let is_shown = option.get_long().is_none_or(|long| page.text.contains(&format!("--{long}")));
                assert!(is_shown || option.get_id() == "help", "{name} {}", option.get_id());
            }
            assert!(page.text.contains("Examples:\n\n```text\nmario "), "{}", page.text);
            assert!(pages[0].text.contains(&format!("[`{name}`]")), "{name}");
        }
    }

    #[test]
    fn a_command_comes_right_before_its_subcommands() {
        let pages = pages();
        let place = |title: &str| pages.iter().position(|page| page.title == title).expect(title);
        assert_eq!(place("`mario`"), 1);
        assert_eq!(place("`mario policy bench`"), place("`mario policy`") + 1);
        assert_eq!((pages[place("`mario policy`")].depth, pages[place("`mario policy check`")].depth), (1, 2));
    }

    #[test]
    fn an_option_shows_its_values_and_its_default() {
        let pages = pages();
        let page = |title: &str| &pages.iter().find(|page| page.title == title).expect(title).text;
        assert!(page("`mario run`").contains("| `--force` | Replace the run that is in the directory |"));
        let threads = page("`mario run`").lines().find(|line| line.contains("`--threads N`")).expect("an option");
        assert!(threads.starts_with("| `--threads N` | ") && threads.ends_with(". `1` unless given |"), "{threads}");
        let colour = page("`mario`").lines().find(|line| line.contains("--color WHEN")).expect("an option");
        assert!(colour.ends_with(". One of `auto`, `always`, `never`. `auto` unless given |"), "{colour}");
        assert!(page("`mario`").contains("| `-q, --quiet` | "), "{}", page("`mario`"));
    }
}
