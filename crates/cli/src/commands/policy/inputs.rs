//! The inputs of decisions: a policy, and knowledge bases.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mario_frontend::Diagnostic;
use mario_frontend::policies::{self, load_explainer, load_failure};
use mario_frontend::policy_texts::Text;
use mario_policy::{Acceptance, AcceptanceError, Constant, Explainer, KnowledgeBase, Policy, PolicySettings};
use mario_prolog::{Budget, Engine};

use crate::problems::diagnostics;
use crate::{Console, Failure, read_text};

pub(super) use mario_frontend::policies::facts_failure;

/// Arguments that name the policy and the facts.
#[derive(Clone, Debug, Args)]
pub struct InputArguments {
    /// The policy: the name of a built-in policy, or a file with clauses of operation/3
    #[arg(long, value_name = "POLICY", required = true)]
    pub policy: Option<PathBuf>,
    /// The facts of one agent, as Prolog facts
    #[arg(long, value_name = "FILE", required_unless_present = "batch", conflicts_with = "batch")]
    pub facts: Option<PathBuf>,
    /// The instance whose agent decides; not needed if the facts name only one
    #[arg(long, value_name = "ID", conflicts_with = "batch")]
    pub instance: Option<String>,
    /// The facts of many agents, one JSON object per line; may be compressed with gzip
    #[arg(long, value_name = "FILE")]
    pub batch: Option<PathBuf>,
    /// A Prolog file with facts that all agents of the batch share: service/4, needs/3, flavour/6 and fact/3
    #[arg(long, value_name = "FILE", conflicts_with = "facts")]
    pub services: Option<PathBuf>,
    /// Stop a decision after N inferences (calls of a predicate)
    #[arg(long, value_name = "N", default_value_t = PolicySettings::default().budget.inferences,
        value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: u64,
}

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl InputArguments {
    /// The policy as typed; an empty path if there is none.
    pub(super) fn policy(&self) -> &Path {
        self.policy.as_deref().unwrap_or(Path::new(""))
    }

    pub(super) fn load_policy(&self, engine: &Engine, console: &Console) -> Result<Policy, Failure> {
        load_policy(engine, &Text::find(self.policy())?, self.settings(), console)
    }

    /// Loads the policy so that its decisions can be explained.
    pub(super) fn load_explainer(&self, engine: &Engine, console: &Console) -> Result<Explainer, Failure> {
        let mut warnings = Vec::new();
        let loaded = load_explainer(engine, &Text::find(self.policy())?, self.settings(), &mut warnings);
        console.show(&warnings);
        loaded
    }

    fn settings(&self) -> PolicySettings {
        let defaults = PolicySettings::default();
        PolicySettings { budget: Budget { inferences: self.budget, ..defaults.budget }, ..defaults }
    }

    /// Reads the facts that all knowledge bases of a batch share, from `--services`. Facts of a single agent are an
    /// error.
    pub(super) fn shared_facts(&self, engine: &Engine) -> Result<KnowledgeBase, Failure> {
        let mut facts = KnowledgeBase::new(engine.symbols());
        let Some(path) = &self.services else { return Ok(facts) };
        read_facts(engine, path, &mut facts)?;
        if facts.has_situation() {
            let title = format!("`{}` has facts that belong to one agent", path.display());
            let hint = "a batch shares service/4, needs/3, flavour/6 and fact/3 facts only";
            return Err(Failure::input(Diagnostic::error(title).hint(hint)));
        }
        Ok(facts)
    }
}

/// Loads a policy, and shows its warnings.
pub(super) fn load_policy(
    engine: &Engine,
    text: &Text,
    settings: PolicySettings,
    console: &Console,
) -> Result<Policy, Failure> {
    let mut warnings = Vec::new();
    let loaded = policies::load_policy(engine, text, settings, &mut warnings);
    console.show(&warnings);
    loaded
}

/// Loads an acceptance policy, and shows its warnings.
pub(super) fn load_acceptance(engine: &Engine, path: &Path, console: &Console) -> Result<Acceptance, Failure> {
    let text = Text::find(path)?;
    let budget = PolicySettings::default().budget;
    match Acceptance::load(engine, &text.source.name, &text.source.text, Some(text.resolver()), budget) {
        Ok(acceptance) => {
            console.show(&diagnostics(acceptance.warnings()));
            Ok(acceptance)
        }
        Err(AcceptanceError::Load { problems, .. }) => {
            let mut warnings = Vec::new();
            let failure = load_failure(&problems, &mut warnings);
            console.show(&warnings);
            Err(failure)
        }
        Err(error) => {
            Err(Failure::input(Diagnostic::from_error(&error).hint("an acceptance policy says `accept(Request) :- …`")))
        }
    }
}

/// Adds the Prolog facts of a file to `facts`.
pub(super) fn read_facts(engine: &Engine, path: &Path, facts: &mut KnowledgeBase) -> Result<(), Failure> {
    let source = read_text(path)?;
    facts.read(engine, &source.name, &source.text).map_err(|error| facts_failure(&error, &source, "facts"))
}

/// Returns the instance with the id `named` or, without it, the only instance in the facts.
pub(super) fn find_instance(facts: &KnowledgeBase, named: Option<&str>, path: &Path) -> Result<Constant, Failure> {
    policies::find_instance(facts, named, &path.display().to_string())
}
