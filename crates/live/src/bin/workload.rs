//! The processes of a workload without the rest of `mario`: what this crate's tests launch.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some((role, rest)) = arguments.split_first() else { return ExitCode::from(2) };
    if role == "sample" {
        let (code, problem) = mario_live::workloads::sample::main(rest);
        if let Some(problem) = problem {
            eprintln!("{problem}");
        }
        return ExitCode::from(code);
    }
    ExitCode::from(mario_live::workloads::launch::main(rest))
}
