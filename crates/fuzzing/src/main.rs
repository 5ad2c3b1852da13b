//! Lists and runs fuzz targets, replays their inputs, and writes the corpora that libFuzzer starts from.

#![allow(clippy::disallowed_methods, reason = "a program: it reads its arguments and files")]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use mario_fuzzing::{Outcome, TARGETS, Target, campaign, input, target};

const USAGE: &str = "\
usage: mario-fuzzing list
       mario-fuzzing corpus DIR            write the seeds of every target into DIR/TARGET
       mario-fuzzing replay TARGET INPUT   run one input: its number in the tests, or a file
       mario-fuzzing run TARGET COUNT      run the inputs 0 to COUNT of the tests";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["list"] => {
            TARGETS.iter().for_each(|target| println!("{}: {}", target.name, target.reads));
            Ok(())
        }
        ["corpus", directory] => write_corpora(Path::new(directory)),
        ["replay", name, input] => named(name).and_then(|target| replay(target, input)),
        ["run", name, count] => named(name).and_then(|target| run(target, count)),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn named(name: &str) -> Result<&'static Target, String> {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    target(name).ok_or_else(|| format!("error: there is no target `{name}`\nhint: there are {}", names.join(", ")))
}

fn replay(target: &Target, which: &str) -> Result<(), String> {
    let bytes = match which.parse() {
        Ok(number) => input(target, number),
        Err(_) => fs::read(which).map_err(|error| format!("error: cannot read `{which}`: {error}"))?,
    };
    println!("{}", bytes.escape_ascii());
    match (target.run)(&bytes) {
        Outcome::Accepted => println!("accepted"),
        Outcome::Rejected => println!("rejected"),
    }
    Ok(())
}

fn run(target: &Target, count: &str) -> Result<(), String> {
    let count = count.parse().map_err(|_| format!("error: `{count}` is not a number of inputs"))?;
    let tally = campaign(target, 0..count);
    println!("{} accepted, {} rejected", tally.accepted, tally.rejected);
    Ok(())
}

fn write_corpora(directory: &Path) -> Result<(), String> {
    for target in &TARGETS {
        let folder = directory.join(target.name);
        let failed = |error| format!("error: cannot write to `{}`: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed).map_err(failed)?;
        }
    }
    Ok(())
}
