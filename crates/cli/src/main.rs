//! The binary `mario`. Everything is in the library beside it, where tests can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    mario_cli::main(std::env::args_os())
}
