#!/usr/bin/env bash
# Installs the clients of providers that TestClients and the tests of the proxy run, from npm:
#
#	internal/agents/setup-clients.sh DIR
#
# DIR needs 300 MiB. The clients need Node.js 20; only version 22.15 and later packs with zstd, as
# the tests of the proxy do, which prefer the one in DIR.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
cd "$1"

packages=(openai@7.57.0 @anthropic-ai/sdk@1.12.0 @google/genai@3.1.0)
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
	packages+=("$(node -p '`node-${process.platform}-${process.arch}@22.23.2`')")
fi

# No package runs a script.
echo '{"private": true}' >package.json
npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error "${packages[@]}"
