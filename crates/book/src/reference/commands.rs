//! The help of every command, as the command prints it.

use super::Generated;

/// A page with all commands, and one for each.
pub(super) fn pages() -> Vec<Generated> {
    let commands: Vec<clap::Command> =
        mario_cli::every_command().into_iter().filter(|command| command.get_name() != "help").collect();
    let mut overview = String::from(
        "# Commands\n\nWhat each command of `mario` takes and does: the text of `mario COMMAND --help`, from the program itself.\n\n\
         | command | what it does |\n|---|---|\n",
    );
    let mut pages: Vec<Generated> = Vec::new();
    for mut command in commands {
        let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
        let file = format!("{}.md", name.replace(' ', "-"));
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        overview += &format!("| [`{name}`]({file}) | {} |\n", about.replace('|', "\\|"));
        let help = command.render_long_help().to_string();
        let text = format!("# `{name}`\n\n````text\n{}\n````\n", help.trim_end());
        let depth = name.split(' ').count().max(2) - 1;
        pages.push(Generated::new(format!("`{name}`"), depth, format!("reference/{file}"), text));
    }
    // A command stands above those below it.
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    pages.insert(0, Generated::new("Commands", 0, "reference/commands.md", overview));
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_options_below_the_command_that_it_belongs_to() {
        let pages = pages();
        for command in mario_cli::every_command() {
            let name = command.get_bin_name().expect("built");
            if command.get_name() == "help" {
                continue;
            }
            let page = pages.iter().find(|page| page.title == format!("`{name}`")).expect(name);
            for option in command.get_arguments().filter_map(clap::Arg::get_long) {
                assert!(page.text.contains(&format!("--{option}")), "{name} --{option}");
            }
            assert!(pages[0].text.contains(&format!("[`{name}`]")), "{name}");
        }
        let place = |title: &str| pages.iter().position(|page| page.title == title).expect(title);
        assert_eq!(place("`mario policy check`"), place("`mario policy bench`") + 1);
        assert_eq!((pages[place("`mario policy`")].depth, pages[place("`mario policy check`")].depth), (1, 2));
    }
}
