//! The libraries `solution_sequences`, `ugraphs`, `dcg/basics` and `dcg/high_order`.

use super::generator::{Case, Generator};

const SEQUENCES: &[&str] = &[
    "limit({count},{source})",
    "offset({count},{source})",
    "limit({count},offset({count},{source}))",
    "call_nth({source},{count})",
    "call_nth({source},N)",
    "distinct({source})",
    "distinct(X,{source})",
    "distinct(X-Y,{source})",
    "order_by([asc(X)],{bound})",
    "order_by([desc(Y)],{bound})",
    "order_by([desc(X),asc(Y)],{bound})",
    "order_by([asc(Y),desc(X)],{bound})",
    "order_by({list},{source})",
    "findall(X-Y,order_by([asc(Y)],{bound}),L)",
    "group_by(X,Y,{bound},Bag)",
    "findall(X,limit({count},distinct(X,{source})),L)",
    "reduced({source})",
    "limit(infinite,{source})",
    "( limit({count},{source}), write(x), fail ; true )",
];
const SOURCES: &[&str] = &[
    "member(X-Y,[b-1,a-2,b-0,a-2,c-1])",
    "member(X-Y,[2-z,10-y,2-a])",
    "( X = 1 ; X = 2, Y = 3 ; X = 1 )",
    "( member(X,[c,b,a]), member(Y,[2,1]) )",
    "fail",
    "between(1,4,X)",
    "( member(X,[f(_),g,f(_)]) )",
    "throw(ball)",
    "( X = Y ; true ; X = Z )",
];
/// Goals whose answers have no unbound variables, because the order of variables differs between engines.
const BOUND: &[&str] = &[
    "member(X-Y,[b-1,a-2,b-0,a-2,c-1])",
    "member(X-Y,[2-z,10-y,2-a,f(a)-1.0,[]-1])",
    "( member(X,[c,b,a]), member(Y,[2,1]) )",
    "fail",
    "throw(ball)",
];
const GRAPHS: &[&str] = &[
    "vertices_edges_to_ugraph({vertices},{edges},G)",
    "{graph}, vertices(G,V)",
    "{graph}, edges(G,E)",
    "{graph}, add_vertices(G,{vertices},H)",
    "{graph}, del_vertices(G,{gone},H)",
    "{graph}, add_edges(G,{edges},H)",
    "{graph}, del_edges(G,{edges},H)",
    "{graph}, transpose_ugraph(G,H)",
    "{graph}, neighbours({vertex},G,N)",
    "{graph}, neighbors({vertex},G,N)",
    "{graph}, complement(G,H)",
    "{graph}, vertices_edges_to_ugraph({vertices},{edges},H), compose(G,H,C)",
    "{graph}, vertices_edges_to_ugraph({vertices},{edges},H), ugraph_union(G,H,U)",
    "{graph}, top_sort(G,S)",
    "vertices_edges_to_ugraph({vertices},{edges_down},G), top_sort(G,S)",
    "{graph}, transitive_closure(G,C)",
    "{graph}, reachable({vertex},G,R)",
];
const GRAMMARS: &[&str] = &[
    "phrase(integer(X),{codes},Rest)",
    "phrase(number(X),{codes},Rest)",
    "phrase(float(X),{codes},Rest)",
    "phrase(digits(X),{codes},Rest)",
    "phrase(digit(X),{codes},Rest)",
    "phrase(xinteger(X),{codes},Rest)",
    "phrase(xdigits(X),{codes},Rest)",
    "phrase((string(X),\",\",remainder(Y)),{codes},Rest)",
    "phrase(string_without(\", \",X),{codes},Rest)",
    "phrase((blanks,nonblanks(X),blanks),{codes},Rest)",
    "phrase((whites,nonblank(X)),{codes},Rest)",
    "phrase((white,blank),{codes},Rest)",
    "phrase(blanks_to_nl,{codes},Rest)",
    "phrase((digits(_),eos),{codes},Rest)",
    "phrase((digits(X),eol),{codes},Rest)",
    "phrase(prolog_var_name(X),{codes},Rest)",
    "phrase(alpha_to_lower(X),{codes},Rest)",
    "phrase(sequence(digit,X),{codes},Rest)",
    "phrase(sequence(digit,\",\",X),{codes},Rest)",
    "phrase(sequence(integer,(blanks,\",\",blanks),X),{codes},Rest)",
    "phrase(sequence(\"[\",integer,\",\",\"]\",X),{codes},Rest)",
    "phrase(sequence(string_without(\",\"),\",\",X),{codes},Rest)",
    "phrase(optional(integer(X),{{X=none}),{codes},Rest)",
    "phrase((optional(\"-\",[]),digits(X)),{codes},Rest)",
    "phrase(sequence(integer,\",\",[1,-22,3]),L)",
    "phrase(foreach(member(X,[1,2,3]),integer(X),\", \"),L)",
    "phrase(foreach(member(X,[a,b]),atom(X)),L)",
    "phrase((atom({word}),integer({small}),number(1.5),xinteger(255)),L)",
];
const CODES: &[&str] = &[
    "12", "-7,8", "1,2,3", "[1,2]", "[]", "1.5e3x", "1e5", "1.", "+5 ", " a b", "\\n", "  \\n x", "ff0g", "Foo_1 b",
    "_x", "éa", "", "a,b", ",", "1, 2 ,3", "-", "1.5.2", "12ab", "\\t x",
];

