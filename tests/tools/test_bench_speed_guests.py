# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture, and the speed stages with guests."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from duet.guests.types import GuestSpec
from duet.kernels.arms import arm_spec
from duet.kernels.recipe import arm_patches
from duet.kernels.settings import KernelSettings
from duet.lessons.load import load
from tools.bench.speed import stream
from tools.bench.speed.capture import capture
from tools.bench.speed.guests import streaming, union
from tools.bench.speed.guests.pixels import delays
from tools.bench.speed.pairs import Bench, DifferentResultsError, Row, Skipped


def test_the_union_has_the_probes_of_every_lesson(tmp_path: Path) -> None:
    union.write_union(tmp_path)
    lesson = load(union.SLUG, tmp_path).lesson
    events = {probe.event for probe in lesson.probes}
    for event in (
        *(
            "vmscan/shrinker_visit",
            "rcu/srcu_gp_state",
            "xfs/xfs_inode_reuse",
            "ext4/ext4_es_visit",
        ),
        *("sched/sched_switch", "sched/sched_waking", "duet/l01_shrink", "duet/l02_shrink"),
    ):
        assert event in events
    assert {span.kind for span in lesson.spans} >= {"l01-walking", "l02-srcu_call", "l04-scan"}
    assert {track.name for track in lesson.tracks} >= {"l02-grace-period", "l03-rcu"}
    defined = [probe.define for probe in lesson.probes if probe.define]
    assert not [one for one in defined if one.startswith("r4:")]


def test_the_union_carries_the_instrumentation_of_every_lesson(tmp_path: Path) -> None:
    union.write_union(tmp_path)
    settings = KernelSettings.default()
    spec = arm_spec(load(union.SLUG, tmp_path), union.ARM)
    names = [path.name for path in arm_patches(spec, settings.patches, settings.base_of(spec))]
    assert names[-1] == union.SRCU
    assert {name[:2] for name in names[2:-1]} == {"01", "02", "03", "04", "05"}


def test_the_stream_lesson_needs_no_kernel_of_its_own(tmp_path: Path) -> None:
    streaming.write_stream(tmp_path)
    settings = KernelSettings.default()

    def diffs(slug: str, root: Path | None, arm: str) -> list[bytes]:
        spec = arm_spec(load(slug, root), arm)
        paths = arm_patches(spec, settings.patches, settings.base_of(spec))
        return [path.read_bytes() for path in paths]

    own = diffs(streaming.SLUG, tmp_path, streaming.ARM)
    assert own == diffs(streaming.LIKE, None, "rwsem")


def test_a_smoke_capture_is_a_shipped_recording(tmp_path: Path) -> None:
    made = capture(Bench(smoke=True, folder=tmp_path))
    assert made.events > 5000
    assert made.trace_dat.read_bytes()[:10] == b"\x17\x08\x44tracing"
    assert made.arm in [arm.name for arm in made.folder().lesson.arms]


def test_a_console_counts_events_across_chunks() -> None:
    console = streaming.LineCounter(b": task_rename: ")
    for text in (b"a: task_ren", b"ame: x\nb: task_rename: y", b"\nnoise\n"):
        console.feed(text)
    assert console.count == 2
    assert console.at > 0
    assert "noise" in console.tail()


def test_a_counting_guest_keeps_its_spec() -> None:
    class Other(streaming.QemuGuest):
        pass

    spec = GuestSpec("stock", Path("bzImage"), None)
    assert streaming.CountingGuest(Other(spec), b"x").spec is spec


def test_different_counts_are_refused() -> None:
    stream.same_events(1003, 1001, 1000)
    with pytest.raises(DifferentResultsError, match="999"):
        stream.same_events(1000, 999, 1000)


def test_delays_begin_at_the_best_transport() -> None:
    batches = [
        {"arm": "srcu", "host": 1010.0, "drawn": 1030.0, "ends": [8e6, 9e6]},  # 1 ms after offset
        {"arm": "srcu", "host": 1020.0, "drawn": 1041.0, "ends": [20e6]},  # the best: no delay
    ]
    found = delays(batches)
    assert found.whole.tolist() == [22.0, 21.0, 21.0]
    assert found.host.tolist() == [20.0, 20.0, 21.0]
    assert np.isfinite(found.whole).all()


@pytest.mark.guest
@pytest.mark.skipif(shutil.which("trace-cmd") is None, reason="trace-cmd is not installed")
def test_a_stream_row_has_all_events_on_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "SMOKE_EVENTS", 20_000)
    monkeypatch.setattr(stream, "SERIAL_EVENTS", 500)
    found = list(stream.run(Bench(smoke=True, folder=tmp_path)))
    skipped = [one for one in found if isinstance(one, Skipped)]
    assert [one.case for one in skipped] == ["trace-cmd over vsock"]
    rows = {one.peer: one for one in found if isinstance(one, Row)}
    assert set(rows) == {"trace-cmd record, its file read on the host", stream.PORT}
    assert all(row.ratio > 1 for row in rows.values())
