//! Compiles the text of a policy to a program.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mario_domain::{AgentOperation, FactPredicate};
use mario_prolog::{Allowance, Atom, Budget, Engine, LoadError, Loaded, Place, Problem, Program, Resolver, Symbols};

use crate::function::{self, PolicyFunction};
use crate::knowledge_base::{Constant, KnowledgeBase, declare_facts};
use crate::remembers::{self, MemoryDeclaration};

/// A generated predicate of arity 4: the solutions of `operation/3`, each with the zero-based index of its clause as
/// the last argument. The name must be quoted in Prolog, so a policy does not call it by accident.
pub(crate) const NUMBERED_OPERATION: &str = "$operation";

/// The settings of a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PolicySettings {
    /// The number of evaluations for which an agent remembers inhibitions; 0 means no memory.
    pub memory: u32,
    /// The budget of one decision.
    pub budget: Budget,
}

impl Default for PolicySettings {
    /// No memory, and a budget far above the needs of the shipped policies, whose decisions take fewer than a thousand
    /// inferences in the small worlds of a check.
    fn default() -> PolicySettings {
        PolicySettings {
            memory: 0,
            budget: Budget {
                inferences: 10_000_000,
                heap_bytes: 256 << 20,
                trail_entries: 1 << 24,
                choice_points: 1 << 22,
                answers: 100_000,
                output_bytes: 1 << 20,
            },
        }
    }
}

/// A compiled policy. Immutable: share it among any number of agents and threads.
#[derive(Clone)]
pub struct Policy {
    name: Arc<str>,
    program: Arc<Program>,
    symbols: Arc<Symbols>,
    settings: PolicySettings,
    remembers: MemoryDeclaration,
    reads_kinds: bool,
    /// The name of the function that decides instead of the program; `None` if the program decides.
    outside: Option<Arc<str>>,
    function: Option<Arc<dyn PolicyFunction>>,
    clauses: Arc<[Place]>,
    warnings: Arc<[Problem]>,
    pub(crate) words: Words,
}

/// The atoms that a decision needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    pub(crate) numbered_operation: Atom,
    pub(crate) own: Atom,
    pub(crate) operations: [(Atom, AgentOperation); AgentOperation::COUNT],
}

/// Why a text is not a policy.
#[derive(Clone, Debug)]
pub enum PolicyError {
    /// The text cannot be loaded.
    Load {
        /// The name of the policy.
        name: String,
        /// What is wrong with the text.
        problems: LoadError,
    },
    /// A directive calls `halt`, so the rest of the text was not read.
    Halted {
        /// The name of the policy.
        name: String,
    },
    /// The text does not define `operation/3`.
    NoOperation {
        /// The name of the policy.
        name: String,
    },
}

impl Policy {
    /// Compiles a policy. `resolver` finds the files that the text loads; without a resolver, the text cannot load
    /// files.
    pub fn load(
        engine: &Engine,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        settings: PolicySettings,
    ) -> Result<Policy, PolicyError> {
        Policy::load_with(engine, None, name, text, resolver, settings, None).map(|(policy, _)| policy)
    }

    /// Like [`Policy::load`], for untrusted text: the allowance limits the inferences of its directives.
    pub fn load_within(
        engine: &Engine,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        settings: PolicySettings,
        allowance: &Allowance,
    ) -> Result<Policy, PolicyError> {
        Policy::load_with(engine, None, name, text, resolver, settings, Some(allowance)).map(|(policy, _)| policy)
    }