impl Generator {
    fn library_goal(&mut self, templates: &[&str]) -> String {
        let mut goal = self.choose(templates);
        while let Some(name) = [
            "{source}",
            "{bound}",
            "{gone}",
            "{count}",
            "{graph}",
            "{codes}",
            "{vertices}",
            "{vertex}",
            "{edges}",
            "{edges_down}",
        ]
        .into_iter()
        .find(|name| goal.contains(name))
        {
            let value = match name {
                "{source}" => self.choose(SOURCES),
                "{bound}" => self.choose(BOUND),
                // In SWI-Prolog 9.0.4, `del_vertices/3` keeps vertices that follow one that is not in the graph. So
                // `zz`, which most graphs do not have, is the last in standard order.
                "{gone}" => self.choose(&["[]", "[a]", "[zz,a]", "[zz]"]),
                "{count}" => self.choose(&["0", "1", "2", "3", "-1", "N", "foo"]),
                "{graph}" => "vertices_edges_to_ugraph({vertices},{edges},G)".to_owned(),
                "{codes}" => format!("\"{}\"", self.choose(CODES)),
                "{vertex}" => self.choose(&["a", "b", "1", "f(x)", "zz", "V"]),
                "{vertices}" => self.choose(&["[]", "[a]", "[b,a,1]", "[d,c,zz]", "[f(x),a]"]),
                "{edges_down}" => self.choose(&[
                    "[a-b,a-c,b-d,c-d]",
                    "[a-e,a-b,b-e,c-e,c-d]",
                    "[1-2,1-3,1-4,2-5,3-5,4-5,0-5]",
                    "[]",
                    "[a-b,c-d,e-f]",
                ]),
                _ => self.choose(&["[]", "[a-b]", "[a-b,b-c,c-a]", "[1-a,a-f(x),f(x)-1,a-a]", "[b-a,a-d,d-c,b-c,a-d]"]),
            };
            goal = goal.replacen(name, &value, 1);
        }
        self.fill(&goal)
    }
}

pub fn case(generator: &mut Generator) -> Case {
    let mut program = Vec::new();
    let goal = match generator.random.below(3) {
        0 => generator.library_goal(SEQUENCES),
        1 => generator.library_goal(GRAPHS),
        _ => {
            program.push(":- use_module(library(dcg/basics)), use_module(library(dcg/high_order)).".to_owned());
            program.push(":- set_prolog_flag(double_quotes, codes).".to_owned());
            generator.library_goal(GRAMMARS)
        }
    };
    Case { theme: "libraries", program, goal: goal + " ." }
}
