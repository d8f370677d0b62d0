# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet microscope --predict`: the model runs on what two guests really did."""

from __future__ import annotations

import json

import pytest

from duet.cli.entry import main
from duet.cli.microscope import predict as microscope_predict

pytestmark = pytest.mark.guest
WORDS = ("microscope", "05-cacheline-pingpong", "--set", "tasks=2", "--set", "stats=1000")


def test_the_model_runs_on_what_guests_did(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fewer CPUs, seeds and operations than by default, which take a minute."""
    monkeypatch.setattr(microscope_predict, "CPUS", (1, 2, 20))
    monkeypatch.setattr(microscope_predict, "SEEDS", (1, 2))
    monkeypatch.setattr(microscope_predict, "OPS", 400)
    assert main([*WORDS, "--predict", "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    stock, moved = tree["curves"]["stock"], tree["curves"]["moved"]
    assert [point["cpus"] for point in stock] == [1, 2, 20]
    for arm in (stock, moved):
        rates = [point["ops_per_s"]["median"] for point in arm]
        assert rates[0] > rates[2] / 20, "20 CPUs on one line are not 20 times as fast"
        assert arm[0]["transfers_per_op"]["median"] == 0
    # What a name on the lock's line costs hangs on whether a load asks to own the line at once.
    found = tree["comparison"]
    assert 0.8 < found["reading"]["ratio"] < 1.3
    assert 1.2 < found["owning"]["ratio"] < 1.9
    assert found["owning"]["ratio"] > found["reading"]["ratio"]
    # The profile of the mail tells the two apart.
    get, put = tree["profile"]["moved"][:2]
    assert abs(get["owning"] - put["owning"]) < 10 < abs(get["reading"] - put["reading"])
