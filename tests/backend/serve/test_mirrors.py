# SPDX-License-Identifier: GPL-2.0-or-later
"""A live run of one server is watched at another one, as it goes on and when its server is gone."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import msgpack
import pytest

from duet.errors import InfraError
from duet.hosts.packets import packed
from duet.serve.servers.mirror import Mirror
from duet.stream import messages as m
from duet.stream.codec import Packet, pack
from duet.stream.hub import Hub
from tests.support.several import database, server
from tests.support.toy_server import SLUG, Message, Page, page, reported
from tests.support.toy_stage import NOW

__all__ = ["database"]
SLOW, FAST = 4.0, 50.0
RUN_ID = f"kept:{SLUG}:run-20260101-000000-abcdef"


async def watched(one: Page, run_id: str) -> Message:
    """Open a run; gives the first control message, or the error that comes instead."""
    await one.open(run_id)
    return await one.until(lambda found: found["type"] in ("control", "error"))


def test_a_run_of_another_server_is_watched_and_not_controlled(
    tmp_path: Path, database: str, run_async: Any
) -> None:
    async def go(one: str, other: str) -> None:
        async with page(one) as first, page(other) as second, page(other) as third:
            await first.open("none")
            await first.start("rwsem", seconds=2)
            run_id = await first.begun()
            for follower in (second, third):
                control = await watched(follower, run_id)
                assert control["type"] == "control", control
                assert (control["by"], control["may_take"]) == ("other", False)
            await second.say(type="stop", run=run_id)
            assert "does not go on" in (await second.until_type("error"))["sentence"]
            for each in (first, second, third):
                assert (await each.until_over())["phase"] == "done"
            theirs, ours = reported(first.seen, run_id), reported(second.seen, run_id)
            assert theirs == ours == reported(third.seen, run_id) and len(ours) == 2
            sentence = (await watched(second, f"{run_id}x"))["sentence"]
            assert "there is no run" in sentence

    with server(tmp_path, database, FAST) as one, server(tmp_path, database, FAST) as other:
        run_async(go(one, other))


def test_a_run_whose_server_is_gone_has_failed_and_says_so(
    tmp_path: Path, database: str, run_async: Any
) -> None:
    async def begin(one: str) -> str:
        async with page(one) as first:
            await first.open("none")
            await first.start("rwsem", seconds=10)
            return await first.begun()

    with server(tmp_path, database, FAST) as other, contextlib.ExitStack() as stack:
        one = stack.enter_context(server(tmp_path, database, SLOW))
        run_id = run_async(begin(one))

        async def go() -> None:
            async with page(other) as second:
                assert (await watched(second, run_id))["type"] == "control"
                stack.close()
                over = await second.until_over()
                assert over["phase"] == "failed" and "Its server is gone" in over["message"]

        run_async(go())


def run(**changes: object) -> m.Run:
    usual: dict[str, Any] = {"run_id": RUN_ID, "lesson": SLUG, "clock": "wall", "source": "live"}
    usual |= {"params": {}, "phase": "running", "workload": "storm", "arms": ["rwsem"]}
    usual |= {"started_at": NOW, "recorded_at": None, "message": ""}
    return m.Run(**usual | changes)


@pytest.mark.parametrize(
    "sent",
    [
        pack(run(run_id="another")),
        pack(run(arms=["own-rwsem-0123456789"])),
        pack(m.Begun(run_id=RUN_ID)),
        Packet(b"garbage", "run"),
        Packet(msgpack.packb({"type": "gap", "rows": -1}), "gap"),
        Packet(msgpack.packb(["run"]), "run"),
    ],
)
def test_what_is_no_message_of_the_run_is_refused(sent: Packet, run_async: Any) -> None:
    async def go() -> None:
        hub = Hub()
        mirror = Mirror(RUN_ID, hub)
        if b"own-" not in sent.body:
            mirror.take(packed(pack(run())))
        with pytest.raises(InfraError):
            mirror.take(packed(sent))
        mirror.broke(InfraError("it broke.", remedy=""))
        newest = mirror.log.run()
        assert newest is None or newest.phase == "failed"

    run_async(go())
