# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of `duet selftest --kvm` on this host, and what reports say of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from duet import durable
from duet.settings import cache_dir

_SAME = ("cpu", "kernel")
"""What of the host the result holds for."""


def result_file() -> Path:
    """Where the newest result lies."""
    return cache_dir() / "tools" / "selftest-kvm.json"


def remember(result: Mapping[str, Any]) -> Path:
    """Write a result down, with the day on which it was got."""
    path = result_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    day = datetime.now(UTC).date().isoformat()
    tree = {**result, "file": str(path), "at": day}
    durable.write(path, json.dumps(tree, indent=1).encode())
    return path


def tested_words(host: Mapping[str, str]) -> str:
    """What a report adds for guests under KVM: on hardware, and whether that was tested.

    Args:
        host: of the report, with `qemu`.
    """
    try:
        tree = json.loads(result_file().read_text())
        fits = tree["qemu"] == host.get("qemu", "")
        fits = fits and all(tree["host"][name] == host.get(name, "") for name in _SAME)
        ended = "passed" if tree["ok"] else "failed"
        day = str(tree["at"])
    except (OSError, ValueError, KeyError, TypeError):
        fits = False
    if not fits:
        return "measured on hardware, without a self-test of this host (duet selftest --kvm)"
    return f"measured on hardware; the self-test of this host {ended} on {day}"
