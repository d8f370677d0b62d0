# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGKILL of the server leaves no ffmpeg and no builder of the root (Chromium: test_stills.py)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

FILM = """
import asyncio
from collections.abc import AsyncIterator
from duet.export.pictures import encode_film

async def frames() -> AsyncIterator[bytes]:
    while True:
        await asyncio.sleep(3600)
        yield b""

asyncio.run(encode_film(frames(), "gif"))
"""
ROOT = """
import asyncio, sys
from pathlib import Path
from duet.guests.root import ensure_root

asyncio.run(ensure_root(Path(sys.argv[1]), Path(sys.argv[1])))
"""
RECIPE = """
import subprocess
subprocess.run(["sleep", "3600"], start_new_session=True)
"""
"""Stands for the recipe whose compiler takes long; the compiler has a session of its own."""
APPEARS_S = 120.0
GONE_S = 60.0


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the owner's private folders lie; its path is short."""
    folder = Path(f"/tmp/duet-k{time.monotonic_ns() % 10**9}")
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


def kill_while_it_has(program: str, words: list[str]) -> list[psutil.Process]:
    """Start an owner, kill it once a descendant runs the program; what of its is alive then."""
    owner = subprocess.Popen([sys.executable, "-c", *words])
    until = time.monotonic() + APPEARS_S
    below: list[psutil.Process] = []
    while program not in [name_of(process) for process in below]:
        assert owner.poll() is None and time.monotonic() < until
        time.sleep(0.05)
        below = psutil.Process(owner.pid).children(recursive=True)
    owner.kill()
    owner.wait()
    _, alive = psutil.wait_procs(below, timeout=GONE_S)
    return alive


def name_of(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return ""


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed: setup.sh dev")
def test_no_ffmpeg_outlives_a_killed_owner(base: Path) -> None:
    assert kill_while_it_has("ffmpeg", [FILM]) == []


def test_no_compiler_of_the_root_outlives_a_killed_owner(base: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "vm-images" / "root" / "build"
    recipe.parent.mkdir(parents=True)
    recipe.write_text(RECIPE)
    assert kill_while_it_has("sleep", [ROOT, str(tmp_path)]) == []
