//! Compares our output of random terms with that of SWI-Prolog, and checks that our output is read back as the same
//! term. Skipped if SWI-Prolog is not installed.

use super::{OPERATORS, World};
use crate::writer::{WriteOptions, name_variables};
use mario_testing::{Random, Scratch};
use std::io::Write;
use std::process::{Command, Stdio};

const TERMS: usize = 500;

/// Atoms, quoted where functional notation requires it.
const ATOMS: &[&str] = &[
    "a",
    "b",
    "foo",
    "'A'",
    "'B c'",
    "[]",
    "{}",
    "'!'",
    "';'",
    "','",
    "'|'",
    "+",
    "-",
    "*",
    "\\+",
    "\\",
    "=",
    ":-",
    "?-",
    "-->",
    "->",
    "is",
    "mod",
    "dynamic",
    "$",
    "@",
    "'^'",
    "++",
    "post",
    "ypost",
    "fyop",
    "fxop",
    "xfxop",
    "'hello world'",
    "'Pre fix'",
    "é",
    "'É'",
    "'don\\'t'",
    "'/*'",
    "...",
    "aB",
    "'_x'",
    "''",
    "#",
    "'\\\\'",
    ":",
    "/",
];
const UNARY: &[&str] = &[
    "-",
    "+",
    "\\",
    "\\+",
    ":-",
    "?-",
    "dynamic",
    "$",
    "post",
    "ypost",
    "fyop",
    "fxop",
    "'Pre fix'",
    "++",
    "{}",
    "f",
    "'A'",
    "=",
    "','",
    "@",
];
const BINARY: &[&str] = &[
    "-",
    "+",
    "*",
    "/",
    "^",
    "**",
    "=",
    "is",
    "mod",
    "xfxop",
    "===>",
    "'hello world'",
    "','",
    ";",
    "->",
    ":-",
    "-->",
    ":",
    "'|'",
    "f",
    "'A'",
    "{}",
    "post",
    "\\+",
    "@<",
    "rdiv",
    "*->",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "'$VAR'(2)",
    "'$VAR'(30)",
    "-1",
    "42",
    "-42",
    "1.0",
    "-1.5",
    "1.0e20",
    "1.0e-10",
    "123456789012345678901234567890",
    "1.0Inf",
];
const STRINGS: &[&str] = &["\"\"", "\"s\"", "\"a b\"", "\"\\\"\""];

fn random_term(random: &mut Random, depth: usize, text: &mut String) {
    let kind = if depth == 0 { random.below(5) } else { random.below(14) };
    match kind {
        0..=2 => text.push_str(random.pick(ATOMS)),
        3 => text.push_str(random.pick(NUMBERS)),
        4 => text.push_str(if random.below(2) == 0 { random.pick(STRINGS) } else { random.pick(NUMBERS) }),
        5..=7 => random_compound(random, UNARY, 1, depth, text),
        8..=11 => random_compound(random, BINARY, 2, depth, text),
        12 => random_compound(random, &["f", "-", "'B c'"], 3, depth, text),
        _ => {
            text.push('[');
            random_term(random, depth - 1, text);
            text.push(',');
            random_term(random, depth - 1, text);
            if random.below(2) == 0 {
                text.push('|');
                random_term(random, depth - 1, text);
            }
            text.push(']');
        }
    }
}

fn random_compound(random: &mut Random, names: &[&str], arity: usize, depth: usize, text: &mut String) {
    text.push_str(random.pick(names));
    text.push('(');
    for index in 0..arity {
        if index > 0 {
            text.push(',');
        }
        random_term(random, depth - 1, text);
    }
    text.push(')');
}

/// A SWI-Prolog program that reads terms and writes each with `writeq`, `print`, `write_canonical` and `write`.
const PROGRAM: &str = "
run :- catch(read_term(user_input, T, []), E, true), ( T == end_of_file -> halt ; nonvar(E) -> show(E), run ; show(T), run ).
show(T) :- writeq(T), nl, print(T), nl, write_canonical(T), nl, write(T), nl.
:- initialization(run).
";

fn ask_peer(texts: &[String]) -> Option<Vec<String>> {
    let input = texts.join(" .\n") + " .\nend_of_file.\n";
    let directory = Scratch::new("writer");
    let program = directory.path().join("peer.pl");
    let declare = |(priority, kind, name): &(u16, crate::operators::OperatorType, &str)| {
        format!(":- op({priority}, {}, '{name}').\n", kind.name())
    };
    let operators: String = OPERATORS.iter().map(declare).collect();
    std::fs::write(&program, operators + PROGRAM).expect("the temporary directory is writable");
    let spawned = Command::new("swipl")
        .arg("-q")
        .arg(&program)
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let output = spawned.ok().and_then(|mut child| {
        let mut stdin = child.stdin.take()?;
        let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().ok();
        feeder.join().ok()?.ok()?;
        output
    });
    let text = String::from_utf8(output?.stdout).expect("the peer writes UTF-8");
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn agrees_with_swi_prolog_on_random_terms() {
    let mut random = Random::new(2026);
    let texts: Vec<String> = (0..TERMS)
        .map(|_| {
            let mut text = String::new();
            random_term(&mut random, 3, &mut text);
            text
        })
        .collect();
    let Some(lines) = ask_peer(&texts) else {
        println!("skipped: there is no swipl to compare with");
        return;
    };
    assert_eq!(lines.len(), 4 * texts.len(), "the peer could not read every term");
    let mut world = World::new();
    let mut differences = Vec::new();
    for (text, theirs) in texts.iter().zip(lines.chunks(4)) {
        let term = world.read(text);
        let variable_names = name_variables(&mut world.store, term).expect("the budget is large");
        let canonical = WriteOptions { variable_names, ..WriteOptions::canonical() };
        let options = [WriteOptions::writeq(), WriteOptions::print(), canonical, WriteOptions::write()];
        for (options, theirs) in options.iter().zip(theirs) {
            let ours = world.write(term, options);
            // SWI-Prolog separates `{` from a prefix operator, because of its dicts.
            if ours.replace(" {", "{") != theirs.replace(" {", "{") {
                differences.push(format!("{text}\n  ours   {ours}\n  theirs {theirs}"));
            }
        }
        let exact = WriteOptions { numbervars: false, ..WriteOptions::writeq() };
        let written = world.write(term, &exact);
        let again = world.read(&written);
        let (before, after) = (world.canonical(term), world.canonical(again));
        if before != after {
            differences.push(format!("{text}\n  written {written}\n  is read as {after}"));
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}
