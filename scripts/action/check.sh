#!/usr/bin/env bash
# Checks transcripts, shows the findings as annotations and writes the summary of
# the job. Inputs come from the environment: in a script they would be part of it.
set -euo pipefail

refuse() {
	echo "::error title=toolguard::$1"
	exit 2
}

# A workflow file may have the line ends of Windows.
paths=() args=()
while IFS= read -r line; do
	line=${line%$'\r'}
	[ -z "$line" ] || paths+=("$line")
done <<<"$INPUT_PATHS"
while IFS= read -r line; do
	line=${line%$'\r'}
	[ "$line" != -- ] || refuse 'the input args has --, after which there are only paths: name them in the input paths'
	[ -z "$line" ] || args+=("$line")
done <<<"$INPUT_ARGS"

# A repository without transcripts is no mistake, unless somebody names where they are.
case ${paths[*]-} in
'' | . | ./) args+=(--allow-empty) ;;
esac

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
# A run that only prints its help ends without an error.
[ -e "$sarif" ] || [ "$code" -ge 2 ] || refuse 'nothing was checked: the input args may have only flags of toolguard check, and not --help'
[ ! -e "$sarif" ] || echo "sarif=$sarif" >>"$GITHUB_OUTPUT"

here=$(dirname "$0")
if [ "$INPUT_ANNOTATIONS" = true ]; then
	bash "$here/annotations.sh" "$annotations"
fi
if [ "$INPUT_SUMMARY" = true ]; then
	bash "$here/summary.sh" "$annotations" "$findings" "$messages" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
