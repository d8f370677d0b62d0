# SPDX-License-Identifier: GPL-2.0-or-later
"""A run of very many small messages: the log has a bound by number as well as by bytes."""

from __future__ import annotations

import msgpack

from duet import messages as m
from duet.base.budgets import RUN_PACKETS
from duet.messages.codec import pack_line
from duet.stream.hub import RunLog


def test_the_oldest_of_very_many_lines_go_and_the_gap_says_so() -> None:
    log = RunLog("recorded:x:y", "x", recorded=True)
    line = m.Line(run_id="recorded:x:y", arm="a", stream="out", text="", t_ns=0.0)
    for seq in range(RUN_PACKETS + 10):
        log.add(pack_line(line, seq))
    backlog = list(log.backlog())
    assert len(backlog) == RUN_PACKETS + 1
    gap = msgpack.unpackb(backlog[0].body)
    assert (gap["type"], gap["from_seq"], gap["to_seq"], gap["rows"]) == ("gap", 0, 9, 10)
