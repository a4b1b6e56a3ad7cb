#!/usr/bin/env bash
# Builds @toolguard/core and packs it.
#
#	npm/build.sh VERSION [OUT]
#
# VERSION is that of the packages, without a v. OUT gets the packages, npm/dist by default. TypeScript
# is installed from npm once, in TOOLGUARD_CACHE or a directory in the user's cache.
set -euo pipefail
version=${1:?usage: npm/build.sh VERSION [OUT]}
cd "$(dirname "$0")"
out=${2:-dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
exec </dev/null

cache=${TOOLGUARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}}/toolguard-npm
mkdir -p "$cache"
if ! cmp -s package-lock.json "$cache/installed"; then
	cp package.json package-lock.json "$cache"
	(cd "$cache" && npm ci --silent --ignore-scripts --no-audit --no-fund)
	cp package-lock.json "$cache/installed"
fi
[ -f ../THIRD_PARTY_NOTICES ] || make -C .. notices >/dev/null

# The engine has no inlined functions: a tenth less to download, and about as fast.
rm -rf core/dist
go -C .. run ./npm/types docs/report.schema.json npm/core/src
GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -tags noyaml,nozstd${TOOLGUARD_TAGS:+,$TOOLGUARD_TAGS} \
	-gcflags=all=-l -ldflags "-s -w -X main.version=$version" -o core/dist/toolguard.wasm ./wasm
node "$cache/node_modules/typescript/bin/tsc" -p core --typeRoots "$cache/node_modules/@types"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R core "$scratch"
rm -rf "$scratch/core/src" "$scratch/core/tsconfig.json" "$scratch/core/node_modules"
cp ../LICENSE ../THIRD_PARTY_NOTICES "$scratch/core"
(cd "$scratch/core" && npm pkg set "version=$version" && npm pack --silent --pack-destination "$out") >/dev/null
ls "$out"/*.tgz
