#!/usr/bin/env bash
# Checks transcripts, shows the findings as annotations and writes the summary of
# the job. Inputs come from the environment: in a script they would be part of it.
set -euo pipefail

paths=() args=()
while IFS= read -r line; do [ -z "$line" ] || paths+=("$line"); done <<<"$INPUT_PATHS"
while IFS= read -r line; do [ -z "$line" ] || args+=("$line"); done <<<"$INPUT_ARGS"

sarif=$RUNNER_TEMP/toolguard.sarif
annotations=$RUNNER_TEMP/toolguard-annotations.txt
findings=$RUNNER_TEMP/toolguard-findings.txt
messages=$RUNNER_TEMP/toolguard-messages.txt
rm -f "$sarif"
: >"$annotations"
: >"$findings"

code=0
# Bash 3 of macOS takes an empty list for an unset variable.
toolguard check -o text -o sarif="$sarif" -o github="$annotations" -o concise="$findings" \
	${args[@]+"${args[@]}"} -- ${paths[@]+"${paths[@]}"} 2>"$messages" || code=$?
cat "$messages" >&2
[ ! -e "$sarif" ] || echo "sarif=$sarif" >>"$GITHUB_OUTPUT"

here=$(dirname "$0")
if [ "$INPUT_ANNOTATIONS" = true ]; then
	bash "$here/annotations.sh" "$annotations"
fi
if [ "$INPUT_SUMMARY" = true ]; then
	bash "$here/summary.sh" "$annotations" "$findings" "$messages" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
