# SPDX-License-Identifier: GPL-2.0-or-later
"""How a run waited for the host reaches the page: live in lane messages, saved in the manifest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgpack

from duet import messages as m
from duet.bundle import Waited, open_bundle, read_manifest, write_bundle
from duet.host.feed import Feed
from duet.lessons.load import LessonFolder
from duet.messages.codec import Packet
from duet.server.recordings import RecordedRun
from duet.session import Contention, contention_bound


def lanes_of(packets: list[Packet]) -> list[dict[str, Any]]:
    return [msgpack.unpackb(p.body) for p in packets if p.type == "lane"]


def test_a_live_lane_is_sent_again_with_its_figure() -> None:
    sent: list[Packet] = []
    run = m.Run(
        run_id="live-1", lesson="l", source="live", clock="wall", params={}, workload="w",
        arms=["srcu"], phase="running",
    )  # fmt: skip
    feed = Feed(run, sent.append)
    feed.on_contention("srcu", Contention(1.0, 1.0))  # nothing is known of the lane yet
    assert not sent
    feed.on_lane(m.Lane(run_id=run.run_id, arm="srcu", phase="running", pid=7))
    feed.on_contention("srcu", Contention(1.0, 3.0))
    first, second = lanes_of(sent)
    bound = contention_bound(2, len(os.sched_getaffinity(0)))
    assert first["contention"] == {"ran_s": 1.0, "waited_s": 1.0, "bound": bound}
    assert (second["phase"], second["pid"]) == ("running", 7)
    assert second["contention"]["waited_s"] == 3.0


def test_a_saved_run_says_how_its_guests_waited(
    lesson02: LessonFolder, tmp_path: Path, run_async: Any
) -> None:
    source = open_bundle(lesson02.recordings()[0])
    arms = source.manifest.arms
    busy = arms[0].model_copy(update={"contention": Waited(ran_s=1.2, waited_s=4.3)})
    without = (arm.model_copy(update={"contention": None}) for arm in arms[1:])
    manifest = source.manifest.model_copy(update={"arms": (busy, *without)})
    path = tmp_path / "busy.duet"
    write_bundle(
        path,
        manifest,
        {arm.name: source.records(arm.name) for arm in arms},
        {name: source.patch(name) for name in source.patches},
    )
    assert read_manifest(path).arm(busy.name).contention == Waited(ran_s=1.2, waited_s=4.3)
    others = read_manifest(path).arms[1:]
    assert others and all(arm.contention is None for arm in others)

    recorded = RecordedRun(lesson02, path, "kept:x")
    run_async(recorded.perform())
    lanes = recorded.log.lanes()
    found = lanes[busy.name].contention
    assert found is not None and (found.ran_s, found.waited_s) == (1.2, 4.3)
    assert all(lanes[arm.name].contention is None for arm in arms[1:])
