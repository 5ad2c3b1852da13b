% Grammar rules for text as lists of character codes: library(dcg/basics). They
% are written as clauses, with what is before and behind each as the last arguments.

string_without(End, Codes, Before, After) :-
    (   string(End)
    ->  string_codes(End, Stop)
    ;   Stop = End
    ),
    '$codes_without'(Before, Stop, Codes, After).

'$codes_without'(Before, Stop, Codes, After) :-
    (   nonvar(Before),
        Before = [Code|Rest],
        \+ memberchk(Code, Stop)
    ->  Codes = [Code|More],
        '$codes_without'(Rest, Stop, More, After)
    ;   Codes = [],
        After = Before
    ).

string([], Codes, Codes).
string([Code|Codes], [Code|Before], After) :-
    string(Codes, Before, After).

blanks(Before, After) :-
    (   blank(Before, Next)
    ->  blanks(Next, After)
    ;   After = Before
    ).

blank([Code|After], After) :-
    nonvar(Code),
    code_type(Code, space).

nonblanks(Codes, Before, After) :-
    (   nonvar(Before),
        nonblank(Code, Before, Next)
    ->  Codes = [Code|More],
        nonblanks(More, Next, After)
    ;   Codes = [],
        After = Before
    ).

nonblank(Code, [Code|After], After) :-
    code_type(Code, graph).

blanks_to_nl(Before, After) :-
    (   Before = [0'\n|Next]
    ->  After = Next
    ;   blank(Before, Next)
    ->  blanks_to_nl(Next, After)
    ;   Before = [],
        After = []
    ).

whites(Before, After) :-
    (   white(Before, Next)
    ->  whites(Next, After)
    ;   After = Before
    ).

white([Code|After], After) :-
    nonvar(Code),
    code_type(Code, white).

alpha_to_lower(Lower, [Code|After], After) :-
    (   nonvar(Code)
    ->  code_type(Code, alpha),
        Code \== 0'_,
        char_code(Character, Code),
        downcase_atom(Character, LowerCharacter),
        char_code(LowerCharacter, Lower)
    ;   Code = Lower
    ).

digits(Codes, Before, After) :-
    (   nonvar(Codes)
    ->  '$given_digits'(Codes, Before, After)
    ;   nonvar(Before),
        digit(Code, Before, Next)
    ->  Codes = [Code|More],
        digits(More, Next, After)
    ;   Codes = [],
        After = Before
    ).

'$given_digits'([], Codes, Codes).
'$given_digits'([Code|Codes], [Code|Before], After) :-
    digit(Code, [Code], []),
    digits(Codes, Before, After).

digit(Code, [Code|After], After) :-
    code_type(Code, digit).

integer(Number, Before, After) :-
    (   nonvar(Number)
    ->  format(codes(Codes), '~d', [Number]),
        append(Codes, After, Before)
    ;   '$integer_codes'(Codes, Before, After0),
        number_codes(Number, Codes),
        After = After0
    ).

'$integer_codes'(Codes, Before, After) :-
    '$sign'(Codes, Digits, Before, Next),
    '$some_digits'(Digits, [], Next, After).

'$sign'(Codes, Tail, Before, After) :-
    (   nonvar(Before),
        Before = [Sign|Next],
        ( Sign == 0'- ; Sign == 0'+ )
    ->  ( Sign == 0'- -> Codes = [Sign|Tail] ; Codes = Tail ),
        After = Next
    ;   Codes = Tail,
        After = Before
    ).

'$some_digits'(Codes, Tail, Before, After) :-
    nonvar(Before),
    digit(First, Before, Next),
    digits(More, Next, After),
    append([First|More], Tail, Codes).

float(Number, Before, After) :-
    (   nonvar(Number)
    ->  float(Number),
        format(codes(Codes), '~w', [Number]),
        append(Codes, After, Before)
    ;   '$number_codes'(Codes, Kind, Before, After0),
        Kind == float,
        number_codes(Number, Codes),
        After = After0
    ).

number(Number, Before, After) :-
    (   nonvar(Number)
    ->  must_be(number, Number),
        format(codes(Codes), '~w', [Number]),
        append(Codes, After, Before)
    ;   '$number_codes'(Codes, _, Before, After0),
        number_codes(Number, Codes),
        After = After0
    ).

% A fraction or an exponent makes a float; an exponent wants a fraction to be read.
'$number_codes'(Codes, Kind, Before, After) :-
    '$sign'(Codes, Whole, Before, Next0),
    '$some_digits'(Whole, Tail0, Next0, Next1),
    (   nonvar(Next1),
        Next1 = [0'.|Fraction],
        '$some_digits'(Digits, Tail1, Fraction, Next2)
    ->  Tail0 = [0'.|Digits],
        HasFraction = true
    ;   Tail1 = Tail0,
        Next2 = Next1,
        HasFraction = false
    ),
    (   nonvar(Next2),
        Next2 = [E|Exponent],
        ( E == 0'e ; E == 0'E ),
        '$sign'(Power, PowerDigits, Exponent, Next3),
        '$some_digits'(PowerDigits, [], Next3, Next4)
    ->  ( HasFraction == true -> Tail1 = [0'e|Power] ; Tail1 = [0'., 0'0, 0'e|Power] ),
        Kind = float,
        After = Next4
    ;   Tail1 = [],
        ( HasFraction == true -> Kind = float ; Kind = integer ),
        After = Next2
    ).

xinteger(Number, Before, After) :-
    (   nonvar(Number)
    ->  format(codes(Codes), '~16r', [Number]),
        append(Codes, After, Before)
    ;   '$sign'(Sign, [], Before, Digits),
        nonvar(Digits),
        xdigit(First, Digits, Next),
        xdigits(Weights, Next, After0),
        '$hexadecimal'([First|Weights], 0, Size),
        ( Sign == [] -> Number = Size ; Number is -Size ),
        After = After0
    ).

'$hexadecimal'([], Number, Number).
'$hexadecimal'([Weight|Weights], Before, Number) :-
    Now is Before * 16 + Weight,
    '$hexadecimal'(Weights, Now, Number).

xdigits(Weights, Before, After) :-
    (   nonvar(Before),
        xdigit(Weight, Before, Next)
    ->  Weights = [Weight|More],
        xdigits(More, Next, After)
    ;   Weights = [],
        After = Before
    ).

xdigit(Weight, [Code|After], After) :-
    (   nonvar(Code)
    ->  code_type(Code, xdigit(Weight))
    ;   between(0, 15, Weight)
    ->  ( Weight < 10 -> Code is 0'0 + Weight ; Code is 0'a + Weight - 10 )
    ).

eos([], []).

eol(Before, After) :-
    (   Before = [0'\n|Next]
    ->  After = Next
    ;   Before = [0'\r, 0'\n|Next]
    ->  After = Next
    ;   Before = [],
        After = []
    ).

remainder(Codes, Codes, []).

atom(Atom, Before, After) :-
    must_be(nonvar, Atom),
    format(codes(Codes), '~a', [Atom]),
    append(Codes, After, Before).

prolog_var_name(Name, [First|Before], After) :-
    nonvar(First),
    code_type(First, prolog_var_start),
    '$csyms'(Codes, Before, After0),
    atom_codes(Name, [First|Codes]),
    After = After0.

'$csyms'(Codes, Before, After) :-
    (   nonvar(Before),
        Before = [Code|Next],
        code_type(Code, csym)
    ->  Codes = [Code|More],
        '$csyms'(More, Next, After)
    ;   Codes = [],
        After = Before
    ).
