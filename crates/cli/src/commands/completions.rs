//! `mario completions SHELL`.

use clap::Args;
use clap_complete::Shell;

use crate::{Console, Failure, Outcome};

/// Arguments of `mario completions`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  mario completions bash > mario.bash\n  mario completions fish | source")]
pub struct Arguments {
    /// The shell to write completions for
    pub shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    // Generates into memory first, because the generator panics if a write fails, for example on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command(), "mario", &mut script);
    console.write_data(|stdout| stdout.write_all(&script))?;
    Ok(Outcome::Done)
}
