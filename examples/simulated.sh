#!/bin/sh
# A run against a simulated store that is known to lose updates, then the least history that shows it.
set -eu
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
isobar run sim:si+lost-update --level si --transactions 2000 --out "$out/run" || test $? = 1
isobar shrink "$out/run/history.jsonl" - --level si --to notation
