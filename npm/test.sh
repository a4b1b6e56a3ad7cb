#!/usr/bin/env bash
# Makes the npm packages as a release does, for this platform alone, installs them in an empty project,
# and tests them there: against the command, and with libraries of today and of one major version before,
# whose APIs refuse what the real ones refuse.
#
#	npm/test.sh
#
# It installs Node.js with apt if it is missing. The libraries are installed from npm once, in TOOLGUARD_CACHE
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
# Below the libraries, so that the adapters find them.
project=$(mktemp -d -p "$cache" project-XXXXXX)
trap 'rm -rf "$scratch" "$project"' EXIT

step env GOOS=wasip1 GOARCH=wasm go vet ./wasm
step env GOOS=wasip1 GOARCH=wasm go vet -tags planted ./wasm
# The linter runs here, and reads what is built for WebAssembly. It does not know that the host calls it.
linter=$(go tool -modfile=../tools/go.mod -n golangci-lint)
(cd .. && step env GOOS=wasip1 GOARCH=wasm "$linter" run --disable unused ./npm/wasm)

# An archive as goreleaser makes it.
version=0.0.0-test
dist=$scratch/dist
build() {
	step env CGO_ENABLED=0 go -C "../$1" build -trimpath -ldflags "-s -w -X main.version=$version" -o "$dist/" "./cmd/$2"
}
build . toolguard
for module in proxy sqlite parquet; do
	build "$module" "toolguard-$module"
done
[ -f ../THIRD_PARTY_NOTICES ] || (cd .. && step go run ./scripts/notices THIRD_PARTY_NOTICES)
archive=toolguard_${version}_$(go env GOOS)_$(go env GOARCH).tar.gz
cp ../LICENSE ../THIRD_PARTY_NOTICES "$dist"
tar -C "$dist" -czf "$dist/$archive" LICENSE THIRD_PARTY_NOTICES toolguard toolguard-proxy toolguard-sqlite toolguard-parquet
(cd "$dist" && sha256sum "$archive" >checksums.txt)
platform=$(node -p 'process.platform + "-" + process.arch')
for copy in packages again; do
	step env TOOLGUARD_ONLY="$platform" ./release.sh "$dist" "$scratch/$copy"
done
diff "$scratch/packages/SHA256SUMS" "$scratch/again/SHA256SUMS"
step go -C .. build -o "$scratch/upstream" ./npm/test/upstream

step env GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -tags noyaml,nozstd,nocrypto,noterm,planted -o "$scratch/planted.wasm" ./wasm
step go -C .. run ./npm/slim "$scratch/planted.wasm"

if ! cmp -s test/clients/package-lock.json "$cache/installed"; then
	cp test/clients/package.json test/clients/package-lock.json "$cache"
	(cd "$cache" && step npm ci --silent --ignore-scripts --no-audit --no-fund)
	cp test/clients/package-lock.json "$cache/installed"
fi

# An empty project gets nothing but the packages, without a network.
printf '{"name":"empty","private":true,"type":"module"}\n' >"$project/package.json"
(cd "$project" && step npm install --silent --offline --omit=peer --no-audit --no-fund "$scratch/packages"/*.tgz)
cp test/*.mjs "$project"

export TOOLGUARD_PLANTED=$scratch/planted.wasm
export TOOLGUARD=$dist/toolguard TOOLGUARD_VERSION=$version TOOLGUARD_UPSTREAM=$scratch/upstream
export TOOLGUARD_PACKAGES=$scratch/packages
export TOOLGUARD_ROOT=$root TOOLGUARD_FIXTURES=$root/testdata/transcripts TOOLGUARD_CORPUS=$root/../shared/corpus
cd "$project"
step node --test --test-concurrency=2 --test-reporter=spec
