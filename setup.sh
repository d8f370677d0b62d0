#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sets up Kernel Duet on Debian 12 and 13. `make run`, `./duet`, the Dockerfile and CI all use this script.
#
#   ./setup.sh page      what the page and recorded runs need (seconds when nothing is to do)
#   ./setup.sh kernels   what building and booting kernels needs
#   ./setup.sh dev       what the checks and the browser tests need
#   ./setup.sh all       everything
#   ./setup.sh docs      what `make docs` needs; no part of all
#
# Every step is skipped when its inputs have not changed. Packages are installed when the script runs as
# root; a plain user is reported which are missing. The source of a kernel is fetched when it is first built.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

PAGE_PACKAGES="python3 python3-venv ca-certificates gcc libc6-dev pkg-config libtraceevent-dev"
KERNEL_PACKAGES="make patch flex bison bc ccache libelf-dev libssl-dev xz-utils lz4 zstd cpio kmod rsync
	perl util-linux bubblewrap qemu-system-x86 busybox-static stress-ng fio xfsprogs e2fsprogs"
DEV_PACKAGES="git shellcheck iproute2"
# For tests alone. a|b is the first of them that the suite has; what it has none of is left out with a
# sentence, and the tests that need it are skipped.
TEST_PACKAGES="chromium ffmpeg docker-compose trace-cmd nginx gpg gpg-agent slurmctld slurmd slurm-client
	clang-19|clang-18|clang-17|clang-16|clang-15|clang-14
	libclang-rt-19-dev|libclang-rt-18-dev|libclang-rt-17-dev|libclang-rt-16-dev|libclang-rt-15-dev|libclang-rt-14-dev"

STAMPS=.setup-stamps
PYTHON=.venv/bin/python

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { printf '%serror: %s\nremedy: %s\n' "$MIDLINE" "$1" "$2" >&2; exit 3; }
MIDLINE=

# step WORDS COMMAND...: one line, with the time that the command took
step() {
	local began=$SECONDS
	printf 'setup: %s' "$1" >&2
	MIDLINE=$'\n'
	"${@:2}"
	printf ', %d s\n' $((SECONDS - began)) >&2
	MIDLINE=
}

# quietly NAME COMMAND...: what it prints is shown if it fails, and is in .setup-NAME.log then
quietly() {
	local log=$PWD/.setup-$1.log
	"${@:2}" >"$log" 2>&1 || {
		printf '%s' "$MIDLINE" >&2; MIDLINE=
		tail -n 15 "$log" >&2
		fail "this step failed: ${*:2}." "Read $log, mend the cause, and start again."
	}
	rm -f "$log"
}

# once NAME FILE... -- COMMAND...: run COMMAND unless it has succeeded for these very files
once() {
	local name=$1 sum; shift
	local files=()
	while [ "$1" != -- ]; do files+=("$1"); shift; done
	shift
	sum=$(cat "${files[@]}" | sha256sum)
	if [ "$(cat "$STAMPS/$name" 2>/dev/null)" = "$sum" ]; then return; fi
	mkdir -p "$STAMPS"
	"$@"
	printf '%s\n' "$sum" >"$STAMPS/$name"
}

