% Runs one of the classic programs in SWI-Prolog and prints its cost as one line of JSON:
%
%   swipl benches/swipl/classics.pl -- benches/programs/nrev.pl [ITERATIONS]
%   {"program":"nrev","optimise":false,"iterations":100000,"cpu_seconds":0.983,"inferences":49700006}
%
% Without ITERATIONS, the program sets their number. `swipl -O` compiles arithmetic and is the fastest mode; most
% users run `swipl` without it. The exit code is 1 if the program's own check fails.

:- initialization(main, main).

main(Arguments) :-
    Arguments = [File|Rest],
    load_files(File, [silent(true)]),
    (   Rest = [Text]
    ->  atom_number(Text, Iterations)
    ;   user:iterations(Iterations)
    ),
    (   user:check
    ->  true
    ;   format(user_error, "error: `~w` fails its check~n", [File]),
        halt(1)
    ),
    statistics(inferences, InferencesBefore),
    statistics(cputime, SecondsBefore),
    user:run(Iterations),
    statistics(cputime, SecondsAfter),
    statistics(inferences, InferencesAfter),
    Seconds is SecondsAfter - SecondsBefore,
    Inferences is InferencesAfter - InferencesBefore,
    file_base_name(File, Base),
    file_name_extension(Program, _, Base),
    current_prolog_flag(optimise, Optimise),
    format("{\"program\":\"~w\",\"optimise\":~w,\"iterations\":~d,\"cpu_seconds\":~6f,\"inferences\":~d}~n",
           [Program, Optimise, Iterations, Seconds, Inferences]).
