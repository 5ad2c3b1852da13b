/*  Runs the conformity cases in SWI-Prolog, an engine that shares nothing with ours,
    so that a wrong expectation in a case file does not pass unseen.

    Usage, from this directory:

        swipl against_swipl.pl -- [--all] [--outcomes] FILE.cases ...

    Prints the cases where SWI-Prolog does not do what the case expects (`differ`), and
    those that carry a `% swi:` remark although SWI-Prolog agrees (`stale`), each with its
    place, section, goal, expectation and SWI-Prolog's outcome. `--all` prints the other
    cases too: `agree`, or `documented` for a difference that has its remark. `--outcomes`
    prints, for every case, nothing but the goal and what SWI-Prolog did, in the notation
    of the case files. The last line counts:

        swipl: 1200 of 1250 cases agree, 50 differ as documented, 0 differ, 0 stale

    Exit status 0 if every difference is documented and no remark is stale, 1 if not,
    2 if a case file is malformed or cannot be read.

    The format of the case files is in README.md.
*/

:- module(against_swipl, []).

:- use_module(library(lists)).
:- use_module(library(apply)).
:- use_module(library(option)).
:- use_module(library(readutil)).
:- use_module(library(main)).
:- use_module('../swipl/running').

:- initialization(main, main).

:- dynamic verbosity/1, tally/2.

main(Arguments) :-
    partition([A]>>sub_atom(A, 0, _, _, '--'), Arguments, Options, Files),
    forall(member(Option, Options), note_option(Option)),
    catch(forall(member(File, Files), judge_file(File)), Error, reject(Error)),
    summary(Exit),
    halt(Exit).

note_option('--all') :- !, assertz(verbosity(all)).
note_option('--outcomes') :- !, assertz(verbosity(outcomes)).
note_option(Option) :- reject(unknown_option(Option)).

reject(Error) :-
    print_message(error, Error),
    (   Error = malformed(Place, Why)
    ->  format(user_error, "malformed case ~w: ~w~n", [Place, Why])
    ;   format(user_error, "~q~n", [Error])
    ),
    halt(2).

summary(Exit) :-
    maplist(count, [agree, documented, differ, stale], [Agree, Documented, Differ, Stale]),
    All is Agree + Documented + Differ + Stale,
    format("swipl: ~d of ~d cases agree, ~d differ as documented, ~d differ, ~d stale~n",
           [Agree, All, Documented, Differ, Stale]),
    (   Differ + Stale =:= 0 -> Exit = 0 ; Exit = 1 ).

count(Verdict, Count) :- ( tally(Verdict, Count) -> true ; Count = 0 ).

tally(Verdict) :-
    count(Verdict, Before),
    retractall(tally(Verdict, _)),
    After is Before + 1,
    assertz(tally(Verdict, After)).

%   Reading case files: case(Line, Section, ProgramText, GoalText, Expectations, Remarks).

judge_file(File) :-
    file_base_name(File, Name),
    read_file_to_string(File, Text, [encoding(utf8)]),
    split_string(Text, "\n", "\r", Lines),
    cases(Lines, 1, "", [], Name, Cases),
    forall(member(Case, Cases), judge(Name, Case)).

cases([], _, _, _, _, []).
cases([Line|Lines], Number, Section, Program, File, Cases) :-
    Next is Number + 1,
    (   string_concat("# ", Heading, Line)
    ->  cases(Lines, Next, Heading, [], File, Cases)
    ;   string_concat("| ", Clause, Line)
    ->  append(Program, [Clause], Longer),
        cases(Lines, Next, Section, Longer, File, Cases)
    ;   string_concat("?- ", First, Line)
    ->  goal_lines(Lines, Next, GoalLines, AfterGoal, Number2),
        atomics_to_string([First|GoalLines], "\n", Goal),
        expected_lines(AfterGoal, Number2, Expected, Remarks, Rest, Number3),
        (   Expected == []
        ->  throw(malformed(File:Number, 'no line starts with =>'))
        ;   true
        ),
        atomics_to_string(Program, "\n", ProgramText),
        Cases = [case(Number, Section, ProgramText, Goal, Expected, Remarks)|Others],
        cases(Rest, Number3, Section, Program, File, Others)
    ;   ( Line == "" ; string_concat("%", _, Line) )
    ->  cases(Lines, Next, Section, Program, File, Cases)
    ;   throw(malformed(File:Number, Line))
    ).

atomics_to_string(Parts, Separator, Text) :-
    atomic_list_concat(Parts, Separator, Atom),
    atom_string(Atom, Text).

goal_lines([Line|Lines], Number, [], [Line|Lines], Number) :-
    string_concat("=> ", _, Line), !.
goal_lines([Line|Lines], Number, [Line|Goal], Rest, End) :-
    Next is Number + 1,
    goal_lines(Lines, Next, Goal, Rest, End).
goal_lines([], Number, [], [], Number).

expected_lines([Line|Lines], Number, [Text|Expected], Remarks, Rest, End) :-
    string_concat("=> ", Text, Line), !,
    Next is Number + 1,
    expected_lines(Lines, Next, Expected, Remarks, Rest, End).
expected_lines([Line|Lines], Number, Expected, [Remark|Remarks], Rest, End) :-
    string_concat("% swi: ", Remark, Line), !,
    Next is Number + 1,
    expected_lines(Lines, Next, Expected, Remarks, Rest, End).
expected_lines(Rest, Number, [], [], Rest, Number).

%   expected(Answers, End, Output): the answers as texts; End is exhausted, more, error(T) or throws(T).

