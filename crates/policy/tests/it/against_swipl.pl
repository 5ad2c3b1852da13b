% Decides generated knowledge bases with the listings of the paper:
%
%   swipl against_swipl.pl -- LISTINGS KNOWLEDGE_BASES OUTPUT
%
% LISTINGS is a directory with 1.pl to 4.pl. KNOWLEDGE_BASES contains terms kb(Instance, Facts). One line is written
% for each: the solutions of the four policies in order, as `operation target,`, with `|` between policies.
%
% The listings use predicates that the paper describes but does not print. They are defined here.

:- dynamic service/4, serviceInstance/3, node/2, node/3, requests/4, inhibited/3.
:- set_prolog_flag(verbose, silent).
:- style_check(-singleton).

:- initialization(main, main).

main([Listings, Input, Output]) :-
    forall(between(1, 4, Number), load_listing(Listings, Number)),
    setup_call_cleanup(
        ( open(Input, read, In), open(Output, write, Out) ),
        decide_all(In, Out),
        ( close(In), close(Out) )).

load_listing(Directory, Number) :-
    format(atom(File), "~w/~d.pl", [Directory, Number]),
    format(atom(Module), "policy~d", [Number]),
    load_files(Module:File, [silent(true)]).

decide_all(In, Out) :-
    repeat,
    read_term(In, Term, []),
    (   Term == end_of_file
    ->  !
    ;   Term = kb(Instance, Facts),
        replace_facts(Facts),
        forall(member(Module, [policy1, policy2, policy3, policy4]), decide(Module, Instance, Out)),
        nl(Out),
        fail
    ).

decide(Module, Instance, Out) :-
    forall(Module:operation(Operation, Instance, Target), format(Out, "~w ~w,", [Operation, Target])),
    write(Out, '|').

replace_facts(Facts) :-
    retractall(service(_, _, _, _)),
    retractall(serviceInstance(_, _, _)),
    retractall(node(_, _)),
    retractall(node(_, _, _)),
    retractall(requests(_, _, _, _)),
    retractall(inhibited(_, _, _)),
    forall(member(Fact, Facts), assertz(Fact)).

% The sum of the rates in a list of (Neighbour, Rate, Latency).
sumRequestRates(Requests, Total) :-
    findall(Rate, member((_, Rate, _), Requests), Rates),
    sum_list(Rates, Total).

% The neighbour that sends most; of equals, the last in the standard order of terms.
mostRequestsFrom(Requests, Neighbour) :-
    setof(Hop, Rate^Latency^member((Hop, Rate, Latency), Requests), Hops),
    findall(Total, ( member(Hop, Hops), total_from(Requests, Hop, Total) ), Totals),
    max_list(Totals, Most),
    findall(Hop, ( member(Hop, Hops), total_from(Requests, Hop, Most) ), Equals),
    last(Equals, Neighbour).

total_from(Requests, Hop, Total) :-
    findall(Rate, ( member((From, Rate, _), Requests), From == Hop ), Rates),
    sum_list(Rates, Total).
