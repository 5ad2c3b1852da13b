//! A clause body as a tree of goals, in which control constructs are distinct from calls.

use crate::instruction::{Aggregation, Comparison, PredicateId, TypeTest};
use crate::program::RowCall;
use crate::store::{Store, View};
use crate::symbols::{Atom, Symbols, atoms};
use crate::term::{Functor, Tag, Term};

/// The target of a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    /// The cut removes the choice points that were created since the predicate of the clause was called.
    Clause,
    /// The cut is local to the construct with this number: it removes the choice points that were created since the
    /// start of the construct.
    Local(usize),
}

/// One goal of a body.
#[derive(Debug)]
pub(super) enum Goal {
    True,
    Fail,
    Cut(Level),
    Conjunction(Vec<Goal>),
    Disjunction(Vec<Goal>),
    /// Condition, then, else; and the level of the condition.
    IfThenElse(Box<Goal>, Box<Goal>, Box<Goal>, usize),
    SoftIfThenElse(Box<Goal>, Box<Goal>, Box<Goal>, usize),
    Not(Box<Goal>, usize),
    /// A goal known at compile time whose cuts are local, as in `call(G)`; and its level.
    Opaque(Box<Goal>, usize),
    Unify(Term, Term),
    Test(TypeTest, Term),
    CompareTerms(Comparison, Term, Term),
    CompareNumbers(Comparison, Term, Term),
    Is(Term, Term),
    Builtin(u16, Vec<Term>),
    Call(PredicateId, Vec<Term>),
    /// A goal on a host relation, by the relation's index.
    Rows(u16, Vec<Term>),
    /// Succeeds if a host relation has no matching row.
    NoRows(u16, Vec<Term>),
    /// A goal to be interpreted at run time, with the level of its cuts.
    Body(Term, Level),
    /// Aggregates the values of a term over all answers of a goal (or counts the answers, without a term), and unifies
    /// the result with another term.
    Collect {
        aggregation: Aggregation,
        value: Option<Term>,
        goal: Box<Goal>,
        result: Term,
        level: usize,
    },
}

/// What the compiler needs to know about the program around a clause.
pub(crate) trait Scope {
    /// The index of the deterministic builtin with this name and arity; `None` if there is none, or the program
    /// redefines it.
    fn builtin(&self, functor: Functor) -> Option<u16>;
    /// The predicate with this name and arity; declared if it is not defined yet.
    fn predicate(&mut self, functor: Functor) -> PredicateId;
    /// The index of the host relation with this name and arity; `None` if there is none.
    fn relation(&self, functor: Functor) -> Option<u16>;
    /// Stores a goal on a host relation and returns the index at which it is stored.
    fn row_call(&mut self, call: RowCall) -> u32;
    /// Whether this name and arity refer to a predicate of the program, and not to one of the language or its library.
    fn is_redefined(&self, functor: Functor) -> bool;
    fn symbols(&self) -> &Symbols;
    /// Stores a number or string that does not fit in an instruction, and returns the index at which it is stored.
    fn literal(&mut self, store: &Store, term: Term) -> u32;
}

/// Why a clause cannot be compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CompileError {
    /// A number or string where a goal was expected.
    NotCallable(Term),
    /// The clause has more variables, arguments or simultaneous temporaries than the machine supports.
    TooLarge,
}

/// The maximum number of columns of a relation with compiled goals. Goals on wider relations are ordinary calls, as are
/// goals with a compound argument or with a variable that occurs twice.
pub(crate) const MAX_COLUMNS: usize = 8;

/// The maximum nesting of compiled control constructs. Deeper ones are interpreted at run time.
const MAX_NESTING: usize = 64;

pub(super) struct Goals<'a> {
    pub(super) store: &'a Store,
    pub(super) scope: &'a mut dyn Scope,
    pub(super) levels: usize,
}

