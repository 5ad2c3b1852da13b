//! Mutations: small changes to seeds, which reach deeper into a reader than random bytes.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Small numbers, special values, and numbers at or beyond the limits of types.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "4294967295",
    "18446744073709551616",
    "-9223372036854775808",
    "1e308",
    "nan",
    "-0.0",
    "1e-9",
];

/// Bytes that are delimiters in text formats, or limits of byte values.
const BYTES: [u8; 16] = [0, 1, 0x7f, 0x80, 0xff, b'"', b'\'', b'<', b'>', b'[', b']', b'{', b'}', b'\n', b',', b'\\'];

/// Returns mutation `number` of the seeds: one to four changes to one of them. `pieces` are words of the format to
/// insert.
pub(crate) fn mutated(seeds: &[Vec<u8>], pieces: &[&str], number: u64) -> Vec<u8> {
    let mut random = Pcg64::seed_from_u64(number);
    let mut input = seeds[random.random_range(0..seeds.len())].clone();
    for _ in 0..random.random_range(1..5) {
        if input.is_empty() {
            input.push(random.random());
        }
        mutate(&mut input, seeds, pieces, &mut random);
    }
    input
}

fn mutate(input: &mut Vec<u8>, seeds: &[Vec<u8>], pieces: &[&str], random: &mut Pcg64) {
    let place = random.random_range(0..input.len());
    let end = (place + random.random_range(1..24)).min(input.len());
    match random.random_range(0..12) {
        0 => input[place] ^= 1 << random.random_range(0..8),
        1 => input[place] = random.random(),
        2 => input[place] = BYTES[random.random_range(0..BYTES.len())],
        3 => input.insert(place, BYTES[random.random_range(0..BYTES.len())]),
        4 => drop(input.drain(place..end)),
        5 => input.truncate(place),
        6 => {
            let piece = input[place..end].to_vec();
            let at = random.random_range(0..=input.len());
            input.splice(at..at, piece);
        }
        7 => {
            let other = &seeds[random.random_range(0..seeds.len())];
            let from = random.random_range(0..=other.len());
            let to = (from + random.random_range(1..200)).min(other.len());
            input.splice(place..place, other[from..to].iter().copied());
        }
        8 => change_lines(input, random),
        9 if !pieces.is_empty() => {
            let piece = pieces[random.random_range(0..pieces.len())];
            let end = if random.random() { place } else { end };
            input.splice(place..end, piece.bytes());
        }
        _ => change_number(input, place, random),
    }
}

/// Repeats or removes a line, or swaps two lines.
fn change_lines(input: &mut Vec<u8>, random: &mut Pcg64) {
    let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
    let (one, other) = (random.random_range(0..lines.len()), random.random_range(0..lines.len()));
    match random.random_range(0..3) {
        0 => lines.insert(one, lines[other]),
        1 => drop(lines.remove(one)),
        _ => lines.swap(one, other),
    }
    *input = lines.concat();
}

/// Replaces the first run of digits at or after a position by one of [`NUMBERS`] or by a number below 40. Does nothing
/// if there are no digits.
fn change_number(input: &mut Vec<u8>, place: usize, random: &mut Pcg64) {
    let Some(start) = input[place..].iter().position(u8::is_ascii_digit).map(|offset| place + offset) else { return };
    let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = if random.random() {
        NUMBERS[random.random_range(0..NUMBERS.len())].to_owned()
    } else {
        random.random_range(0..40).to_string()
    };
    input.splice(start..start + length, number.bytes());
}
