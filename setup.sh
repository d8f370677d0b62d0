#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sets up Kernel Duet on Debian 12. `make run`, `./duet`, the Dockerfile and CI all use this script.
#
#   ./setup.sh page      what the page and recorded runs need (seconds when nothing is to do)
#   ./setup.sh kernels   what building and booting kernels needs
#   ./setup.sh dev       what the checks and the browser tests need
#   ./setup.sh all       everything
#   ./setup.sh docs      what `make docs` needs; no part of all
#   ./setup.sh source linux-source-6.12   the source of a further kernel base; `./duet build` does it
#
# Every step is skipped when its inputs have not changed. Packages are installed when the script runs as
# root; a plain user is reported which are missing.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

PAGE_PACKAGES="python3 python3-venv ca-certificates gcc libc6-dev pkg-config libtraceevent-dev"
KERNEL_PACKAGES="linux-source-6.1 make patch flex bison bc ccache libelf-dev libssl-dev xz-utils lz4 zstd cpio kmod rsync
	perl util-linux bubblewrap qemu-system-x86 busybox-static stress-ng fio xfsprogs e2fsprogs"
DEV_PACKAGES="chromium ffmpeg shellcheck docker-compose git trace-cmd nginx iproute2 clang-14 clang-format-14 libclang-rt-14-dev
	slurmctld slurmd slurm-client"

STAMPS=.setup-stamps
PYTHON=.venv/bin/python

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { printf 'error: %s\nremedy: %s\n' "$1" "$2" >&2; exit 3; }

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

packages() {
	local installed missing=() p
	installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
	for p in "$@"; do
		[[ $'\n'$installed$'\n' == *$'\n'"$p installed"$'\n'* ]] || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return
	[ "$(id -u)" = 0 ] || fail "these Debian packages are needed and missing: ${missing[*]}." \
		"Run: sudo apt-get install --no-install-recommends ${missing[*]}"
	say "installing ${#missing[@]} Debian packages: ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	local install=(apt-get install -y -qq --no-install-recommends "${missing[@]}")
	{ apt-get update -qq && "${install[@]}"; } >.setup-apt.log 2>&1 ||
		{ tail -n 5 .setup-apt.log >&2; fail "apt-get could not install ${missing[*]}." "Read .setup-apt.log, mend apt, and start again."; }
	rm -f .setup-apt.log
}

venv() {
	say "making the Python environment"
	rm -rf .venv
	python3 -m venv .venv || fail "python3 -m venv failed." "Install python3-venv, 3.11 or newer, and start again."
	# No cache: under sudo it would lie in a home folder that is not root's, and pip would warn.
	.venv/bin/pip install -q --no-cache-dir --disable-pip-version-check --require-hashes -r backend/requirements-uv.txt
	# The package is used from the checkout, so an edit needs no reinstall.
	local site
	site=$($PYTHON -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	echo "$PWD/backend/src" >"$site/duet.pth"
}

python_runtime() {
	say "installing Python packages (hash-pinned)"
	.venv/bin/uv pip install -q --python $PYTHON --require-hashes -r backend/requirements.txt
}

python_dev() {
	say "installing Python check and test packages (hash-pinned)"
	.venv/bin/uv pip install -q --python $PYTHON --require-hashes -r backend/requirements-dev.txt
}

python_hub() {
	say "installing JupyterHub for its tests (hash-pinned)"
	rm -rf .venv-hub
	$PYTHON -m venv --without-pip .venv-hub
	.venv/bin/uv pip install -q --python .venv-hub/bin/python --require-hashes -r backend/requirements-hub.txt
}

python_docs() {
	say "installing the packages of make docs (hash-pinned)"
	rm -rf .venv-docs
	$PYTHON -m venv --without-pip .venv-docs
	.venv/bin/uv pip install -q --python .venv-docs/bin/python --require-hashes -r backend/requirements-docs.txt
}

binding() {
	say "building the C parts of decoding and reducing"
	$PYTHON -c 'from duet.decode.binding import ensure; ensure(); from duet.session.reduce_binding import ensure; ensure()'
}

node_packages() {
	say "installing npm packages"
	(cd frontend && PATH="$PWD/../.venv/bin:$PATH" npm ci --no-audit --no-fund --loglevel=error)
}

page_build() {
	say "building the page"
	(cd frontend && PATH="$PWD/../.venv/bin:$PATH" npm run --silent build >/dev/null)
}

page_sources() { find frontend -path frontend/node_modules -prune -o -path frontend/dist -prune -o -type f -print | LC_ALL=C sort; }

setup_page() {
	# shellcheck disable=SC2086
	packages $PAGE_PACKAGES
	once venv backend/requirements-uv.txt <(echo "$PWD") -- venv
	once python backend/requirements.txt "$STAMPS/venv" -- python_runtime
	once binding backend/src/duet/decode/*.c backend/src/duet/native.py backend/src/duet/session/loop/* "$STAMPS/venv" -- binding
	once node frontend/package-lock.json "$STAMPS/venv" -- node_packages
	local sources
	mapfile -t sources < <(page_sources)
	once page "${sources[@]}" "$STAMPS/node" -- page_build
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
	once python-dev backend/requirements-dev.txt "$STAMPS/python" -- python_dev
	once hub backend/requirements-hub.txt "$STAMPS/venv" -- python_hub
	# Browser tests stand in tests/e2e and import the page's own packages.
	ln -sfn ../frontend/node_modules tests/node_modules
}

setup_docs() {
	# shellcheck disable=SC2086
	packages $PAGE_PACKAGES
	once venv backend/requirements-uv.txt <(echo "$PWD") -- venv
	once docs backend/requirements-docs.txt "$STAMPS/venv" -- python_docs
}

case "${1:-all}" in
page) setup_page ;;
docs) setup_docs ;;
source)
	[[ "${2:-}" =~ ^linux-source-[0-9.]+$ ]] || fail "setup.sh source takes a package linux-source-*, but \"${2:-}\" came." \
		"Run ./setup.sh source linux-source-6.12."
	packages "$2" ;;
kernels) setup_page; setup_kernels ;;
dev) setup_page; setup_dev ;;
all) setup_page; setup_kernels; setup_dev ;;
*) printf 'error: setup.sh takes page, kernels, dev, docs, source or all, but "%s" came.\nremedy: Run ./setup.sh all.\n' "$1" >&2; exit 2 ;;
esac
