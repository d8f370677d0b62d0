# SPDX-License-Identifier: GPL-2.0-or-later
"""Dropped samples of a slow page are reported; of the lens's state the newest counts."""

from __future__ import annotations

import msgpack
import numpy as np

from duet import messages as m
from duet.messages.codec import Packet, batch, pack
from duet.stream.hub import RunLog
from duet.stream.outbox import Outbox


def sample(seq: int, size: int = 1000) -> Packet:
    return pack(
        m.Sample(
            run_id="r",
            arm="a",
            probe="shrinker-maps",
            seq=seq,
            t_ns=float(seq),
            error_ns=1.0,
            clock="host",
            took_ns=5.0,
            torn=0,
            failed=0,
            n=1,
            columns={"map": bytes(size)},
            dtypes={"map": "u4"},
            facts={"words": 1.0},
            texts=[],
        )
    )


def lens(samples: int) -> Packet:
    counts = {"torn": 0, "failed": 0, "dropped": 0}
    return pack(m.Lens(run_id="r", arm="a", state="on", route="memory", samples=samples, **counts))


def sent(outbox: Outbox) -> list[dict[str, object]]:
    found = []
    while (packet := outbox.pop()) is not None:
        found.append(msgpack.unpackb(packet.body))
    return found


def test_samples_that_a_page_does_not_take_become_a_gap() -> None:
    outbox = Outbox(max_bytes=5_000)
    for seq in range(10):
        outbox.put(sample(seq))
    reported = sent(outbox)
    gap = next(tree for tree in reported if tree["type"] == "gap")
    assert gap["table"] == "xray:shrinker-maps" and gap["from_seq"] == 0
    kept = [tree["seq"] for tree in reported if tree["type"] == "sample"]
    assert kept == list(range(int(str(gap["to_seq"])) + 1, 10)) and kept


def test_of_the_lens_the_newest_word_counts() -> None:
    log = RunLog("r", "01-shrinker-bitmaps")
    for count in range(5):
        log.add(lens(count))
    reported = [msgpack.unpackb(packet.body) for packet in log.backlog()]
    assert [tree["samples"] for tree in reported] == [4]


def test_a_late_page_gets_the_samples_and_the_loss_of_the_oldest() -> None:
    log = RunLog("r", "01-shrinker-bitmaps", max_bytes=4_000)
    for seq in range(8):
        log.add(sample(seq))
    reported = [msgpack.unpackb(packet.body) for packet in log.backlog()]
    assert reported[0]["type"] == "gap" and reported[0]["to_seq"] == reported[1]["seq"] - 1
    assert reported[-1]["seq"] == 7


def test_samples_give_way_to_events() -> None:
    """The next sample tells nearly the same; an event that is gone is gone."""
    outbox = Outbox(max_bytes=6_000)
    for seq in range(6):
        outbox.put(sample(seq))
        outbox.put(pack(batch("r", "a", "points", seq, 0.0, {"t_ns": np.zeros(60)})))
    reported = sent(outbox)
    assert [tree["seq"] for tree in reported if tree["type"] == "batch"] == list(range(6))
    gaps = {tree["table"]: tree for tree in reported if tree["type"] == "gap"}
    assert set(gaps) == {"xray:shrinker-maps"}