    /// Compiles a policy together with a companion text (name and text) that can inspect the policy's clauses.
    pub(crate) fn load_with(
        engine: &Engine,
        companion: Option<(&str, &str)>,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        settings: PolicySettings,
        allowance: Option<&Allowance>,
    ) -> Result<(Policy, Loaded), PolicyError> {
        let mut loader = engine.loader();
        if let Some(allowance) = allowance {
            loader.allowance(allowance.clone());
        }
        declare_facts(&mut loader, &FactPredicate::OF_AGENTS);
        loader.declaration(remembers::DIRECTIVE, 2);
        loader.declaration(function::DIRECTIVE, 1);
        loader.number_clauses("operation", 3, NUMBERED_OPERATION);
        // The companion is loaded first, so that the policy's operators and flags do not affect it.
        if let Some((name, text)) = companion {
            loader.load_companion(name, text);
        }
        if let Some(resolver) = resolver {
            loader.resolver(resolver);
        }
        loader.load(name, text);
        let loaded = loader.finish().map_err(|problems| PolicyError::Load { name: name.to_owned(), problems })?;
        if loaded.halted.is_some() {
            return Err(PolicyError::Halted { name: name.to_owned() });
        }
        let remembers =
            MemoryDeclaration::of(&loaded).map_err(|problems| PolicyError::Load { name: name.to_owned(), problems })?;
        let outside =
            function::declared(&loaded).map_err(|problems| PolicyError::Load { name: name.to_owned(), problems })?;
        let symbols = engine.symbols();
        if outside.is_none() && !loaded.program.defines_helper(NUMBERED_OPERATION, 4) {
            return Err(PolicyError::NoOperation { name: name.to_owned() });
        }
        let policy = Policy {
            name: name.into(),
            program: Arc::clone(&loaded.program),
            symbols: Arc::clone(symbols),
            settings,
            remembers,
            reads_kinds: loaded.program.mentions("free"),
            outside,
            function: None,
            clauses: loaded.places("operation", 3).into(),
            warnings: loaded.warnings.clone().into(),
            words: Words {
                numbered_operation: symbols.internal(NUMBERED_OPERATION),
                own: symbols.intern(mario_domain::SELF),
                operations: AgentOperation::ALL.map(|name| (symbols.intern(name.as_str()), name)),
            },
        };
        Ok((policy, loaded))
    }

    /// The same policy with other settings.
    #[must_use]
    pub fn with_settings(&self, settings: PolicySettings) -> Policy {
        Policy { settings, ..self.clone() }
    }

    /// The same policy with this function. The function decides only if the text declares one; otherwise, the program
    /// decides.
    #[must_use]
    pub fn decided_by(&self, function: Arc<dyn PolicyFunction>) -> Policy {
        Policy { function: Some(function), ..self.clone() }
    }

    /// The name of the function that decides instead of the program, as the text declares it; `None` if the program
    /// decides.
    pub fn outside(&self) -> Option<&str> {
        self.outside.as_deref()
    }

    /// Whether the policy is a function that needs the facts of all agents that decide at the same time before it
    /// decides for the first of them.
    pub fn wants_preview(&self) -> bool {
        self.function().is_some_and(PolicyFunction::wants_preview)
    }

    /// Passes the facts of an agent to the policy's function before the function decides for this agent. Does nothing
    /// if the policy has no function.
    pub fn preview(&self, facts: &KnowledgeBase, instance: Constant) {
        if let Some(function) = self.function() {
            function.preview(facts, instance);
        }
    }

    pub(crate) fn function(&self) -> Option<&dyn PolicyFunction> {
        self.function.as_deref()
    }

    /// The name under which the policy was loaded.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The compiled program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The atom table shared by its program and its facts.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols
    }

    /// The settings.
    pub fn settings(&self) -> &PolicySettings {
        &self.settings
    }

    /// How much of the past its agents must remember.
    pub fn remembers(&self) -> MemoryDeclaration {
        self.remembers
    }

    /// Whether the name `free` occurs in the program, so that it may read `free/3`, the free hardware by kind. If not,
    /// its agents do not get these facts.
    pub fn reads_kinds(&self) -> bool {
        self.reads_kinds
    }

    /// The places of its clauses of `operation/3`, in order of priority. A directive that changes `operation/3`
    /// discards the places of the clauses before it.
    pub fn clauses(&self) -> &[Place] {
        &self.clauses
    }

    /// Warnings of the loader.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Policy")
            .field("name", &self.name)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicyError::Load { name, .. } => write!(formatter, "cannot load policy `{name}`"),
            PolicyError::Halted { name } => write!(formatter, "policy `{name}` calls halt while it is loaded"),
            PolicyError::NoOperation { name } => write!(formatter, "policy `{name}` has no clause of operation/3"),
        }
    }
}

impl Error for PolicyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            PolicyError::Load { problems, .. } => Some(problems),
            PolicyError::Halted { .. } | PolicyError::NoOperation { .. } => None,
        }
    }
}
