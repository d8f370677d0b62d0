# SPDX-License-Identifier: GPL-2.0-or-later
"""A cache without room is called that, not a missing compiler."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from duet.base.errors import InfraError
from duet.decode.decoder import ensure


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of two pages."""
    if os.geteuid() != 0:
        pytest.skip("a small file system can be mounted by root alone")
    folder = tmp_path / "cache"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("this host lets nothing be mounted")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_cache_is_said(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUET_CACHE", str(tiny))
    with pytest.raises(InfraError) as failed:
        ensure()
    assert "Make room" in failed.value.remedy
    assert "gcc" not in failed.value.remedy
