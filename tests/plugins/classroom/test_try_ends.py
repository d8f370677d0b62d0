# SPDX-License-Identifier: GPL-2.0-or-later
"""Which saved runs of classes stay while others may be deleted for room."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from duet import messages as m
from duet.base.callbacks import Callbacks
from duet.messages.codec import pack
from duet.plugins.classroom import queries as try_queries
from duet.plugins.classroom.records import ClassFacts, TryFacts
from duet.plugins.classroom.room import Try
from duet.plugins.classroom.rooms import Ownership, Rooms
from duet.plugins.classroom.tries import TryEnds
from duet.server.runs import Ended
from duet.store.store import Store
from duet.stream.hub import RunLog
from tests.support.people import until
from tests.support.toy_server import SLUG

NAME = "run-20260101-000000-abcdef"
RUN_ID = f"kept:{SLUG}:{NAME}"
WITHIN_S = 30.0


def test_a_run_that_is_being_saved_stays(tmp_path: Path, run_async: Any) -> None:
    held: list[list[str]] = []
    runs: Any = SimpleNamespace(changed=Callbacks(), ended=Callbacks(), phase=lambda _: "running")
    log = RunLog(RUN_ID, SLUG)
    fields = {"lesson": SLUG, "workload": "storm", "clock": "wall", "params": {}}
    log.add(pack(m.Run(run_id=RUN_ID, source="live", phase="done", arms=[], **fields)))  # type: ignore[arg-type]
    log.add(pack(m.Lane(run_id=RUN_ID, arm="rwsem", phase="done", message="")))
    tried = TryFacts(1, SLUG, "s", "storm", "wall", (), {}, {}, "", RUN_ID, time.time())

    async def go() -> None:
        store = Store(f"sqlite:///{tmp_path / 'classes.sqlite'}")
        store.begin()
        rooms, saved = Rooms(store, Ownership()), asyncio.Event()
        ends = TryEnds(rooms, runs, held.append)
        async with rooms.made(ClassFacts("c1", "", "t", SLUG, "teacher", time.time())) as room:
            await store.ask(lambda c: try_queries.put_try(c, "c1", tried))
            one = Try(tried)
            ends.expect(room, one)
            saving: Any = asyncio.create_task(saved.wait())
            run: Any = SimpleNamespace(log=log)
            runs.ended(RUN_ID, Ended(run, "", saving))
            await asyncio.sleep(0)
            await ends.look_at_held()
            assert held[-1] == [NAME] and one.facts.state == "running"
            saved.set()
            await until(lambda: room.busy == 1, WITHIN_S)
            await ends.look_at_held()
            assert held[-1] == [NAME] and one.facts.state == "done" and not ends._ending
        await ends.close()
        await store.close()

    run_async(go())
