#!/usr/bin/env bash
# Builds the npm package @toolguard/core and packs it.
#
#	npm/build.sh VERSION OUT
#
# VERSION is that of the package, without a v. OUT gets the package. TOOLGUARD_TAGS adds build tags of the
# engine. TypeScript is installed from npm
# once, in TOOLGUARD_CACHE or a directory in the user's cache.
set -euo pipefail
[ $# -eq 2 ] || { echo 'usage: npm/build.sh VERSION OUT' >&2; exit 2; }
version=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")"
exec </dev/null

cache=${TOOLGUARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}}/toolguard-npm
mkdir -p "$cache"
if ! cmp -s package-lock.json "$cache/installed"; then
	cp package.json package-lock.json "$cache"
	(cd "$cache" && npm ci --silent --ignore-scripts --no-audit --no-fund)
	cp package-lock.json "$cache/installed"
fi
[ -f ../THIRD_PARTY_NOTICES ] || (cd .. && go run ./scripts/notices THIRD_PARTY_NOTICES)

# Functions of packages that run rarely are not inlined: 1 % smaller as gzip after slim, and a check takes as long.
# Inlined functions of package runtime make it smaller. wasm-opt -Oz takes minutes; its output is 7 % smaller, but
# as large as gzip, and larger as brotli.
flags=()
for package in bufio bytes compress/flate compress/gzip context encoding/base64 encoding/binary encoding/json fmt internal/bisect internal/fmtsort internal/godebug \
	internal/poll internal/reflectlite internal/sync io io/fs log net/netip net/url os path reflect regexp regexp/syntax sort strconv \
	strings syscall time unicode unique; do
	flags+=("-gcflags=$package=-l")
done
for package in container detect dialect edit engine extract names operation pairing picture profile provider repair report rules schema session suggest transcript trim unfold; do
	flags+=("-gcflags=github.com/toolguard/toolguard/internal/$package=-l")
done
rm -rf core/dist
go -C .. run ./npm/types docs/report.schema.json npm/core/src
GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -tags "noyaml,nozstd,nocrypto,nokept,noterm${TOOLGUARD_TAGS:+,$TOOLGUARD_TAGS}" \
	"${flags[@]}" -ldflags "-s -w -X main.version=$version" -o core/dist/toolguard.wasm ./wasm
go -C .. run ./npm/slim npm/core/dist/toolguard.wasm
node "$cache/node_modules/typescript/bin/tsc" -p core --typeRoots "$cache/node_modules/@types"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/core"
cp -R core/dist core/package.json ../LICENSE ../THIRD_PARTY_NOTICES "$scratch/core"
[ ! -f core/README.md ] || cp core/README.md "$scratch/core"
cd "$scratch/core"
npm pkg set "version=$version"
npm pack --silent --pack-destination "$out" >/dev/null
