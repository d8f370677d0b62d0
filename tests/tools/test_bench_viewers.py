# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench viewers` on few viewers: every batch is counted, whoever reads nothing aside."""

from __future__ import annotations

import struct
import time

import numpy as np
import pytest

from duet.messages.codec import batch, pack
from tools.bench.viewers import delays, measure, text_of
from tools.bench.watchers import BIN_MS, BINS, Seen, Watcher

VIEWERS, FPS, SECONDS = 6, 10.0, 3.0


@pytest.mark.nightly
def test_few_viewers(run_async: object) -> None:
    assert callable(run_async)
    result = run_async(measure("02-grace-periods", VIEWERS, FPS, SECONDS, 1))
    frames = VIEWERS * FPS * SECONDS / 2
    tables = result.all_read.batches / frames
    assert 4 <= tables <= 12, "each frame has some tables of two lanes"
    assert 0 < result.some_stalled.batches < result.all_read.batches
    assert 0 < result.all_read.p50_ms <= result.all_read.p99_ms
    assert 0 < result.server_cores < 2
    assert f"{VIEWERS} viewers" in text_of(result)


def test_a_watcher_reads_frames_in_whatever_parts_they_come() -> None:
    seen = Seen(phase=0)
    watcher = Watcher("x", b"", seen)
    watcher._open = True
    columns = {"t0": np.arange(40, dtype="<f8")}
    body = pack(batch("run", "arm", "spans", 0, 1.0, columns)).body
    assert 126 <= len(body) < 65536
    frame = bytes((0x82, 126)) + struct.pack(">H", len(body)) + body
    time.sleep(0.01)
    for at in range(0, 2 * len(frame), 7):
        watcher.data_received((frame + frame)[at : at + 7])
    late = np.array(seen.bins[0])
    assert late.sum() == 2 and late[: int(10 / BIN_MS)].sum() == 0


def test_quantiles_are_the_upper_ends_of_their_bins() -> None:
    bins = np.zeros(BINS + 1, dtype=np.int64)
    bins[1], bins[9] = 98, 2
    assert delays(bins).p50_ms == 2 * BIN_MS and delays(bins).p99_ms == 10 * BIN_MS
    assert delays(bins * 0).batches == 0
