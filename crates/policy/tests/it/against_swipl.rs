//! The shipped policies decide as the listings of the paper do in SWI-Prolog.
//!
//! The listings are not ours to ship. They are read from the paper's source, which lies beside the reference data.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mario_policy::{Decider, Ending, KnowledgeBase, Policy, Wanted};
use mario_prolog::Engine;

use crate::generated::{Generated, Random};
use crate::{PAPER, shipped};

const PAPER_SOURCE: &str = "../paper/declarative-application-management-in-the-fog.tex";
const KNOWLEDGE_BASES: u64 = 100_000;
/// Each share is decided by a process of its own.
const SHARES: u64 = 2;

#[test]
fn decides_generated_knowledge_bases_as_the_listings_of_the_paper() {
    let Some(source) = mario_reference::path(PAPER_SOURCE) else { return };
    if !has_swipl() {
        return;
    }
    let listings = listings(&fs::read_to_string(source).expect("it is text"));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("against-swipl");
    fs::create_dir_all(&directory).expect("the tests' own directory is writable");
    for (index, listing) in listings.iter().enumerate() {
        fs::write(directory.join(format!("{}.pl", index + 1)), listing).expect("it is writable");
    }
    let shares: Vec<(u64, PathBuf, Child)> = (0..SHARES).map(|share| start(&directory, share)).collect();
    let engine = Engine::new();
    let policies = PAPER.map(|name| shipped(&engine, name));
    let mut decided = 0;
    let mut proposals = 0;
    for (share, output, mut child) in shares {
        let ours = decisions(&engine, &policies, share);
        assert!(child.wait().expect("it runs").success(), "swipl failed");
        let theirs = fs::read_to_string(output).expect("swipl wrote it");
        assert_eq!(ours.len(), theirs.lines().count());
        for (index, (ours, theirs)) in ours.iter().zip(theirs.lines()).enumerate() {
            assert_eq!(ours, theirs, "share {share}, knowledge base {index}:\n{}", shown(share, index));
            proposals += ours.matches(',').count();
        }
        decided += ours.len() as u64;
    }
    assert_eq!(decided, KNOWLEDGE_BASES);
    assert!(proposals > 500_000, "too few knowledge bases are a reason to act: {proposals}");
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

/// The four policies as the paper prints them.
fn listings(source: &str) -> Vec<String> {
    let blocks = source.split("\\begin{Verbatim}").skip(1).filter_map(|rest| {
        let text = rest.split("\\end{Verbatim}").next()?;
        // The options end with the line.
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

/// What the shipped policies decide, in the form in which the driver writes it.
fn decisions(engine: &Engine, policies: &[Policy], share: u64) -> Vec<String> {
    let mut decider = Decider::new(engine);
    let mut facts = KnowledgeBase::new(engine.symbols());
    let lines = knowledge_bases(share).map(|generated| {
        let instance = generated.fill(engine.symbols(), &mut facts);
        let mut line = String::new();
        for policy in policies {
            let decision = decider.decide(policy, &facts, instance, Wanted::All);
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
