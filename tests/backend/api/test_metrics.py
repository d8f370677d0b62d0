# SPDX-License-Identifier: GPL-2.0-or-later
"""/metrics as Prometheus' own library reads it: names, units, values that follow what happens."""

from __future__ import annotations

import http.client
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from duet import messages as m
from duet.api.metrics import children
from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.server.meters import EVENTS, LaneStarts
from tests.support.toy_server import page, serving
from tests.support.toy_stage import toy_app

Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def scraped(address: str, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(address, timeout=120)
    try:
        connection.request("GET", "/metrics", headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def values(text: str) -> Values:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with serving(toy_app(tmp_path, speed=20.0)) as where:
        yield where


def test_a_run_is_counted_with_its_wait_and_what_pages_got(address: str, run_async: Any) -> None:
    before = values(scraped(address)[1])

    async def run() -> Values:
        async with page(address) as one:
            await one.open()
            await one.start("srcu", seconds=1)
            await one.begun()
            during = values(scraped(address)[1])
            await one.until_over()
            return during

    during = run_async(run())
    assert (before["duet_pages_open", ()], during["duet_pages_open", ()]) == (0, 1)
    assert during["duet_seats_open", (("kind", "sockets"),)] == 1
    assert during["duet_runs_active", ()] == 1
    done = ("duet_runs_total", (("kind", "run"), ("outcome", "done")))
    wait = ("duet_run_queue_seconds_count", (("kind", "run"),))
    deadline = 200
    while (after := values(scraped(address)[1])).get(done, 0) == before.get(done, 0):
        deadline -= 1
        assert deadline
    assert after[done] == before.get(done, 0) + 1
    assert after[wait] == before.get(wait, 0) + 1
    assert after["duet_runs_active", ()] == 0
    assert after["duet_sent_messages_total", ()] > 20
    assert after["duet_sent_bytes_total", ()] > 1000
    assert after["duet_loop_cpu_holds_total", ()] == 0
    assert after["process_resident_memory_bytes", ()] > 1 << 20


def test_names_have_units_and_every_family_says_what_it_is(address: str) -> None:
    families = list(text_string_to_metric_families(scraped(address)[1]))
    ours = [family for family in families if family.name.startswith("duet_")]
    assert len(ours) >= 18 and len({family.name for family in ours}) == len(ours)
    for family in ours:
        assert re.fullmatch(r"duet(_[a-z]+)+", family.name) and family.documentation
        assert not re.search(r"_(ms|kb|mb|ns|milliseconds|total)(_|$)", family.name)
        if family.type == "histogram":
            assert family.name.endswith("_seconds")


def test_lanes_are_timed_by_how_they_start() -> None:
    def counts() -> dict[str, float]:
        found = EVENTS.get_sample_value
        name = "duet_lane_first_event_seconds_count"
        return {s: found(name, {"start": s}) or 0 for s in ("boot", "copy", "reused")}

    before, starts = counts(), LaneStarts()
    failures = EVENTS.get_sample_value("duet_lane_failures_total") or 0
    for arm, cloned in (("one", False), ("two", True)):
        starts.on_lane(m.Lane(run_id="r", arm=arm, phase="booting"))
        starts.on_lane(m.Lane(run_id="r", arm=arm, phase="ready", cloned=cloned))
    starts.on_lane(m.Lane(run_id="r", arm="three", phase="ready", cloned=True))
    starts.on_lane(m.Lane(run_id="r", arm="four", phase="failed"))
    for arm in ("one", "two", "three", "one"):
        starts.on_batch(arm)
    after = counts()
    assert {s: after[s] - before[s] for s in after} == {"boot": 1, "copy": 1, "reused": 1}
    assert EVENTS.get_sample_value("duet_lane_failures_total") == failures + 1


def test_parked_guests_and_copies_that_failed_are_counted(address: str) -> None:
    seen = {name: value for (name, _), value in values(scraped(address)[1]).items()}
    shown = {name: value for name, value in seen.items() if name.startswith("duet_template")}
    assert shown == {
        "duet_templates_held": 2,
        "duet_templates_held_bytes": 3 << 20,
        "duet_templates_making": 0,
        "duet_template_copies_ready": 0,
        "duet_template_copies_ready_bytes": 0,
        "duet_template_copies_taken_total": 0,
        "duet_templates_waiting": 1,
        "duet_templates_later": 3,
        "duet_templates_made_total": 4,
        "duet_templates_failed_total": 1,
        "duet_template_copies_refused_total": 2,
    }


def test_child_processes_are_counted_by_program() -> None:
    before = children()["other"]
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            assert children()["other"] == before + 1
        finally:
            process.kill()


def test_with_tokens_only_an_operator_may_look(tmp_path: Path) -> None:
    file = AccessFile(tmp_path / "access.json")
    tokens = file.make(Role, again=False)
    with serving(toy_app(tmp_path, sessions=Sessions(file))) as where:
        assert scraped(where)[0] == 401
        for role in Role:
            status, text = scraped(where, Authorization=f"Bearer {tokens[role]}")
            assert (status, "duet_runs_active" in text) == (
                (200, True) if role is Role.OPERATOR else (403, False)
            )
