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

    fn is_name(word: &str) -> bool {
        !word.starts_with('-') && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')
    }

    /// The options that a text names.
    fn options(text: &str) -> Vec<&str> {
        let words = text.split(|letter: char| !letter.is_ascii_lowercase() && letter != '-');
        words.filter_map(|word| word.strip_prefix("--")).collect()
    }

    /// The commands that a text names, in backticks or after a colon.
    fn commands(text: &str) -> Vec<String> {
        let begins = text.match_indices("mario ").map(|(at, _)| text.split_at(at));
        let typed = begins.filter(|(before, _)| before.ends_with('`') || before.ends_with(": "));
        let words = typed.map(|(_, rest)| rest.split(['`', ' ']).take_while(|word| is_name(word) && !word.is_empty()));
        words.map(|words| words.collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn hints_name_only_options_and_commands_that_exist() {
        let all = crate::every_command();
        let known_options: Vec<&str> =
            all.iter().flat_map(clap::Command::get_arguments).filter_map(clap::Arg::get_long).collect();
        let known_commands: Vec<&str> = all.iter().filter_map(clap::Command::get_bin_name).collect();
        let (mut options_seen, mut commands_seen) = (0, 0);
        for hint in Hint::examples() {
            let text = words(&hint);
            for option in options(&text) {
                assert!(known_options.contains(&option), "{hint:?} names --{option}: {text}");
                options_seen += 1;
            }
            for command in commands(&text) {
                assert!(known_commands.contains(&&*command), "{hint:?} names `{command}`: {text}");
                commands_seen += 1;
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
