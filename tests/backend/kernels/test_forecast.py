# SPDX-License-Identifier: GPL-2.0-or-later
"""The sentence before a compile, and what the pace is learnt from."""

from __future__ import annotations

from pathlib import Path

from duet.kernels.compiler import PACE_S, forecast, read_pace, write_pace
from duet.kernels.tree import TreeState


def test_the_sentence_says_from_where_how_much_and_how_long() -> None:
    moved = TreeState("05-cacheline-pingpong", "moved", {})
    said = forecast(moved, 876, 0.35)
    assert said.startswith("the tree is at 05-cacheline-pingpong moved; about 876 objects")
    assert said.endswith("5 min or less.")
    assert forecast(None, 1, 0.35) == "about 1 object to compile, 15 s or less."


def test_the_pace_is_learnt_from_large_builds_alone(tmp_path: Path) -> None:
    pace = tmp_path / "pace"
    assert read_pace(pace) == PACE_S
    write_pace(pace, 3, 60.0)
    assert read_pace(pace) == PACE_S
    write_pace(pace, 900, 195.0)
    assert read_pace(pace) == 0.2
    for damage in ("", "x", "nan"):
        pace.write_text(damage)
        assert 0 < read_pace(pace) <= 60
