#!/usr/bin/env bash
# Builds the playground: static files, which any host can serve below any path.
#
#	scripts/playground/build.sh OUT
#
# The engine is that of the npm package, and also writes the map of toolguard show --html. Tests add build
# tags with TAGS.
set -euo pipefail
[ $# -eq 1 ] || { echo 'usage: scripts/playground/build.sh OUT' >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
exec </dev/null

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=0.0.0-$(git rev-parse --short HEAD 2>/dev/null || echo dev)
TOOLGUARD_TAGS=playground${TAGS:+,$TAGS} npm/build.sh "$version" "$scratch"
mkdir -p "$out/core/dist"
cp npm/core/dist/{wasm-web,engine,wasi,error}.js npm/core/dist/toolguard.wasm "$out/core/dist"

# The map is in a frame, which the policy of this page is also for: it names the map's script and styles.
cp docs/playground/*.{js,css} LICENSE THIRD_PARTY_NOTICES "$out"
hash() { printf "'sha256-%s'" "$(cat "$@" | openssl dgst -sha256 -binary | base64)"; }
cd internal/page
script=$(hash data.js map.js page.js) style=$(hash page.css)
sed -e "s|SCRIPT|$script|" -e "s|STYLE|$style|" ../../docs/playground/index.html >"$out/index.html"
