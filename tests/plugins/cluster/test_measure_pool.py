# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure --pool` on a terminal: options, reports, exit codes, and an end by Ctrl-C."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InfraError
from duet.cli import main
from duet.cli.measure.args import MeasureArgs, read_plan
from duet.cli.measuring import SIGNALS
from duet.cli.output import note
from duet.measure import MeasurePlan
from duet.plugins.cluster import measure_verb as pooled
from duet.plugins.cluster.measuring.merge import checked_plan
from duet.plugins.cluster.measuring.request import parts_of
from tests.plugins.cluster.toy_pool import RATE, Toy, ToyPool

SLUG = "02-grace-periods"
WORDS = ["measure", SLUG, "--arms", "rwsem,srcu", "--clock", "count", "--shift", "0"]
SWEPT = [*WORDS, "--sweep", "hogs=1,2", "--pool", "slurm"]
Use = Callable[..., ToyPool]


def plan_of(**more: Any) -> MeasurePlan:
    return read_plan(MeasureArgs(SLUG, "rwsem,srcu", clock="count", shift="0", **more))


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Use:
    """Toy hosts in place of the pool that is named; what the plan's comparisons give."""

    def on(hosts: list[str], plan: MeasurePlan, **how: Any) -> ToyPool:
        toy, pool = Toy(tmp_path, parts_of(plan), **how), ToyPool(hosts)
        usual = pooled.terms
        monkeypatch.setattr(pooled, "open_pool", lambda settings: pool)
        monkeypatch.setattr(
            pooled, "terms", lambda given: replace(usual(given), program=toy.program, look_s=0.05)
        )
        return pool

    return on


def test_a_sweep_runs_at_once_and_the_report_has_all_of_it(
    use: Use, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = use(["n1", "n2"], plan_of(sweep="hogs=1,2"))
    assert main([*SWEPT, "--json"]) == 0
    out, err = capsys.readouterr()
    tree = json.loads(out)
    assert pool.most == 2 and tree["partial"] is None and tree["verdict"] == "no difference proven"
    assert {one["node"] for one in tree["hosts"]} == {"n1", "n2"}
    assert tree["command"].endswith("--pool slurm") and "--sweep hogs=1,2" in tree["command"]
    assert [row["params"]["hogs"] for row in tree["rows"] if row["metric"] == "ops_per_s"] == [
        1, 1, 2, 2,
    ]  # fmt: skip
    assert "pool slurm: 2 comparisons" in err and "n2: hogs=2: begins" in err
    assert main(SWEPT) == 0
    assert "Hosts:\n  hogs=1 on n1: a model, QEMU 7.2.22 (tcg)" in capsys.readouterr().out


def test_a_comparison_that_failed_is_an_exit_code_and_the_rest_is_printed(
    use: Use, capsys: pytest.CaptureFixture[str]
) -> None:
    use(["n1"], plan_of(sweep="hogs=1,2"), **{"2-0-0": "silent"})
    assert main(SWEPT) == InfraError.exit_code
    out = capsys.readouterr().out
    assert out.startswith("!! PARTIAL: hogs=2 failed.\n") and "the program on n1 ended" in out
    assert "verdict: srcu" in out
    use([], plan_of())
    assert main([*WORDS, "--pool", "slurm", "--json"]) == InfraError.exit_code
    assert json.loads(capsys.readouterr().out)["error"]["sentence"] == "no such host is there."


def test_ctrl_c_gives_leases_back_and_prints_what_is_done(
    use: Use, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = use(["n1", "n2"], plan_of(sweep="hogs=1,2"), n2="hangs")

    def say(text: str) -> None:
        note(text)
        if "done in" in text:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(pooled, "note", say)
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        assert main(SWEPT) == 130
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    out = capsys.readouterr().out
    assert out.startswith("!! PARTIAL: interrupted after 1 of 2 comparisons.\n")
    assert "verdict: srcu" in out and not pool.leases


def test_check_hosts_says_equal_or_which_figure_is_not(
    use: Use, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*WORDS, "--pool", "slurm", "--check-hosts"]
    use(["n1", "n2"], checked_plan(plan_of()))
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("Equal to the instruction: 10 figures, each the same")
    use(["n1", "n2"], checked_plan(plan_of()), **{"words n2": {RATE: "123.5"}})
    assert main(words) == 3
    assert "DIFFERS: rwsem ops_per_s, other start 1: 123.25" in capsys.readouterr().out
    use(["n1"], checked_plan(plan_of()))
    assert main(words) == 2
    assert "compares two hosts, but the pool has 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--pool", "nomad"], "'nomad' is no pool"),
        (["--pool", "local", "--check-hosts", "--format", "lkp"], "has no format 'lkp'"),
        (["--at-once", "2"], "need --pool"),
        (["--check-hosts"], "need --pool"),
        (["--pool", "local", "--at-once", "0"], "--at-once must be a whole number from 1"),
        (["--pool", "local", "--wait", "-1"], "--wait must be a whole number from 0"),
        (["--pool", "local", "--lease", "long"], "--lease must be a whole number from 1"),
        (["--pool", "local", "--published"], "--published"),
    ],
)
def test_what_cannot_be_asked_of_a_pool_is_a_sentence(
    more: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, *more]) == 2
    assert why in capsys.readouterr().err
