//! The texts of policies, shipped or in files. Files are checked by loading them as policies. Also finds out which
//! features of a run a policy uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use mario_domain::{AgentOperation, Concerned};
use mario_policy::{Acceptance, AcceptanceError, Finding, MemoryDeclaration, Policy, PolicyError, PolicySettings};
use mario_prolog::{Engine, LoadError, Problem, Resolver};
use mario_settings::{Mistake, Place, Text};

use crate::engine::engine;
use crate::layers::{Files, read_text, unreadable};
use crate::settings::ManagementStrategy;
use crate::{PolicyText, Scenario};

/// The shipped policy that proposes nothing.
pub(crate) const NEVER_MOVE: &str = "never-move";

const LIBRARY: (&str, &str) = ("library.pl", include_str!("../../../policies/library.pl"));

/// A shipped policy.
struct Shipped {
    name: &'static str,
    file: &'static str,
    text: &'static str,
    /// The test table that ships with the policy.
    tests: &'static str,
}

macro_rules! shipped {
    ($($name:literal,)*) => {
        &[$(Shipped {
            name: $name,
            file: concat!($name, ".pl"),
            text: include_str!(concat!("../../../policies/", $name, ".pl")),
            tests: include_str!(concat!("../../../policies/", $name, ".test.pl")),
        },)*]
    };
}

const POLICIES: &[Shipped] = shipped![
    "workload-aware",
    "latency-aware",
    "workload-and-latency-aware",
    "workload-and-latency-aware-with-memory",
    "cost-aware",
    "load-thresholds",
    "stay-in-region",
    "sustained-demand",
    "several-resources",
    "popularity-with-cool-down",
    "flavours-by-load",
    "sleep-at-night",
    "never-move",
    "popularity",
    "cells",
];

/// The names of the shipped baseline policies. The other baselines are management strategies.
const BASELINES: [&str; 3] = ["never-move", "popularity", "cells"];

const ACCEPTANCES: &[Shipped] = shipped!["accept-what-fits", "evict-the-largest",];

/// The names of the shipped agent policies.
pub fn policy_names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|shipped| shipped.name)
}

/// The names of the shipped acceptance policies.
pub fn acceptance_names() -> impl Iterator<Item = &'static str> {
    ACCEPTANCES.iter().map(|shipped| shipped.name)
}

/// The text of the shipped agent or acceptance policy with this name, and of the files that it loads; an error if there
/// is none.
pub fn shipped_policy(name: &str) -> Result<PolicyText, Mistake> {
    let found = shipped(Role::Agent, name).or_else(|| shipped(Role::Manager, name));
    found.ok_or_else(|| not_shipped("policy", name, policy_names().chain(acceptance_names())))
}

/// The name and the text of the test table that ships with a policy; `None` if there is no shipped policy of this name.
pub fn shipped_tests(name: &str) -> Option<(String, &'static str)> {
    let found = POLICIES.iter().chain(ACCEPTANCES).find(|shipped| shipped.name == name)?;
    Some((format!("{name}.test.pl"), found.tests))
}

/// The name and the text of the library that the shipped policies load.
pub fn shipped_library() -> (&'static str, &'static str) {
    LIBRARY
}

/// The names of all baselines: the shipped baseline policies, and the management strategies other than agents.
pub fn baseline_names() -> impl Iterator<Item = &'static str> {
    BASELINES.into_iter().chain(ManagementStrategy::WORDS.into_iter().map(|(word, _)| word).skip(1))
}

/// Whether the main text of a policy, without the files that it loads, contains a `fact(…)` with the second argument
/// `key` outside of `%` comments. This is a search in the text; the policy is not parsed.
pub fn asks_for(policy: &PolicyText, key: &str) -> bool {
    let Some((_, text)) = policy.main() else { return false };
    let code: String = text.lines().flat_map(|line| [line.split('%').next().unwrap_or_default(), "\n"]).collect();
    code.split("fact(").skip(1).any(|arguments| arguments.split(',').nth(1).is_some_and(|second| second.trim() == key))
}

/// Why a clause of a policy may never apply in a scenario, as far as its text alone tells.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyWarning {
    /// What is wrong.
    pub kind: PolicyWarningKind,
    /// The message, the place in the policy and a hint.
    pub mistake: Mistake,
}

/// What is wrong in a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyWarningKind {
    /// It reads facts with a key that no fact of the scenario has.
    UnknownKey,
    /// It calls an undefined predicate. Evaluations that reach the call fail.
    UndefinedPredicate,
}

