//! Suspended goals: dif/2, freeze/2, when/2.

use super::generator::{Case, Generator};

const WAITING: &[&str] = &[
    "dif({term},{term})",
    "dif({variable},{small_term})",
    "dif({variable},{variable})",
    "dif(f({variable},{variable}),f({small_term},{small_term}))",
    "freeze({variable},write(woken))",
    "freeze({variable},(write(w),fail))",
    "freeze({variable},{variable} = {small_term})",
    "freeze({variable},freeze({variable},write(both)))",
    "freeze({variable},throw(woken))",
    "freeze({variable},(write(1);write(2)))",
    "when(nonvar({variable}),write(n))",
    "when(ground(f({variable},{variable})),write(g))",
    "when(?=({variable},{variable}),write(d))",
    "when((nonvar({variable});nonvar({variable})),write(o))",
    "when((nonvar({variable}),ground({variable})),write(c))",
    "when({maybe_atom},write(x))",
];
const BINDING: &[&str] = &[
    "{variable} = {small_term}",
    "{variable} = {small_term}",
    "{variable} = {variable}",
    "{variable} = f({variable},{small_term})",
    "f({variable},{variable}) = f({small_term},{small_term})",
    "member({variable},[a,b,1])",
    "( {variable} = a ; {variable} = b )",
    "\\+ {variable} = a",
    "( {variable} = {small} -> write(yes) ; write(no) )",
    "findall({variable},member({variable},[a,b]),L)",
    "{variable} == {variable}",
    "copy_term({variable},C), C = a",
    "length({variable},2)",
    "{variable} =.. [f,a]",
    "functor({variable},f,2)",
    "atom_length(abc,{variable})",
    "p({variable},{variable})",
    "catch({variable} = {small_term},B,write(B))",
    "once(member({variable},[b,a]))",
    "{variable} is 1 + 1",
    "append({variable},{variable},[a,b])",
];

pub fn case(generator: &mut Generator) -> Case {
    let program = vec!["p(a,b).".to_owned(), "p(b,X) :- write(body), X = c.".to_owned(), "p(X,X).".to_owned()];
    let mut steps: Vec<String> = (0..=generator.random.below(2)).map(|_| generator.filled_one_of(WAITING)).collect();
    steps.extend((0..=generator.random.below(3)).map(|_| generator.filled_one_of(BINDING)));
    Case { theme: "coroutines", program, goal: steps.join(", ") + " ." }
}
