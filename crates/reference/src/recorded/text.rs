//! Recorded runs as text.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{self, Write};

use super::{Activation, Evaluation, Facts, Judged, Message, Messages, Node, Operation, Proposal, RecordedRun};

const CHECKSUMS_PER_LINE: usize = 10;

/// Why a text is not a valid recorded run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    pub(super) line: usize,
    expected: &'static str,
}

impl RecordedRun {
    /// The text of the run. [`RecordedRun::parse`] reads it.
    pub fn to_text(&self) -> String {
        let mut text = "evaluations\n".to_owned();
        let mut time = None;
        let mut known = BTreeMap::new();
        for evaluation in &self.evaluations {
            if time != Some(evaluation.time) {
                time = Some(evaluation.time);
                let _ = writeln!(text, "at {}", evaluation.time);
            }
            let previous = known.insert(evaluation.instance, &evaluation.facts);
            if previous == Some(&evaluation.facts) {
                let _ = writeln!(text, "{}", evaluation.instance);
            } else {
                let _ = writeln!(text, "{} {}", evaluation.instance, facts(&evaluation.facts));
            }
        }
        text.push_str("activations\n");
        for activation in &self.activations {
            let _ = write!(text, "{}", activation.time);
            for judged in &activation.judged {
                let _ = write!(text, " {}", self::judged(judged));
            }
            text.push('\n');
        }
        let _ = writeln!(text, "messages {}", self.messages.count);
        for message in &self.messages.first {
            let [started, ended, emitted, received] = message.times;
            let _ = writeln!(text, "{} {} {started} {ended} {emitted} {received}", message.user, message.instance);
        }
        for line in self.messages.checksums.chunks(CHECKSUMS_PER_LINE) {
            text.push_str("crc32");
            for checksum in line {
                let _ = write!(text, " {checksum:08x}");
            }
            text.push('\n');
        }
        text
    }

    /// Reads the text of a run.
    pub fn parse(text: &str) -> Result<RecordedRun, ParseError> {
        let mut reading = Reading::default();
        for (number, line) in text.lines().enumerate() {
            reading.line(line).ok_or(ParseError { line: number + 1, expected: reading.part.expected() })?;
        }
        match reading.part {
            Part::Messages => Ok(reading.run),
            part => Err(ParseError { line: text.lines().count() + 1, expected: part.expected() }),
        }
    }
}

fn facts(facts: &Facts) -> String {
    let requests: Vec<String> = facts
        .requests
        .iter()
        .map(|(neighbour, rate, latency)| format!("{}:{rate}:{latency}", code(*neighbour)))
        .collect();
    let inhibited: Vec<String> = facts.inhibited.iter().copied().map(proposal).collect();
    let proposals: Vec<String> = facts.proposals.iter().copied().map(proposal).collect();
    let node = code(Some(facts.node));
    format!(
        "{} {node} {}; {}; {}; {}",
        facts.application,
        facts.free,
        repeats(&requests),
        repeats(&inhibited),
        repeats(&proposals)
    )
    .trim_end()
    .to_owned()
}

/// Items separated by spaces; equal consecutive items are written once, with their count.
fn repeats(items: &[String]) -> String {
    let groups = items.chunk_by(|one, other| one == other);
    let written = groups.map(|group| match group {
        [item] => item.clone(),
        group => format!("{}*{}", group[0], group.len()),
    });
    written.collect::<Vec<_>>().join(" ")
}

fn judged(judged: &Judged) -> String {
    let Some(asked) = judged.proposal else { return judged.instance.to_string() };
    let verdict = match (judged.accepted, judged.created) {
        (false, _) => "-".to_owned(),
        (true, None) => "+".to_owned(),
        (true, Some(created)) => format!("+{created}"),
    };
    format!("{}{}{verdict}", judged.instance, proposal(asked))
}

fn proposal(proposal: Proposal) -> String {
    let letter = &proposal.operation.as_str()[..1];
    match (proposal.operation, proposal.target) {
        (Operation::Undeploy, None) => letter.to_owned(),
        (_, target) => format!("{letter}{}", code(target)),
    }
}

fn code(node: Option<Node>) -> String {
    node.map_or_else(|| "self".to_owned(), |node| format!("{}{}{}", node.level, node.x, node.y))
}

#[derive(Default)]
struct Reading {
    run: RecordedRun,
    part: Part,
    time: u32,
    known: BTreeMap<i64, Facts>,
}

#[derive(Clone, Copy, Default)]
enum Part {
    #[default]
    Start,
    Evaluations,
    Activations,
    Messages,
}

