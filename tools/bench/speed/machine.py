# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts about the machine, and versions of the programs that the stages run."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import subprocess
from importlib.metadata import PackageNotFoundError, version

from duet.measure.provenance import host_fingerprint, our_version
from tools.bench.speed.perfetto import trace_processor
from tools.bench.speed.results import Machine

WAIT_S = 20.0
COMMANDS = {
    "trace-cmd": ["trace-cmd", "--version"],
    "libtraceevent": ["pkg-config", "--modversion", "libtraceevent"],
    "QEMU": ["qemu-system-x86_64", "--version"],
    "virtme-ng": ["vng", "--version"],
    "node": ["node", "--version"],
    "Chromium": ["chromium", "--version"],
    "gcc": ["gcc", "-dumpfullversion"],
}
PACKAGES = ("numpy", "duckdb", "websockets")
NUMBER = re.compile(r"\d+\.\d[\w.]*")


def machine() -> Machine:
    """Return the facts. This asks about ten programs for their versions."""
    versions = {name: _said(words) for name, words in COMMANDS.items()}
    shell = trace_processor()
    versions["Perfetto trace processor"] = _said([str(shell), "--version"]) if shell else ""
    versions["Python"] = platform.python_version()
    versions["SQLite"] = sqlite3.sqlite_version
    versions |= {name: _package(name) for name in PACKAGES}
    return Machine(host_fingerprint(), versions, our_version())


def load() -> float:
    """Return the load average of the last minute."""
    return round(os.getloadavg()[0], 1)


def _said(words: list[str]) -> str:
    """Return the first version number that a program prints, whatever its exit code."""
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=WAIT_S, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = NUMBER.search(done.stdout) or NUMBER.search(done.stderr)
    return found[0] if found else ""


def _package(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
