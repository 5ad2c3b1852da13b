//! Tests that our versions of the four policies of the paper decide like the paper's listings in SWI-Prolog.
//!
//! The listings cannot be shipped, so the repository has checksums of their decisions, with which our decisions are
//! compared on any machine. If the paper's source is next to the reference data, and SWI-Prolog is installed, the
//! listings are run, too, and every decision is compared.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mario_policy::{Decider, Ending, KnowledgeBase, Policy, SolutionLimit};
use mario_prolog::Engine;
use mario_testing::Random;

use crate::generated::Generated;
use crate::{PAPER, shipped};

const PAPER_SOURCE: &str = "../paper/declarative-application-management-in-the-fog.tex";
/// The file with the CRC-32 of the decisions of the listings in SWI-Prolog, for each thousand knowledge bases of each
/// share. A run with `UPDATE_REFERENCE=1` rewrites it if it can run the listings.
const CHECKSUMS: &str = "tests/data/listings.txt";
const KNOWLEDGE_BASES: u64 = 100_000;
/// The number of shares of the knowledge bases. One SWI-Prolog process runs for each share.
const SHARES: u64 = 2;

#[test]
fn decides_generated_knowledge_bases_as_the_listings_of_the_paper() {
    let engine = Engine::new();
    let policies = PAPER.map(|name| shipped(&engine, name));
    let theirs = decided_by_listings();
    let expected = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(CHECKSUMS)).expect("it is committed");
    let mut proposals = 0;
    let mut found = String::new();
    for share in 0..SHARES {
        let ours = decisions(&engine, &policies, share);
        assert_eq!(ours.len() as u64, KNOWLEDGE_BASES / SHARES);
        if let Some(theirs) = &theirs {
            let theirs = &theirs[share as usize];
            assert_eq!(ours.len(), theirs.len());
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                assert_eq!(ours, theirs, "share {share}, knowledge base {index}:\n{}", shown(share, index));
            }
        }
        proposals += ours.iter().map(|line| line.matches(',').count()).sum::<usize>();
        found.push_str(&checksums(share, &ours));
    }
    assert!(proposals > 500_000, "too few knowledge bases are a reason to act: {proposals}");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

/// A line for each thousand knowledge bases of a share, with the checksum of the decisions on them.
fn checksums(share: u64, decisions: &[String]) -> String {
    let mut text = String::new();
    for (thousand, decisions) in decisions.chunks(1000).enumerate() {
        let checksum = crc32fast::hash(decisions.join("\n").as_bytes());
        let _ = writeln!(text, "share {share}, knowledge bases from {thousand}000: {checksum:08x}");
    }
    text
}

/// The decisions of the listings in SWI-Prolog, by share, as [`decisions`] writes them; `None` if the paper's source or
/// SWI-Prolog is not available. If the environment variable `CI` is `true`, missing SWI-Prolog fails the test.
fn decided_by_listings() -> Option<Vec<Vec<String>>> {
    let source = mario_reference::full(PAPER_SOURCE)?;
    if !has_swipl() {
        return None;
    }
    let listings = listings(&fs::read_to_string(source).expect("it is text"));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("against-swipl");
    fs::create_dir_all(&directory).expect("the tests' own directory is writable");
    for (index, listing) in listings.iter().enumerate() {
        fs::write(directory.join(format!("{}.pl", index + 1)), listing).expect("it is writable");
    }
    let shares: Vec<(u64, PathBuf, Child)> = (0..SHARES).map(|share| start(&directory, share)).collect();
    let mut text = String::new();
    let mut decided = Vec::new();
    for (share, output, mut child) in shares {
        assert!(child.wait().expect("it runs").success(), "swipl failed");
        let lines = fs::read_to_string(output).expect("swipl wrote it");
        let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        text.push_str(&checksums(share, &lines));
        decided.push(lines);
    }
    if env::var_os("UPDATE_REFERENCE").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CHECKSUMS);
        fs::write(path, text).expect("the sources are writable");
    }
    Some(decided)
}

fn has_swipl() -> bool {
    let found = Command::new("swipl").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    let is_ci = env::var_os("CI").is_some_and(|value| value == "true");
    assert!(found || !is_ci, "SWI-Prolog (`swipl`) is not installed");
    if !found {
        eprintln!("skipped: SWI-Prolog (`swipl`) is not installed");
    }
    found
}

/// The text of the four policies in the paper.
fn listings(source: &str) -> Vec<String> {
    let blocks = source.split("\\begin{Verbatim}").skip(1).filter_map(|rest| {
        let text = rest.split("\\end{Verbatim}").next()?;
        // The rest of the line has the options of the `Verbatim` environment.
        let (_, listing) = text.split_once('\n')?;
        listing.contains("operation(undeploy,Si,self)").then(|| listing.to_owned())
    });
    let listings: Vec<String> = blocks.collect();
    assert_eq!(listings.len(), PAPER.len(), "the paper has one listing for each policy");
    listings
}

fn knowledge_bases(share: u64) -> impl Iterator<Item = Generated> {
    let mut random = Random::new(share);
    (0..KNOWLEDGE_BASES / SHARES).map(move |_| Generated::new(&mut random))
}

fn shown(share: u64, index: usize) -> String {
    let mut text = String::new();
    if let Some(generated) = knowledge_bases(share).nth(index) {
        generated.write(&mut text);
    }
    text
}

fn start(directory: &Path, share: u64) -> (u64, PathBuf, Child) {
    let mut text = String::new();
    for generated in knowledge_bases(share) {
        generated.write(&mut text);
    }
    let input = directory.join(format!("knowledge-bases-{share}.pl"));
    let output = directory.join(format!("decisions-{share}.txt"));
    fs::write(&input, text).expect("the tests' own directory is writable");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/against_swipl.pl");
    let child = Command::new("swipl")
        .arg(driver)
        .arg("--")
        .args([directory, input.as_path(), output.as_path()])
        .spawn()
        .expect("it is installed");
    (share, output, child)
}

/// The decisions of the shipped policies, one line for each knowledge base, in the format of `against_swipl.pl`.
fn decisions(engine: &Engine, policies: &[Policy], share: u64) -> Vec<String> {
    let mut decider = Decider::new(engine);
    let mut facts = KnowledgeBase::new(engine.symbols());
    let lines = knowledge_bases(share).map(|generated| {
        let instance = generated.fill(engine.symbols(), &mut facts);
        let mut line = String::new();
        for policy in policies {
            let decision = decider.decide(policy, &facts, instance, SolutionLimit::All);
            assert_eq!(decision.ending, Ending::Complete);
            for solution in &decision.solutions {
                let [operation, _, target] = solution.texts(engine.symbols());
                let _ = write!(line, "{operation} {target},");
            }
            line.push('|');
        }
        line
    });
    lines.collect()
}
