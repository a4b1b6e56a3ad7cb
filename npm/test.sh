#!/usr/bin/env bash
# Builds and packs @toolguard/core, installs it in an empty project, and tests it there: against the
# command, and with SDKs of today and of one major version before, whose APIs refuse what the real ones
# refuse.
#
#	npm/test.sh
#
# It installs Node.js with apt if it is missing. The SDKs are installed from npm once, in TOOLGUARD_CACHE
# or a directory in the user's cache.
set -euo pipefail
cd "$(dirname "$0")"
exec </dev/null

step() {
	printf '\n+ npm: %s\n' "$*"
	"$@"
}

if ! command -v npm >/dev/null; then
	step apt-get update -qq
	step apt-get install -y -qq --no-install-recommends nodejs npm
fi
root=$(cd .. && pwd)
cache=${TOOLGUARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}}/toolguard-npm-clients
mkdir -p "$cache"
scratch=$(mktemp -d)
# Below the SDKs, so that the adapter finds them.
project=$(mktemp -d -p "$cache" project-XXXXXX)
trap 'rm -rf "$scratch" "$project"' EXIT

step env GOOS=wasip1 GOARCH=wasm go vet ./wasm
step env GOOS=wasip1 GOARCH=wasm go vet -tags planted ./wasm
# The linter runs here, and reads what is built for WebAssembly. It does not know that the host calls it.
linter=$(go tool -modfile=../tools/go.mod -n golangci-lint)
(cd .. && step env GOOS=wasip1 GOARCH=wasm "$linter" run --disable unused ./npm/wasm)

step env CGO_ENABLED=0 go -C .. build -trimpath -o "$scratch/" ./cmd/toolguard
step go -C .. build -o "$scratch/upstream" ./npm/test/upstream
step ./build.sh 0.0.0-test "$scratch/packages"

step env GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -tags noyaml,nozstd,planted -o "$scratch/planted.wasm" ./wasm

if ! cmp -s test/clients/package-lock.json "$cache/installed"; then
	cp test/clients/package.json test/clients/package-lock.json "$cache"
	(cd "$cache" && step npm ci --silent --ignore-scripts --no-audit --no-fund)
	cp test/clients/package-lock.json "$cache/installed"
fi

# An empty project gets nothing but the package, without a network.
printf '{"name":"empty","private":true,"type":"module"}\n' >"$project/package.json"
(cd "$project" && step npm install --silent --offline --omit=peer --no-audit --no-fund "$scratch/packages"/*.tgz)
cp test/*.mjs "$project"

export TOOLGUARD_PLANTED=$scratch/planted.wasm
export TOOLGUARD=$scratch/toolguard TOOLGUARD_VERSION=0.0.0-test TOOLGUARD_UPSTREAM=$scratch/upstream
export TOOLGUARD_ROOT=$root TOOLGUARD_FIXTURES=$root/testdata/transcripts TOOLGUARD_CORPUS=$root/../shared/corpus
cd "$project"
step node --test --test-concurrency=2 --test-reporter=spec
