# SPDX-License-Identifier: GPL-2.0-or-later
"""A signal ends the process in time, also while its event loop never comes back."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

STUCK = """
import asyncio, sys
from duet.processes.service import ending

async def main():
    asked = []
    with ending(lambda: asked.append(1), end_s={end_s}):
        print("up", flush=True)
        if {stuck}:
            while True:
                pass
        while not asked or {deaf}:
            await asyncio.sleep(0.01)

asyncio.run(main())
"""


@contextlib.contextmanager
def started(**values: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK.format(**values)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("stuck", "deaf"), [(True, False), (False, True)])
def test_a_loop_that_never_ends_is_ended_with_its_stack(stuck: bool, deaf: bool) -> None:
    with started(end_s=1.5, stuck=stuck, deaf=deaf) as process:
        began = time.monotonic()
        process.terminate()
        assert process.wait(120) == 1
        assert time.monotonic() - began > 0.9
        assert process.stderr is not None
        said = process.stderr.read()
        assert "most recent call first" in said
        assert ("in main" in said) is stuck


def test_a_loop_that_listens_ends_by_itself() -> None:
    with started(end_s=30, stuck=False, deaf=False) as process:
        process.send_signal(signal.SIGHUP)
        assert process.wait(120) == 0


def test_a_second_signal_ends_a_stuck_process_at_once() -> None:
    with started(end_s=60, stuck=True, deaf=False) as process:
        process.send_signal(signal.SIGINT)
        for _ in range(200):  # two that come at once are one
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.3)
                break
            process.send_signal(signal.SIGINT)
        assert process.wait(120) == 1
