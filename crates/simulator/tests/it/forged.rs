//! Tests that a manipulated checkpoint with a valid checksum is either rejected or resumed. A panic of the resumed run
//! is caught by [`Checkpoint::guarded`]; at most 1 % of the forgeries may cause one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lz4_flex::block::{compress, decompress};
use mario_domain::Time;
use mario_simulator::{Checkpoint, Detail, OutputOptions, ResumeError, Reuse};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::checkpoints::{RunSetup, begin, city, directory, files, managed, part, resolved};

/// The default number of forgeries per world; `MARIO_FORGERIES` overrides it.
const FORGERIES: u64 = 60;

/// The numbers of the worlds. Among them are worlds with messages, rates, planners, failures, and movements generated
/// on the fly.
const WORLDS: [u64; 10] = [1, 2, 3, 6, 7, 8, 9, 10, 12, 15];

/// The number of forgeries that were rejected, the number that were resumed, and the panics.
#[derive(Default, Debug)]
struct Tried {
    refused: u64,
    resumed: u64,
    /// The messages of the panics that [`Checkpoint::guarded`] caught.
    late: Vec<String>,
}

/// The first line of a checkpoint file, and its uncompressed content.
fn unpacked(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let line = file.iter().position(|byte| *byte == b'\n').expect("a first line") + 1;
    let (mut content, mut packed) = (Vec::new(), &file[line..file.len() - 4]);
    while let Some((numbers, rest)) = packed.split_first_chunk::<8>() {
        let number = |at: usize| u32::from_le_bytes(numbers[at..at + 4].try_into().expect("four bytes")) as usize;
        content.extend(decompress(&rest[..number(0)], number(4)).expect("it was packed"));
        packed = &rest[number(0)..];
    }
    (file[..line].to_vec(), content)
}

/// A checkpoint file with this content, and its length and checksum.
fn packed(opening: &[u8], content: &[u8]) -> (Vec<u8>, (u64, u32)) {
    let mut file = opening.to_vec();
    for chunk in content.chunks(1 << 20) {
        let packed = compress(chunk);
        for number in [packed.len(), chunk.len()] {
            file.extend_from_slice(&(number as u32).to_le_bytes());
        }
        file.extend_from_slice(&packed);
    }
    let checksum = crc32fast::hash(&file);
    file.extend_from_slice(&checksum.to_le_bytes());
    let length = file.len() as u64;
    (file, (length, checksum))
}

/// Makes one to three random changes to the content.
fn forge(content: &mut Vec<u8>, dice: &mut Pcg64) {
    const FLOATS: [f64; 7] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300, 1e-300];
    const BYTES: [u8; 6] = [0, 1, 0x7f, 0x80, 0xfe, 0xff];
    if content.is_empty() {
        return;
    }
    for _ in 0..dice.random_range(1..4) {
        let place = dice.random_range(0..content.len());
        match dice.random_range(0..14) {
            // Keeps the highest bit, so that a number of variable length becomes another of the same length, and the
            // bytes after it are decoded as before.
            9.. => content[place] = content[place] & 0x80 | dice.random_range(0..0x80),
            0 | 1 => content[place] ^= 1 << dice.random_range(0..8),
            2 | 3 => content[place] = BYTES[dice.random_range(0..BYTES.len())],
            4 => content[place] = dice.random_range(0..=255),
            5 if place + 8 <= content.len() => {
                let float = FLOATS[dice.random_range(0..FLOATS.len())];
                content[place..place + 8].copy_from_slice(&float.to_le_bytes());
            }
            // The encoding of the largest 32-bit number.
            6 => drop(content.splice(place..=place, [0xff, 0xff, 0xff, 0xff, 0x0f])),
            7 => content.insert(place, dice.random_range(0..=255)),
            _ => drop(content.remove(place)),
        }
    }
}

/// Resumes the run in a directory for at most `LOOKS` pause checks, then completes or saves it.
fn resume(path: &Path) -> Result<(), ResumeError> {
    const LOOKS: u32 = 4_000;
    Checkpoint::guarded(path, || {
        let checkpoint = Checkpoint::open(path)?;
        let (mut simulation, mut kept) = checkpoint.resume(1)?;
        let mut left = LOOKS;
        simulation.run_until_pause(Time::NEVER, kept.recorder(), || {
            left -= 1;
            left == 0
        });
        if simulation.is_over() {
            let statistics = simulation.statistics();
            let _ = kept.complete(checkpoint.scenario(), statistics);
        } else {
            let _ = kept.save(&simulation);
        }
        Ok(())
    })?
}

