# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures shared by all Python tests; those of live guests stand in tests/guest/conftest.py."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from duet.base.settings import repo_root
from duet.lessons.load import LessonFolder, load
from duet.processes.cpus import SESSION

# A busy host makes an example slow, not wrong; CI's own limit ends what hangs. The same examples
# each time, so that a red test means a change; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("duet", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "duet"))


# A shell starts what it puts in the background with SIGINT ignored, and programs that tests start
# and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup() -> None:
    """A server that a test killed has left its priority to this session, and with it to all that
    later tests start: guests would wait behind the programs that are to keep a host busy."""
    with contextlib.suppress(OSError):
        SESSION.write_text("0")


@pytest.fixture(scope="session", autouse=True)
def saved_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Live runs of tests are not saved among those of whoever runs them."""
    os.environ["DUET_RUNS"] = str(tmp_path_factory.mktemp("saved-runs"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return repo_root()


@pytest.fixture(scope="session")
def lesson02() -> LessonFolder:
    """Lesson 02 as it stands in the checkout."""
    return load("02-grace-periods")


@pytest.fixture
def run_async() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run one coroutine to its end with a deadline, so that no test hangs."""

    def run(coroutine: Coroutine[Any, Any, Any], deadline_s: float = 600) -> Any:
        async def bounded() -> Any:
            return await asyncio.wait_for(coroutine, deadline_s)

        return asyncio.run(bounded())

    return run