impl Goals<'_> {
    fn new_level(&mut self) -> usize {
        self.levels += 1;
        self.levels - 1
    }

    /// The goal for a body term, whose cuts cut to `level`. `depth` is the nesting of control constructs around it.
    pub(super) fn goal(&mut self, term: Term, level: Level, depth: usize) -> Result<Goal, CompileError> {
        let term = self.store.deref(term);
        let (name, arguments, arity) = match self.store.view(term) {
            View::Variable(_) => return Ok(self.call_predicate(atoms::CALL, &[term])),
            View::Atom(atom) => (atom, 0, 0),
            View::Compound(functor, arguments) => (functor.name(), arguments, functor.arity()),
            View::List(_) => return Ok(self.call_predicate(atoms::CALL, &[term])),
            _ => return Err(CompileError::NotCallable(term)),
        };
        let argument = |index| self.store.argument(arguments, index);
        if depth > MAX_NESTING && is_control(name, arity) {
            return Ok(Goal::Body(term, level));
        }
        let deeper = depth + 1;
        Ok(match (name, arity) {
            (atoms::TRUE | atoms::OTHERWISE, 0) => Goal::True,
            (atoms::FAIL | atoms::FALSE, 0) => Goal::Fail,
            (atoms::CUT, 0) => Goal::Cut(level),
            (atoms::COMMA, 2) => self.conjunction(term, level, depth)?,
            (atoms::SEMICOLON | atoms::BAR, 2) => self.disjunction(argument(0), argument(1), level, deeper)?,
            (atoms::ARROW, 2) => self.if_then_else(argument(0), argument(1), None, level, deeper)?,
            (atoms::SOFT_ARROW, 2) => {
                let own = self.new_level();
                let condition = self.goal(argument(0), Level::Local(own), deeper)?;
                let then = self.goal(argument(1), level, deeper)?;
                Goal::Conjunction(vec![Goal::Opaque(Box::new(condition), own), then])
            }
            (atoms::NOT, 1) => {
                let own = self.new_level();
                match self.goal(argument(0), Level::Local(own), deeper)? {
                    Goal::Rows(relation, values) => Goal::NoRows(relation, values),
                    goal => Goal::Not(Box::new(goal), own),
                }
            }
            (atoms::COLON, 2) if matches!(self.store.view(argument(0)), View::Atom(_)) => {
                self.goal(argument(1), level, deeper)?
            }
            _ => self.inline_or_call(name, arguments, arity, depth)?,
        })
    }

    fn conjunction(&mut self, term: Term, level: Level, depth: usize) -> Result<Goal, CompileError> {
        let mut goals = Vec::new();
        let mut rest = term;
        loop {
            match self.store.view(rest) {
                View::Compound(functor, arguments) if functor == Functor::new(atoms::COMMA, 2) => {
                    let first = self.store.argument(arguments, 0);
                    goals.push(self.goal(first, level, depth + 1)?);
                    rest = self.store.argument(arguments, 1);
                }
                _ => {
                    goals.push(self.goal(rest, level, depth + 1)?);
                    return Ok(Goal::Conjunction(goals));
                }
            }
        }
    }

    fn disjunction(&mut self, first: Term, second: Term, level: Level, depth: usize) -> Result<Goal, CompileError> {
        if let View::Compound(functor, arguments) = self.store.view(first) {
            let argument = |index| self.store.argument(arguments, index);
            if functor == Functor::new(atoms::ARROW, 2) {
                return self.if_then_else(argument(0), argument(1), Some(second), level, depth);
            }
            if functor == Functor::new(atoms::SOFT_ARROW, 2) {
                let own = self.new_level();
                let condition = self.goal(argument(0), Level::Local(own), depth)?;
                let then = self.goal(argument(1), level, depth)?;
                let otherwise = self.goal(second, level, depth)?;
                return Ok(Goal::SoftIfThenElse(Box::new(condition), Box::new(then), Box::new(otherwise), own));
            }
        }
        let mut alternatives = vec![self.goal(first, level, depth)?];
        let mut rest = second;
        loop {
            match self.store.view(rest) {
                View::Compound(functor, arguments)
                    if functor == Functor::new(atoms::SEMICOLON, 2) && !self.is_conditional(arguments) =>
                {
                    let next = self.store.argument(arguments, 0);
                    alternatives.push(self.goal(next, level, depth)?);
                    rest = self.store.argument(arguments, 1);
                }
                _ => {
                    alternatives.push(self.goal(rest, level, depth)?);
                    return Ok(Goal::Disjunction(alternatives));
                }
            }
        }
    }

    /// Whether the first argument of a `;` is `->` or `*->`.
    fn is_conditional(&self, arguments: usize) -> bool {
        matches!(self.store.view(self.store.argument(arguments, 0)), View::Compound(functor, _)
            if functor == Functor::new(atoms::ARROW, 2) || functor == Functor::new(atoms::SOFT_ARROW, 2))
    }

    fn if_then_else(
        &mut self,
        condition: Term,
        then: Term,
        otherwise: Option<Term>,
        level: Level,
        depth: usize,
    ) -> Result<Goal, CompileError> {
        let own = self.new_level();
        let condition = self.goal(condition, Level::Local(own), depth)?;
        let then = self.goal(then, level, depth)?;
        let otherwise = match otherwise {
            Some(term) => self.goal(term, level, depth)?,
            None => Goal::Fail,
        };
        Ok(Goal::IfThenElse(Box::new(condition), Box::new(then), Box::new(otherwise), own))
    }

    fn call_predicate(&mut self, name: Atom, arguments: &[Term]) -> Goal {
        let predicate = self.scope.predicate(Functor::new(name, arguments.len()));
        Goal::Call(predicate, arguments.to_vec())
    }

    fn inline_or_call(
        &mut self,
        name: Atom,
        arguments: usize,
        arity: usize,
        depth: usize,
    ) -> Result<Goal, CompileError> {
        let functor = Functor::new(name, arity);
        if !self.scope.is_redefined(functor)
            && let Some(goal) = self.inline(name, arguments, arity, depth)?
        {
            return Ok(goal);
        }
        let values: Vec<Term> = (0..arity).map(|index| self.store.argument(arguments, index)).collect();
        if values.len() > super::MAX_CALL_ARITY {
            return Err(CompileError::TooLarge);
        }
        if let Some(relation) = self.scope.relation(functor)
            && arity <= MAX_COLUMNS
            && variables_differ(&values)
        {
            return Ok(Goal::Rows(relation, values));
        }
        Ok(match self.scope.builtin(functor) {
            Some(builtin) => Goal::Builtin(builtin, values),
            None => Goal::Call(self.scope.predicate(functor), values),
        })
    }

    /// The goal for a call that has its own instructions; `None` for any other call, for one that is nested too deeply,
    /// and for one whose argument is a goal that must be called at run time.
    fn inline(
        &mut self,
        name: Atom,
        arguments: usize,
        arity: usize,
        depth: usize,
    ) -> Result<Option<Goal>, CompileError> {
        let argument = |index| self.store.argument(arguments, index);
        let deeper = depth + 1;
        if depth > MAX_NESTING {
            return Ok(None);
        }
        Ok(Some(match (name, arity) {
            (atoms::EQUALS, 2) => Goal::Unify(argument(0), argument(1)),
            (atoms::IS, 2) => Goal::Is(argument(0), argument(1)),
            (atoms::CALL, 1) if has_variable_goal(self.store, argument(0)) => return Ok(None),
            (atoms::CALL, 1) => {
                let own = self.new_level();
                match self.goal(argument(0), Level::Local(own), deeper) {
                    Ok(goal) if goal.cuts_to(Level::Local(own)) => Goal::Opaque(Box::new(goal), own),
                    Ok(goal) => goal,
                    // The type error must be raised when the goal is called.
                    Err(CompileError::NotCallable(_)) => return Ok(None),
                    Err(error) => return Err(error),
                }
            }
            (atoms::ONCE | atoms::IGNORE, 1) => {
                let Some((goal, own)) = self.known(argument(0), deeper)? else { return Ok(None) };
                let otherwise = if name == atoms::ONCE { Goal::Fail } else { Goal::True };
                Goal::IfThenElse(Box::new(goal), Box::new(Goal::True), Box::new(otherwise), own)
            }
            (atoms::FORALL, 2) => {
                let Some((condition, own)) = self.known(argument(0), deeper)? else { return Ok(None) };
                let Some((action, inner)) = self.known(argument(1), deeper)? else { return Ok(None) };
                let not = Goal::Not(Box::new(action), inner);
                let counterexample = Goal::Conjunction(vec![Goal::Opaque(Box::new(condition), own), not]);
                Goal::Not(Box::new(counterexample), self.new_level())
            }
            (atoms::FINDALL, 3) => {
                return self.collect(Aggregation::Bag, Some(argument(0)), argument(1), argument(2), deeper);
            }
            (atoms::AGGREGATE_ALL, 3) => {
                let Some((aggregation, value)) = self.aggregation(argument(0)) else { return Ok(None) };
                return self.collect(aggregation, value, argument(1), argument(2), deeper);
            }
            _ => match inline_test(self.scope.symbols().name(name), arity) {
                Some(InlineTest::Type(test)) => Goal::Test(test, argument(0)),
                Some(InlineTest::Terms(comparison)) => Goal::CompareTerms(comparison, argument(0), argument(1)),
                Some(InlineTest::Numbers(comparison)) => Goal::CompareNumbers(comparison, argument(0), argument(1)),
                None => return Ok(None),
            },
        }))
    }

    /// A goal argument that can be compiled inline, and the level of its cuts; `None` if it must be called at run time.
    fn known(&mut self, term: Term, depth: usize) -> Result<Option<(Goal, usize)>, CompileError> {
        if has_variable_goal(self.store, term) && !self.store.deref(term).is_variable() {
            return Ok(None);
        }
        let own = self.new_level();
        match self.goal(term, Level::Local(own), depth) {
            Ok(goal) => Ok(Some((goal, own))),
            Err(CompileError::NotCallable(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn collect(
        &mut self,
        aggregation: Aggregation,
        value: Option<Term>,
        goal: Term,
        result: Term,
        depth: usize,
    ) -> Result<Option<Goal>, CompileError> {
        // A result like `[a|b]`, which cannot become a list, is left to the predicate, which may raise an error.
        let mut end = self.store.deref(result);
        while end.has_tag(Tag::Lis) {
            end = self.store.argument(end.address(), 1);
        }
        if result.has_tag(Tag::Lis) && !end.is_variable() && end != Term::NIL {
            return Ok(None);
        }
        let Some((goal, level)) = self.known(goal, depth)? else { return Ok(None) };
        Ok(Some(Goal::Collect { aggregation, value, goal: Box::new(goal), result, level }))
    }

    fn aggregation(&self, specification: Term) -> Option<(Aggregation, Option<Term>)> {
        match self.store.view(specification) {
            View::Atom(atoms::COUNT) => Some((Aggregation::Count, None)),
            View::Compound(functor, arguments) if functor.arity() == 1 => {
                let aggregation = match functor.name() {
                    atoms::COUNT => return Some((Aggregation::Count, None)),
                    atoms::SUM => Aggregation::Sum,
                    atoms::MAX => Aggregation::Maximum,
                    atoms::MIN => Aggregation::Minimum,
                    atoms::BAG => Aggregation::Bag,
                    atoms::SET => Aggregation::Set,
                    _ => return None,
                };
                Some((aggregation, Some(self.store.argument(arguments, 0))))
            }
            _ => None,
        }
    }
}

/// Whether no argument is a compound, and no variable occurs twice.
fn variables_differ(terms: &[Term]) -> bool {
    let mut seen = Vec::new();
    terms.iter().all(|&term| match term.tag() {
        Tag::Ref | Tag::Att => {
            let new = !seen.contains(&term);
            seen.push(term);
            new
        }
        Tag::Lis | Tag::Str => false,
        _ => true,
    })
}

/// Whether one of the goals of a body is a variable. When a goal is converted at call time (ISO 7.6.2), the value of
/// such a variable is converted, too. For example, a cut in the value cuts the whole goal.
pub(super) fn has_variable_goal(store: &Store, body: Term) -> bool {
    let mut pending = vec![body];
    while let Some(goal) = pending.pop() {
        match store.view(goal) {
            View::Variable(_) => return true,
            View::Compound(functor, arguments) if is_control(functor.name(), functor.arity()) => {
                pending.extend((0..functor.arity()).map(|index| store.argument(arguments, index)));
            }
            _ => {}
        }
    }
    false
}

enum InlineTest {
    Type(TypeTest),
    Terms(Comparison),
    Numbers(Comparison),
}

fn inline_test(name: &str, arity: usize) -> Option<InlineTest> {
    use InlineTest::{Numbers, Terms, Type};
    Some(match (name, arity) {
        ("var", 1) => Type(TypeTest::Var),
        ("nonvar", 1) => Type(TypeTest::Nonvar),
        ("atom", 1) => Type(TypeTest::Atom),
        ("integer", 1) => Type(TypeTest::Integer),
        ("float", 1) => Type(TypeTest::Float),
        ("number", 1) => Type(TypeTest::Number),
        ("atomic", 1) => Type(TypeTest::Atomic),
        ("compound", 1) => Type(TypeTest::Compound),
        ("callable", 1) => Type(TypeTest::Callable),
        ("is_list", 1) => Type(TypeTest::IsList),
        ("string", 1) => Type(TypeTest::String),
        ("==", 2) => Terms(Comparison::Equal),
        ("\\==", 2) => Terms(Comparison::NotEqual),
        ("@<", 2) => Terms(Comparison::Less),
        ("@=<", 2) => Terms(Comparison::LessOrEqual),
        ("@>", 2) => Terms(Comparison::Greater),
        ("@>=", 2) => Terms(Comparison::GreaterOrEqual),
        ("=:=", 2) => Numbers(Comparison::Equal),
        ("=\\=", 2) => Numbers(Comparison::NotEqual),
        ("<", 2) => Numbers(Comparison::Less),
        ("=<", 2) => Numbers(Comparison::LessOrEqual),
        (">", 2) => Numbers(Comparison::Greater),
        (">=", 2) => Numbers(Comparison::GreaterOrEqual),
        _ => return None,
    })
}

/// Whether a term with this name and arity is a control construct, which is compiled or interpreted in place instead of
/// being called.
pub(crate) fn is_control(name: Atom, arity: usize) -> bool {
    matches!(
        (name, arity),
        (atoms::COMMA | atoms::SEMICOLON | atoms::BAR | atoms::ARROW | atoms::SOFT_ARROW, 2)
            | (atoms::NOT, 1)
            | (atoms::CUT, 0)
    )
}

impl Goal {
    /// Calls `visit` with each term in the goal and its subgoals.
    pub(super) fn for_each_term(&self, visit: &mut dyn FnMut(Term)) {
        match self {
            Goal::True | Goal::Fail | Goal::Cut(_) => {}
            Goal::Conjunction(goals) | Goal::Disjunction(goals) => {
                goals.iter().for_each(|goal| goal.for_each_term(visit));
            }
            Goal::IfThenElse(a, b, c, _) | Goal::SoftIfThenElse(a, b, c, _) => {
                [a, b, c].into_iter().for_each(|goal| goal.for_each_term(visit));
            }
            Goal::Not(goal, _) | Goal::Opaque(goal, _) => goal.for_each_term(visit),
            Goal::Unify(a, b) | Goal::CompareTerms(_, a, b) | Goal::CompareNumbers(_, a, b) | Goal::Is(a, b) => {
                [a, b].into_iter().for_each(|&term| visit(term));
            }
            Goal::Test(_, term) | Goal::Body(term, _) => visit(*term),
            Goal::Builtin(_, terms) | Goal::Call(_, terms) | Goal::Rows(_, terms) | Goal::NoRows(_, terms) => {
                terms.iter().for_each(|&term| visit(term));
            }
            Goal::Collect { value, goal, result, .. } => {
                goal.for_each_term(visit);
                value.iter().for_each(|&term| visit(term));
                visit(*result);
            }
        }
    }

    /// Whether the goal is a pure test: it binds nothing and calls no predicate. So it needs no choice point, and
    /// failure is a jump.
    pub(super) fn is_simple_test(&self) -> bool {
        match self {
            Goal::True
            | Goal::Fail
            | Goal::Test(..)
            | Goal::CompareTerms(..)
            | Goal::CompareNumbers(..)
            | Goal::NoRows(..) => true,
            Goal::Conjunction(goals) => goals.iter().all(Goal::is_simple_test),
            _ => false,
        }
    }

    /// Whether a cut to this level may occur in the goal.
    pub(super) fn cuts_to(&self, wanted: Level) -> bool {
        match self {
            Goal::Cut(level) | Goal::Body(_, level) => *level == wanted,
            Goal::Conjunction(goals) | Goal::Disjunction(goals) => goals.iter().any(|goal| goal.cuts_to(wanted)),
            Goal::IfThenElse(a, b, c, _) | Goal::SoftIfThenElse(a, b, c, _) => {
                [a, b, c].into_iter().any(|goal| goal.cuts_to(wanted))
            }
            Goal::Not(goal, _) | Goal::Opaque(goal, _) | Goal::Collect { goal, .. } => goal.cuts_to(wanted),
            _ => false,
        }
    }
}