expectation(Lines, expected(Answers, End, Output)) :-
    partition([L]>>string_concat("output ", _, L), Lines, OutputLines, AnswerLines),
    maplist(output_text, OutputLines, Outputs),
    atomics_to_string(Outputs, "", Output),
    maplist(split_answers, AnswerLines, Nested),
    append(Nested, Parts),
    endings(Parts, Answers, End).

output_text(Line, Text) :-
    string_concat("output ", Quoted, Line),
    term_string(Text, Quoted).

split_answers(Line, Parts) :-
    atomic_list_concat(Atoms, ' ; ', Line),
    maplist(atom_string, Atoms, Parts).

endings([], [], exhausted).
endings(["..."], [], more) :- !.
endings(["false"], [], exhausted) :- !.
endings([Part], [], error(Text)) :- string_concat("error ", Text, Part), !.
endings([Part], [], throws(Text)) :- string_concat("throws ", Text, Part), !.
endings([Part|Parts], [Part|Answers], End) :- endings(Parts, Answers, End).

judge(File, case(Line, Section, Program, Goal, ExpectedLines, Remarks)) :-
    catch(expectation(ExpectedLines, Expected), Error, throw(malformed(File:Line, Error))),
    Expected = expected(Answers, End, _),
    length(Answers, Count),
    (   End == more -> Limit = Count ; Limit is Count + 1 ),
    run(Program, Goal, limits(Limit, 50 000 000), Outcome),
    (   catch(agrees(Expected, Outcome), Error2, throw(malformed(File:Line, Error2)))
    ->  ( Remarks == [] -> Verdict = agree ; Verdict = stale )
    ;   ( Remarks == [] -> Verdict = differ ; Verdict = documented )
    ),
    tally(Verdict),
    report(Verdict, File:Line, Section, Goal, ExpectedLines, Outcome).

agrees(expected(Texts, End, Output), outcome(Names, Answers, ActualEnd, ActualOutput)) :-
    Output == ActualOutput,
    same_length(Texts, Answers),
    end_agrees(End, ActualEnd),
    maplist(answer_agrees(Names), Texts, Answers).

end_agrees(exhausted, exhausted).
end_agrees(more, more).
end_agrees(error(Text), raised(Ball)) :-
    term_string(Formal, Text),
    subsumes_term(error(Formal, _), Ball).
end_agrees(throws(Text), raised(Ball)) :-
    term_string(Expected, Text),
    subsumes_term(Expected, Ball).

answer_agrees(Names, Text, Actual) :-
    set_prolog_flag(against_swipl:double_quotes, string),
    term_string(Goal, Text, [variable_names(Bindings)]),
    maplist(value_of(Bindings), Names, Values),
    forall(( member(Name=_, Bindings), \+ sub_atom(Name, 0, _, _, '_') ),
           ( memberchk(Name, Names) -> true ; throw(no_such_variable(Name)) )),
    call(Goal), !,
    Values =@= Actual.

value_of(Bindings, Name, Value) :- ( memberchk(Name=Value, Bindings) -> true ; true ).

%   Rendering an outcome in the notation of the case files.

report(_, _, _, Goal, _, Outcome) :-
    verbosity(outcomes), !,
    outcome_text(Outcome, Text),
    format("?- ~s~n~s~n", [Goal, Text]).
report(Verdict, _, _, _, _, _) :-
    memberchk(Verdict, [agree, documented]),
    \+ verbosity(all), !.
report(Verdict, Place, Section, Goal, ExpectedLines, Outcome) :-
    outcome_text(Outcome, Text),
    format("~w~t~11|~w  ~s~n    ?- ~s~n", [Verdict, Place, Section, Goal]),
    (   Verdict == agree
    ->  true
    ;   atomics_to_string(ExpectedLines, " // ", Expected),
        format("    expected => ~s~n    swipl    ~s~n", [Expected, Text])
    ).

outcome_text(outcome(Names, Answers, End, Output), Text) :-
    ( Output == "" -> Shown = [] ; format(string(O), "=> output ~q~n", [Output]), Shown = [O] ),
    maplist(answer_text(Names), Answers, AnswerTexts),
    end_text(End, AnswerTexts, EndTexts),
    append(AnswerTexts, EndTexts, Parts),
    atomic_list_concat(Parts, ' ; ', Line),
    append(Shown, ['=> ', Line], Pieces),
    atomics_to_string(Pieces, "", Text).

answer_text(Names, Values, Text) :-
    copy_term(Values, Copy),
    maplist([N,V,N=V]>>true, Names, Copy, Bindings),
    bound(Bindings, Shown),
    (   Shown == []
    ->  Text = true
    ;   term_variables(Copy, Variables),
        name_variables(Variables, 0),
        maplist([B,T]>>( B = (N=V),
                         format(atom(T), "~w = ~W", [N, V, [quoted(true), numbervars(true), priority(699)]]) ),
                Shown, Texts),
        atomic_list_concat(Texts, ', ', Text)
    ).

bound([], []).
bound([Name=Value|Rest], Shown) :-
    (   var(Value)
    ->  Value = '$VAR'(Name), Shown = More
    ;   Shown = [Name=Value|More]
    ),
    bound(Rest, More).

name_variables([], _).
name_variables([Variable|Variables], Index) :-
    (   var(Variable)
    ->  Letter is 0'A + Index,
        format(atom(Name), "_~c", [Letter]),
        Variable = '$VAR'(Name)
    ;   true
    ),
    Next is Index + 1,
    name_variables(Variables, Next).

end_text(exhausted, [], [false]) :- !.
end_text(exhausted, _, []).
end_text(more, _, ['...']).
end_text(stopped, _, [stopped]).
end_text(raised(error(Formal, _)), _, [Text]) :- !,
    format(atom(Text), "error ~q", [Formal]).
end_text(raised(Ball), _, [Text]) :-
    format(atom(Text), "throws ~q", [Ball]).
