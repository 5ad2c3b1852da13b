//! The list of commands in the help of mario itself, grouped by task. clap would list them under one heading.

use std::fmt::Write as _;

use clap::Command;

/// The groups in the order of the help, each with its commands.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Simulate", &["reproduce", "run", "compare", "sweep", "merge", "snapshot", "replay", "scenario"]),
    ("Look at runs", &["report", "view", "figures", "audit", "trace"]),
    ("Write policies", &["policy", "prolog"]),
    ("Run live nodes", &["live", "node", "app", "ca", "dashboard"]),
    ("Other commands", &["bench", "completions", "man"]),
];

/// Lists the commands of mario in groups.
pub(crate) fn in_groups(command: Command) -> Command {
    let styles = command.get_styles();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let width = command.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or(0);
    let mut list = String::new();
    for (title, names) in GROUPS {
        let _ = write!(list, "\n{header}{title}:{header:#}\n");
        for about in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let (name, about) = (about.get_name(), about.get_about().map(ToString::to_string).unwrap_or_default());
            let _ = writeln!(list, "  {literal}{name:width$}{literal:#}  {about}");
        }
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{list}\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::Arguments;

    #[test]
    fn every_command_is_in_one_group_and_in_the_help() {
        let mut command = in_groups(Arguments::command());
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let known: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(grouped.len(), known.len());
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), known);
        let help = command.render_long_help().to_string();
        for (title, names) in GROUPS {
            assert!(help.contains(&format!("\n{title}:\n")), "{help}");
            assert!(names.iter().all(|name| help.contains(&format!("\n  {name} "))), "{help}");
        }
    }
}
