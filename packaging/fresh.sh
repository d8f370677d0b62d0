#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a new user sees: make fresh SUITE=trixie. As root; by hand or nightly, not in CI.
#
#   packaging/fresh.sh bookworm|trixie
#
# Makes the root of a bare system (debootstrap), clones the commit that this checkout is at into it, and does
# there, each with its time, what PARTS names:
#
#   run     make run, until the page answers and the source of the kernels is unpacked
#   live    builds two kernels of lesson 02, and runs them side by side
#   try     ./duet try of a patch of one file
#   unit, page, guest, e2e   parts of make test; what was skipped is printed
#
# FRESH_FOLDER is where roots and logs are (default /var/tmp/kernel-duet-fresh); FRESH_CACHE a folder that is
# mounted as the cache of kernels, so that it stays; PORT that of the page. KEEP=yes leaves the root; with
# AGAIN=yes a root that is there is used as it is. Mounts are of a namespace of their own: they end with it.
# shellcheck disable=SC2016,SC2317
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
SUITE=${1:-trixie}
PARTS=${PARTS:-run live try unit page guest e2e}
PORT=${PORT:-8651}
FOLDER=${FRESH_FOLDER:-/var/tmp/kernel-duet-fresh}
ROOT=$FOLDER/$SUITE
LOGS=$FOLDER/$SUITE-logs
PAGE_S=900 SOURCE_S=900

fail() { printf 'error: %s\nremedy: %s\n' "$1" "$2" >&2; exit 3; }
say() { printf 'fresh: %s\n' "$*" >&2; }

ARCHIVE=http://deb.debian.org/debian
case $SUITE in
bookworm | trixie) ;;
*) fail "packaging/fresh.sh takes bookworm or trixie, but \"$SUITE\" came." "Run make fresh SUITE=trixie." ;;
esac
for part in $PARTS; do
	case $part in
	run | live | try | unit | page | guest | e2e) ;;
	*) fail "PARTS has \"$part\"." "Choose from: run live try unit page guest e2e." ;;
	esac
done
[ "$(id -u)" = 0 ] || fail "a root is made by root alone." "Run: sudo make fresh SUITE=$SUITE"
command -v debootstrap >/dev/null || fail "debootstrap is needed and missing." "Run: apt-get install --no-install-recommends debootstrap"

# inside COMMAND: in the root, with the host's network, devices and time, and with nothing else of it.
inside() {
	local passed=() name
	for name in http_proxy https_proxy no_proxy SSL_CERT_FILE PIP_CERT NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE; do
		[ -z "${!name:-}" ] || passed+=("$name=${!name}")
	done
	# shellcheck disable=SC2016
	setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child bash -c '
		set -eu
		root=$1 cache=$2; shift 2
		mount --bind "$root" "$root"  # so that / is a mount there, as sandboxes want it
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount --rbind /sys "$root/sys"
		cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
		if [ -n "$cache" ]; then
			mkdir -p "$root/root/.cache/kernel-duet"
			mount --bind "$cache" "$root/root/.cache/kernel-duet"
		fi
		cd "$root"
		pivot_root . .
		umount --lazy .
		# No exec: this shell is process 1, which takes in orphans.
		"$@"
		exit 0' bash "$ROOT" "${FRESH_CACHE:-}" \
		env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=xterm "${passed[@]}" \
		PORT="$PORT" PAGE_S="$PAGE_S" SOURCE_S="$SOURCE_S" bash -euo pipefail -c "cd /duet 2>/dev/null || true; $1" </dev/null
}

names=() seconds=() results=() failed=0
# part NAME COMMAND: its time, and whether it passed, go into the table; the next part comes in any case
part() {
	local began=$SECONDS result=passed
	say "$1 ..."
	inside "$2" >"$LOGS/$1.log" 2>&1 || { result=FAILED failed=1; tail -n 40 "$LOGS/$1.log" >&2; }
	names+=("$1") seconds+=($((SECONDS - began))) results+=("$result")
	sed -n 's/^== /fresh: /p' "$LOGS/$1.log" >&2
}

