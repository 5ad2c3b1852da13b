/*  Runs a goal given as text in SWI-Prolog and reports what came of it. Each goal has a module
    of its own, which holds the program text and the flags that the goal sets.
*/

:- module(running, [run/4]).

:- set_prolog_flag(double_quotes, string).
:- set_prolog_flag(user:double_quotes, string).

:- use_module(library(lists)).
:- use_module(library(apply)).
:- use_module(library(gensym)).
:- use_module(library(memfile)).
:- use_module(library(time)).
:- use_module(library(when), []).
:- use_module(library(dif), []).
:- use_module(library(yall), []).
:- use_module(library(aggregate), []).
:- use_module(library(pairs), []).
:- use_module(library(ordsets), []).

%   run(+Program, +Goal, +Limits, -Outcome): the answers of Goal, a text, with the clauses of the text
%   Program. Limits is limits(Answers, Inferences). Outcome is outcome(Names, Answers, End, Output), each
%   answer a list of the values of the variables in Names; End is exhausted, more, raised(Ball), or stopped
%   when it took too long.

run(Program, Goal, Limits, Outcome) :-
    gensym(case_, Module),
    in_clean_state(run_in(Module, Program, Goal, Limits, Outcome)).

in_clean_state(Goal) :-
    Flags = [occurs_check, iso, prefer_rationals, float_overflow, float_zero_div, float_undefined,
             character_escapes, debug, unknown, double_quotes],
    findall(Flag-Value, ( member(Flag, Flags), current_prolog_flag(Flag, Value) ), Saved),
    findall(op(P, T, N), user_operator(P, T, N), Operators),
    call_cleanup(Goal,
                 ( forall(member(Flag-Value, Saved), catch(set_prolog_flag(Flag, Value), _, true)),
                   restore_operators(Operators) )).

%   Those that the system defines are inherited by `user` and shadowed by a definition there.

user_operator(Priority, Type, Name) :- current_op(Priority, Type, user:Name).

restore_operators(Before) :-
    findall(op(P, T, N), user_operator(P, T, N), After),
    forall(( member(op(P, T, N), After), \+ memberchk(op(P, T, N), Before) ), op(0, T, user:N)),
    forall(( member(op(P, T, N), Before), \+ user_operator(P, T, N) ), op(P, T, user:N)).

run_in(Module, Program, Goal, limits(Limit, Inferences), outcome(Names, Answers, End, Output)) :-
    add_import_module(Module, user, end),
    set_prolog_flag(Module:double_quotes, string),
    share_operators(Module),
    load_program(Module, Program),
    new_memory_file(Memory),
    open_memory_file(Memory, write, Out, [encoding(utf8)]),
    current_output(Before),
    State = state(0, [], exhausted, []),
    setup_call_cleanup(
        set_output(Out),
        catch(limited(Inferences, collect(Module, Goal, Limit, State), State), Ball,
              ( copy_term(Ball, BallCopy, _), unqualified(Module, BallCopy, Plain),
                nb_setarg(3, State, raised(Plain)) )),
        ( set_output(Before), close(Out) )),
    State = state(_, Reversed, End0, Names),
    reverse(Reversed, Answers0),
    maplist(unqualified(Module), Answers0, Answers),
    End = End0,
    memory_file_to_string(Memory, Output, utf8),
    free_memory_file(Memory),
    catch('$destroy_module'(Module), _, true).

limited(Inferences, Goal, State) :-
    (   call_with_time_limit(10, call_with_inference_limit(Goal, Inferences, Result)),
        Result == inference_limit_exceeded
    ->  nb_setarg(3, State, stopped)
    ;   true
    ).

%   writeq/1 knows the operators of `user` only, so that is where op/3 puts them.

share_operators(Module) :-
    Module:redefine_system_predicate(op(_, _, _)),
    Module:assertz((op(Priority, Type, Name) :- system:op(Priority, Type, user:Name))).

collect(Module, Text, Limit, State) :-
    string_concat(Text, "\n", Line),
    setup_call_cleanup(
        open_string(Line, Stream),
        read_term(Stream, Goal, [module(Module), variable_names(Bindings), syntax_errors(error)]),
        close(Stream)),
    exclude([Name=_]>>sub_atom(Name, 0, _, _, '_'), Bindings, Reported),
    pairs(Reported, Names, Values),
    nb_setarg(4, State, Names),
    (   call(Module:Goal),
        copy_term(Values, Copy, _),
        arg(2, State, Before),
        nb_setarg(2, State, [Copy|Before]),
        arg(1, State, Count0),
        Count is Count0 + 1,
        nb_setarg(1, State, Count),
        Count >= Limit,
        nb_setarg(3, State, more)
    ->  true
    ;   true
    ).

pairs([], [], []).
pairs([Name=Value|Rest], [Name|Names], [Value|Values]) :- pairs(Rest, Names, Values).

load_program(_, "") :- !.
load_program(Module, Program) :-
    string_concat(Program, "\n", Text),
    setup_call_cleanup(
        open_string(Text, Stream),
        load_files(Module:Module, [stream(Stream), silent(true)]),
        close(Stream)).

%   The module of the case is ours and not part of the outcome.

unqualified(_, Term, Term) :- ( \+ compound(Term) ; cyclic_term(Term) ), !.
unqualified(Module, M:Term, Plain) :- ( M == Module ; M == user ), !, unqualified(Module, Term, Plain).
unqualified(Module, Term, Plain) :-
    compound_name_arguments(Term, Name, Arguments),
    maplist(unqualified(Module), Arguments, Plains),
    compound_name_arguments(Plain, Name, Plains).

%   A case may cause warnings; they are not part of its outcome.

:- multifile user:message_hook/3.
:- dynamic user:message_hook/3.
user:message_hook(_, warning, _).
user:message_hook(_, informational, _).
