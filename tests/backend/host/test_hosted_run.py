# SPDX-License-Identifier: GPL-2.0-or-later
"""What comes of a host process is checked; requests and packets travel whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from duet import messages as m
from duet.base.errors import InfraError
from duet.host import protocol as packets
from duet.host import protocol as r
from duet.lessons.load import load
from duet.lessons.own import with_own
from duet.messages.codec import batch, pack, pack_line
from duet.server.hosts.stage import HostedRun
from duet.session import RunSpec
from duet.stream.hub import Hub

RUN = "kept:02-grace-periods:1"
LINE = m.Line(run_id=RUN, arm="srcu", stream="out", text="hello", t_ns=1.0)
FIRST = m.Run(
    run_id=RUN, lesson="02-grace-periods", source="live", clock="wall", params={}, workload="storm",
    arms=["srcu"], phase="preparing",
)  # fmt: skip
BATCH = batch(RUN, "srcu", "spans", 3, 1e6, {"row": np.arange(4, dtype="<i4")})


def wanted_run(**changes: Any) -> RunSpec:
    folder = load("02-grace-periods")
    usual = RunSpec(folder, ("srcu",), "storm", {"hogs": 3}, "wall", RUN)
    return replace(usual, **changes)


def test_packets_arrive_as_they_were_sent() -> None:
    for sent in (pack_line(LINE, 7), pack(BATCH), pack(m.Loss(
        run_id=RUN, arm="srcu", where="ring buffer", t0_ns=0, t1_ns=1, events=2
    ))):  # fmt: skip
        _, came = packets.read_packet(packets.packed(sent), FIRST)
        assert (came.body, came.type, came.key, came.span) == (
            *(sent.body, sent.type, sent.key, sent.span),
        )


@pytest.mark.parametrize(
    "body",
    [
        pack(m.Begun(run=RUN)).body
        if "run" in m.Begun.model_fields
        else pack(m.Runs(live=[])).body,
        pack(LINE.model_copy(update={"run_id": "kept:02-grace-periods:2"})).body,
        pack(LINE.model_copy(update={"arm": "mine"})).body,
        pack(FIRST.model_copy(update={"source": "recorded"})).body,
        pack(LINE).body[:-1],
        msgpack.packb({"type": "line", "run_id": RUN}),
        b"",
    ],
    ids=["no run's", "another run's", "no lane's", "another kind", "cut", "lacks fields", "empty"],
)
def test_nothing_but_messages_of_the_run_goes_on(body: bytes) -> None:
    with pytest.raises(InfraError, match="invalid message of the run"):
        packets.read_packet(bytes(8) + body, FIRST)


def test_a_request_travels_with_a_change(tmp_path: Path) -> None:
    patch = tmp_path / "own-srcu-0123456789.patch"
    patch.write_text("the text of a change\n")
    request = wanted_run()
    folder = with_own(request.folder, patch.stem, summary="faster", change=patch)
    sent = wanted_run(folder=folder, arms=("srcu", patch.stem), missing=("rwsem",))
    there = r.Requests(tmp_path / "there").run(r.read(r.SentRun, r.sent_run(sent).packed()))
    assert (there.arms, there.missing, there.params) == (sent.arms, sent.missing, sent.params)
    arm = there.folder.arm(patch.stem)
    assert arm.summary == "faster" and there.folder.changes[arm.name].name == patch.name
    assert there.folder.patch_files(arm.name)[-1].read_text() == patch.read_text()


def test_what_is_no_request_is_refused() -> None:
    tree = r.sent_run(wanted_run()).model_dump()
    tree["run"]["arms"] = 3
    with pytest.raises(InfraError, match=r"SentRun \(run\.arms"):
        r.read(r.SentRun, msgpack.packb(tree))


class NoHost:
    async def ready(self, slot: int, lanes: int, begins: bool = False) -> Any:
        raise InfraError("the host process did not start in 30 s.", remedy="Look at the log.")


def test_a_run_without_a_host_fails_with_a_sentence(run_async: Any) -> None:
    async def play() -> None:
        run = HostedRun(NoHost(), wanted_run(missing=("rwsem",)), Hub())
        first = run.log.run()
        assert first is not None and first.message == "This run is waiting for its turn."
        assert run.log.lanes()["rwsem"].phase == "building"
        with pytest.raises(InfraError):
            await run.perform()
        last = run.log.run()
        assert last is not None and last.phase == "failed"
        assert last.message.startswith("the host process did not start")
        assert run.bundle() is None and run.raw_events("srcu", 0, None, 5) == []

    run_async(play())