# first LINES WORD: the first of the names in a word (a|b|c) that is one of the lines
first() {
	local name
	for name in ${2//|/ }; do
		if [[ $'\n'$1$'\n' == *$'\n'"$name"$'\n'* ]]; then printf '%s\n' "$name"; return; fi
	done
	return 1
}

# Of some names those that are installed, and those that are packages of this suite. The second is asked since
# apt-get takes a name that it does not know for a pattern, and installs something else.
installed() { dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p' || true; }
offered() { LC_ALL=C apt-cache policy "$@" | awk '/^[^ ]/ { sub(/:$/, ""); name = $1 } /^  Candidate: [^(]/ { print name }'; }

# lacking WORD...: those of which no package is installed
lacking() {
	local names there word
	read -ra names <<<"${*//|/ }"
	there=$(installed "${names[@]}")
	for word in "$@"; do
		first "$there" "$word" >/dev/null || printf '%s\n' "$word"
	done
}

packages() {
	local missing
	mapfile -t missing < <(lacking "$@")
	[ ${#missing[@]} -gt 0 ] || return 0
	as_root "${missing[@]}"
	step "Debian packages (${#missing[@]})" install_packages "${missing[@]}"
	mapfile -t missing < <(lacking "$@")
	[ ${#missing[@]} -eq 0 ] || fail "this system has no package ${missing[*]}." "Use Debian 12 or 13, or the container (docker compose up)."
}

# The same of what tests alone need: remembered, until the system or the list changes, is what it does not have.
test_packages() {
	local missing absent=$STAMPS/absent of
	mapfile -t missing < <(lacking "$@")
	of=$(cat /etc/os-release - <<<"$*" | sha256sum)
	if [ ${#missing[@]} -gt 0 ] && [ "$(cat "$absent" 2>/dev/null)" != "$of"$'\n'"${missing[*]}" ]; then
		as_root "${missing[@]}"
		step "Debian packages for tests (${#missing[@]})" install_packages "${missing[@]}"
		mapfile -t missing < <(lacking "$@")
		mkdir -p "$STAMPS"
		printf '%s\n%s\n' "$of" "${missing[*]}" >"$absent"
	fi
	[ ${#missing[@]} -eq 0 ] || say "this system has no package ${missing[*]//|/ or }: tests that need it are skipped"
}

as_root() {
	command -v apt-get >/dev/null || fail "this system has no apt-get, by which packages are installed: $*." \
		"Use Debian 12 or 13, or the container (docker compose up)."
	[ "$(id -u)" = 0 ] || fail "these Debian packages are needed and missing: $*." \
		"Run: sudo apt-get install --no-install-recommends ${*%%|*}"
}

# install_packages WORD...: of each word the first package that this suite has, if it has one
install_packages() {
	local names suite word chosen=()
	export DEBIAN_FRONTEND=noninteractive
	quietly apt apt-get update -qq
	read -ra names <<<"${*//|/ }"
	suite=$(offered "${names[@]}")
	for word in "$@"; do
		! word=$(first "$suite" "$word") || chosen+=("$word")
	done
	[ ${#chosen[@]} -eq 0 ] || quietly apt apt-get install -y -qq --no-install-recommends "${chosen[@]}"
}

venv() {
	rm -rf .venv "${STAMPS:?}"/*  # all else is made with it
	quietly venv python3 -m venv .venv
	# No cache: under sudo it would lie in a home folder that is not root's, and pip would warn.
	quietly pip .venv/bin/pip install -q --no-cache-dir --disable-pip-version-check --require-hashes -r backend/requirements-uv.txt
	# The package is used from the checkout, so an edit needs no reinstall.
	local site
	site=$($PYTHON -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	echo "$PWD/backend/src" >"$site/duet.pth"
}

# pinned ENVIRONMENT FILE: its packages, by their hashes
pinned() {
	[ -d "$1" ] || $PYTHON -m venv --without-pip "$1"
	.venv/bin/uv pip install -q --python "$1/bin/python" --require-hashes -r "$2"
}
pinned_anew() { rm -rf "$1"; pinned "$@"; }

binding() {
	$PYTHON -c 'from duet.decode.decoder import ensure; ensure(); from duet.session.reduce import ensure; ensure()'
}

in_frontend() { (cd frontend && PATH="$PWD/../.venv/bin:$PATH" "$@"); }

page_sources() {
	find frontend lessons -path frontend/node_modules -prune -o -path frontend/dist -prune -o \
		-type f \( -path 'frontend/*' -o -path 'lessons/*/view/*' \) -print | LC_ALL=C sort
}

setup_environment() {
	# shellcheck disable=SC2086
	packages $PAGE_PACKAGES
	# After an upgrade of the system its Python is another one than that of the packages.
	[ -d ".venv/lib/$(basename "$(readlink -f $PYTHON)")" ] || rm -f "$STAMPS/venv"
	once venv backend/requirements-uv.txt <(echo "$PWD") -- step "Python environment" venv
}

setup_page() {
	setup_environment
	once python backend/requirements.txt "$STAMPS/venv" -- step "Python packages" pinned .venv backend/requirements.txt
	once binding backend/src/duet/decode/*.c backend/src/duet/base/native.py backend/src/duet/session/loop/* "$STAMPS/venv" -- \
		step "C parts of decoding and reducing" binding
	once node frontend/package-lock.json "$STAMPS/venv" -- \
		step "npm packages" quietly npm in_frontend npm ci --no-audit --no-fund
	local sources
	mapfile -t sources < <(page_sources)
	once page "${sources[@]}" "$STAMPS/node" -- step "page" quietly page in_frontend npm run build
}

setup_kernels() {
	# shellcheck disable=SC2086
	packages $KERNEL_PACKAGES
}

setup_dev() {
	# The tests start these by themselves; their packages would start them from the installation on.
	if [ -d /run/systemd/system ] && [ "$(id -u)" = 0 ]; then
		local unit
		for unit in nginx slurmctld slurmd munge; do
			command -v "$unit" >/dev/null || command -v "${unit}d" >/dev/null || [ -x "/usr/sbin/$unit" ] ||
				[ -x "/usr/sbin/${unit}d" ] || systemctl mask --quiet "$unit.service"
		done
	fi
	# shellcheck disable=SC2086
	packages $DEV_PACKAGES
	# shellcheck disable=SC2086
	test_packages $TEST_PACKAGES
	once python-dev backend/requirements-dev.txt "$STAMPS/python" -- \
		step "Python packages for checks and tests" pinned .venv backend/requirements-dev.txt
	once hub backend/requirements-hub.txt "$STAMPS/venv" -- \
		step "JupyterHub for its tests" pinned_anew .venv-hub backend/requirements-hub.txt
	# Browser tests stand in tests/e2e and import the page's own packages.
	ln -sfn ../frontend/node_modules tests/node_modules
}

setup_docs() {
	setup_environment
	once docs backend/requirements-docs.txt "$STAMPS/venv" -- \
		step "Python packages for make docs" pinned_anew .venv-docs backend/requirements-docs.txt
}

case "${1:-all}" in
page) setup_page ;;
docs) setup_docs ;;
kernels) setup_page; setup_kernels ;;
dev) setup_page; setup_dev ;;
all) setup_page; setup_kernels; setup_dev ;;
*) printf 'error: setup.sh takes page, kernels, dev, docs or all, but "%s" came.\nremedy: Run ./setup.sh all.\n' "$1" >&2; exit 2 ;;
esac
