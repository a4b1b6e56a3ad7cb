#!/usr/bin/env bash
# Builds the playground and checks it: the types of its scripts, and what it does in Chromium.
#
#	scripts/playground/test.sh
#
# Chromium, axe and TypeScript are those of scripts/page/test.sh, which must have run.
set -euo pipefail
cd "$(dirname "$0")"
exec </dev/null

modules=${TOOLGUARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}}/toolguard-page/node_modules
[ -d "$modules" ] || { echo 'scripts/playground/test.sh: run scripts/page/test.sh first' >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
GOOS=wasip1 GOARCH=wasm go vet -tags playground ../../npm/wasm
TAGS=planted ./build.sh "$scratch/site/a/b"
node "$modules/typescript/bin/tsc" -p .
go build -o "$scratch/toolguard" ../../cmd/toolguard
node check.mjs "$scratch/site" "$scratch/toolguard" "$modules/axe-core/axe.min.js" ${PICTURES:+"$PICTURES"}
