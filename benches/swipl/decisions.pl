% Measures decisions of the four policies in SWI-Prolog, in process, and prints them as one JSON document:
%
%   swipl benches/swipl/decisions.pl [-- PASSES]
%
% For each policy and each number of requests facts, the 256 knowledge bases of benches/knowledge-bases.pl are decided
% PASSES times (default 20), in five repetitions, after one pass that is not measured. A decision is: retract the facts of
% the last agent, assert those of this one, and collect all solutions of operation/3; the applications stay. Printed
% are, per decision and as the median of the five,
%
%   cpu_microseconds      CPU time of the decision
%   facts_microseconds    the part of it that replaces the facts, measured separately
%   inferences            as SWI-Prolog counts them
%
% and, to compare answers across engines, the number of solutions of each operation over all knowledge bases.

:- dynamic service/4, serviceInstance/3, node/2, node/3, requests/4, inhibited/3.

:- prolog_load_context(directory, Here),
   directory_file_path(Here, '../knowledge-bases.pl', Generator),
   load_files(Generator, [silent(true)]),
   directory_file_path(Here, '../../policies', Policies),
   assertz(policies_directory(Policies)).

:- initialization(main, main).

policy('workload-aware', forgets).
policy('latency-aware', forgets).
policy('workload-and-latency-aware', forgets).
policy('workload-and-latency-aware-with-memory', remembers).

sizes([0, 1, 5, 10, 20]).

main(Arguments) :-
    (   Arguments = [Text]
    ->  atom_number(Text, Passes)
    ;   Passes = 20
    ),
    applications(Applications),
    assert_all(Applications),
    findall(Row, measured(Passes, Row), Rows),
    atomic_list_concat(Rows, ',\n', Body),
    current_prolog_flag(version, Version),
    current_prolog_flag(optimise, Optimise),
    format("{\"swipl\":~d,\"optimise\":~w,\"knowledge_bases\":256,\"passes\":~d,\"decisions\":[~n~w~n]}~n",
           [Version, Optimise, Passes, Body]).

measured(Passes, Row) :-
    policies_directory(Directory),
    policy(Policy, Memory),
    file_name_extension(Policy, pl, Name),
    directory_file_path(Directory, Name, File),
    setup_call_cleanup(
        load_files(File, [silent(true)]),
        measured(Policy, Memory, Passes, Row),
        unload_file(File)).

measured(Policy, Memory, Passes, Row) :-
    sizes(Sizes),
    member(Size, Sizes),
    findall(agent(Instance, Facts), agent(Size, Memory, Instance, Facts), Agents),
    maplist(solutions(Agents), [undeploy, migrate, replicate], [Undeploy, Migrate, Replicate]),
    decide_all(1, Agents),
    median_cost(decide_all(Passes, Agents), Seconds, Inferences),
    median_cost(replace_all(Passes, Agents), FactsSeconds, _),
    Decisions is Passes * 256,
    Microseconds is Seconds * 1.0e6 / Decisions,
    FactsMicroseconds is FactsSeconds * 1.0e6 / Decisions,
    InferencesEach is Inferences / Decisions,
    format(atom(Costs), "\"cpu_microseconds\":~3f,\"facts_microseconds\":~3f,\"inferences\":~1f",
           [Microseconds, FactsMicroseconds, InferencesEach]),
    format(atom(Row), "{\"policy\":\"~w\",\"requests\":~d,~w,\"undeploy\":~d,\"migrate\":~d,\"replicate\":~d}",
           [Policy, Size, Costs, Undeploy, Migrate, Replicate]).

agent(Size, Memory, Instance, Facts) :-
    between(0, 255, Index),
    knowledge_base(Size, Index, OwnFacts),
    memberchk(serviceInstance(Instance, _, _), OwnFacts),
    (   Memory == remembers
    ->  memory(Size, Index, Inhibited),
        append(OwnFacts, Inhibited, Facts)
    ;   Facts = OwnFacts
    ).

solutions(Agents, Operation, Count) :-
    aggregate_all(count, ( member(agent(Instance, Facts), Agents),
                           decide(Instance, Facts, Proposals),
                           member(proposal(Operation, _), Proposals) ), Count).

median_cost(Goal, Seconds, Inferences) :-
    findall(S-I, ( between(1, 5, _), cost(Goal, S, I) ), Costs),
    keysort(Costs, [_, _, Seconds-Inferences, _, _]).

cost(Goal, Seconds, Inferences) :-
    garbage_collect,
    statistics(inferences, InferencesBefore),
    statistics(cputime, SecondsBefore),
    call(Goal),
    statistics(cputime, SecondsAfter),
    statistics(inferences, InferencesAfter),
    Seconds is SecondsAfter - SecondsBefore,
    Inferences is InferencesAfter - InferencesBefore.

decide_all(Passes, Agents) :-
    between(1, Passes, _),
    member(agent(Instance, Facts), Agents),
    decide(Instance, Facts, _),
    fail.
decide_all(_, _).

replace_all(Passes, Agents) :-
    between(1, Passes, _),
    member(agent(_, Facts), Agents),
    replace_facts(Facts),
    fail.
replace_all(_, _).

decide(Instance, Facts, Proposals) :-
    replace_facts(Facts),
    findall(proposal(Operation, Target), operation(Operation, Instance, Target), Proposals).

replace_facts(Facts) :-
    retractall(node(_, _)),
    retractall(node(_, _, _)),
    retractall(serviceInstance(_, _, _)),
    retractall(requests(_, _, _, _)),
    retractall(inhibited(_, _, _)),
    assert_all(Facts).

assert_all([]).
assert_all([Fact|Facts]) :-
    assertz(Fact),
    assert_all(Facts).