impl Scenario {
    /// What the texts of its policies show to be wrong, without running them: by policy, keys first. Empty for a policy
    /// that cannot be loaded.
    pub fn policy_warnings(&self) -> Vec<PolicyWarning> {
        let keys = self.fact_keys();
        self.policies.iter().chain(&self.acceptances).flat_map(|policy| warnings_of(policy, &keys)).collect()
    }
}

fn warnings_of(policy: &PolicyText, keys: &BTreeSet<String>) -> Vec<PolicyWarning> {
    let Some((name, text)) = policy.main() else { return Vec::new() };
    let resolvers = || policy.resolver();
    // Most policies read no extra facts, and then need not be compiled. Shipped policies call nothing undefined.
    let may_read = policy.files.iter().any(|(_, text)| text.contains("fact("));
    let unknown = || mario_policy::unknown_keys(engine(), name, text, &resolvers, keys).unwrap_or_default();
    let undefined = || mario_policy::undefined_calls(engine(), name, text, &resolvers).unwrap_or_default();
    let unknown = if may_read { unknown() } else { Vec::new() };
    let undefined = if is_path(&policy.name) { undefined() } else { Vec::new() };
    let warning = |kind| move |finding: &Finding| PolicyWarning { kind, mistake: as_mistake(finding, policy) };
    let undefined = undefined.iter().map(warning(PolicyWarningKind::UndefinedPredicate));
    unknown.iter().map(warning(PolicyWarningKind::UnknownKey)).chain(undefined).collect()
}

/// A finding with its place in the text of the policy. The main file is called as the user called the policy.
fn as_mistake(finding: &Finding, policy: &PolicyText) -> Mistake {
    let file = finding.place.source_name();
    let position = policy.files.iter().position(|(name, _)| name == file);
    let place = position.map(|position| {
        let name = if position == 0 { policy.name.clone() } else { file.to_owned() };
        let text = Text { name, text: policy.files[position].1.clone(), directory: Path::new("").to_owned() };
        Place { text: Arc::new(text), span: finding.place.span.clone() }
    });
    Mistake { hint: finding.hint.clone(), ..Mistake::new(finding.message.clone()).at(place) }
}

/// How much of the past the agents of a policy must remember; nothing if the policy cannot be loaded.
pub fn remembers(policy: &PolicyText) -> MemoryDeclaration {
    // Nearly all policies contain neither of these words, and then need not be compiled.
    let may_look_back = policy.files.iter().any(|(_, text)| text.contains("remembers(") || has_word(text, "age"));
    let Some((name, text)) = policy.main().filter(|_| may_look_back) else { return MemoryDeclaration::default() };
    let loaded = Policy::load(engine(), name, text, Some(policy.resolver()), PolicySettings::default());
    loaded.map_or_else(|_| MemoryDeclaration::default(), |policy| policy.remembers())
}

/// Whether a text contains a whole word: `age`, but not as a part of `average`.
fn has_word(text: &str, word: &str) -> bool {
    let is_part_of_word = |character: char| character == '_' || character.is_alphanumeric();
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part_of_word) && !text[at + word.len()..].starts_with(is_part_of_word))
}

/// Whether an agent policy may propose to adapt, because it mentions this operation.
pub fn adapts(policy: &PolicyText) -> bool {
    mentions(policy, Concerned::WithFlavours)
}

/// Whether an agent policy may propose to sleep or to wake, because it mentions one of these operations.
pub fn sleeps(policy: &PolicyText) -> bool {
    mentions(policy, Concerned::WithSleep)
}

/// Whether the program of an agent policy, with the files that it loads, mentions any operation that concerns only
/// these applications. `false` if it cannot be loaded.
fn mentions(policy: &PolicyText, concerned: Concerned) -> bool {
    let operations: Vec<AgentOperation> =
        AgentOperation::ALL.into_iter().filter(|operation| operation.concerned() == concerned).collect();
    // Nearly all policies contain none of these words, and then need not be compiled.
    let is_there = |operation: &AgentOperation| policy.files.iter().any(|(_, text)| has_word(text, operation.as_str()));
    let Some((name, text)) = policy.main().filter(|_| operations.iter().any(is_there)) else { return false };
    let loaded = Policy::load(engine(), name, text, Some(policy.resolver()), PolicySettings::default());
    loaded.is_ok_and(|policy| operations.iter().any(|operation| policy.program().mentions(operation.as_str())))
}

