#!/usr/bin/env bash
# Builds toolguard from the source of the action and puts it on the PATH.
set -euo pipefail

bin=$RUNNER_TEMP/toolguard-bin
mkdir -p "$bin"
CGO_ENABLED=0 go build -C "$GITHUB_ACTION_PATH" -trimpath -o "$bin/" ./cmd/toolguard
echo "$bin" >>"$GITHUB_PATH"
