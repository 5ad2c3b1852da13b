//! Type tests on terms.

use super::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::Solved;
use crate::store::{ListEnd, View};
use crate::symbols::atoms;
use crate::term::{Tag, Term};

pub(crate) const TABLE: &[Builtin] = &[
    det("var", Code::D1(var)),
    det("nonvar", Code::D1(nonvar)),
    det("atom", Code::D1(atom)),
    det("number", Code::D1(number)),
    det("integer", Code::D1(integer)),
    // Integers are the only rational numbers.
    det("rational", Code::D1(integer)),
    det("float", Code::D1(float)),
    det("atomic", Code::D1(atomic)),
    det("compound", Code::D1(compound)),
    det("callable", Code::D1(callable)),
    det("string", Code::D1(string)),
    det("is_list", Code::D1(is_list)),
    det("ground", Code::D1(ground)),
    det("acyclic_term", Code::D1(acyclic_term)),
    det("cyclic_term", Code::D1(cyclic_term)),
    det("attvar", Code::D1(attvar)),
];

fn var(core: &mut Core, term: Term) -> Solved {
    Ok(core.store.deref(term).is_variable())
}

fn nonvar(core: &mut Core, term: Term) -> Solved {
    Ok(!core.store.deref(term).is_variable())
}

fn atom(core: &mut Core, term: Term) -> Solved {
    Ok(core.store.deref(term).has_tag(Tag::Atm))
}

fn number(core: &mut Core, term: Term) -> Solved {
    Ok(matches!(core.store.view(term), View::Small(_) | View::Big | View::Float(_)))
}

fn integer(core: &mut Core, term: Term) -> Solved {
    Ok(matches!(core.store.view(term), View::Small(_) | View::Big))
}

fn float(core: &mut Core, term: Term) -> Solved {
    Ok(matches!(core.store.view(term), View::Float(_)))
}

fn atomic(core: &mut Core, term: Term) -> Solved {
    Ok(matches!(core.store.deref(term).tag(), Tag::Atm | Tag::Int | Tag::Box))
}

fn compound(core: &mut Core, term: Term) -> Solved {
    Ok(matches!(core.store.deref(term).tag(), Tag::Str | Tag::Lis))
}

fn callable(core: &mut Core, term: Term) -> Solved {
    Ok(matches!(core.store.deref(term).tag(), Tag::Str | Tag::Lis | Tag::Atm))
}

fn string(core: &mut Core, term: Term) -> Solved {
    Ok(core.store.view(term) == View::Text)
}

fn is_list(core: &mut Core, term: Term) -> Solved {
    Ok(core.store.skip_list(term).1 == ListEnd::Nil)
}

fn ground(core: &mut Core, term: Term) -> Solved {
    let term = core.store.deref(term);
    core.store.is_ground(term)
}

fn acyclic_term(core: &mut Core, term: Term) -> Solved {
    core.store.is_acyclic(term)
}

fn cyclic_term(core: &mut Core, term: Term) -> Solved {
    Ok(!core.store.is_acyclic(term)?)
}

fn attvar(core: &mut Core, term: Term) -> Solved {
    let term = core.store.deref(term);
    Ok(core.store.suspended(term).is_some_and(|goals| core.store.deref(goals) != Term::atom(atoms::NIL)))
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::meter::Budget;
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn distinguishes_types() {
        const KINDS: &[&str] =
            &["var", "atom", "integer", "float", "number", "string", "atomic", "compound", "callable", "is_list"];
        let cases = [
            ("X", "var"),
            ("a", "atom atomic callable"),
            ("[]", "atom atomic callable is_list"),
            ("1", "integer number atomic"),
            ("100000000000000000000", "integer number atomic"),
            ("1.5", "float number atomic"),
            ("\"s\"", "string atomic"),
            ("f(X)", "compound callable"),
            ("f()", "compound callable"),
            ("[a]", "compound callable is_list"),
            ("[a|T]", "compound callable"),
        ];
        for (term, expected) in cases {
            let holds = |kind: &&&str| Fixture::new().solve(TABLE, &format!("{kind}({term})")) != "false";
            let found: Vec<&str> = KINDS.iter().filter(holds).copied().collect();
            assert_eq!(found.join(" "), expected, "{term}");
        }
    }

    #[test]
    fn inspects_the_content_of_terms() {
        check_goals(
            TABLE,
            &[
                ("ground(f(a,[b,\"c\"]))", "ground(f(a,[b,\"c\"]))"),
                ("ground(f(a,[b,X]))", "false"),
                ("acyclic_term(f(X,X))", "acyclic_term(f(X,X))"),
                ("cyclic_term(f(X,X))", "false"),
            ],
        );
    }

    fn cyclic(fixture: &mut Fixture, text: &str) -> crate::term::Term {
        let term = fixture.term(text);
        let variable = fixture.term("X");
        fixture.core.store.bind(variable, term);
        term
    }

    #[test]
    fn finds_cycles() {
        for text in ["f(X)", "[a|X]", "f(a,g([b,X]))"] {
            let mut fixture = Fixture::new();
            let term = cyclic(&mut fixture, text);
            assert_eq!(super::cyclic_term(&mut fixture.core, term), Ok(true), "{text}");
        }
    }

    #[test]
    fn shared_subterms_are_entered_once() {
        let mut fixture = Fixture::new();
        let mut term = fixture.term("a");
        let name = fixture.core.atoms.intern("f");
        for _ in 0..200 {
            term = fixture.core.store.structure(name, &[term, term]);
        }
        assert_eq!(super::acyclic_term(&mut fixture.core, term), Ok(true));
    }

    #[test]
    fn a_walk_over_a_cyclic_term_ends() {
        let mut fixture = Fixture::with_budget(&Budget { inferences: 1000, ..Budget::default() });
        let term = cyclic(&mut fixture, "f(a,X)");
        assert_eq!(super::ground(&mut fixture.core, term), Ok(true));
        let mut fixture = Fixture::with_budget(&Budget { inferences: 1000, ..Budget::default() });
        let term = cyclic(&mut fixture, "f(X,Y)");
        assert_eq!(super::ground(&mut fixture.core, term), Ok(false));
    }
}
