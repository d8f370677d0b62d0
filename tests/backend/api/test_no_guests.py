# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet serve --no-guests`: recordings are shown, and what would boot a guest is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.support.toy_server import page


@pytest.fixture
def server() -> Iterator[tuple[int, str]]:
    """Pid and host:port of a server without guests, on the lessons' own recordings."""
    words = [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-guests", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        reported = json.loads(process.stdout.readline())
        yield process.pid, f"{reported['host']}:{reported['port']}"
    finally:
        process.kill()
        process.communicate()


def test_recordings_play_and_nothing_is_booted_or_built(
    server: tuple[int, str], run_async: Any
) -> None:
    pid, address = server

    async def look() -> None:
        async with page(address) as one:
            (hello,) = one.seen
            assert hello["live"] is False
            pictured = [card["slug"] for card in hello["lessons"] if card["picture"]]
            for slug in pictured:
                await one.say(type="open", lesson=slug)
                run = await one.until(lambda m, s=slug: m["type"] == "run" and m["lesson"] == s, 60)
                assert run["source"] == "recorded"
            assert len(pictured) >= 4
            for kind in ("start", "measure"):
                await one.say(type=kind, lesson=pictured[0], arms=["before", "after"])
                refused = await one.until(lambda m: m["type"] == "error")
                assert refused["sentence"].startswith("this server shows only recordings")

    run_async(look())
    names = {child.name() for child in psutil.Process(pid).children(recursive=True)}
    assert not {name for name in names if name.startswith(("qemu", "make"))}
