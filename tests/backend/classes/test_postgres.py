# SPDX-License-Identifier: GPL-2.0-or-later
"""The same store on PostgreSQL, where its server is installed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from duet.classes import queries, reading
from duet.classes.database import file_of
from duet.classes.records import ConfusionFacts
from duet.classes.store import ClassStore
from duet.classes.tables import METADATA
from duet.errors import InfraError
from tests.backend.classes.test_store import ANSWER, MEMBER, QUESTION, fill

NOBODY = "nobody"
START_S = 60.0
pytestmark = pytest.mark.skipif(
    shutil.which("initdb") is None, reason="the programs of PostgreSQL are not installed"
)


@pytest.fixture
def url() -> Iterator[str]:
    """A server of its own, reached by a socket in its folder."""
    folder = Path(tempfile.mkdtemp(prefix="duet-pg-", dir="/tmp"))  # a socket's path is short
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses root
        shutil.chown(folder, NOBODY)
        user = {"user": NOBODY, "extra_groups": []}
    data = str(folder / "data")
    begun = subprocess.run(
        ["initdb", "-D", data, "-A", "trust", "-U", "duet"],
        capture_output=True, text=True, timeout=START_S, check=False, cwd=folder, **user,
    )  # fmt: skip
    assert begun.returncode == 0, begun.stderr
    command = ["postgres", "-D", data, "-k", str(folder), "-c", "listen_addresses="]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **user
    )
    try:
        deadline = time.monotonic() + START_S
        while subprocess.run(["pg_isready", "-q", "-h", str(folder)], check=False).returncode:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)
        yield f"postgresql+psycopg://duet@/postgres?host={folder}"
    finally:
        process.send_signal(signal.SIGINT)  # connections end, too
        process.wait(START_S)
        shutil.rmtree(folder)


def test_classes_are_stored_and_deleted_there_too(url: str, run_async: Any) -> None:
    async def go() -> None:
        store = ClassStore(url, 180)
        store.begin()
        facts = await store.ask(fill)
        members = [replace(MEMBER, member=name, joined_s=time.time()) for name in ("m1", "m2")]
        calls = [store.ask(lambda c, m=m: queries.add_member(c, "c1", m)) for m in members]
        first, second = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(first, InfraError) and second is None
        await store.close()
        again = ClassStore(url, 180)
        again.begin()
        found = await again.ask(lambda c: reading.load(c, "c1"))
        assert found is not None and found.facts == facts
        assert found.questions == (QUESTION,) and found.answers == (ANSWER,)
        assert found.confusion == (ConfusionFacts(30, "one hog", 2),)
        assert await again.ask(lambda c: reading.open_class(c, facts.code.upper())) == "c1"
        await again.ask(lambda c: queries.forget_member(c, "c1", "m1"))
        found = await again.ask(lambda c: reading.load(c, "c1"))
        assert found is not None and found.answers == ()
        difference = await again.ask(
            lambda c: compare_metadata(MigrationContext.configure(c), METADATA)
        )
        assert difference == []
        await again.ask(lambda c: queries.delete_class(c, "c1"))
        assert await again.ask(lambda c: reading.load(c, "c1")) is None
        await again.close()

    run_async(go())
    assert file_of(url) is None
