#!/usr/bin/env bash
# Builds and packs the npm packages, installs them in empty projects, and tests them there: with the
# libraries of today and of one major version before, and with APIs that refuse what the real ones refuse.
#
#	npm/test.sh
#
# It installs Node.js with apt if it is missing. The libraries are installed from npm once, in
# TOOLGUARD_CACHE or a directory in the user's cache.
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
cache=$(cd "$cache" && pwd)
scratch=$(mktemp -d)
# Below the libraries, so that the adapters find them.
project=$(mktemp -d -p "$cache" project-XXXXXX)
trap 'rm -rf "$scratch" "$project"' EXIT

step env GOOS=wasip1 GOARCH=wasm go vet ./wasm
step env GOOS=wasip1 GOARCH=wasm go vet -tags planted ./wasm
(cd .. && step env LINTER="$(go tool -modfile=tools/go.mod -n golangci-lint)" GOOS=wasip1 GOARCH=wasm sh -c '"$LINTER" run ./npm/wasm')

# The packages, as a release makes them.
version=$(go -C .. list -f '{{.Module.Version}}' . 2>/dev/null || true)
version=${version:-0.0.0-test}
go -C .. build -trimpath -ldflags "-X main.version=$version" -o "$scratch/dist/" ./cmd/toolguard
go -C ../proxy build -trimpath -ldflags "-X main.version=$version" -o "$scratch/dist/" ./cmd/toolguard-proxy
step ./build.sh "$version" "$scratch/packages"
platform=$(node -p '`${process.platform}-${process.arch}`')
archive=toolguard_${version}_$(go env GOOS)_$(go env GOARCH).tar.gz
cp ../LICENSE ../THIRD_PARTY_NOTICES "$scratch/dist"
tar -C "$scratch/dist" -czf "$scratch/dist/$archive" LICENSE THIRD_PARTY_NOTICES toolguard toolguard-proxy
(cd "$scratch/dist" && sha256sum "$archive" >checksums.txt)
step go -C .. run ./npm/pack -only "$platform" "$scratch/dist" "$scratch/made"
for dir in "$scratch/made"/*; do
	(cd "$dir" && npm pack --silent --pack-destination "$scratch/packages" >/dev/null)
done

# What tests of the engine with faults need.
TOOLGUARD_TAGS=planted ./build.sh 0.0.0-planted "$scratch/planted"
tar -C "$scratch/planted" -xzf "$scratch/planted/toolguard-core-0.0.0-planted.tgz"
rm -rf core/dist

if ! cmp -s test/clients/package-lock.json "$cache/installed"; then
	cp test/clients/package.json test/clients/package-lock.json "$cache"
	(cd "$cache" && step npm ci --silent --ignore-scripts --no-audit --no-fund)
	cp test/clients/package-lock.json "$cache/installed"
fi

# An empty project gets nothing but the packages, without a network.
printf '{"name":"empty","private":true,"type":"module"}\n' >"$project/package.json"
(cd "$project" && step npm install --silent --offline --omit=peer --no-audit --no-fund "$scratch/packages"/*.tgz)
cp test/*.test.mjs test/*.mjs "$project" 2>/dev/null
go build -o "$scratch/upstream" ./test/upstream

export TOOLGUARD="$scratch/dist/toolguard" TOOLGUARD_VERSION=$version TOOLGUARD_UPSTREAM="$scratch/upstream"
export TOOLGUARD_PLANTED="$scratch/planted/package/dist/toolguard.wasm"
export TOOLGUARD_ROOT=$root TOOLGUARD_FIXTURES="$root/testdata/transcripts" TOOLGUARD_CORPUS="$root/../shared/corpus"
cd "$project"
step node --test --test-concurrency=2 --test-reporter=spec
