#!/usr/bin/env bash
# Everything that a change of toolguard-sqlite must pass.
set -euo pipefail
cd "$(dirname "$0")"
exec </dev/null

step() {
	printf '\n+ sqlite: %s\n' "$*"
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
step env TOOLGUARD_LONG=1 go test -count=1 -timeout 8m ./...

# The oldest Go that go.mod allows, which the go command downloads.
oldest=go$(go mod edit -json | sed -n 's/^\t"Go": "\(.*\)",$/\1/p')
step env GOTOOLCHAIN="$oldest" go build ./...
