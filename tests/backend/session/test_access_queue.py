# SPDX-License-Identifier: GPL-2.0-or-later
"""Accesses get guest times, which do not go back where the guest's clock becomes better known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from duet.lenses.scope.wire import RECORD, Log
from duet.session.lane.microscope import AccessQueue


class BetterKnown:
    """A clock whose distance to the host's is refined with each question, ns."""

    watermark_ns = 1e12

    def __init__(self, offsets_ns: list[int]) -> None:
        self._offsets_ns = offsets_ns

    def guest_window(self, first: int, last: int) -> Any:
        return SimpleNamespace(at_ns=first - self._offsets_ns.pop(0), error_ns=500)


def accesses(*host_ns: int) -> Log:
    records = np.zeros(len(host_ns), RECORD)
    records["host_ns"] = host_ns
    return Log(records)


def test_time_does_not_go_back_where_the_clock_becomes_better_known() -> None:
    times: list[float] = []
    faults: list[str] = []

    class Sink:
        def on_batch(self, arm: str, batch: Any) -> None:
            times.extend(batch.columns["t_ns"].tolist())

    clock = BetterKnown([1000, 1400, 900])
    queue = AccessQueue(
        "stock", cast(Any, Sink()), 0, cast(Any, clock),
        lambda *_: None, lambda sentence, _: faults.append(sentence),
    )  # fmt: skip
    for hosts in ((10_000, 10_300), (10_400, 10_500), (12_000, 12_100)):
        queue.add_log(accesses(*hosts))
    assert queue.time_logs() == 6
    queue.pass_on(0, final=True)
    assert faults == []
    assert times == [9000, 9300, 9300, 9400, 11_100, 11_200]
