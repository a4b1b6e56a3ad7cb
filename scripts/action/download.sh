#!/usr/bin/env bash
# Downloads the release of toolguard with the version of the action, verifies it
# and puts it on the PATH. Without such a release it asks for a build
# (build=true). A release that is not what it should be is an error: a build would
# hide it.
set -euo pipefail

build() {
	echo "toolguard: $1; building it from source"
	echo build=true >>"$GITHUB_OUTPUT"
	exit 0
}

refuse() {
	echo "::error title=toolguard::$1"
	exit 1
}

# sum prints the SHA-256 of standard input. A name would be escaped in the output.
sum() {
	if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1
}

fetch() {
	curl --fail --silent --show-error --location --retry 3 --max-time 300 \
		--proto '=file,http,https' --proto-redir '=https' --output "$2" "$1"
}

tag='^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$'
if [ -n "$INPUT_VERSION" ]; then
	[[ $INPUT_VERSION =~ $tag ]] || refuse 'the input version is not of the form v1.2.3'
	version=$INPUT_VERSION
elif [[ $ACTION_REF =~ $tag ]]; then
	version=$ACTION_REF
else
	build 'the action is not used by the tag of a release'
fi

case $RUNNER_OS in
Linux) os=linux format=tar.gz ;;
macOS) os=darwin format=tar.gz ;;
Windows) os=windows format=zip ;;
*) build 'no release for this system' ;;
esac
case $RUNNER_ARCH in
X64) arch=amd64 ;;
ARM64) arch=arm64 ;;
*) build 'no release for this processor' ;;
esac

dir=$RUNNER_TEMP/toolguard-download
bin=$RUNNER_TEMP/toolguard-bin
rm -rf "$dir" "$bin"
mkdir -p "$dir" "$bin"
name=toolguard_${version#v}_${os}_$arch.$format

fetch "$RELEASES/$version/checksums.txt" "$dir/checksums.txt" || build "no release $version can be downloaded"
want=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$dir/checksums.txt")
[ -n "$want" ] || build "release $version has no $name"
fetch "$RELEASES/$version/$name" "$dir/$name" || build "$name cannot be downloaded"

got=$(sum <"$dir/$name")
[ "$got" = "$want" ] || refuse "$name does not have the checksum in checksums.txt of release $version"
echo "toolguard: $name has the checksum in checksums.txt"

if ! command -v gh >/dev/null || ! gh attestation verify --help >/dev/null 2>&1; then
	echo 'toolguard: attestation not verified: no gh with the command attestation'
elif [ -z "${GH_TOKEN:-}" ]; then
	echo 'toolguard: attestation not verified: no token for gh'
elif gh attestation verify "$dir/$name" --repo "$REPOSITORY" \
	--signer-workflow "$REPOSITORY/.github/workflows/release.yml"; then
	echo "toolguard: $name has an attestation of the release workflow"
else
	refuse "$name has no valid attestation of the release workflow"
fi

case $format in
tar.gz) tar -xzf "$dir/$name" -C "$bin" toolguard ;;
zip) unzip -q "$dir/$name" toolguard.exe -d "$bin" ;;
esac
echo "$bin" >>"$GITHUB_PATH"
echo build=false >>"$GITHUB_OUTPUT"