/// Whether an acceptance policy defines `evict` or `shrink`, with which a manager acts on its own initiative. `false`
/// if it cannot be loaded.
pub fn has_initiative(policy: &PolicyText) -> bool {
    let may_have = policy.files.iter().any(|(_, text)| has_word(text, "evict") || has_word(text, "shrink"));
    let Some((name, text)) = policy.main().filter(|_| may_have) else { return false };
    let budget = PolicySettings::default().budget;
    Acceptance::load(engine(), name, text, Some(policy.resolver()), budget)
        .is_ok_and(|acceptance| acceptance.has_initiative())
}

/// Which component a policy is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Role {
    Agent,
    Manager,
}

impl Role {
    fn shipped(self) -> &'static [Shipped] {
        match self {
            Role::Agent => POLICIES,
            Role::Manager => ACCEPTANCES,
        }
    }
}

/// Whether a policy is written as the path of a file, rather than as the name of a shipped one.
pub fn is_path(written: &str) -> bool {
    written.contains(['/', '\\']) || Path::new(written).extension().is_some_and(|extension| extension == "pl")
}

/// The text of a shipped policy and of the files that it loads; `None` if there is none with this name.
pub(crate) fn shipped(role: Role, name: &str) -> Option<PolicyText> {
    let Shipped { name, file, text, .. } = role.shipped().iter().find(|shipped| shipped.name == name)?;
    let mut files = vec![((*file).to_owned(), (*text).to_owned())];
    if text.contains(LIBRARY.0) {
        files.push((LIBRARY.0.to_owned(), LIBRARY.1.to_owned()));
    }
    Some(PolicyText { name: (*name).to_owned(), files, memory: 0 })
}

/// The error for a name that no shipped policy has.
pub(crate) fn unknown(role: Role, written: &str, place: Place) -> Mistake {
    let what = match role {
        Role::Agent => "policy",
        Role::Manager => "acceptance policy",
    };
    not_shipped(what, written, role.shipped().iter().map(|shipped| shipped.name)).at(Some(place))
}

fn not_shipped<'a>(what: &str, written: &str, names: impl Iterator<Item = &'a str>) -> Mistake {
    let mistake = Mistake::new(format!("there is no {what} `{written}`")).known(written, "known are", names);
    let hint = mistake.hint.clone().unwrap_or_default();
    mistake.hint(format!("the path of a file ends in `.pl`; {hint}"))
}

/// The text of a policy file and of the files that it loads. Loads the file to check that it is a valid policy.
pub(crate) fn load(role: Role, path: &Path, place: &Place, files: &mut dyn Files) -> Result<PolicyText, Vec<Mistake>> {
    let text = read_text(files, path).map_err(|error| {
        let remedy = "name a file, or one of the policies that ship";
        vec![unreadable(files, path, &error, remedy).at(Some(place.clone()))]
    })?;
    let name = path.display().to_string();
    let (loaded, found) = load_with(role, &name, &text, |wanted| find(wanted, path, files));
    if let Err(mistakes) = loaded {
        return Err(mistakes.into_iter().map(|mistake| located(mistake, place)).collect());
    }
    let file = path.file_name().map_or_else(|| name.clone(), |file| file.to_string_lossy().into_owned());
    let mut files = vec![(file, text)];
    for ((_, wanted), answer) in found {
        if let Ok((_, text)) = answer
            && !files.iter().any(|(known, _)| *known == wanted)
        {
            files.push((wanted, text));
        }
    }
    Ok(PolicyText { name, files, memory: 0 })
}

/// For each requested file, its content or why it cannot be read.
type Found = BTreeMap<Wanted, Answer>;

/// A request for a file: the file that loads it, and its name as written there.
type Wanted = (String, String);

/// The name and the text of a file, or why it cannot be read.
type Answer = Result<(String, String), String>;

/// Loads a policy, with the files that `find` returns. Returns the errors, and the result of `find` for each requested
/// file.
///
/// The loader needs a resolver with a static lifetime, and `find` may borrow. So the loader runs in a separate thread
/// and asks this thread for files. The alternative, loading again after each missing file, would rerun all directives.
fn load_with(
    role: Role,
    name: &str,
    text: &str,
    mut find: impl FnMut(&Wanted) -> Answer,
) -> (Result<(), Vec<Mistake>>, Found) {
    let (wants, wanted) = mpsc::channel();
    let mut found = Found::new();
    let loaded = thread::scope(|scope| {
        let loading = scope.spawn(move || try_load(role, engine(), name, text, Box::new(Asking { wants })));
        for (wanted, reply) in wanted {
            let answer = found.entry(wanted).or_insert_with_key(|wanted| find(wanted));
            // The loader is waiting for the answer, so sending does not fail.
            let _ = reply.send(answer.clone());
        }
        loading.join()
    });
    (loaded.unwrap_or_else(|panic| std::panic::resume_unwind(panic)), found)
}

