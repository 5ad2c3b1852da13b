//! Policies for random worlds: shipped ones, and pathological ones.

macro_rules! shipped {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../../../../policies/", $name, ".pl"))),)*]
    };
}

use mario_scenario::PolicyText;

const LIBRARY: &str = include_str!("../../../../../policies/library.pl");

const SHIPPED: [(&str, &str); 8] = shipped![
    "workload-aware",
    "latency-aware",
    "workload-and-latency-aware",
    "workload-and-latency-aware-with-memory",
    "cost-aware",
    "load-thresholds",
    "stay-in-region",
    "sustained-demand",
];

/// Policies at or beyond the limits of what is valid.
const HOSTILE: [&str; 22] = [
    // The same proposal at every evaluation.
    "operation(replicate, _, self).\n",
    "operation(replicate, _, M) :- node(_, _, Ms), member(M, Ms).\n",
    "operation(undeploy, _, self).\n",
    "operation(undeploy, _, N) :- node(N, _).\n",
    // Migrates back and forth.
    "operation(migrate, _, M) :- node(_, _, Ms), last(Ms, M).\n",
    "operation(migrate, _, M) :- node(_, _, [M | _]).\n",
    // Targets that may not be neighbours.
    "operation(migrate, _, n999).\n",
    "operation(migrate, _, self).\noperation(replicate, _, self).\n",
    "operation(replicate, _, n0).\noperation(migrate, _, n1).\n",
    "operation(migrate, _, 7).\noperation(migrate, _, -3).\n",
    // Invalid operations, and invalid or unknown targets.
    "operation(explode, _, self).\noperation(undeploy, _, self).\n",
    "operation(migrate, _, _).\n",
    "operation(undeploy, _, n3).\n",
    "operation(replicate, I, f(I)).\n",
    "operation(replicate, _, M) :- atom_concat(made, up, M).\n",
    // Exceptions, and repeated solutions.
    "operation(_, _, _) :- throw(broken).\n",
    "operation(replicate, _, self).\noperation(_, _, _) :- throw(broken).\n",
    "operation(_, _, _) :- halt.\n",
    "operation(migrate, _, M) :- node(_, _, Ms), member(M, Ms), member(_, [a, b, c, d, e, f, g, h]).\n",
    // Writes until its output budget is exhausted.
    "text(T) :- length(L, 9000), maplist(=(x), L), atom_chars(T, L).\n\
     operation(migrate, _, M) :- node(_, _, [M | _]).\noperation(_, _, _) :- text(T), repeat, write(T), fail.\n",
    // Looks random, but is deterministic.
    ":- dynamic requests/4, inhibited/3.\n\
     total(I, T) :- findall(R, requests(I, _, R, _), Rs), sum_list(Rs, T).\n\
     choice(0, replicate, self, _).\n\
     choice(1, migrate, M, Ms) :- member(M, Ms).\n\
     choice(2, replicate, M, Ms) :- last(Ms, M).\n\
     choice(3, undeploy, self, _).\n\
     operation(O, I, M) :- node(_, _, Ms), total(I, T), length(Ms, L), K is (I * 7 + truncate(T) * 3 + L) mod 5,\n\
         choice(K, O, M, Ms), \\+ inhibited(O, I, M).\n",
    // Tries every replication and migration that it does not remember as inhibited.
    ":- dynamic inhibited/3, refused/3.\n\
     operation(O, I, M) :- node(_, _, Ms), member(O, [replicate, migrate]), member(M, [self | Ms]),\n\
         \\+ inhibited(O, I, M), \\+ refused(O, I, M).\n\
     operation(undeploy, I, self) :- inhibited(_, I, _).\n",
];

const ACCEPTANCES: [&str; 9] = [
    include_str!("../../../../../policies/accept-what-fits.pl"),
    "accept(_).\n",
    "reject(_, 'go away').\n",
    "reject(request(undeploy, _, _, _, _), stay).\nreject(request(migrate, _, _, From, _), stay) :- node(From, _).\n",
    "reject(request(_, _, _, _, To), [too, full(Free)]) :- node(To, Free), Free < 2.\n",
    "accept(request(O, _, A, _, _)) :- O \\== replicate, \\+ serviceInstance(_, A, _).\n\
     accept(request(replicate, I, _, From, To)) :- From \\== To, I mod 2 =:= 0.\n",
    "accept(request(deploy, _, _, _, _)).\naccept(request(migrate, _, _, _, _)) :- throw(broken).\n",
    "accept(request(deploy, _, _, _, _)).\naccept(_) :- halt.\n",
    ":- dynamic fact/3.\nreject(request(_, _, _, _, To), crowded) :- node(To, _, Ms), length(Ms, L), L > 2.\n",
];

pub fn policy(draw: usize, memory: u32) -> PolicyText {
    let place = draw % (SHIPPED.len() + HOSTILE.len());
    let (name, files) = match place.checked_sub(SHIPPED.len()) {
        None => {
            let (name, text) = SHIPPED[place];
            let files = vec![(format!("{name}.pl"), text.to_owned()), ("library.pl".to_owned(), LIBRARY.to_owned())];
            (name.to_owned(), files)
        }
        Some(hostile) => {
            let name = format!("hostile-{hostile}");
            (name.clone(), vec![(format!("{name}.pl"), HOSTILE[hostile].to_owned())])
        }
    };
    PolicyText { name, files, memory }
}

pub fn acceptances() -> Vec<PolicyText> {
    let text = |(number, text): (usize, &&str)| {
        let name = format!("acceptance-{number}");
        PolicyText { name: name.clone(), files: vec![(format!("{name}.pl"), (*text).to_owned())], memory: 0 }
    };
    ACCEPTANCES.iter().enumerate().map(text).collect()
}
