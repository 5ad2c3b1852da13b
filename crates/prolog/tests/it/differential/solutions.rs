//! All-solutions predicates, such as `findall`, `bagof`, `setof` and `aggregate_all`, and sorting their results.

use super::generator::{Case, Generator};

const TEMPLATES: &[&str] = &["X", "X", "X-{atom}", "f(X)", "{atom}", "[X|{small}]"];
const INNER: &[&str] = &[
    "p(X,Y)",
    "p(X,Y)",
    "p(X,Y), r(Y,Z)",
    "member(X,{ground_list})",
    "r(X,Z)",
    "p(X,{small})",
    "( p(X,Y) ; r(X,Y) )",
    "p(X,Y), X @< Y",
    "fail",
    "p(X,_)",
    "member(X-Y,{pair_list})",
    "member(X,[b,a,b])",
    "X = {ground}",
    "p(_,X)",
    "between(1,3,X), Y is X mod 2",
    "throw(oops)",
    "u(X,Y)",
    "member(X,[b,a,f(a),c,f(b)])",
    "p(X,Y), \\+ r(Y,_)",
];
const GOALS: &[&str] = &[
    "findall(#,@,L)",
    "findall(#,@,L,[tail])",
    "findall(#,@,[A|B])",
    "bagof(#,@,L)",
    "bagof(#,Y^(@),L)",
    "bagof(#,X^Y^(@),L)",
    "setof(#,@,L)",
    "setof(#,Y^(@),L)",
    "setof(#,Y^Z^(@),L)",
    "setof(#,Z^(@),[F|R])",
    "bagof(#,W^(@),L)",
    "aggregate_all(count,@,C)",
    "aggregate_all(bag(#),@,C)",
    "aggregate_all(set(#),@,C)",
    "aggregate_all(max(X),(@),C)",
    "aggregate_all(min(X),(@),C)",
    "aggregate_all(sum(X),(@),C)",
    "aggregate_all(max(X,#),(@),C)",
    "aggregate_all(min(X,Y),p(X,Y),C)",
    "aggregate_all(r(count,sum(Y)),p(X,Y),C)",
    "aggregate_all(count,{term},C)",
    "aggregate_all({atom},@,C)",
    "forall(@,ground(X))",
    "( bagof(#,@,L), length(L,N), N > 1 -> true ; L = none )",
    "findall(#,@,L0), msort(L0,L)",
    "findall(#,@,L0), sort(0,@>=,L0,L)",
    "findall(K-V,bagof(V,p(K,V),_),L)",
    "findall(X-L,bagof(Y,p(X,Y),L),R)",
    "bagof(X-L,setof(Y,p(X,Y),L),R)",
    "setof(K-Vs,setof(V,p(K,V),Vs),R)",
    "findall(#,@,{maybe_list})",
    "bagof(#,@,{maybe_list})",
    "setof(#,{term},L)",
    "findall(#,{maybe_atom},L)",
    "findall(X,(p(X,_),write(X)),L)",
    "findnsols(2,#,@,L)",
    "aggregate_all(count,(p(X,Y),r(Y,_)),C)",
    "catch(findall(#,@,L),E,true)",
];

pub fn case(generator: &mut Generator) -> Case {
    let mut program = vec![":- dynamic(u/2).".to_owned()];
    for _ in 0..=generator.random.below(6) {
        program.push(generator.fill("p({ground_small},{small})."));
    }
    program.push("p(1,2).".to_owned());
    for _ in 0..=generator.random.below(4) {
        program.push(generator.fill("r({small},{ground_small})."));
    }
    let template = generator.filled_one_of(TEMPLATES);
    let inner = generator.filled_one_of(INNER);
    let goal = generator.filled_one_of(GOALS).replace('#', &template).replace("@>=", "\u{1}");
    let goal = goal.replace('@', &inner).replace('\u{1}', "@>=");
    let goal = goal.replace(&format!(",{inner},"), &format!(",({inner}),"));
    Case { theme: "solutions", program, goal: goal + " ." }
}