table() {
	local i
	printf '\n%8s  %-8s %s\n' seconds result "part, on $SUITE"
	for i in "${!names[@]}"; do printf '%8d  %-8s %s\n' "${seconds[i]}" "${results[i]}" "${names[i]}"; done
	if grep -hs '^SKIPPED' "$LOGS"/*.log | sort | uniq >"$LOGS/skipped" && [ -s "$LOGS/skipped" ]; then
		printf '\nskipped:\n'
		sed 's/^SKIPPED //' "$LOGS/skipped"
	fi
	printf '\nlogs: %s\n' "$LOGS"
}

make_root() {
	local archive
	# The mirror of this machine's own sources, if it has one.
	archive=$(apt-get --print-uris update 2>/dev/null | sed -nE "s#^'(\S+/debian)/dists/.*#\1#p" | head -n 1 || true)
	archive=${archive:-$ARCHIVE}
	rm -rf --one-file-system "$ROOT"
	mkdir -p "$ROOT" "$FOLDER/packages"
	debootstrap --variant=minbase --include=ca-certificates,git,make \
		--cache-dir="$FOLDER/packages" "$SUITE" "$ROOT" "$archive" >"$LOGS/debootstrap.log" 2>&1 ||
		{ tail -n 5 "$LOGS/debootstrap.log" >&2; fail "debootstrap failed." "Read $LOGS/debootstrap.log."; }
	printf 'deb %s %s main\n' "$archive" "$SUITE" "$archive" "$SUITE-updates" "$archive-security" "$SUITE-security" >"$ROOT/etc/apt/sources.list"
	# Authorities that this machine trusts beside the usual ones, such as that of a proxy.
	cp /usr/local/share/ca-certificates/*.crt "$ROOT/usr/local/share/ca-certificates/" 2>/dev/null || true
	git clone --quiet "file://$PWD" "$ROOT/duet"
	inside 'update-ca-certificates >/dev/null 2>&1; apt-get update -qq >/dev/null 2>&1'
}

RUN='
began=$SECONDS
setsid make run SERVE="--port $PORT" >/tmp/run.log 2>&1 & server=$!
trap "kill -TERM -- -$server 2>/dev/null; wait $server || true; cat /tmp/run.log" EXIT
answers() { (exec 3<>"/dev/tcp/127.0.0.1/$PORT" && printf "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n" >&3 && head -n 1 <&3 | grep -q " 200 ") 2>/dev/null; }
until answers; do
	kill -0 "$server"
	[ $((SECONDS - began)) -lt "$PAGE_S" ]
	sleep 0.5
done
printf "== the page answers after %d s\n" $((SECONDS - began))
until compgen -G "/root/.cache/kernel-duet/tree/*/src/Makefile" >/dev/null; do
	kill -0 "$server"
	[ $((SECONDS - began)) -lt "$SOURCE_S" ]
	sleep 0.5
done
printf "== the source of the kernels is unpacked after %d s\n" $((SECONDS - began))
'
LIVE='
began=$SECONDS
./duet build 02-grace-periods --arm rwsem --arm srcu
printf "== two kernels are there after %d s, by %s\n" $((SECONDS - began)) "$(gcc --version | head -n 1)"
began=$SECONDS
./duet run 02-grace-periods --arms rwsem,srcu --set hogs=9 --set seconds=2 --json >/tmp/live.json || { cat /tmp/live.json; exit 1; }
.venv/bin/python -c "
import json
for arm in json.load(open(\"/tmp/live.json\"))[\"arms\"]:
    print(\"== {arm}: {events_read} events of Linux {kernel}, {events_lost} lost\".format(**arm))
    assert arm[\"events_read\"] > 100 and not arm[\"refused\"]
"
printf "== both lanes took %d s\n" $((SECONDS - began))
'
TRY='
for again in first second; do
	began=$SECONDS
	./duet try tests/sixth/kernel-patches/*/*.patch --run "stress-ng --pipe 2 --pipe-ops 20000 --metrics-brief" --repeats 2
	printf "== the %s ./duet try took %d s\n" "$again" $((SECONDS - began))
done
'

mkdir -p "$LOGS" ${FRESH_CACHE:+"$FRESH_CACHE"}
began=$SECONDS
if [ -z "${AGAIN:-}" ] || ! [ -d "$ROOT/duet" ]; then
	rm -f "$LOGS"/*
	say "making the root of $SUITE, $(git log -1 --format='%h %s')"
	make_root
	names+=(root) seconds+=($((SECONDS - began))) results+=(made)
fi
trap table EXIT
tests=
for one in $PARTS; do
	case $one in
	run) part run "$RUN" ;;
	live) part live "$LIVE" ;;
	try) part try "$TRY" ;;
	*)
		if [ -z "$tests" ]; then
			part set-up "./setup.sh all"
			tests=yes
		fi
		if [ "$one" = guest ] || [ "$one" = e2e ]; then part "kernels" "DUET_LESSONS=tests/sixth ./duet build"; fi
		part "$one" "make --no-print-directory test-$one" ;;
	esac
done
if [ -z "${KEEP:-}${AGAIN:-}" ]; then rm -rf --one-file-system "$ROOT"; fi
exit $failed