fn put_back(path: &Path, files: &BTreeMap<String, Vec<u8>>) {
    let _ = fs::remove_dir_all(path);
    fs::create_dir_all(path).expect("writable");
    files.iter().for_each(|(name, content)| fs::write(path.join(name), content).expect("writable"));
}

/// Forges the saved state of one world, or every fourth time its saved scenario, `forgeries` times, and tries to resume
/// from each forgery.
fn forge_world(number: u64, forgeries: u64) -> Tried {
    let mut dice = Pcg64::seed_from_u64(number);
    let resolved = if number.is_multiple_of(10) { city(number) } else { resolved(managed(number)) };
    let is_flow = resolved.scenario.network.fidelity == mario_scenario::Fidelity::Flow;
    let detail = [Detail::Full, Detail::Summary, Detail::Operations][number as usize % 3];
    let keep = OutputOptions { detail, messages: !is_flow && number.is_multiple_of(2) };
    let setup = RunSetup { keep, has_regret: number.is_multiple_of(3), reuse: Reuse::Proposals };
    let path = directory(&format!("forged-{number}"));
    // Interrupts the run late if possible, so that there is a lot of state to forge.
    let is_saved = [30, 10, 3, 1].into_iter().any(|checks| {
        let _ = fs::remove_dir_all(&path);
        let (mut simulation, mut kept) = begin(&resolved, &path, setup, 1);
        !part(&mut simulation, &mut kept, checks)
    });
    assert!(is_saved, "world {number} is over at once");
    let whole = files(&path);
    let (opening, state) = unpacked(&whole["checkpoint"]);
    let (_, scenario) = unpacked(&whole["checkpoint.scenario"]);
    let mut tried = Tried::default();
    for forgery in 0..forgeries {
        put_back(&path, &whole);
        let mut state = state.clone();
        if forgery % 4 == 0 {
            let mut scenario = scenario.clone();
            forge(&mut scenario, &mut dice);
            let (file, digest) = packed(&opening, &scenario);
            fs::write(path.join("checkpoint.scenario"), file).expect("writable");
            // The state starts with the digest of the scenario.
            let (_, rest): ((u64, u32), _) = postcard::take_from_bytes(&state).expect("a digest");
            let rest = rest.to_vec();
            state = postcard::to_extend(&digest, Vec::new()).expect("two numbers");
            state.extend(rest);
        } else {
            forge(&mut state, &mut dice);
        }
        fs::write(path.join("checkpoint"), packed(&opening, &state).0).expect("writable");
        match resume(&path) {
            Ok(()) => tried.resumed += 1,
            Err(ResumeError::Contradictory { message, .. }) => {
                tried.late.push(format!("world {number}, forgery {forgery}: {message}"));
            }
            Err(_) => tried.refused += 1,
        }
    }
    put_back(&path, &whole);
    resume(&path).expect("what nobody forged goes on");
    fs::remove_dir_all(path).expect("it was there");
    tried
}

#[test]
fn a_forged_checkpoint_is_rejected_or_resumes() {
    let asked = std::env::var("MARIO_FORGERIES").ok().and_then(|count| count.parse().ok());
    let forgeries = asked.unwrap_or(FORGERIES);
    let mut all = Tried::default();
    for world in WORLDS {
        let Tried { refused, resumed, late } = forge_world(world, forgeries);
        (all.refused, all.resumed) = (all.refused + refused, all.resumed + resumed);
        all.late.extend(late);
    }
    println!("{} rejected, {} resumed, {} detected late", all.refused, all.resumed, all.late.len());
    all.late.iter().for_each(|late| println!("{late}"));
    assert!(all.refused > all.resumed / 8, "{all:?}");
    // Contradictions that only show up in sums are detected late. That must stay rare.
    let tried = all.refused + all.resumed + all.late.len() as u64;
    assert!(all.late.len() as u64 <= tried / 100, "{all:?}");
}
