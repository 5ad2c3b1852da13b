//! Snapshots of recorded runs and of live nodes: scenarios with which a simulation continues from a given time.

use std::path::Path;

use mario_domain::Time;
use mario_experiments::snapshot::{ColonySnapshot, SnapshotError};
use mario_scenario::{Document, NoFiles};
use mario_simulator::{Detail, compare_with_trace};
use mario_trace::reader::{Detail as RecordedDetail, Header, TraceReader};
use serde_json::json;

use crate::failure::Failure;
use crate::hints::{Diagnostic, Hint};
use crate::input::read_text;
use crate::kept_scenario::{KeptScenario, read_kept, settings_as_toml};
use crate::runs::differs;
use crate::scenarios::failure;
use crate::traces::{Reading, cannot_read, open, refuse, trace_path};

/// The file in which a run stores its scenario.
const RUN: &str = "run.json";

/// The name that messages use for a snapshot that is not in a file.
const UNWRITTEN: &str = "snapshot.toml";

/// A scenario with which a simulation continues a recorded run, or the state of live nodes, from a given time.
pub struct Snapshot {
    /// The scenario, as the text of a scenario file. It needs no other file.
    pub text: String,
    /// The lines of the comment at the top of the file, which describe the snapshot.
    pub about: Vec<String>,
    /// Whether a run from this snapshot continues exactly like the recorded one.
    pub is_exact: bool,
}

impl Snapshot {
    /// The first line of a snapshot file.
    pub const MARK: &str = "# A snapshot to resume from, written by `mario snapshot`.";

    /// The text of the file, with its description at the top.
    pub fn file(&self) -> String {
        let mut file = format!("{}\n", Snapshot::MARK);
        for line in &self.about {
            file += &format!("# {line}\n");
        }
        file + "\n" + &self.text
    }

    /// The scenario.
    pub fn document(&self) -> Document {
        Document::file(Path::new(UNWRITTEN), self.text.as_str(), &mut NoFiles)
    }
}

/// Takes a snapshot of a stored run at time `at`. If the run was simulated and its `run.json` is beside the trace, the
/// snapshot is exact, and it is an error if that is impossible; otherwise it contains only what the trace records.
pub fn of_run(typed: &Path, at: f64, reading: &dyn Reading) -> Result<Snapshot, Failure> {
    let path = trace_path(typed);
    let input = open(&path, "reading", reading).map_err(|error| cannot_read(&path, &error))?;
    let reader = TraceReader::new(input).map_err(|error| refuse(&path, &error))?;
    let header = std::sync::Arc::clone(reader.header());
    check_time(&path, &header, at)?;
    let beside = path.parent().map(|directory| directory.join(RUN)).filter(|run| run.is_file());
    match beside {
        Some(run) if header.live.is_none() => exact(&path, &run, &header, at, reading),
        _ => {
            let colony = ColonySnapshot::of_trace(reader, at).map_err(|error| no_snapshot(&path, at, &error))?;
            let why = if header.live.is_some() {
                "it is a run of live nodes"
            } else {
                "there is no run.json beside its trace"
            };
            from_colony(
                &colony,
                &format!("time {at} of {}: the run cannot be simulated again, because {why}", path.display()),
            )
            .map_err(|error| no_snapshot(&path, at, &error))
        }
    }
}

fn check_time(path: &Path, header: &Header, at: f64) -> Result<(), Failure> {
    if at <= 0.0 || header.live.is_none() && at >= header.duration {
        let end =
            if header.live.is_none() && at > 0.0 { format!(": it ends at {}", header.duration) } else { String::new() };
        let title = format!("run `{}` has no state at time {at}{end}", path.display());
        let hint = if header.live.is_some() {
            "name a time after 0".to_owned()
        } else {
            format!("name a time after 0 and before {}", header.duration)
        };
        return Err(Failure::input(Diagnostic::error(title).hint(hint)));
    }
    Ok(())
}

/// Takes an exact snapshot: simulates the run again up to this time, and compares it with the recorded trace.
fn exact(path: &Path, run: &Path, header: &Header, at: f64, reading: &dyn Reading) -> Result<Snapshot, Failure> {
    let KeptScenario { settings: mut scenario, left_out, .. } = read_kept(run, &read_text(run)?.text)?;
    if let Some(first) = left_out.first() {
        let title = format!("cannot take a snapshot of `{}`: the run did not keep `{first}`", path.display());
        let hint = "files that are no text, longer than 8 MiB, or named in two directories are not kept; carry them in `[files]` of the scenario";
        return Err(Failure::input(Diagnostic::error(title).hint(hint)));
    }
    let text = settings_as_toml(&scenario, run)?;
    let resolved = Document::file(run, text, &mut NoFiles).resolve(&mut NoFiles).map_err(|error| failure(&error))?;
    let detail = match header.detail {
        RecordedDetail::Full => Detail::Full,
        RecordedDetail::Operations => Detail::Operations,
        RecordedDetail::Summary => Detail::Summary,
    };
    let input = open(path, "comparing", reading).map_err(|error| cannot_read(path, &error))?;
    let past =
        compare_with_trace(&resolved.scenario, Time::at(at), detail, input).map_err(|error| differs(path, &error))?;
    let checksum = format!("{:08x}", past.checksum.unwrap_or_default());
    scenario["start"] = json!({ "time": at, "seed": header.seed, "records": past.records, "checksum": checksum });
    let text = settings_as_toml(&scenario, run)?;
    let about = vec![
        format!("Time {at} of {}.", path.display()),
        "Up to then, a run of this scenario repeats the recorded one. From then on, --policy may set another policy;"
            .to_owned(),
        "without it, the run continues exactly as recorded, byte for byte.".to_owned(),
    ];
    Ok(Snapshot { text, about, is_exact: true })
}

/// Makes a snapshot of a state that is only partly known. `what` is the first line of its description.
pub fn from_colony(colony: &ColonySnapshot, what: &str) -> Result<Snapshot, SnapshotError> {
    let scenario = colony.scenario()?;
    let text = toml::to_string(&scenario).expect("it has texts, numbers, lists and tables alone");
    let mut about = vec![format!("{what}."), "Not in this scenario:".to_owned()];
    about.extend(colony.left_out.iter().map(|left_out| format!("- {left_out}")));
    Ok(Snapshot { text, about, is_exact: false })
}

fn no_snapshot(path: &Path, at: f64, error: &SnapshotError) -> Failure {
    let title = format!("time {at} of `{}` makes no scenario", path.display());
    let hint = match error {
        SnapshotError::Read(error) => return refuse(path, error),
        SnapshotError::OnlyCounts => Hint::RecordPlacement,
        SnapshotError::Empty => "name a moment at which something is deployed".into(),
        SnapshotError::Outside { .. } => "name an earlier time".into(),
        SnapshotError::Topology(_) | SnapshotError::Export(_) => "name another node or fact".into(),
    };
    Failure::input(Diagnostic::error(title).caused_by(error).hint(hint))
}
