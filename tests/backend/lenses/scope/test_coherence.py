# SPDX-License-Identifier: GPL-2.0-or-later
"""The page's model and the slow one agree, access by access: one run of node over random cases.

The two share a generator of chance, a file of numbers and nothing else: the page keeps bits of
typed arrays and a tournament of clocks, the slow one states per CPU and a heap.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from duet.lenses.scope import model
from duet.lenses.scope.coherence import (
    Caches,
    Random,
    Settings,
    Stream,
    interleave,
    part_numbers,
    stated,
)
from duet.lenses.scope.model import owning_loads, profiles, recorded_streams, whole_operations

LOGS = 1000
ORDERS = 300
CURVES = 12
RECORDED = 60
NODE_S = 280
LINE = 64
FUNCTIONS = ("__d_lookup_rcu", "lockref_get_not_dead", "dput", "somebody_else")


def some_log(dice: random.Random) -> dict[str, Any]:
    """A merged log: several lines, 2 to 8 CPUs (now and then up to 64), all classes."""
    cpus = dice.choice([*range(2, 9), 33, 64]) if dice.random() < 0.2 else dice.randint(2, 8)
    lines = dice.randint(1, 6)
    length = (
        dice.choice([0, 1, dice.randint(2, 3000)]) if dice.random() < 0.1 else dice.randint(20, 400)
    )
    classes = dice.choice([(0, 1, 2), (0, 0, 0, 2), (0, 0, 0, 0, 0, 1), (1, 2), (0, 2)])
    favourite = dice.randrange(lines)
    return {
        "cpus": cpus,
        "lines": lines,
        "protocol": dice.choice(["MESI", "MSI"]),
        "cpu": dice.choices(range(cpus), k=length),
        "line": [
            favourite if dice.random() < 0.4 else dice.randrange(lines) for _ in range(length)
        ],
        "kind": dice.choices(classes, k=length),
    }


def some_stream(dice: random.Random, lines: int, whole: bool = False) -> Stream:
    """Operations of one to eight accesses, some accesses outside of any."""
    line, kind, op, work, part = [], [], [], [], []
    for number in range(1, dice.randint(2, 30)):
        outside = not whole and dice.random() < 0.1
        for _ in range(dice.randint(1, 8)):
            line.append(dice.randrange(lines))
            kind.append(dice.choice([0, 0, 0, 1, 2]))
            op.append(0 if outside else number)
            work.append(dice.choice([0, 0, dice.random()]))
            part.append(dice.choice([0, 0, 1, 2, 3]))
    return Stream(line, kind, op, work, part)


def some_settings(dice: random.Random) -> Settings:
    """Odd prices, so that times seldom meet; sometimes round ones, so that they do."""
    price = (lambda most: float(dice.randint(1, most))) if dice.random() < 0.3 else (
        lambda most: dice.uniform(0.1, most)
    )  # fmt: skip
    return Settings(
        hit_ns=price(5),
        transfer_ns=price(120),
        upgrade_ns=price(120),
        own_ns=price(500),
        jitter=dice.choice([0.0, 0.2, 1.0]),
        handover=dice.choice([0.0, 0.5, 1.0, dice.random()]),
        protocol=dice.choice(["MESI", "MSI"]),
        schedule=dice.choice(["random", "timed"]),
    )


def some_order(dice: random.Random) -> dict[str, Any]:
    """Streams of unequal length under some schedule; now and then one CPU has nothing to do."""
    lines = dice.randint(1, 4)
    streams = [some_stream(dice, lines) for _ in range(dice.randint(2, 8))]
    if dice.random() < 0.1:
        streams[0] = Stream([], [], [], [], [])
    return {
        "streams": streams,
        "settings": some_settings(dice),
        "seed": dice.randint(0, 2**32 - 1),
        "until": dice.choice(["first", "last"]),
    }


def some_curve(dice: random.Random) -> dict[str, Any]:
    """A comparison of two layouts."""
    before, after = ([some_stream(dice, 3, whole=True) for _ in range(2)] for _ in range(2))
    return {
        "before": before,
        "after": after,
        "settings": some_settings(dice),
        "cpus": dice.randint(2, 24),
        "seeds": [1, 2, 3, 4][: dice.randint(1, 4)],
        "ops": 60,
    }


def some_recording(dice: random.Random) -> dict[str, list[int]]:
    """Accesses as the microscope tells them, some over a line's end."""
    length = dice.randint(1, 200)
    ops = [0] * 8
    cpu, op = [], []
    for _ in range(length):
        c = dice.choice([0, 1, 3, 7])
        ops[c] += dice.random() < 0.2
        cpu.append(c)
        op.append(0 if dice.random() < 0.05 else ops[c])
    return {
        "cpu": cpu,
        "at": [dice.randrange(192) for _ in range(length)],
        "size": dice.choices([1, 2, 4, 8, 32], k=length),
        "kind": dice.choices([0, 1, 2], k=length),
        "op": op,
        "func": dice.choices(range(len(FUNCTIONS)), k=length),
    }