impl Part {
    const fn expected(self) -> &'static str {
        match self {
            Part::Start => "`evaluations`",
            Part::Evaluations => "an evaluation",
            Part::Activations => "an activation",
            Part::Messages => "a message or checksums",
        }
    }
}

impl Reading {
    fn line(&mut self, line: &str) -> Option<()> {
        match (self.part, line.split_once(' ')) {
            (Part::Start, None) if line == "evaluations" => self.part = Part::Evaluations,
            (Part::Evaluations, None) if line == "activations" => self.part = Part::Activations,
            (Part::Evaluations, Some(("at", time))) => self.time = time.parse().ok()?,
            (Part::Evaluations, _) => self.evaluation(line)?,
            (Part::Activations, Some(("messages", count))) => {
                self.part = Part::Messages;
                self.run.messages = Messages { count: count.parse().ok()?, ..Messages::default() };
            }
            (Part::Activations, _) => self.activation(line)?,
            (Part::Messages, Some(("crc32", checksums))) => {
                for checksum in checksums.split(' ') {
                    self.run.messages.checksums.push(u32::from_str_radix(checksum, 16).ok()?);
                }
            }
            (Part::Messages, _) => self.run.messages.first.push(message(line)?),
            (Part::Start, _) => return None,
        }
        Some(())
    }

    fn evaluation(&mut self, line: &str) -> Option<()> {
        let (instance, facts) = match line.split_once(' ') {
            None => {
                let instance = line.parse().ok()?;
                (instance, self.known.get(&instance)?.clone())
            }
            Some((instance, facts)) => (instance.parse().ok()?, read_facts(facts)?),
        };
        self.known.insert(instance, facts.clone());
        self.run.evaluations.push(Evaluation { time: self.time, instance, facts });
        Some(())
    }

    fn activation(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let time = words.next()?.parse().ok()?;
        let judged: Option<Vec<Judged>> = words.map(read_judged).collect();
        self.run.activations.push(Activation { time, judged: judged? });
        Some(())
    }
}

fn read_facts(text: &str) -> Option<Facts> {
    let mut parts = text.split(';').map(str::trim);
    let (whose, requests, inhibited, proposals) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let mut words = whose.split(' ');
    let application = words.next()?.parse().ok()?;
    let node = read_code(words.next()?)??;
    let free = words.next()?.parse().ok()?;
    let request = |item: &str| {
        let mut fields = item.split(':');
        let neighbour = read_code(fields.next()?)?;
        Some((neighbour, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    Some(Facts {
        application,
        node,
        free,
        requests: read_repeats(requests, request)?,
        inhibited: read_repeats(inhibited, read_proposal)?,
        proposals: read_repeats(proposals, read_proposal)?,
    })
}

fn read_repeats<T: Clone>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let mut items = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let (item, count) = match word.split_once('*') {
            Some((item, count)) => (item, count.parse().ok()?),
            None => (word, 1),
        };
        items.extend(std::iter::repeat_n(read(item)?, count));
    }
    Some(items)
}

fn read_proposal(text: &str) -> Option<Proposal> {
    let (letter, target) = text.split_at_checked(1)?;
    let operation = Operation::from_letter(letter)?;
    let target = if target.is_empty() { None } else { read_code(target)? };
    Some(Proposal { operation, target })
}

fn read_judged(word: &str) -> Option<Judged> {
    let Some(start) = word.find(|letter: char| !letter.is_ascii_digit()) else {
        return Some(Judged { instance: word.parse().ok()?, proposal: None, accepted: true, created: None });
    };
    let verdict = word.find(['+', '-'])?;
    let created = &word[verdict + 1..];
    Some(Judged {
        instance: word[..start].parse().ok()?,
        proposal: Some(read_proposal(word.get(start..verdict)?)?),
        accepted: word[verdict..].starts_with('+'),
        created: if created.is_empty() { None } else { Some(created.parse().ok()?) },
    })
}

/// Parses the code of a node, such as `307`, or `self`, which is `Some(None)`. Returns `None` for any other text.
#[allow(clippy::option_option, reason = "the outer option says whether the text is valid, the inner one is the value")]
fn read_code(text: &str) -> Option<Option<Node>> {
    if text == "self" {
        return Some(None);
    }
    let (level, place) = text.split_at_checked(1)?;
    let (x, y) = place.split_at_checked(1)?;
    Node::at([level, x, y]).map(Some)
}

fn message(line: &str) -> Option<Message> {
    let mut words = line.split(' ');
    let (user, instance) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let mut times = [0.0; 4];
    for time in &mut times {
        *time = words.next()?.parse().ok()?;
    }
    Some(Message { user, instance, times })
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: expected {}", self.line, self.expected)
    }
}

impl Error for ParseError {}
