#!/usr/bin/env bash
# Installs the clients of providers that TestClients runs, from npm:
#
#	internal/agents/setup-clients.sh DIR
#
# DIR needs 100 MiB, and the clients need Node.js 20.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
cd "$1"

# No package runs a script.
echo '{"private": true}' >package.json
npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error \
	openai@6.49.0 @anthropic-ai/sdk@1.12.0 @google/genai@2.32.0
