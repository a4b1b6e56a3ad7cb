#!/usr/bin/env bash
# Everything that a change of the Python module must pass, with Debian's Python.
set -euo pipefail
cd "$(dirname "$0")"
exec </dev/null

step() {
	printf '\n+ python: %s\n' "$*"
	"$@"
}

python=/usr/bin/python3
if ! [ -x /usr/bin/mypy ] || ! "$python" -c 'import venv, ensurepip, distributed'; then
	step apt-get update -qq
	step apt-get install -y -qq --no-install-recommends python3 python3-venv python3-distributed mypy
fi
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
# toolguard runs a program beside it only if both have one version.
flags=(-trimpath -ldflags '-X main.version=0.0.0-test' -o "$programs/")
step env CGO_ENABLED=0 go -C .. build "${flags[@]}" ./cmd/toolguard
step env CGO_ENABLED=0 go -C ../parquet build "${flags[@]}" ./cmd/toolguard-parquet ./oracle/shards
[ -f ../THIRD_PARTY_NOTICES ] || step make -C .. notices

step /usr/bin/mypy
export PYTHONPATH=$PWD TOOLGUARD_BINARY=$programs/toolguard TOOLGUARD_SHARDS=$programs/shards PYTHONDONTWRITEBYTECODE=1
step "$python" -m unittest discover -s tests -v
