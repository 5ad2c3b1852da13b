//! Extracts recorded runs from the output files of the prototype.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;

use super::{Activation, Evaluation, Facts, Judged, Message, Messages, Node, Operation, Proposal, RecordedRun};

/// Why a run cannot be extracted.
#[derive(Debug)]
pub enum ConvertError {
    /// A file cannot be read.
    Read(PathBuf, io::Error),
    /// A line of a file is malformed.
    Line(PathBuf, usize),
}

pub(super) fn convert(directory: &Path) -> Result<RecordedRun, ConvertError> {
    let mut messages = Messages::default();
    self::messages(directory)?.into_iter().for_each(|message| messages.push(message));
    Ok(RecordedRun {
        evaluations: each_line(&directory.join("agents.jsonl.gz"), |line| evaluation(&json(line)?))?,
        activations: each_line(&directory.join("operator.jsonl.gz"), |line| activation(&json(line)?))?,
        messages,
    })
}

/// All messages of the run in a directory, in order.
pub(crate) fn messages(directory: &Path) -> Result<Vec<Message>, ConvertError> {
    let path = directory.join("users.json");
    let users: Value = json(&text(&path)?).ok_or_else(|| ConvertError::Line(path.clone(), 1))?;
    let users = users["users"].as_object().ok_or(ConvertError::Line(path, 1))?;
    let mut numbers: Vec<i64> = users.values().filter_map(|user| user["des"].as_i64()).collect();
    numbers.sort_unstable();
    let positions: BTreeMap<i64, u32> = numbers.into_iter().zip(0..).collect();
    let path = directory.join("messages.csv.gz");
    let mut is_head = true;
    let rows = each_line(&path, |line| {
        if std::mem::take(&mut is_head) {
            return Some(None);
        }
        let columns: Vec<&str> = line.split(',').collect();
        let time = |column: usize| columns.get(column)?.parse().ok();
        Some(Some(Message {
            user: *positions.get(&columns.get(5)?.parse().ok()?)?,
            instance: columns.get(6)?.parse().ok()?,
            times: [time(11)?, time(12)?, time(13)?, time(14)?],
        }))
    })?;
    Ok(rows.into_iter().flatten().collect())
}

fn evaluation(line: &Value) -> Option<Evaluation> {
    let instance = line["si"].as_i64()?;
    let node = line["node"].as_str()?;
    let request = |fact: &Value| {
        let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
        Some((neighbour(&fact[0])?, number(&fact[1])?, number(&fact[2])?))
    };
    let requests: Option<Vec<_>> = line["requests"].as_array()?.iter().map(request).collect();
    let proposals = |key: &str| -> Option<Vec<Proposal>> {
        line[key].as_array()?.iter().map(|triple| proposal(&triple[0], &triple[2])).collect()
    };
    let facts = Facts {
        application: u32::try_from(line["app"].as_u64()?).ok()?,
        node: Node::named(node)?,
        free: line["free_hw"][node].as_u64()?,
        requests: requests?,
        inhibited: proposals("refused")?,
        proposals: proposals("ops")?,
    };
    Some(Evaluation { time: u32::try_from(line["t"].as_u64()?).ok()?, instance, facts })
}

fn activation(line: &Value) -> Option<Activation> {
    let judged = |entry: &Value| {
        let proposal = match entry[3].as_str()? {
            "nop" => None,
            _ => Some(proposal(&entry[3], &entry[4])?),
        };
        Some(Judged {
            instance: entry[0].as_i64()?,
            proposal,
            accepted: entry[5].as_bool()?,
            created: entry[6].as_i64(),
        })
    };
    let judged: Option<Vec<Judged>> = line["entries"].as_array()?.iter().map(judged).collect();
    Some(Activation { time: u32::try_from(line["t"].as_u64()?).ok()?, judged: judged? })
}

fn proposal(operation: &Value, target: &Value) -> Option<Proposal> {
    let name = operation.as_str()?;
    let operation = Operation::ALL.into_iter().find(|operation| operation.as_str() == name)?;
    let target = match operation {
        // Some records name the node of the instance, others write `self`; both have the same meaning.
        Operation::Undeploy => None,
        _ => neighbour(target)?,
    };
    Some(Proposal { operation, target })
}

#[allow(clippy::option_option, reason = "the outer option says whether the text is valid, the inner one is the value")]
fn neighbour(value: &Value) -> Option<Option<Node>> {
    match value.as_str()? {
        "self" => Some(None),
        name => Node::named(name).map(Some),
    }
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn text(path: &Path) -> Result<String, ConvertError> {
    let failed = |error| ConvertError::Read(path.to_owned(), error);
    let bytes = fs::read(path).map_err(failed)?;
    if path.extension().is_some_and(|ending| ending == "gz") {
        let mut text = String::new();
        GzDecoder::new(&bytes[..]).read_to_string(&mut text).map_err(failed)?;
        return Ok(text);
    }
    String::from_utf8(bytes).map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
}

fn each_line<T>(path: &Path, mut read: impl FnMut(&str) -> Option<T>) -> Result<Vec<T>, ConvertError> {
    let text = text(path)?;
    let numbered = text.lines().enumerate();
    numbered.map(|(number, line)| read(line).ok_or_else(|| ConvertError::Line(path.to_owned(), number + 1))).collect()
}

impl fmt::Display for ConvertError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConvertError::Read(path, _) => write!(formatter, "cannot read `{}`", path.display()),
            ConvertError::Line(path, line) => {
                write!(formatter, "`{}`, line {line}: not a record of the prototype", path.display())
            }
        }
    }
}

impl Error for ConvertError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ConvertError::Read(_, error) => Some(error),
            ConvertError::Line(..) => None,
        }
    }
}
