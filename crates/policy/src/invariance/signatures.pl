% Signatures: the kinds of the arguments of a call, for a policy that is invariant under renaming.
%
%   node       a node, or self                  instance   an instance
%   application  an application               fixed      anything without such names: numbers, operations, other words
%   [T]        a list of these                  T-U        a pair, and other terms likewise
%   T          any kind, the same for all occurrences of the variable
%   goal       a goal that is called            call(T)    a goal that is called with more arguments, of these kinds
%
% The signatures of facts follow from the table of facts.
%
% If a predicate has several lines, the line whose first argument has the functor of the goal's first argument applies.
% A predicate that does more than move values, or compare values of one kind with each other, has no line here, or
% takes only fixed values.

% Control.
true.
fail.
false.
!.
(goal, goal).
(goal ; goal).
(goal -> goal).
(goal *-> goal).
\+ goal.
not(goal).
once(goal).
ignore(goal).
forall(goal, goal).
call(goal).
call(call(A), A).
call(call(A, B), A, B).
call(call(A, B, C), A, B, C).

% Equality and the standard order of terms, among values of one kind.
A = A.
A \= A.
A == A.
A \== A.
A @< A.
A @> A.
A @=< A.
A @>= A.
compare(fixed, A, A).
var(_).
nonvar(_).
ground(_).
is_list([_]).
copy_term(A, A).

% Arithmetic.
fixed is fixed.
fixed < fixed.
fixed > fixed.
fixed =< fixed.
fixed >= fixed.
fixed =:= fixed.
fixed =\= fixed.
succ(fixed, fixed).
plus(fixed, fixed, fixed).
between(fixed, fixed, fixed).
numlist(fixed, fixed, fixed).
sum_list(fixed, fixed).
sumlist(fixed, fixed).
max_list(fixed, fixed).
min_list(fixed, fixed).

% Construction and decomposition of terms.
atom(fixed).
number(fixed).
integer(fixed).
float(fixed).
atomic(fixed).
atom_length(fixed, fixed).
atom_concat(fixed, fixed, fixed).
sub_atom(fixed, fixed, fixed, fixed, fixed).
atom_codes(fixed, fixed).
atom_chars(fixed, fixed).
atom_number(fixed, fixed).
functor(fixed, fixed, fixed).
arg(fixed, fixed, fixed).
fixed =.. fixed.

% All solutions.
findall(A, goal, [A]).
findall(A, goal, [A], [A]).
bagof(A, goal, [A]).
setof(A, goal, [A]).
aggregate_all(count, goal, fixed).
aggregate_all(sum(fixed), goal, fixed).
aggregate_all(max(fixed), goal, fixed).
aggregate_all(min(fixed), goal, fixed).
aggregate_all(max(fixed, A), goal, max(fixed, A)).
aggregate_all(min(fixed, A), goal, min(fixed, A)).
aggregate_all(bag(A), goal, [A]).
aggregate_all(set(A), goal, [A]).

% Lists.
length([_], fixed).
member(A, [A]).
memberchk(A, [A]).
append([A], [A], [A]).
append([[A]], [A]).
reverse([A], [A]).
last([A], A).
nth0(fixed, [A], A).
nth1(fixed, [A], A).
select(A, [A], [A]).
selectchk(A, [A], [A]).
exclude(call(A), [A], [A]).
include(call(A), [A], [A]).
partition(call(A), [A], [A], [A]).
delete([A], A, [A]).
subtract([A], [A], [A]).
intersection([A], [A], [A]).
union([A], [A], [A]).
list_to_set([A], [A]).
subset([A], [A]).
permutation([A], [A]).
max_member(A, [A]).
min_member(A, [A]).
sort([A], [A]).
msort([A], [A]).
sort(fixed, fixed, [A], [A]).
predsort(call(fixed, A, A), [A], [A]).
keysort([A-B], [A-B]).
pairs_keys([A-_], [A]).
pairs_values([_-B], [B]).
pairs_keys_values([A-B], [A], [B]).
transpose_pairs([A-B], [B-A]).
group_pairs_by_key([A-B], [A-[B]]).
maplist(call(A), [A]).
maplist(call(A, B), [A], [B]).
maplist(call(A, B, C), [A], [B], [C]).
maplist(call(A, B, C, D), [A], [B], [C], [D]).
foldl(call(A, S, S), [A], S, S).
foldl(call(A, B, S, S), [A], [B], S, S).
