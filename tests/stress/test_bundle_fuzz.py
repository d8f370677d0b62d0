# SPDX-License-Identifier: GPL-2.0-or-later
"""The same changed recordings each time; fuzz_bundles.py goes on as its arguments say."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

from duet.bundle import open_bundle
from tests.stress.bundle_mutations import changed
from tests.stress.bundle_oracle import judge
from tests.stress.fuzz_bundles import recordings
from tests.support.bundle_parts import take_apart

CASES = 60
REACHED: Counter[str] = Counter()


@hypothesis.settings(
    max_examples=CASES,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.generate],
)
@hypothesis.given(changed(recordings(), 60))
def test_a_changed_recording_gives_results_or_one_sentence(case: tuple[str, bytes]) -> None:
    what, content = case
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "case.duet"
        file.write_bytes(content)
        target = Path(folder) / "target"
        target.mkdir()
        found, came = judge(file, target)
    REACHED[came] += 1
    assert not found, f"after {what}: " + "\n".join(f"{x.key}\n{x.detail}" for x in found)


def test_the_changes_reach_what_lies_behind_the_checksums() -> None:
    if not REACHED:
        pytest.skip("the cases were not run")
    assert REACHED["nothing"] < CASES, "nothing was ever opened"
    # An export to trace.dat reads every page behind the checksums.
    deep = ("trace.dat", "replay", "csv", "perfetto")
    assert sum(REACHED[name] for name in deep) > 0, f"no page was ever read: {dict(REACHED)}"


def test_parts_that_nobody_changed_are_the_recording(tmp_path: Path) -> None:
    file = min(recordings(), key=lambda path: path.stat().st_size)
    parts = take_apart(file, 10**6)
    same = tmp_path / "same.duet"
    same.write_bytes(parts.copy().file())
    one, other = open_bundle(file), open_bundle(same)
    assert one.manifest.arms == other.manifest.arms
    for arm in one.manifest.arms:
        held = [b"".join(r.payload for r in b.records(arm.name)) for b in (one, other)]
        assert sorted(held[0]) == sorted(held[1])
    found, came = judge(same, tmp_path / "target")
    assert (found, came) == ([], "perfetto")
