//! Goals that query a table of up to 39 loaded facts and change it, also while they iterate over it.

use super::generator::{Case, Generator};

/// Keys of many kinds: atoms, integers, compounds, lists, floats, strings and an unbound variable.
const KEYS: &[&str] =
    &["a", "b", "c", "1", "2", "3", "f(1)", "f(2)", "g(1)", "[1]", "[a|b]", "[]", "1.5", "2.5", "\"s\"", "\"u\"", "_"];
/// Keys that goals search for.
const ASKED: &[&str] =
    &["a", "b", "1", "2", "f(1)", "f(_)", "[1]", "[_|_]", "1.5", "\"s\"", "X", "X", "Y", "_", "zz", "99999999999999"];

/// Updates of the table, which write no output.
const STEPS: &[&str] = &[
    "assertz(t({key},{key},{small}))",
    "asserta(t({key},{key},{small}))",
    "( retract(t({asked},_,_)) -> true ; true )",
    "( retract(t(_,{asked},_)) -> true ; true )",
    "( retract(t(_,_,{small})) -> true ; true )",
    "( retract((t({asked},_,_) :- true)) -> true ; true )",
    "retractall(t({asked},_,_))",
    "retractall(t(_,{asked},_))",
    "forall(retract(t({asked},_,N)),assertz(t(moved,_,N)))",
    "forall(between(1,12,I),assertz(t(I,{key},I)))",
    "forall(between(1,12,I),asserta(t({key},I,I)))",
    "forall(member(I,[3,1,2,1,7]),( retract(t(I,_,_)) -> true ; true ))",
    "assertz((t({key},W,V) :- W = {small}, V = rule))",
    "asserta((t({key},_,V) :- !, V = cut))",
];

/// Queries of the table, which write what they find.
const QUERIES: &[&str] = &[
    "forall(t({asked},_,V),( write(V), write(' ') ))",
    "forall(t(_,{asked},V),( write(V), write(' ') ))",
    "forall(t({asked},{asked},V),( write(V), write(' ') ))",
    "forall(clause(t({asked},_,V),true),( write(V), write(' ') ))",
    "forall(clause(t(_,{asked},_),B),( B == true -> write(f) ; write(r) ))",
    "aggregate_all(count,t({asked},_,_),Count), write(Count)",
    "( t(_,_,{small}) -> write(yes) ; write(no) )",
    "findall(V,t({asked},_,V),Vs), length(Vs,L), write(L)",
    "predicate_property(t(_,_,_),number_of_clauses(C)), write(C)",
];

impl Generator {
    fn step(&mut self) -> String {
        let template = self.choose(STEPS);
        self.keyed(&template)
    }

    fn look(&mut self) -> String {
        let template = self.choose(QUERIES);
        self.keyed(&template)
    }

    fn keyed(&mut self, template: &str) -> String {
        let mut text = template.to_owned();
        for (hole, values) in [("{key}", KEYS), ("{asked}", ASKED)] {
            while text.contains(hole) {
                let value = self.choose(values);
                text = text.replacen(hole, &value, 1);
            }
        }
        self.fill(&text)
    }

    /// A loop of at most 30 rounds over the solutions of a goal on the table. A round may change the table.
    fn open_loop(&mut self) -> String {
        let goal = self.choose(&[
            "t({asked},_,V)",
            "t(_,{asked},V)",
            "t(_,_,V)",
            "retract(t({asked},_,V))",
            "retract(t(_,_,V))",
            "clause(t({asked},_,V),_)",
        ]);
        let goal = self.keyed(&goal);
        let (first, second) = (self.step(), self.step());
        let steps = if self.random.one_in(2) { first } else { format!("{first}, {second}") };
        format!(
            "( nb_setval(k,0), {goal}, ( ground(V) -> write(V) ; write(v) ), write(','), nb_getval(k,K0), K1 is K0+1, nb_setval(k,K1), \\+ \\+ ( {steps} ), K1 >= 30 -> true ; true )"
        )
    }
}

pub fn case(generator: &mut Generator) -> Case {
    let mut program = vec![":- dynamic t/3.".to_owned()];
    for _ in 0..generator.random.below(40) {
        program.push(generator.keyed("t({key},{key},{small})."));
    }
    let steps: Vec<String> = (0..=generator.random.below(5))
        .map(|_| match generator.random.below(3) {
            0 => generator.step(),
            1 => generator.open_loop(),
            _ => generator.look(),
        })
        .map(|step| format!("\\+ \\+ ( {step}, nl )"))
        .collect();
    let queries = "forall(clause(t(_,_,V),B),( ( ground(V) -> write(V) ; write(v) ), ( B == true -> true ; write(r) ), write(' ') ))";
    // In SWI-Prolog, global variables outlive a goal, so the loops of each case count in a variable of another name.
    let counter = format!("k{}", generator.random.number());
    let goal = format!("{}, {queries} .", steps.join(", ")).replace("val(k,", &format!("val({counter},"));
    Case { theme: "facts", program, goal }
}
