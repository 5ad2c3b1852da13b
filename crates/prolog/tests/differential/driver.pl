/*  Runs generated goals in SWI-Prolog for the differential tests.

        swipl --traditional driver.pl -- FILE LIMIT

    `--traditional`, as lists are '.'/2 and [] is an atom in ISO Prolog.

    FILE holds the goals: lines that start with `| ` are the program of the next goal, a line that
    starts with `?- ` is the goal. For each goal one line is printed, the same that our side prints:

        OUTPUT ANSWER ; ANSWER ; END

    OUTPUT is what the goal wrote, quoted. An answer is the list of the values of the variables of the
    goal. END is `false` when there are no more answers, `...` after LIMIT of them, `error FORMAL`,
    `throws BALL`, or `stopped` when the goal took too long or made a cyclic term.
*/

:- module(driver, []).

:- set_prolog_flag(double_quotes, string).

:- use_module(library(lists)).
:- use_module(library(apply)).
:- use_module(library(readutil)).
:- use_module(library(main)).
:- use_module('../swipl/running').

:- initialization(main, main).

main([File, LimitText]) :-
    atom_number(LimitText, Limit),
    set_stream(user_output, encoding(utf8)),
    setup_call_cleanup(open(File, read, In, [encoding(utf8)]), run_all(In, Limit), close(In)),
    halt.

run_all(In, Limit) :-
    repeat,
    next_case(In, [], Case),
    (   Case = case(Program, Goal)
    ->  run(Program, Goal, limits(Limit, 300 000), Outcome),
        print_outcome(Outcome),
        fail
    ;   !
    ).

next_case(In, Clauses, Case) :-
    read_line_to_codes(In, Codes),
    (   \+ is_list(Codes)
    ->  Case = none
    ;   string_codes(Line, Codes),
        next_case(Line, In, Clauses, Case)
    ).

next_case(Line, In, Clauses, Case) :-
    (   string_concat("| ", Clause, Line)
    ->  next_case(In, [Clause|Clauses], Case)
    ;   string_concat("?- ", Goal, Line)
    ->  reverse(Clauses, Program),
        atomic_list_concat(Program, '\n', ProgramAtom),
        atom_string(ProgramAtom, ProgramText),
        Case = case(ProgramText, Goal)
    ).

print_outcome(outcome(_, Answers, End, _)) :-
    cyclic_term(Answers-End), !,
    write('"" stopped'),
    nl.
print_outcome(outcome(_, Answers, End, Output)) :-
    quoted(Output, Quoted),
    format("~s ", [Quoted]),
    forall(member(Answer, Answers), ( print_canonical(Answer), write(' ; ') )),
    print_end(End),
    nl.

print_end(exhausted) :- write(false).
print_end(more) :- write('...').
print_end(stopped) :- write(stopped).
print_end(raised(Ball)) :- print_ball(Ball).

print_ball(error(resource_error(_), _)) :- !, write(stopped).
print_ball(Ball) :- memberchk(Ball, [time_limit_exceeded, inference_limit_exceeded]), !, write(stopped).
print_ball(error(Formal, _)) :- !, write('error '), print_canonical(Formal).
print_ball(Ball) :- write('throws '), print_canonical(Ball).

print_canonical(Term) :-
    copy_term(Term, Copy, _),
    term_variables(Copy, Variables),
    name_variables(Variables, 0, Names),
    write_term(Copy, [quoted(true), ignore_ops(true), numbervars(false), variable_names(Names)]).

name_variables([], _, []).
name_variables([Variable|Variables], Index, [Name=Variable|Names]) :-
    atom_concat('_', Index, Name),
    Next is Index + 1,
    name_variables(Variables, Next, Names).

quoted(Text, Quoted) :-
    string_codes(Text, Codes),
    phrase(escaped(Codes), Escaped),
    append([0'"|Escaped], [0'"], All),
    string_codes(Quoted, All).

escaped([]) --> [].
escaped([0'\n|Codes]) --> !, "\\n", escaped(Codes).
escaped([0'"|Codes]) --> !, "\\\"", escaped(Codes).
escaped([0'\\|Codes]) --> !, "\\\\", escaped(Codes).
escaped([Code|Codes]) --> [Code], escaped(Codes).