def camel(settings: Settings) -> dict[str, Any]:
    """Settings as the page has them."""
    tree = asdict(settings)
    prices = {f"{name}Ns": tree.pop(f"{name}_ns") for name in ("hit", "transfer", "upgrade", "own")}
    return {**tree, "latencies": prices}


def tree_of(case: dict[str, Any]) -> dict[str, Any]:
    """A case as JSON."""
    tree = dict(case)
    for name in ("streams", "before", "after"):
        if name in tree:
            tree[name] = [asdict(stream) for stream in tree[name]]
    if "settings" in tree:
        tree["settings"] = camel(tree["settings"])
    return tree


@pytest.fixture(scope="module")
def cases() -> dict[str, list[Any]]:
    dice = random.Random(20260512)
    return {
        "logs": [some_log(dice) for _ in range(LOGS)],
        "orders": [some_order(dice) for _ in range(ORDERS)],
        "curves": [some_curve(dice) for _ in range(CURVES)],
        "recorded": [some_recording(dice) for _ in range(RECORDED)],
    }


@pytest.fixture(scope="module")
def page(
    cases: dict[str, list[Any]], root: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Any]]:
    """What the page's model says to every case."""
    node = shutil.which("node", path=f"{root / '.venv/bin'}:{shutil.os.environ['PATH']}")
    if node is None:
        pytest.skip("node is not installed (./setup.sh page installs it)")
    folder = tmp_path_factory.mktemp("coherence")
    tree = {name: [tree_of(case) for case in some] for name, some in cases.items()}
    (folder / "cases.json").write_text(json.dumps({**tree, "functions": FUNCTIONS}))
    (runner,) = root.glob("lessons/*/view/fixtures/coherence-runner.ts")
    done = subprocess.run(
        [node, runner, folder / "cases.json", folder / "results.json"],
        capture_output=True,
        text=True,
        timeout=NODE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    reported: dict[str, list[Any]] = json.loads((folder / "results.json").read_text())
    return reported


def slow_log(case: dict[str, Any]) -> dict[str, Any]:
    """The slow model's answer to a merged log."""
    caches = Caches(case["lines"], case["protocol"])
    reported = [
        caches.access(*one) for one in zip(case["cpu"], case["line"], case["kind"], strict=True)
    ]
    states = "".join(
        caches.copies[line].get(cpu, "I")
        for cpu in range(case["cpus"])
        for line in range(case["lines"])
    )
    events = [event for event, _, _ in reported]
    return {
        "event": events,
        "from": [giver for _, giver, _ in reported],
        "lost": [lost for _, _, lost in reported],
        "states": states,
        "accesses": len(events),
        "hits": events.count(0),
        "fetches": events.count(1) + events.count(4),
        "readTransfers": events.count(2),
        "writeTransfers": events.count(5),
        "transfers": events.count(2) + events.count(5),
        "upgrades": events.count(3),
        "invalidations": sum(lost for _, _, lost in reported),
        "busEvents": len(events) - events.count(0),
        "ops": 0,
    }


def test_random_logs_agree_to_the_transfer(
    cases: dict[str, list[Any]], page: dict[str, list[Any]]
) -> None:
    assert len(page["logs"]) == LOGS
    for i, (case, reported) in enumerate(zip(cases["logs"], page["logs"], strict=True)):
        assert reported == slow_log(case), f"log {i}"
    seen = {event for reported in page["logs"] for event in reported["event"]}
    assert seen == set(range(6)), "not every kind of event came up"


def test_schedules_agree_to_the_access(
    cases: dict[str, list[Any]], page: dict[str, list[Any]]
) -> None:
    for i, (case, reported) in enumerate(zip(cases["orders"], page["orders"], strict=True)):
        merged = interleave(case["streams"], case["settings"], case["seed"], case["until"])
        assert reported["cpu"] == merged.cpu, f"order {i}"
        assert reported["endNs"] == merged.end_ns, f"order {i}"
        assert reported["ops"] == merged.ops, f"order {i}"
        if case["settings"].schedule == "timed" and merged.end_ns:
            assert reported["accessNs"] == merged.access_ns, f"order {i}"
            assert reported["ownNs"] == merged.own_ns, f"order {i}"


def test_curves_and_sensitivity_agree(
    cases: dict[str, list[Any]], page: dict[str, list[Any]]
) -> None:
    for case, reported in zip(cases["curves"], page["curves"], strict=True):
        runs = (case["cpus"], case["seeds"], case["ops"])
        point = model.point(case["before"], case["settings"], *runs)
        for mine, theirs in (
            ("transfers_per_op", "transfersPerOp"),
            ("upgrades_per_op", "upgradesPerOp"),
            ("bus_events_per_op", "busEventsPerOp"),
        ):
            assert reported["point"][theirs] == point[mine]
        if case["settings"].schedule == "timed":
            assert reported["point"]["opsPerS"] == point["ops_per_s"]
        mine = model.sensitivity((case["before"], case["after"]), case["settings"], *runs)
        for rule in ("owning", "reading"):
            theirs = reported["sensitivity"][rule]
            assert theirs["stated"]["ratio"] == mine[rule]["ratio"]
            assert theirs["stated"]["off"] == pytest.approx(mine[rule]["off"])
            for one, other in zip(theirs["rows"], mine[rule]["sensitivity"], strict=True):
                for way in ("halved", "doubled"):
                    assert one[way]["ratio"] == other[way]
                    assert one[way]["off"] == pytest.approx(other[f"{way}_off"])
        arms = {"stock": case["before"]}
        profile = profiles(arms, case["settings"], *runs)["stock"]
        for rule in ("owning", "reading"):
            assert reported["profile"][rule] == [part[rule] for part in profile]


def test_streams_out_of_recordings_agree(
    cases: dict[str, list[Any]], page: dict[str, list[Any]]
) -> None:
    counted = stated()["counted"]
    for case, reported in zip(cases["recorded"], page["recorded"], strict=True):
        columns = {name: case[name] for name in ("cpu", "at", "size", "kind", "op")}
        names = [FUNCTIONS[f] for f in case["func"]]
        mine = recorded_streams(
            **columns,
            functions=names,
            counted=counted["at"],
            instructions=counted["instructions"],
            parts=part_numbers(),
        )
        assert len(mine) == len(reported)
        for stream, one in zip(mine, reported, strict=True):
            for name, made in (
                ("all", stream),
                ("whole", whole_operations(stream)),
                ("owning", owning_loads(stream)),
            ):
                wanted = {key: list(value) for key, value in asdict(made).items()}
                assert one[name] == wanted


def test_chance_is_spread_evenly_and_follows_its_seed() -> None:
    chance = Random(7)
    counts = [0] * 8
    for _ in range(8000):
        counts[chance.below(8)] += 1
    assert min(counts) > 900 and max(counts) < 1100
    assert [Random(1).next() for _ in range(2)] == [Random(1).next() for _ in range(2)]
    assert Random(1).next() != Random(2).next()
