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
if ! [ -x /usr/bin/mypy ] || ! "$python" -c 'import venv, ensurepip'; then
	step apt-get update -qq
	step apt-get install -y -qq --no-install-recommends python3 python3-venv mypy
fi
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
step env CGO_ENABLED=0 go -C .. build -trimpath -o "$programs/" ./cmd/toolguard
[ -f ../THIRD_PARTY_NOTICES ] || step make -C .. notices

step /usr/bin/mypy
export PYTHONPATH=$PWD TOOLGUARD_BINARY=$programs/toolguard PYTHONDONTWRITEBYTECODE=1
step "$python" -m unittest discover -s tests -v
