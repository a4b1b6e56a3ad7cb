#!/usr/bin/env bash
# Checks the pages of toolguard show: the types of their scripts, and what they do in Chromium.
#
#	scripts/page/test.sh
#
# It installs Chromium and Node.js with apt if they are missing. TypeScript and axe are installed from
# npm once, in TOOLGUARD_CACHE or a directory in the user's cache.
set -euo pipefail
cd "$(dirname "$0")"
exec </dev/null

packages=()
command -v npm >/dev/null || packages+=(nodejs npm)
if [ -z "${CHROMIUM:-}" ] && ! command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null; then
	packages+=(chromium fonts-dejavu-core)
fi
if [ ${#packages[@]} -gt 0 ]; then
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

cache=${TOOLGUARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}}/toolguard-page
mkdir -p "$cache"
if ! cmp -s package-lock.json "$cache/installed"; then
	cp package.json package-lock.json "$cache"
	(cd "$cache" && npm ci --silent --ignore-scripts --no-audit --no-fund)
	cp package-lock.json "$cache/installed"
fi
modules=$cache/node_modules
node "$modules/typescript/bin/tsc" -p .

pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
TOOLGUARD_PAGES=$pages go test -count=1 -run '^TestPages$' ../../internal/page
node check.mjs "$pages" "$modules/axe-core/axe.min.js"
