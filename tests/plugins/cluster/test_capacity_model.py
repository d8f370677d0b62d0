# SPDX-License-Identifier: GPL-2.0-or-later
"""The model of `duet plan`: units, zero, more never needs less, and what is short first."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from duet.base.budgets import LIVE_RUNS_MOST, SOCKETS
from duet.base.errors import InputError
from duet.plugins.cluster.capacity.constants import (
    CONSTANTS,
    Estimate,
    Figures,
    Known,
    exactly,
    shipped,
    spanning,
)
from duet.plugins.cluster.capacity.model import Demand, Plan, notes, plan, sentence, uses

CLASS = Demand(
    students=300,
    live=20,
    lanes=2,
    recording_bytes=exactly(300_000),
    segments=exactly(3),
    guest_bytes=512 << 20,
    vcpus=2,
    cache=True,
    pool="local",
    host_cpus=16,
    host_bytes=64 << 30,
    link_bits_per_s=1e9,
    arrive_s=60.0,
)


def known(**values: float) -> Figures:
    """The shipped constants, some of them replaced, none with a spread."""
    made = {}
    for name, one in shipped().items():
        made[name] = Known(one.constant, exactly(values.get(name, one.figure.high)))
    assert values.keys() <= made.keys()
    return made


def ends(one: Estimate) -> tuple[float, float]:
    return one.low, one.high


def needs(found: Plan) -> dict[str, Estimate]:
    """All that a plan asks for."""
    loads = {
        f"{when} {name}": getattr(load, name)
        for when, load in (("start", found.start), ("steady", found.steady))
        for name in ("server_cores", "nginx_cores", "bits_per_s", "connections")
    }
    names = ("hosts", "servers", "guest_hosts", "cpus", "memory_bytes")
    return loads | {name: getattr(found, name) for name in names}


def test_an_estimate_has_a_low_and_a_high_end() -> None:
    assert Estimate(1, 2) + Estimate(3, 5) == Estimate(4, 7)
    assert Estimate(1, 2) * 3 == Estimate(3, 6) and Estimate(2, 4).over(2) == Estimate(1, 2)
    assert spanning(Estimate(2, 3), Estimate(1, 5)) == Estimate(1, 5)
    for low, high in ((2, 1), (-1, 1), (float("nan"), 1)):
        with pytest.raises(ValueError, match="not a range"):
            Estimate(low, high)


def test_cpu_time_in_ms_and_bytes_become_cores_and_bits() -> None:
    pages = {"page_first_bytes": 1e5, "page_all_bytes": 1e5, "open_bytes": 1e5}
    figures = known(open_server=6.0, open_nginx=1.0, segment_nginx=0.5, **pages)
    start = plan(replace(CLASS, students=600, live=0), figures).start  # ten students a second
    assert ends(start.server_cores) == pytest.approx((10 * 6e-3,) * 2)
    assert ends(start.nginx_cores) == pytest.approx((10 * (1 + 3 * 0.5) * 1e-3,) * 2)
    assert ends(start.bits_per_s) == pytest.approx((10 * 500_000 * 8,) * 2)
    assert start.connections == Estimate(1200, 4800)


def test_a_run_wants_what_was_measured_or_all_that_its_guests_may_take() -> None:
    found = plan(CLASS, known(lane_cores=1.1, lane_memory=400e6))
    assert ends(found.run_cpus) == pytest.approx((2.2, 4.0))
    assert ends(found.run_bytes) == pytest.approx((800e6, 2 * (536_870_912 + 250e6)))
    assert found.guest_hosts == Estimate(3, 5), "16 CPUs carry 7 runs, or 4 with a CPU a vCPU"
    assert found.servers == exactly(3), "a server runs 8 live runs at once"
    assert found.hosts == Estimate(3, 5)
    on_pool = plan(replace(CLASS, pool="slurm"), known(lane_cores=1.1, lane_memory=400e6))
    assert on_pool.hosts == Estimate(6, 8) and on_pool.moves_ms.high > found.moves_ms.high


def test_pages_open_as_fast_as_all_servers_answer_and_their_links_carry() -> None:
    many = replace(CLASS, students=1200, live=0, arrive_s=1)
    one = plan(many, known(open_server=5.0)).opened_s
    assert ends(one)[0] >= 1200 * 5e-3
    two = plan(replace(many, students=1201), known(open_server=5.0))
    assert two.servers == exactly(2)
    assert ends(two.opened_s) == pytest.approx([end / 2 for end in ends(one)], rel=0.01)
    slow = plan(replace(many, link_bits_per_s=1e6), known(open_server=5.0)).opened_s
    assert slow.low > one.high


def test_nobody_needs_one_server_and_nothing_else() -> None:
    found = plan(replace(CLASS, students=0, live=0), shipped())
    assert (found.hosts, found.guest_hosts) == (exactly(1), exactly(0))
    for name in ("server_cores", "nginx_cores", "bits_per_s", "connections"):
        assert getattr(found.start, name) == getattr(found.steady, name) == exactly(0)
    assert found.opened_s == found.moves_ms == found.cpus == exactly(0)
    assert uses(found) == [] and notes(found) == [] and sentence(found) == "Nothing is in use."


GROWING: dict[str, list[Any]] = {
    "students": [0, 1, 31, 32, 33, 300, 1200, 1201, 5000, 100_000],
    "live": [0, 1, 7, 8, 9, 20, 64, 500],
    "lanes": [1, 2, 3, 5],
    "vcpus": [1, 2, 4],
    "guest_bytes": [256 << 20, 512 << 20, 8 << 30],
    "recording_bytes": [exactly(1e4), exactly(3e5), exactly(1e7)],
    "segments": [exactly(1), exactly(12)],
}


@pytest.mark.parametrize("what", GROWING)
@pytest.mark.parametrize("pool", ["local", "slurm"])
@pytest.mark.parametrize("cache", [True, False])
def test_more_never_needs_less(what: str, pool: str, cache: bool) -> None:
    demand = replace(CLASS, pool=pool, cache=cache)
    found = [plan(replace(demand, **{what: value}), shipped()) for value in GROWING[what]]
    for less, more in itertools.pairwise(found):
        for name, need in needs(less).items():
            there = needs(more)[name]
            assert need.low <= there.low + 1e-9 and need.high <= there.high + 1e-9, name


@pytest.mark.parametrize("what", ["host_cpus", "host_bytes"])
def test_larger_hosts_are_never_more_hosts(what: str) -> None:
    sizes = [1, 2, 4, 64] if what == "host_cpus" else [1 << 29, 1 << 31, 1 << 36]
    hosts = [plan(replace(CLASS, **{what: size}), shipped()).hosts for size in sizes]
    for small, large in itertools.pairwise(hosts):
        assert large.low <= small.low and large.high <= small.high


def test_a_cache_takes_the_work_of_segments_from_the_server() -> None:
    (with_it, without) = (plan(replace(CLASS, cache=cache), shipped()) for cache in (True, False))
    assert with_it.start.server_cores.high < without.start.server_cores.high
    assert with_it.steady.bits_per_s.high < without.steady.bits_per_s.high
    assert without.start.nginx_cores == exactly(0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"link_bits_per_s": 2e7}, "Short now: the link"),
        ({"students": 1150, "live": 0}, "Short first: the sockets of the server"),
        ({"live": 1, "host_cpus": 2}, "Short now: the CPUs of the guests' hosts, by 2.0 times"),
        ({"live": 1, "host_cpus": 256, "host_bytes": 1 << 30}, "memory of the guests' hosts"),
        ({"live": 8, "host_cpus": 256, "host_bytes": 1 << 40}, "the 8 live runs of a server"),
        ({"students": 500, "live": 0, "arrive_s": 1.0, "link_bits_per_s": 1e11}, "one process"),
    ],
    ids=lambda one: "" if isinstance(one, str) else ",".join(one),
)
def test_one_sentence_says_what_is_short_first(change: dict[str, Any], said: str) -> None:
    text = sentence(plan(replace(CLASS, **change), shipped()))
    assert said in text and text.endswith(".") and text.count("carries") == 1


def test_what_a_resource_carries_uses_all_of_it() -> None:
    found = plan(replace(CLASS, live=0), shipped())
    link = next(one for one in uses(found) if one.what == "the link while all come")
    full = plan(replace(CLASS, live=0, students=link.carries), shipped())
    servers = full.servers.high / found.servers.high
    again = next(one for one in uses(full) if one.what == link.what)
    assert again.share * servers == pytest.approx(1.0, rel=0.01)


def test_bounds_of_this_program_are_said() -> None:
    many = replace(CLASS, students=SOCKETS + 1, live=LIVE_RUNS_MOST + 1, cache=False, host_cpus=2)
    text = " ".join(notes(plan(many, shipped())))
    run = CONSTANTS["run_time"].shipped
    assert "exported site" in text
    assert f"begins after {run.low:.0f} to {run.high:.0f} s" in text, "the ninth waits for one"
    assert "sockets from one address" in text and "wait for each other" in text


@pytest.mark.parametrize(
    "change",
    [
        {"students": -1},
        {"students": 2_000_000},
        {"live": -1},
        {"lanes": 0},
        {"host_cpus": -4},
        {"host_bytes": 0},
        {"link_bits_per_s": float("nan")},
        {"link_bits_per_s": float("inf")},
        {"arrive_s": 0.0},
    ],
    ids=str,
)
def test_a_class_that_cannot_be_gets_a_sentence(change: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        plan(replace(CLASS, **change), shipped())
    value, _, rest = caught.value.sentence.partition(": ")
    assert value and rest.startswith("a plan needs") and "--help" in caught.value.remedy


def test_each_constant_has_a_unit_a_source_and_a_figure() -> None:
    for name, one in CONSTANTS.items():
        assert one.name == name and one.unit and one.what
        assert one.source.startswith("make bench ARGS=") and one.shipped.high > 0
