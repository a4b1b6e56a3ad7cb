#!/usr/bin/env bash
# Makes all npm packages of a release.
#
#	npm/release.sh DIST OUT
#
# DIST is the directory in which goreleaser left the archives and checksums.txt. OUT gets the packages,
# and SHA256SUMS. The same archives result in the same bytes.
set -euo pipefail
[ $# -eq 2 ] || { echo 'usage: npm/release.sh DIST OUT' >&2; exit 2; }
mkdir -p "$2"
dist=$(cd "$1" && pwd)
out=$(cd "$2" && pwd)
cd "$(dirname "$0")"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go -C .. run ./npm/pack ${TOOLGUARD_ONLY:+-only "$TOOLGUARD_ONLY"} "$dist" "$scratch"
for dir in "$scratch"/*; do
	(cd "$dir" && npm pack --silent --pack-destination "$out" >/dev/null)
done
./build.sh "$(node -p 'require(process.argv[1]).version' "$scratch/toolguard/package.json")" "$out"
(cd "$out" && sha256sum -- *.tgz >SHA256SUMS)
