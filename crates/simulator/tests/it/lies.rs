//! The fields of the header and of the records of traces are changed, one at a time. The auditor must detect each
//! change, unless `lies/believed.rs` lists it with the reason why nothing in the trace contradicts it. A change that is
//! listed as never detected must not be detected.
//!
//! `MARIO_LIES=400` tries that many random worlds; `MARIO_LIES_TABLE=1` prints how often each kind of lie was detected
//! and believed.

mod believed;
mod fields;
mod worlds;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use mario_audit::reader::TraceReader;
use mario_audit::{Audit, Options};
use mario_prolog::Engine;
use serde_json::Value;

use believed::{BELIEVED, Believed, Lookup};
use fields::{Change, Lie, lies};
use worlds::{World, drawn_world, remembering_world, worlds};

/// The maximum number of places in a trace at which a kind of lie is tried.
const PLACES: usize = 4;

/// The number of random worlds, in addition to the handmade ones.
const DRAWN: u64 = 60;

/// The number of additional random worlds with policies that look back.
const REMEMBERING: u64 = 6;

/// Additional random worlds, for entries of the list whose lies rarely occur in other worlds.
const RARE: [u64; 15] = [75, 90, 96, 115, 130, 139, 145, 150, 162, 165, 173, 222, 256, 424, 541];

/// A trace as JSON values: the header, then the records.
#[derive(Clone)]
pub struct Trace(pub Vec<Value>);

impl Trace {
    fn read(text: &[u8]) -> Trace {
        let text = std::str::from_utf8(text).expect("text");
        Trace(text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
    }

    /// The auditor's first finding, or the error if the trace cannot be read; `None` if the trace passes.
    fn finding(&self) -> Option<String> {
        static ENGINE: OnceLock<Engine> = OnceLock::new();
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        let text = lines.join("\n") + "\n";
        let reader = match TraceReader::new(text.as_bytes()) {
            Ok(reader) => reader,
            Err(error) => return Some(error.to_string()),
        };
        let engine = ENGINE.get_or_init(Engine::new);
        let options = Options { limit: 1, ..Options::default() };
        let audit = Audit::with_engine(Arc::clone(reader.header()), options, engine);
        match audit.read(reader, &mut |_| ()) {
            Ok(report) => report.findings.first().map(ToString::to_string),
            Err(error) => Some(error.to_string()),
        }
    }
}

/// A kind of lie: which field, how it is changed, and the trace level.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    field: String,
    change: Change,
    detail: &'static str,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} in a {} trace", self.field, self.change, self.detail)
    }
}

/// The lies of one kind that were detected, and those that were believed.
#[derive(Default)]
struct Tally {
    found: Vec<String>,
    passed: Vec<String>,
}

/// Tries each kind of lie at up to `PLACES` places of a trace, and adds the results to `tallies`.
fn tell(world: &World, tallies: &mut BTreeMap<Kind, Tally>) {
    let truth = Trace::read(&world.trace);
    assert_eq!(truth.finding(), None, "{}: the truth is believed", world.name);
    let mut places: BTreeMap<Kind, Vec<Lie>> = BTreeMap::new();
    for lie in lies(&truth) {
        let kind = Kind { field: lie.field.clone(), change: lie.change, detail: world.detail };
        places.entry(kind).or_default().push(lie);
    }
    for (kind, lies) in places {
        let count = lies.len();
        // The first, the last, and some in between.
        let chosen: std::collections::BTreeSet<usize> =
            (0..PLACES).map(|place| place * (count - 1) / (PLACES - 1)).collect();
        for lie in chosen.into_iter().map(|place| &lies[place]) {
            let mut trace = truth.clone();
            lie.tell(&mut trace);
            let line = lie.line + 1;
            let tally = tallies.entry(kind.clone()).or_default();
            match trace.finding() {
                Some(finding) => tally.found.push(format!("{}, line {line}: {finding}", world.name)),
                None => {
                    let told = trace.0.get(lie.line).map(ToString::to_string).unwrap_or_default();
                    let shown: String = told.chars().take(300).collect();
                    tally.passed.push(format!("{}, line {line}: {} becomes {shown}", world.name, truth.0[lie.line]));
                }
            }
        }
    }
}

