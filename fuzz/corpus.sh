#!/bin/sh
# Makes the corpus that fuzzing starts from: one small file for each conformity goal, and the library and the policies as they are; one file for
# each message and record of version 1; the configuration of the documentation; and a few requests.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/reader corpus/machine corpus/program corpus/wire corpus/node_config corpus/ingress
cp ../crates/prolog/src/library/*.pl ../policies/*.pl corpus/reader/
number=0
grep -h '^?- ' ../crates/prolog/tests/conformity/*.cases | cut -c 4- | while IFS= read -r goal; do
    number=$((number + 1))
    printf '%s\n' "$goal" >"corpus/machine/goal-$number"
    printf 'case :- %s\n' "$goal" >"corpus/reader/goal-$number"
    printf 'case.\ncase :- %s\n' "$goal" >"corpus/program/goal-$number"
done
while read -r sort kind bytes; do
    printf '%s' "$bytes" | xxd -r -p >"corpus/wire/$sort-$kind"
done <../crates/wire/tests/it/version-1.txt
sed -n '/^id = "a"/,/^```/p' ../docs/live.md | grep -v '^```' >corpus/node_config/documented
printf 'GET /shop HTTP/1.1\r\nhost: shop\r\n\r\n' >corpus/ingress/get
printf 'POST /shop HTTP/1.1\r\nhost: shop\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n' >corpus/ingress/chunked
printf 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\004\0\0\0\0\0' >corpus/ingress/http2
