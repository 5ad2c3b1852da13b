//! Words the hints of the libraries with the options of the command line.

use std::borrow::Cow;
use std::path::Path;

use mario_frontend::Hint;
use mario_frontend::hints::quoted;

/// What the user can do, in the words of the command line.
pub(crate) fn words(hint: &Hint) -> String {
    const AGAIN: &str = "start the run again, with --force to replace what it left";
    let text: Cow<'_, str> = match hint {
        Hint::Text(text) => text.into(),
        Hint::Replace => "name another directory, or replace the run in it with --force".into(),
        Hint::Resume(directory) => format!("resume it: {}", resuming(directory)).into(),
        Hint::RestoreFile => format!("put the file back as it was, or {AGAIN}").into(),
        Hint::SameVersion => format!("resume it with the version of mario that wrote it, or {AGAIN}").into(),
        Hint::SameProgram => format!("resume it with the program that wrote it, or {AGAIN}").into(),
        Hint::NoCheckpoint => format!("{AGAIN}; --checkpoint-every says how often it is saved").into(),
        Hint::NameRun => "name a directory that `mario run` has made".into(),
        Hint::NameRunOrLive => "name a directory that `mario run` or `mario live` has made".into(),
        Hint::ShowRun(directory) => {
            format!("there is nothing to resume; `mario report {}` shows it", directory.display()).into()
        }
        Hint::FindTrace => "`mario run` leaves a trace as trace.jsonl in the directory of its results".into(),
        Hint::Audit => "`mario audit` tells what is wrong with its trace".into(),
        Hint::SimulateMessages => "omit --messages, or add --set network.fidelity=messages".into(),
        Hint::PassFunction => "run it from Python, where the function is: `mario.run(…, policy=function)`".into(),
        Hint::ListPolicies => "`mario policy show` lists the policies that ship".into(),
        Hint::TestAcceptance => {
            "this is the acceptance policy of a node's manager: `mario policy test` judges requests with it".into()
        }
        Hint::TryAcceptance => {
            "a full trace has the reason each time; `mario policy check` and `mario policy test` try a policy alone"
                .into()
        }
        Hint::CheckPolicies => "Ctrl-C breaks the run off; `mario policy check` finds policies that do not end".into(),
        Hint::LowerBudget => {
            "--budget N has a decision end after N inferences: the shipped policies take some hundred".into()
        }
        Hint::RaiseBudget => "does it loop? `--budget` allows more inferences".into(),
        Hint::NameInstance => "name one of them with `--instance`".into(),
        Hint::Explain(run) => format!("to see why: {}", run.command()).into(),
        Hint::RecordPlacement => "make the run again without `--trace summary`".into(),
        Hint::MetricProgram => "write `--metric NAME=COMMAND` with a program that is installed, or its path".into(),
        Hint::MetricTime => "give it more time with `--metric-timeout SECONDS`".into(),
        Hint::RepeatMetric => "the same command computes it again".into(),
        Hint::RepeatStudy => "the same command makes the runs that are missing".into(),
        Hint::KeepStudy => "with `--out DIR`, what was done would be kept".into(),
        Hint::FewerSeeds => "ask for fewer `--seeds`".into(),
        Hint::VarySeeds => "ask for `--seeds N`, from `--seed N` on".into(),
        Hint::WriteKeys => "write `--key KEY=VALUE,VALUE`, e.g. `--key workload.period=20,40,80`".into(),
        Hint::KeepShard => "store them with `--out DIR`; `mario merge` joins the parts".into(),
        Hint::NameStudies => "name directories that `mario sweep --out` or `mario compare --out` made; those of \
                              `mario run` are single runs"
            .into(),
    };
    text.into_owned()
}

/// The command that resumes the run in a directory, quoted for a shell.
pub(crate) fn resuming(directory: &Path) -> String {
    format!("mario run --resume {}", quoted(&directory.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options and the commands that a text names.
    fn named(text: &str) -> (Vec<String>, Vec<String>) {
        let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let name = |part: &str| part.chars().take_while(|letter| is_of_name(*letter)).collect::<String>();
        let options = text.match_indices("--").map(|(at, _)| name(&text[at + 2..]));
        let commands = text.match_indices("mario ").map(|(at, _)| {
            let words = text[at..].split(['`', ';']).next().unwrap_or_default();
            let words = words.split(' ').take_while(|word| !word.is_empty() && word.chars().all(is_of_name));
            words.take_while(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ")
        });
        (options.collect(), commands.collect())
    }

    #[test]
    fn hints_name_only_options_and_commands_that_exist() {
        let all = crate::every_command();
        let has_option = |wanted: &str| {
            all.iter().flat_map(clap::Command::get_arguments).any(|known| known.get_long() == Some(wanted))
        };
        let (mut options_seen, mut commands_seen) = (0, 0);
        for hint in Hint::examples() {
            let text = words(&hint);
            let (options, commands) = named(&text);
            options_seen += options.len();
            commands_seen += commands.len();
            for option in options {
                assert!(has_option(&option), "{hint:?} names --{option}: {text}");
            }
            for command in commands {
                let is_known = all.iter().filter_map(clap::Command::get_bin_name).any(|known| {
                    known == command
                        || command.strip_prefix(known).is_some_and(|rest| rest.starts_with(' ') && known != "mario")
                });
                assert!(is_known || command == "mario", "{hint:?} names `{command}`: {text}");
            }
        }
        assert!(options_seen >= 20 && commands_seen >= 15, "{options_seen} options, {commands_seen} commands");
    }

    #[test]
    fn each_hint_has_words_of_its_own() {
        let texts: std::collections::BTreeSet<String> = Hint::examples().iter().map(words).collect();
        assert_eq!(texts.len(), Hint::examples().len());
        assert!(texts.contains("resume it: mario run --resume 'runs/paper 1'"), "quoted for a shell: {texts:?}");
    }
}
