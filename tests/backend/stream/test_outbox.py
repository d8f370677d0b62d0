# SPDX-License-Identifier: GPL-2.0-or-later
"""The outbox never loses anything silently, whatever is put and whenever it is read."""

from __future__ import annotations

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet import messages as m
from duet.messages.codec import Packet, batch, pack
from duet.stream.hub import RunLog
from duet.stream.outbox import Outbox, OutboxFull


def a_batch(table: str, seq: int, rows: int = 2) -> Packet:
    return pack(batch("r", "a", table, seq, 0.0, {"t_ns": np.zeros(rows)}))


def a_lane(phase: m.LanePhase, arm: str = "a") -> Packet:
    return pack(m.Lane(run_id="r", arm=arm, phase=phase))


def drain(outbox: Outbox) -> list[dict]:
    out = []
    while (packet := outbox.pop()) is not None:
        out.append(msgpack.unpackb(packet.body))
    return out


def test_of_state_the_oldest_and_the_latest_wait_in_their_places() -> None:
    outbox = Outbox()
    outbox.put(a_lane("booting"))
    outbox.put(a_batch("spans", 0))
    for phase in ("ready", "running", "draining"):
        outbox.put(a_lane(phase))
    outbox.put(a_batch("spans", 1))
    outbox.put(a_lane("done"))
    assert [(x["type"], x.get("phase")) for x in drain(outbox)] == [
        ("lane", "booting"),
        ("batch", None),
        ("batch", None),
        ("lane", "done"),
    ]


def test_state_is_not_starved_by_its_own_updates() -> None:
    outbox = Outbox(max_packets=20)
    got: list[str] = []
    for seq in range(100):
        outbox.put(a_batch("spans", 2 * seq))
        outbox.put(a_batch("spans", 2 * seq + 1))
        outbox.put(a_lane("running"))
        packet = outbox.pop()
        assert packet is not None
        got.append(packet.type)
    assert got.count("lane") > 5


def test_oldest_batches_are_dropped_and_reported_in_one_gap_before_the_next() -> None:
    outbox = Outbox(max_packets=2)
    for seq in range(5):
        outbox.put(a_batch("spans", seq, rows=seq + 1))
    first, *rest = drain(outbox)
    assert first == {
        "type": "gap", "run_id": "r", "arm": "a", "table": "spans",
        "from_seq": 0, "to_seq": 2, "rows": 1 + 2 + 3,
    }  # fmt: skip
    assert [x["seq"] for x in rest] == [3, 4]
    assert outbox.rows_dropped == 6


def test_bytes_are_bounded_too() -> None:
    outbox = Outbox(max_bytes=5000)
    for seq in range(20):
        outbox.put(a_batch("spans", seq, rows=100))
    sizes = []
    while (packet := outbox.pop()) is not None:
        sizes.append((packet.type, len(packet.body)))
    (first, _), *batches = sizes
    assert first == "gap" and sum(size for _, size in batches) <= 5000


def test_losses_and_errors_are_never_dropped_and_fill_the_box() -> None:
    outbox = Outbox(max_packets=3)
    loss = m.Loss(run_id="r", arm="a", t0_ns=0, t1_ns=1, events=1, where="ring buffer")
    for _ in range(3):
        outbox.put(pack(loss))
    with pytest.raises(OutboxFull):
        outbox.put(pack(loss))


def test_open_spans_conflate_without_a_gap() -> None:
    outbox = Outbox()
    for seq in range(3):
        outbox.put(a_batch("open", seq))
    assert [x["seq"] for x in drain(outbox)] == [0, 2]


def test_restart_forgets_the_former_run_and_sends_the_viewers_own_then_the_backlog() -> None:
    outbox = Outbox()
    outbox.put(a_batch("spans", 7))
    outbox.put(pack(m.ErrorMessage(code="x", sentence="s", remedy="r")))
    outbox.restart([a_lane("done")])
    outbox.put(a_batch("ops", 0))
    assert [x["type"] for x in drain(outbox)] == ["error", "lane", "batch"]


@given(
    st.lists(st.sampled_from(["spans", "ops", "read", "lane"]), max_size=200),
    st.integers(1, 12),
)
def test_batches_and_gaps_together_are_everything_in_order(steps: list[str], limit: int) -> None:
    outbox = Outbox(max_packets=limit)
    put = {"spans": 0, "ops": 0}
    got: list[dict] = []
    for step in steps:
        if step == "read":
            packet = outbox.pop()
            if packet is not None:
                got.append(msgpack.unpackb(packet.body))
        elif step == "lane":
            outbox.put(a_lane("running"))
        else:
            outbox.put(a_batch(step, put[step]))
            put[step] += 1
    got += drain(outbox)
    for table, count in put.items():
        seqs: list[int] = []
        for x in got:
            if x.get("table") == table and x["type"] == "gap":
                seqs += range(x["from_seq"], x["to_seq"] + 1)
                assert x["rows"] == 2 * (x["to_seq"] - x["from_seq"] + 1)
            elif x.get("table") == table:
                seqs.append(x["seq"])
        assert seqs == list(range(count))


def test_a_full_run_log_tells_what_it_evicted() -> None:
    log = RunLog("r", "lesson", max_bytes=2000)
    log.add(a_lane("running"))
    for seq in range(50):
        log.add(a_batch("spans", seq))
    sent = [msgpack.unpackb(p.body) for p in log.backlog()]
    assert [x["type"] for x in sent[:2]] == ["lane", "gap"]
    gap, batches = sent[1], sent[2:]
    assert gap["from_seq"] == 0
    assert gap["to_seq"] + 1 == batches[0]["seq"]
    assert gap["rows"] == 2 * (gap["to_seq"] + 1)
    assert [x["seq"] for x in batches] == list(range(batches[0]["seq"], 50))