/// The entry of the list for a kind of lie; `None` if such a lie must be detected.
fn believed(kind: &Kind) -> Option<&'static Believed> {
    BELIEVED.iter().find(|entry| entry.is_about(&kind.field, kind.change, kind.detail))
}

/// One lie of each kind that contradicts the list: a believed one of a kind that the list does not have, or a detected
/// one of a kind that it lists as never detected.
fn faults(tallies: &BTreeMap<Kind, Tally>) -> Vec<String> {
    let mut faults = Vec::new();
    for (kind, tally) in tallies {
        match believed(kind).map(|entry| entry.found) {
            None => {
                faults.extend(tally.passed.first().map(|lie| format!("{kind} is believed: {lie}")));
            }
            Some(Lookup::Never) => {
                faults.extend(tally.found.first().map(|lie| format!("{kind} is on the list and found: {lie}")));
            }
            Some(Lookup::Sometimes) => {}
        }
    }
    faults
}

/// Superfluous entries of the list: no such lie is believed, or the entry says `Sometimes` although no listed lie about
/// its field is detected.
fn idle_entries(tallies: &BTreeMap<Kind, Tally>) -> Vec<String> {
    let sums = |is_of_it: &dyn Fn(&Believed) -> bool| {
        let about = tallies.iter().filter(|(kind, _)| believed(kind).is_some_and(is_of_it));
        about.fold((0, 0), |(found, passed), (_, tally)| (found + tally.found.len(), passed + tally.passed.len()))
    };
    let mut idle = Vec::new();
    for entry in BELIEVED {
        if sums(&|other| std::ptr::eq(other, entry)).1 == 0 {
            idle.push(format!("{} {:?} is on the list, and no such lie is believed", entry.field, entry.changes));
        }
        let is_found = sums(&|other| other.field == entry.field).0 > 0;
        if entry.found == Lookup::Sometimes && !is_found {
            idle.push(format!("{} is listed as sometimes found, and never is", entry.field));
        }
    }
    idle
}

fn summary(tallies: &BTreeMap<Kind, Tally>) -> String {
    let count = |part: fn(&Tally) -> usize| tallies.values().map(part).sum::<usize>();
    let (found, passed) = (count(|tally| tally.found.len()), count(|tally| tally.passed.len()));
    format!("{} lies of {} kinds, {found} found, {passed} believed", found + passed, tallies.len())
}

#[test]
fn every_lie_is_detected_or_listed_as_undetectable() {
    let mut tallies = BTreeMap::new();
    let drawn = std::env::var("MARIO_LIES").map_or(DRAWN, |count| count.parse().expect("a number of worlds"));
    let numbers = (0..drawn).chain(RARE.into_iter().filter(|number| *number >= drawn));
    let remembering = (0..REMEMBERING).filter_map(remembering_world);
    for world in worlds().into_iter().chain(numbers.filter_map(drawn_world)).chain(remembering) {
        tell(&world, &mut tallies);
    }
    println!("{}", summary(&tallies));
    if std::env::var_os("MARIO_LIES_TABLE").is_some() {
        for (kind, tally) in &tallies {
            println!("{}\t{}\t{}", kind, tally.found.len(), tally.passed.len());
        }
    }
    let faults = [faults(&tallies), idle_entries(&tallies)].concat();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_documented_list_of_undetectable_lies_is_current() {
    let page = include_str!("../../../../docs/auditing.md");
    for entry in BELIEVED {
        assert!(page.contains(entry.reason), "docs/auditing.md does not say: {}", entry.reason);
    }
}
