//! `mario snapshot`.

mod nodes;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use mario_frontend::snapshots::{Snapshot, of_run};
use mario_simulator::write_atomically;

use crate::arguments::parse_time;
use crate::replacing::refuse_to_replace;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario snapshot`.
#[derive(Clone, Debug, Args)]
#[command(
    override_usage = "mario snapshot [OPTIONS] <TRACE|DIR> --at <TIME>\n       mario snapshot [OPTIONS] --node <ADDRESS> --as <FILE>",
    after_help = "Examples:
  mario snapshot runs/paper-1 --at 20000 --out here.toml
  mario snapshot --node 127.0.0.1:7441 --node 127.0.0.1:7451 --as ada.pem --out now.toml"
)]
pub struct Arguments {
    /// A trace, or the directory of a run
    #[arg(value_name = "TRACE|DIR", required_unless_present = "node", conflicts_with = "node", requires = "at")]
    pub run: Option<PathBuf>,
    /// The time of the snapshot in milliseconds: simulated time, or for a live run the time since its first record; after 0
    /// and before the end of the run
    #[arg(long, value_name = "TIME", requires = "run", value_parser = parse_time)]
    pub at: Option<f64>,
    /// Take the snapshot of the current state of live nodes: the address on which a node serves operators (`operators`
    /// in `[listen]` of its node.toml), e.g. 127.0.0.1:7441; may be repeated
    #[arg(long, value_name = "ADDRESS", requires = "operator")]
    pub node: Vec<String>,
    /// The certificate of an operator with the role `look`, e.g. ada.pem; its private key, ada.key, must be in the same
    /// directory
    #[arg(long = "as", value_name = "FILE", requires = "node")]
    pub operator: Option<PathBuf>,
    /// The file for the scenario; by default, standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

pub(super) const LONG_ABOUT: &str = "Write the state of a run, or of live nodes, as a scenario from which it can be resumed.

`mario run` and `mario policy explain --snapshot` take the scenario, for example to see what another policy would have done from \
that state. `mario compare --seeds 1` shows the figures of several policies, without a test.

For a simulated run in a directory, the snapshot is exact, and contains everything that the run depends on. To resume it, mario \
first simulates the recorded past again and compares it with the trace, record by record. With `mario run SNAPSHOT --policy P`, \
P applies from the time of the snapshot on; without --policy, the run continues exactly as recorded, byte for byte.

For live nodes, for a live run, and for a trace without its directory, the scenario has what is known: nodes, links, applications, policies, the \
placement of instances, and the client requests that their agents observed last. A comment at the top says what is missing.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    if let Some(path) = &arguments.out {
        let is_ours = |opening: &[u8]| opening.starts_with(Snapshot::MARK.as_bytes());
        refuse_to_replace(path, is_ours, "a snapshot", "--out")?;
    }
    let snapshot = match (&arguments.run, arguments.at, &arguments.operator) {
        (Some(run), Some(at), _) => of_run(run, at, console)?,
        (_, _, Some(operator)) => nodes::ask(&arguments.node, operator, console)?,
        _ => unreachable!("the arguments ask for one of the two"),
    };
    let text = snapshot.file();
    match &arguments.out {
        None => console.write_data(|stdout| stdout.write_all(text.as_bytes()))?,
        Some(path) => {
            write_atomically(path, |file| file.write_all(text.as_bytes()))
                .map_err(|error| Failure::file(format!("cannot write `{}`", path.display()), &error))?;
            tell(&snapshot, console);
            console.inform(format!("resume from there: mario run {} --policy POLICY", path.display()));
        }
    }
    Ok(Outcome::Done)
}

/// Prints the description of a snapshot, including what it lacks.
pub(super) fn tell(snapshot: &Snapshot, console: &Console) {
    for line in &snapshot.about {
        console.inform(line);
    }
}
