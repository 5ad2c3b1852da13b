//! Exhaustive model checking of the transfer, over the state machine that nodes run.
//!
//! A world is a few nodes and the set of all messages ever sent. Any message may be delivered at any time, any number
//! of times, or never, which models loss, duplication, reordering, delay and partition. Nodes crash and restart from
//! their ledgers, lose their disks, or never come back; sources abort, and targets drop reservations, at any time. All
//! worlds that can be reached within bounds are visited. In each of them the invariants of the transfer must hold, and
//! a quiescent world must be reachable without a further fault.
//!
//! Each test in `shortcuts` breaks the protocol in one plausible way, and asserts that the model checker finds a
//! violation.
//!
//! The step of a node depends only on that node and its input, so each such step is computed once and then cached.

mod checks;
mod member;
mod shortcuts;
mod worlds;

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use crate::ids::Epoch;
use member::{Action, Members};
use shortcuts::Shortcut;

/// The bounds of the exploration.
#[derive(Clone, Copy)]
struct Bounds {
    /// For each node, how many instances fit on it.
    capacities: &'static [u64],
    /// For each instance of the initial world, the node that owns it.
    owners: &'static [usize],
    transfers: u8,
    crashes: u8,
    /// How many times, in all, a node may lose its disk and restart empty.
    wipes: u8,
    /// How many nodes may be lost for good.
    losses: u8,
    /// How many `Ready` messages targets may send in all.
    promises: u8,
    replicates: bool,
    undeploys: bool,
    is_exclusive: bool,
    shortcut: Option<Shortcut>,
}

impl Bounds {
    const SMALL: Bounds = Bounds {
        capacities: &[1, 1, 1],
        owners: &[0],
        transfers: 2,
        crashes: 1,
        wipes: 0,
        losses: 0,
        promises: 3,
        replicates: false,
        undeploys: true,
        is_exclusive: false,
        shortcut: None,
    };
}

/// A state of the world. Nodes and messages are indices into the tables of [`Members`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    members: Vec<u32>,
    /// The indices of all messages ever sent, in ascending order.
    network: Vec<u32>,
    /// How many times each node has lost its disk.
    lives: Vec<u8>,
    is_lost: Vec<bool>,
    transfers: u8,
    crashes: u8,
    promises: u8,
    /// Instances that were undeployed.
    ended: Vec<u16>,
    /// Instances that were on a lost disk or node, or in custody for a node that was declared lost.
    excused: Vec<u16>,
    /// For each instance, the epoch in which a transfer last brought it to a node; `u32::MAX` if that was not higher
    /// than the one before.
    epochs: Vec<Epoch>,
}

/// The result of an exploration.
struct Found {
    worlds: usize,
    steps: u64,
    /// The first violation found, and the steps that lead there; `None` if the invariants hold in all worlds.
    violation: Option<(String, Vec<String>)>,
    /// The number of worlds from which no quiescent world can be reached without a further fault. Not counted, and 0,
    /// if there is a violation.
    stuck: usize,
}

/// Visits all worlds within the bounds, breadth first, up to the first violation.
fn explore(bounds: Bounds) -> Found {
    let mut members = Members::new(bounds);
    let first = members.first_world();
    let mut known: FxHashMap<World, u32> = FxHashMap::from_iter([(first.clone(), 0)]);
    let mut came_from: Vec<(u32, Option<(usize, Action)>)> = vec![(0, None)];
    let mut queue = VecDeque::from([(0_u32, first)]);
    let mut backwards: Vec<(u32, u32)> = Vec::new();
    let mut quiet = Vec::new();
    let mut steps = 0;
    while let Some((position, world)) = queue.pop_front() {
        if let Some(violation) = members.violation(&world) {
            let story = story(&members, &came_from, position);
            return Found { worlds: known.len(), steps, violation: Some((violation, story)), stuck: 0 };
        }
        if members.is_quiet(&world) {
            quiet.push(position);
        }
        for (node, action, next) in members.successors(&world) {
            steps += 1;
            let next_position = *known.entry(next).or_insert_with_key(|next| {
                let next_position = came_from.len() as u32;
                came_from.push((position, Some((node, action.clone()))));
                queue.push_back((next_position, next.clone()));
                next_position
            });
            if !action.is_fault() {
                backwards.push((next_position, position));
            }
        }
    }
    let stuck = known.len() - reaching(known.len(), &mut backwards, quiet);
    Found { worlds: known.len(), steps, violation: None, stuck }
}

/// Counts the worlds from which one of `goals` can be reached. `backwards` has the steps to be followed: for each, the
/// world after it and the world before it.
fn reaching(count: usize, backwards: &mut [(u32, u32)], goals: Vec<u32>) -> usize {
    backwards.sort_unstable();
    let mut reaches = vec![false; count];
    let mut open: Vec<u32> = goals;
    let mut total = 0;
    while let Some(world) = open.pop() {
        if std::mem::replace(&mut reaches[world as usize], true) {
            continue;
        }
        total += 1;
        let first = backwards.partition_point(|(to, _)| *to < world);
        let before = backwards[first..].iter().take_while(|(to, _)| *to == world);
        open.extend(before.map(|(_, from)| *from).filter(|from| !reaches[*from as usize]));
    }
    total
}

fn story(members: &Members, came_from: &[(u32, Option<(usize, Action)>)], end: u32) -> Vec<String> {
    let mut story = Vec::new();
    let mut position = end;
    while let (before, Some((node, action))) = &came_from[position as usize] {
        story.push(format!("node {node}: {}", members.describe(action)));
        position = *before;
    }
    story.reverse();
    story
}

fn set(sorted: &mut Vec<u32>, values: &[u32]) {
    let mut all: BTreeSet<u32> = sorted.iter().copied().collect();
    all.extend(values);
    sorted.clear();
    sorted.extend(all);
}

fn insert(sorted: &mut Vec<u16>, value: u16) {
    if let Err(position) = sorted.binary_search(&value) {
        sorted.insert(position, value);
    }
}

/// Asserts that the invariants hold in all worlds, that a quiescent world can be reached from each of them without a
/// further fault, and that at least `worlds_min` worlds were visited.
fn holds(name: &str, bounds: Bounds, worlds_min: usize) {
    let found = explore(bounds);
    if let Some((violation, story)) = found.violation {
        panic!("{name}: {violation}\n{}", story.join("\n"));
    }
    println!("{name}: {} worlds, {} steps", found.worlds, found.steps);
    assert_eq!(found.stuck, 0, "{name}: worlds that cannot become quiet");
    assert!(found.worlds >= worlds_min, "{name}: only {} worlds", found.worlds);
}
