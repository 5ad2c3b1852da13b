//! Traces, and the partial traces that live nodes write.

use std::io::{self, BufRead, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mario_audit::{DecisionCheck, Options, audit};
use mario_trace::State;
use mario_trace::join::join;
use mario_trace::reader::{ReadError, TraceReader};

use super::checkpoints::finished_trace;
use super::{Outcome, Target};

/// Reads bytes as a trace, once with the auditor and once with the reader of everyone else, which must accept the same.
/// For every fourth length, the auditor also makes the decisions again. Their budget is small, because the
/// policies in the header are fuzzed too.
pub(super) const TRACE: Target = Target {
    name: "trace",
    reads: "a trace",
    run: trace,
    seeds: || vec![finished_trace()],
    pieces: &[
        "null",
        "[\"deployed\",0,1,0,0,0]\n",
        "[\"end\",0]\n",
        "\"self\"",
        "[]",
        "{}",
        "[[1,18446744073709551615]]",
    ],
    inputs: 300,
};

fn trace(bytes: &[u8]) -> Outcome {
    let decisions = if bytes.len().is_multiple_of(4) { DecisionCheck::Recompute } else { DecisionCheck::AsRecorded };
    let options = Options { limit: 5, decisions, inferences: 100_000 };
    let (audited, applied) = (audit(bytes, options, &mut |_| ()), applied(bytes));
    match (audited, applied) {
        (Ok(_), Ok(())) => Outcome::Accepted,
        (Err(audited), Err(applied)) => {
            assert!(!audited.to_string().is_empty() && !applied.to_string().is_empty());
            Outcome::Rejected
        }
        (Ok(_), Err(error)) => panic!("only the auditor can read it: {error}"),
        (Err(error), Ok(())) => panic!("only the auditor cannot read it: {error}"),
    }
}

/// Reads bytes with the reader that everyone but the auditor uses, and applies the records.
fn applied(bytes: &[u8]) -> Result<(), ReadError> {
    let mut reader = TraceReader::new(bytes)?;
    let mut state = State::new(Arc::clone(reader.header()));
    while let Some(record) = reader.next_record()? {
        state.apply(&record, &mut |state, _| assert!(state.existing().count() <= state.instances().len()));
    }
    Ok(())
}

/// Joins bytes as the parts of two nodes, separated by an empty line.
pub(super) const TRACE_PART: Target = Target {
    name: "trace_part",
    reads: "the parts of a trace that live nodes write",
    run: trace_part,
    seeds: || vec![parts().into_bytes()],
    pieces: &[
        "null",
        "\"taken\"",
        "\"custody\"",
        "\"forgotten\"",
        "[[0,0],1,",
        "{\"own\":",
        "\n\n",
        "18446744073709551615",
    ],
    inputs: 4_000,
};

/// The parts of two nodes: an instance moves from `a` to `b`, and the clock of `b` is ten seconds behind.
fn parts() -> String {
    let header = |node: &str, neighbour: &str| {
        format!(
            r#"{{"mario_trace_part":1,"program":"mario","colony":"harbour","node":"{node}","journal":"{node}{node}","part":1,"capacity":2,"neighbours":["{neighbour}"],"facts":[],"has_acceptance":false,"evaluation_ms":100,"decision_budget":1000}}"#
        )
    };
    let application = r#"{"application":{"application":{"id":"shop","hardware":1,"max_rate":1,"max_latency":1},"facts":[],"policy":"p","memory":0,"files":[["p.pl","operation(a, b, c)."]]}}"#;
    let own = |epoch: u32, cause: &str| {
        format!(
            r#"{{"own":{{"instance":"i","epoch":{epoch},"application":0,"needed":1,"workload":"0.0","cause":{cause}}}}}"#
        )
    };
    [
        header("a", "b"),
        format!("[[20000,0],null,{application}]"),
        format!("[[20000,1],1,{}]", own(1, "\"deployed\"")),
        r#"[[20005,0],2,{"custody":{"instance":"i","epoch":1,"transfer":"aa.0.0","target":"b","is_running":true}}]"#
            .to_owned(),
        "[[20009,0],3,{\"taken\":{\"transfer\":\"aa.0.0\"}}]\n".to_owned(),
        header("b", "a"),
        format!("[[10000,0],null,{application}]"),
        format!("[[10007,0],1,{}]", own(2, r#"{"taken":{"transfer":"aa.0.0","from":"a"}}"#)),
        "[[10011,0],2,{\"forgotten\":{\"transfer\":\"aa.0.0\"}}]\n".to_owned(),
    ]
    .join("\n")
}

fn trace_part(bytes: &[u8]) -> Outcome {
    let middle = bytes.windows(2).position(|pair| pair == b"\n\n").map_or(bytes.len(), |place| place + 1);
    let (one, other) = bytes.split_at(middle);
    let contents = [one.to_vec(), other.trim_ascii_start().to_vec()];
    let directories: Vec<Vec<PathBuf>> = (0..contents.len())
        .filter(|index| !contents[*index].is_empty())
        .map(|index| vec![PathBuf::from(index.to_string())])
        .collect();
    let open = |path: &Path| -> io::Result<Box<dyn BufRead>> {
        let index: usize = path.to_str().and_then(|name| name.parse().ok()).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(contents[index].clone())))
    };
    match join(&directories, &open, Vec::new()) {
        Ok((trace, _)) => {
            assert!(trace.ends_with(b"\n"), "a joined trace consists of lines");
            Outcome::Accepted
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            Outcome::Rejected
        }
    }
}
