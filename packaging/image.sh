#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The container image without Docker, and a test of it: make image, make image-test.
#
#   packaging/image.sh build   buildah makes localhost/kernel-duet, in a chroot, so also inside of a container
#   packaging/image.sh test    builds, starts it as its users would, asks for its page, runs two guests in it, and
#                              prints the times
#
# BASE=debian:12@sha256:... takes that image of a registry, by its digest. Without it the base is made
# of this machine's own package sources (mmdebstrap), and made anew with BASE=new.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
IMAGE=localhost/kernel-duet
OWN_BASE=localhost/kernel-duet-base
PORT=${PORT:-8649}

fail() { printf 'error: %s\nremedy: %s\n' "$1" "$2" >&2; exit 3; }
say() { printf 'image: %s\n' "$*" >&2; }
need() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || fail "$tool is needed and missing." "Run: apt-get install --no-install-recommends buildah podman runc mmdebstrap"
	done
}

own_base() {
	need mmdebstrap
	local tar container
	tar=$(mktemp --suffix=.tar)
	say "making the base of this machine's package sources"
	mmdebstrap --quiet --variant=minbase bookworm "$tar" "$(find /etc/apt/sources.list.d -name '*.sources' -print -quit 2>/dev/null || true)"
	container=$(buildah from scratch)
	buildah add -q "$container" "$tar" / >/dev/null
	buildah commit -q --rm "$container" "$OWN_BASE" >/dev/null
	say "its content has SHA-256 $(sha256sum "$tar" | cut -c1-64)"
	rm -f "$tar"
}

build() {
	need buildah
	local base=${BASE:-} options=() name began=$SECONDS
	case "$base" in
	'' | new)
		if [ "$base" = new ] || ! buildah inspect --type image "$OWN_BASE" >/dev/null 2>&1; then own_base; fi
		base=$OWN_BASE ;;
	*@sha256:*) ;;
	*) fail "BASE is \"$base\", which may be another image tomorrow." "Name it by digest: BASE=debian:12@sha256:..." ;;
	esac
	# Certificates of a proxy that this machine uses: read while the image is built, in no layer of it.
	if [ -n "${SSL_CERT_FILE:-}" ]; then
		options+=(--volume "$SSL_CERT_FILE:/run/build-ca.crt:ro")
		for name in SSL_CERT_FILE PIP_CERT NODE_EXTRA_CA_CERTS; do options+=(--build-arg "$name=/run/build-ca.crt"); done
	fi
	buildah bud --isolation chroot --layers=false --build-arg "BASE=$base" "${options[@]}" -t "$IMAGE" . >&2
	say "built in $((SECONDS - began)) s"
}

# The container: no capability, no new right, a read-only root; its own user 10001 (USER in the Dockerfile),
# who writes to /tmp and to the image's volume /cache alone.
SEALED=(--cap-drop=all --security-opt=no-new-privileges --read-only --tmpfs /tmp)

start() {
	CONTAINERS_CONF=$1 podman --runtime runc run --detach --network=host "${SEALED[@]}" "$IMAGE" \
		./duet serve --host 0.0.0.0 --port "$PORT" --allow-host localhost --token-required --no-build
}

# Two kernels side by side in it, without a network; they were built outside, by ./duet build.
guests() {
	local kernels=${DUET_CACHE:-$HOME/.cache/kernel-duet}/kernels began=$SECONDS
	if ! [ -d "$kernels" ]; then
		say "no guest was started in it, since $kernels is not there: ./duet build makes kernels"
		return
	fi
	CONTAINERS_CONF=$1 podman --runtime runc run --rm --network=none "${SEALED[@]}" --volume "$kernels:/cache/kernels:ro" "$IMAGE" \
		./duet run 02-grace-periods --arms rwsem,srcu --set seconds=1 --json |
		python3 -c 'import json, sys
for arm in json.load(sys.stdin)["arms"]:
    print("image: {arm}: {events_read} events of Linux {kernel}, {events_lost} lost".format(**arm), file=sys.stderr)
    assert arm["events_read"] > 100 and not arm["refused"]'
	say "two guests ran in it for a second; all of it took $((SECONDS - began)) s"
}

test_image() {
	need podman runc python3
	build
	local conf began box
	conf=$(mktemp)
	# Usual limits of podman are above what a machine may be allowed to set.
	printf '[containers]\ndefault_ulimits = []\n' >"$conf"
	began=$SECONDS
	box=$(start "$conf")
	# shellcheck disable=SC2064
	trap "podman rm --force --volumes --time 5 $box >/dev/null; rm -f $conf" EXIT
	podman exec "$box" grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status
	python3 packaging/ask.py "$PORT" podman logs "$box"
	say "its page answered $((SECONDS - began)) s after the start"
	guests "$conf"
}

case "${1:-}" in
build) build ;;
test) test_image ;;
*) fail "packaging/image.sh takes build or test." "Run make image or make image-test." ;;
esac
