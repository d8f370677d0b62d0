# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench segments` on few viewers: real server, real nginx, all get the same bytes."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest

from tools.bench import segments
from tools.bench.live_crowd import BUFFER, Fetcher, Live
from tools.bench.proxy import NGINX
from tools.bench.segments import text_of
from tools.bench.watchers import WHERE


@pytest.mark.nightly
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed (setup.sh dev)")
def test_few_viewers(run_async: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SETTLE_S", 0.5)
    result = run_async(segments.measure("02-grace-periods", 8, 4, 40, 10.0, 3.0))
    recorded, live = result.recorded, result.live
    assert recorded.reached == recorded.segments, "one request each, whoever else asks"
    assert 100_000 < recorded.bytes < 1_000_000
    assert live.closed == 0 and live.messages.batches > 0
    assert 0 < live.by_segments <= 40 and live.segments.batches > live.by_segments
    assert live.reached < live.segments.batches / 2
    assert "times less" in text_of(result) and len(result.targets) == 4


def packed(sent_ns: float) -> bytes:
    body = WHERE + struct.pack(">d", sent_ns)
    return zlib.compress(body, wbits=31)


def test_a_fetcher_reads_answers_in_whatever_parts_they_come() -> None:
    live = Live(phase=0)
    fetcher = Fetcher("x", live, compares=False)
    whole = b""
    for n in range(3):
        body = packed(n)
        whole += b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        fetcher._asked.append((f"/{n}", False))
    for at in range(0, len(whole), 7):
        part = whole[at : at + 7]
        BUFFER[: len(part)] = part
        fetcher.buffer_updated(len(part))
    assert live.known == {f"/{n}": packed(n) for n in range(3)}
    assert (live.refused, live.different) == (0, 0)
    live.segment("/1", False, b"other")
    assert live.different == 1
