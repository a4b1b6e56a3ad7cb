#!/usr/bin/env bash
# Everything that a change of the proxy must pass.
set -euo pipefail
cd "$(dirname "$0")"
exec </dev/null

step() {
	printf '\n+ proxy: %s\n' "$*"
	"$@"
}

# The race detector needs cc.
if ! command -v "${CC:-cc}" >/dev/null; then
	step apt-get update -qq
	step apt-get install -y -qq --no-install-recommends gcc libc6-dev
fi

step go mod download
step go mod verify
step go mod tidy -diff

tool=(go tool -modfile=../tools/go.mod)
files=$("${tool[@]}" gofumpt -l .)
[ -z "$files" ] || { printf 'not formatted (make fmt):\n%s\n' "$files"; exit 1; }
step go vet ./...
step "${tool[@]}" golangci-lint run

step env CGO_ENABLED=0 go build ./...
step go test ./...
step env TOOLGUARD_LONG=1 go test -race -count=1 ./internal/body ./internal/server ./internal/cli

# The oldest Go that go.mod allows, which the go command downloads.
oldest=go$(go mod edit -json | sed -n 's/^\t"Go": "\(.*\)",$/\1/p')
step env GOTOOLCHAIN="$oldest" go build ./...

# Real clients before the program.
if [ -x clients/test.sh ]; then
	step clients/test.sh
fi
