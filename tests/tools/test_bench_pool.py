# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench pool`: clicks of both ways, on a server whose runs come from synthetic parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InputError
from tests.support.toy_server import SLUG, serving
from tests.support.toy_stage import toy_app
from tools.bench.clicks import Moved, main_step
from tools.bench.pool import Clicks, one_server, pool_of, result_of, text_of


def moved(*ms: float | None) -> list[Moved]:
    return [Moved(one, 2, why="" if one is not None else "no lease") for one in ms]


def test_the_first_click_of_a_server_is_apart_from_those_after_it(
    tmp_path: Path, run_async: Any
) -> None:
    seen = Clicks()
    with serving(toy_app(tmp_path, speed=20.0)) as address:
        other = "03-inode-recycling"
        run_async(one_server(address, other, main_step(SLUG, "wall"), 2, seen))
    assert (len(seen.first), len(seen.again)) == (1, 2)
    for one in (*seen.first, *seen.again):
        assert one.ms is not None and one.ms > 0 and not one.why


def test_medians_are_held_against_each_other() -> None:
    here, there = Clicks(moved(2000, 2200), moved(300)), Clicks(moved(2900, None), moved(350))
    found = result_of(SLUG, "slurm", here, there)
    assert (found.first_more_ms, found.stands_more_ms) == (800.0, 50.0)
    assert [one.met for one in found.targets] == [True, False]
    assert found.failed == ["slurm: no lease"]
    text = text_of(found)
    assert "first click, slurm: lease first" in text and "failed: slurm: no lease" in text
    none = result_of(SLUG, "slurm", here, Clicks())
    assert none.first_more_ms is None and "none moved" in text_of(none)
    assert [one.met for one in none.targets] == [None, None]


@pytest.mark.parametrize("which", ["local", "cloud", ""])
def test_a_pool_is_needed(monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    monkeypatch.setenv("DUET_POOL", "local")
    with pytest.raises(InputError, match="compare with this machine"):
        pool_of(which)
    monkeypatch.setenv("DUET_POOL", "slurm")
    assert pool_of("") == "slurm" and pool_of("kubernetes") == "kubernetes"
