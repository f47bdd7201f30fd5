#!/usr/bin/env bash
# Runs 'node --test' with its arguments. In a browser much happens at the same time. So a file with a
# failed test is run once more, one file at a time, and a line says so. A real fault fails
# both times. If more than three files failed, nothing is run again.
set -uo pipefail
node=${NODE:-node}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$node" --test --test-reporter=spec --test-reporter-destination=stdout --test-reporter=spec --test-reporter-destination="$log" "$@" && exit

mapfile -t files < <(grep -oE '^test at [^:]+' "$log" | cut -c9- | sort -u)
((${#files[@]} > 0 && ${#files[@]} <= 3)) || exit 1
options=()
for argument; do [[ $argument == --* ]] && options+=("$argument"); done
echo "make: run once more, since a test failed: ${files[*]}" >&2
"$node" --test --test-reporter=spec "${options[@]}" --test-concurrency=1 "${files[@]}" || exit 1
echo "make: passed at the second try, FAILED AT THE FIRST: ${files[*]}" >&2
