#!/usr/bin/env bash
# Everything that a change of toolguard-parquet must pass.
set -euo pipefail
cd "$(dirname "$0")"
exec </dev/null

step() {
	printf '\n+ parquet: %s\n' "$*"
	"$@"
}

step go mod download
step go mod verify
step go mod tidy -diff

tool=(go tool -modfile=../tools/go.mod)
files=$("${tool[@]}" gofumpt -l .)
[ -z "$files" ] || { printf 'not formatted (make fmt):\n%s\n' "$files"; exit 1; }
step go vet ./...
step "${tool[@]}" golangci-lint run

step env CGO_ENABLED=0 go build ./...
step go test ./internal/...
# 50,000 rows, of which 500 are broken.
step env TOOLGUARD_LONG=1 go test -count=1 -run '^TestNested$' ./internal/cli

# The oldest Go that go.mod allows, which the go command downloads.
oldest=go$(go mod edit -json | sed -n 's/^\t"Go": "\(.*\)",$/\1/p')
step env GOTOOLCHAIN="$oldest" go build ./...

# Other programs that read and write Parquet. They are installed from npm once, in TOOLGUARD_CACHE or a directory in
# the user's cache.
if ! command -v npm >/dev/null; then
	step apt-get update -qq
	step apt-get install -y -qq --no-install-recommends nodejs npm
fi
cache=${TOOLGUARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}}/toolguard-parquet
mkdir -p "$cache"
if ! cmp -s oracle/package-lock.json "$cache/installed"; then
	cp oracle/package.json oracle/package-lock.json "$cache"
	(cd "$cache" && npm ci --silent --ignore-scripts --no-audit --no-fund)
	cp oracle/package-lock.json "$cache/installed"
fi
step env TOOLGUARD_PARQUET_ORACLE="$cache" go test -count=1 ./oracle
