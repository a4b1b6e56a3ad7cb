#!/usr/bin/env bash
# Tests the proxy with real clients: the SDKs of the model APIs, and Claude Code, Codex and Gemini
# CLI, all from npm in exact versions, before an upstream that refuses what the APIs refuse.
#
#	proxy/clients/test.sh
#
# The clients are installed once, in TOOLGUARD_CACHE or a directory in the user's cache. They need
# 3 GiB.
set -euo pipefail
cd "$(dirname "$0")"
exec </dev/null

cache=${TOOLGUARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolguard-clients}
agents=../../internal/agents
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! command -v npm >/dev/null; then
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends nodejs npm
fi

# installed DIR FILE passes if DIR was filled as FILE says.
installed() { cmp -s "$2" "$1/installed"; }

if ! installed "$cache/sdk" "$agents/setup-clients.sh"; then
	rm -rf "$cache/sdk"
	"$agents/setup-clients.sh" "$cache/sdk"
	cp "$agents/setup-clients.sh" "$cache/sdk/installed"
fi
for package in openai @anthropic-ai/sdk @google/genai; do
	node -p 'const p = require(`${process.argv[1]}/package.json`); `${p.name} ${p.version}`' "$cache/sdk/node_modules/$package"
done
if ! installed "$cache/agents" "$agents/setup.sh"; then
	rm -rf "$cache/agents"
	"$agents/setup.sh" "$cache/agents"
	cp "$agents/setup.sh" "$cache/agents/installed"
fi

go -C .. build -o "$scratch/toolguard-proxy" ./cmd/toolguard-proxy

# run COMMAND... prints what the tests counted, or what failed.
run() {
	if ! "$@" >"$scratch/log" 2>&1; then
		grep -v '^=== \|^ *--- PASS' "$scratch/log"
		return 1
	fi
	if grep -q '^ *--- SKIP' "$scratch/log"; then
		grep -A1 '^ *--- SKIP' "$scratch/log"
		return 1
	fi
	echo "$(grep -c '^ *--- PASS' "$scratch/log") tests passed"
	sed -n 's/^ *[a-z_]*_test\.go:[0-9]*: /  /p' "$scratch/log"
}
export TOOLGUARD_PROXY=$scratch/toolguard-proxy
TOOLGUARD_CLIENTS=$cache/sdk run go test -count=1 -v -timeout 5m .
TOOLGUARD_AGENTS=$cache/agents run go -C "$agents" test -count=1 -v -timeout 8m -run TestThroughProxy .
