#!/usr/bin/env bash
# Installs the agents that TestAgents runs, from npm:
#
#	internal/agents/setup.sh DIR [PACKAGE@VERSION...]
#
# Packages that are not named get the versions below. DIR needs 4 GiB.
set -euo pipefail

[ $# -gt 0 ] || { echo "usage: $0 DIR [PACKAGE@VERSION...]" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
shift

packages=(
	@anthropic-ai/claude-code@2.1.330
	@openai/codex@0.169.0
	@google/gemini-cli@0.61.0
	@qwen-code/qwen-code@0.24.4
	@moonshot-ai/kimi-code@2.1.0
	@earendil-works/pi-coding-agent@1.5.2
	@github/copilot@1.0.102
	opencode-ai@1.18.33
	@kilocode/cli@7.7.7
	@continuedev/cli@1.5.47
	openclaw@2026.9.6
	cline@3.0.65
)
for named; do
	for i in "${!packages[@]}"; do
		[ "${packages[i]%@*}" != "${named%@*}" ] || { packages[i]=$named; continue 2; }
	done
	echo "$0: $named: not one of the packages ${packages[*]%@*}" >&2
	exit 2
done

# OpenClaw needs Node.js 24, and the others 22. The test prefers the one in DIR.
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 24 ]; then
	packages+=("$(node -p '`node-${process.platform}-${process.arch}@24.21.0`')")
fi

# No package runs a script, except for those that put the programs of Claude Code and opencode in their place.
# Some registries lack a dependency of pi, whose program has all of its dependencies in it.
echo '{"private": true, "overrides": {"marked-cjk-friendly": "npm:marked@18.0.11"}}' >package.json
npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error "${packages[@]}"
claude=node_modules/@anthropic-ai/claude-code/install.cjs
[ ! -e "$claude" ] || node "$claude"
(cd node_modules/opencode-ai && node postinstall.mjs)

PATH=$PWD/node_modules/node-$(node -p '`${process.platform}-${process.arch}`')/bin:$PATH
for package in "${packages[@]}"; do
	node -p 'const p = require(`./node_modules/${process.argv[1]}/package.json`); `${p.name} ${p.version}`' "${package%@*}"
done
