# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit for systemd, as systemd itself reads it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNIT = "packaging/systemd/kernel-duet.service"
VERIFY_S = 120.0
"""Usual: 0.2 s."""
pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)


def complaints(unit: str, folder: Path) -> list[str]:
    """What systemd says of a unit whose program is there."""
    program = folder / "duet"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = folder / "kernel-duet.service"
    path.write_text(unit.replace("/opt/kernel-duet/duet", str(program)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(path)],
        capture_output=True, text=True, timeout=VERIFY_S, check=False,
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if path.name in line]
    return said or [done.stderr.strip()] * bool(done.returncode)


def test_systemd_takes_the_unit_as_it_is(root: Path, tmp_path: Path) -> None:
    assert complaints((root / UNIT).read_text(), tmp_path) == []


@pytest.mark.parametrize(
    ("key", "wrong", "says"),
    [
        ("KillMode=", "KillMod=", r"Unknown key( name)? 'KillMod'"),
        ("TasksMax=2048", "TasksMax=many", "many"),
        ("ExecStart=/opt", "ExecStart=/nowhere/opt", "not executable"),
    ],
)
def test_a_wrong_line_is_seen(root: Path, tmp_path: Path, key: str, wrong: str, says: str) -> None:
    unit = (root / UNIT).read_text()
    assert key in unit
    found = complaints(unit.replace(key, wrong, 1), tmp_path)
    assert len(found) >= 1 and re.search(says, found[0]), found