/// A resolver that asks another thread for files.
struct Asking {
    wants: mpsc::Sender<(Wanted, mpsc::Sender<Answer>)>,
}

impl Resolver for Asking {
    fn resolve(&mut self, from: &str, wanted: &str) -> Answer {
        let (reply, answer) = mpsc::channel();
        let gone = |_| "it cannot be looked for".to_owned();
        self.wants.send(((from.to_owned(), wanted.to_owned()), reply)).map_err(|_| gone(mpsc::RecvError))?;
        answer.recv().map_err(gone)?
    }
}

fn located(mistake: Mistake, place: &Place) -> Mistake {
    if mistake.place.is_some() { mistake } else { mistake.at(Some(place.clone())) }
}

fn try_load(
    role: Role,
    engine: &Engine,
    name: &str,
    text: &str,
    resolver: Box<dyn Resolver>,
) -> Result<(), Vec<Mistake>> {
    let settings = PolicySettings::default();
    match role {
        Role::Agent => match Policy::load(engine, name, text, Some(resolver), settings) {
            Ok(_) => Ok(()),
            Err(PolicyError::Load { problems, .. }) => Err(load_mistakes(&problems)),
            Err(error) => Err(vec![
                Mistake::new(error.to_string()).hint("a policy says `operation(Operation, Instance, Target) :- …`"),
            ]),
        },
        Role::Manager => match Acceptance::load(engine, name, text, Some(resolver), settings.budget) {
            Ok(_) => Ok(()),
            Err(AcceptanceError::Load { problems, .. }) => Err(load_mistakes(&problems)),
            Err(error) => {
                Err(vec![Mistake::new(error.to_string()).hint("an acceptance policy says `accept(Request) :- …`")])
            }
        },
    }
}

fn load_mistakes(problems: &LoadError) -> Vec<Mistake> {
    let mut texts: Vec<Arc<Text>> = Vec::new();
    problems.errors.iter().map(|problem| mistake(problem, &mut texts)).collect()
}

/// Converts a problem of the Prolog loader into an error. Errors in the same file share one copy of its text, which is
/// kept in `texts`.
fn mistake(problem: &Problem, texts: &mut Vec<Arc<Text>>) -> Mistake {
    let text = match texts.iter().find(|text| text.name == problem.source_name()) {
        Some(known) => Arc::clone(known),
        None => {
            let (name, text) = (problem.source_name().to_owned(), problem.source_text().to_owned());
            texts.push(Arc::new(Text { name, text, directory: std::path::PathBuf::new() }));
            Arc::clone(&texts[texts.len() - 1])
        }
    };
    let place = Place { text, span: problem.span.clone() };
    let mistake = Mistake::new(format!("cannot load `{}`: {}", problem.source_name(), problem.message)).at(Some(place));
    match &problem.hint {
        Some(hint) => mistake.hint(hint.clone()),
        None => mistake.hint("`mario policy check` tells more"),
    }
}

/// Finds a file that a policy loads. Its path is relative to the file that loads it, must stay below the directory of
/// the policy, and may omit the extension `.pl`. If `library.pl` is wanted and there is no such file, the shipped
/// library is used.
fn find(wanted: &Wanted, policy: &Path, files: &mut dyn Files) -> Result<(String, String), String> {
    let (from, name) = wanted;
    let directory = policy.parent().unwrap_or(Path::new(""));
    let beside = Path::new(from).parent().unwrap_or(Path::new("")).join(name);
    let is_below = !Path::new(name).is_absolute() && !name.split(['/', '\\']).any(|part| part == "..");
    if is_below && beside.starts_with(directory) {
        let mut with_ending = beside.clone().into_os_string();
        with_ending.push(".pl");
        for path in [beside, with_ending.into()] {
            if let Ok(text) = read_text(files, &path) {
                return Ok((path.display().to_string(), text));
            }
        }
    }
    if name == LIBRARY.0 || format!("{name}.pl") == LIBRARY.0 {
        return Ok((LIBRARY.0.to_owned(), LIBRARY.1.to_owned()));
    }
    Err("there is no such file below the directory of the policy".to_owned())
}
