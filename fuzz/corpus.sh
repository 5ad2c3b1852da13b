#!/bin/sh
# Makes the corpus that fuzzing starts from: one small file for each conformity goal, and the library and the policies as they are.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/reader corpus/machine corpus/program
cp ../crates/prolog/src/library/*.pl ../policies/*.pl corpus/reader/
number=0
grep -h '^?- ' ../crates/prolog/tests/conformity/*.cases | cut -c 4- | while IFS= read -r goal; do
    number=$((number + 1))
    printf '%s\n' "$goal" >"corpus/machine/goal-$number"
    printf 'case :- %s\n' "$goal" >"corpus/reader/goal-$number"
    printf 'case.\ncase :- %s\n' "$goal" >"corpus/program/goal-$number"
done
