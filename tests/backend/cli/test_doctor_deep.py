# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet doctor --deep` without a guest: its table, its exit code, and what it says of the host."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InfraError
from duet.cli.doctor import deep as checks
from duet.cli.doctor import guests, host, machine
from duet.cli.doctor.deep import check, deep_checks
from duet.cli.doctor.first_event import LaneStart
from duet.cli.doctor.guests import ContentionSink, GuestTrials, lane_files, limits_of, shared_spaces
from duet.cli.doctor.line import Check, Failure, show
from duet.cli.entry import main
from duet.confine import missing_box
from duet.confine.control_groups import Budget, Group
from duet.session import Contention

NO_KERNEL = InfraError("no lesson has a kernel.", remedy="Run ./duet build.")
NAMES = [
    "a guest", "a copy", "own namespaces", "own budget", "host CPUs", "enforced budget",
    "boxed build", "disk speed",
]  # fmt: skip


class Trials:
    """Of a host where all is well, but for what is given."""

    fails: tuple[str, ...] = ()

    async def _say(self, name: str) -> str:
        if name in self.fails:
            raise NO_KERNEL
        return f"{name} 1 ms"

    async def boots(self) -> str:
        return await self._say("boots")

    async def copies(self, templates: object) -> str:
        return await self._say("copies")

    async def apart(self) -> str:
        raise Failure("a guest shares: net", "Allow them.")

    async def bounded(self) -> str:
        return await self._say("bounded")

    async def waits(self) -> str:
        return await self._say("waits")


@pytest.fixture
def well(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setattr(machine, "PARTS", (lambda: [Check("python", "ok", "3.11", "all")],))
    monkeypatch.setattr(checks, "GuestTrials", Trials)
    for name in ("budget_is_enforced", "try_box", "disk_speed"):
        monkeypatch.setattr(checks, name, lambda: "100 MiB/s")
    yield monkeypatch


def test_a_warning_is_no_failure(
    well: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--deep"]) == 0
    said = capsys.readouterr().out
    assert [name for name in NAMES if name in said] == NAMES
    assert "warning  own namespaces   a guest shares: net" in said and "-> Allow them." in said
    assert "Everything required is present." in said
    assert main(["doctor", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["checks"]) == 1, "not without --deep"


@pytest.mark.parametrize(("name", "code"), [("boots", 3), ("copies", 0), ("waits", 0)])
def test_without_a_guest_something_needed_is_missing(
    well: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    well.setattr(Trials, "fails", (name,))
    assert main(["doctor", "--deep", "--json"]) == code
    tree = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in tree["checks"]][1:] == NAMES, "one that fails ends no other"
    failed = [one for one in tree["checks"] if one["found"] == NO_KERNEL.sentence]
    assert [one["status"] for one in failed] == ["missing" if code else "warning"]
    assert failed[0]["remedy"] == NO_KERNEL.remedy and tree["ok"] == (not code)


def test_without_a_kernel_the_host_is_still_looked_at(well: pytest.MonkeyPatch) -> None:
    def none() -> Trials:
        raise NO_KERNEL

    well.setattr(checks, "GuestTrials", none)
    found = list(deep_checks())
    assert [one.name for one in found] == ["a guest", *NAMES[-3:]]
    assert found[0].status == "missing" and show(found, as_json=True) == 3


def test_a_check_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "TRIAL_S", 0.05)

    async def stuck() -> str:
        await asyncio.sleep(60)
        return ""

    found = asyncio.run(check("a", "b", "missing", stuck))
    assert (found.status, found.found) == ("missing", "it took more than 0.05 s")


def trials(monkeypatch: pytest.MonkeyPatch, start: LaneStart, share: float = 0.1) -> GuestTrials:
    async def first_event(*given: Any, **_: object) -> LaneStart:
        for one in given:
            if isinstance(one, ContentionSink):
                one.accel = "tcg"
                one.on_contention("a", Contention(1 - share, share))
        return start

    monkeypatch.setattr(guests, "first_event", first_event)
    monkeypatch.setattr(guests, "built_arms", lambda folder, _: list(folder.usual_arms))
    return GuestTrials()


def test_a_guest_that_boots_says_how_soon_and_how_long_it_waited(
    monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    quiet = trials(monkeypatch, LaneStart("", 2500.0, False, 2))
    assert "came after 2.5 s, at try 2 (tcg)" in run_async(quiet.boots())
    assert "waited for 10 % of the time" in run_async(quiet.waits())
    busy = trials(monkeypatch, LaneStart("", 2500.0, False, 1), share=0.95)
    with pytest.raises(Failure, match="nothing was measured"):
        run_async(busy.waits())
    run_async(busy.boots())
    with pytest.raises(Failure, match="waited for 95 %"):
        run_async(busy.waits())
    down = trials(monkeypatch, LaneStart("", None, False, 2, "it hangs."))
    with pytest.raises(InfraError, match="it hangs"):
        run_async(down.boots())


def test_a_copy_that_booted_is_none(monkeypatch: pytest.MonkeyPatch, run_async: Any) -> None:
    class Parked:
        count, held_bytes = 1, 100 << 20

        async def wait_settled(self) -> None:
            return

    async def kernel_sources(folder: object, arms: tuple[str, ...], *_: object) -> dict[str, Any]:
        return {arm: type("Source", (), {"park": None}) for arm in arms}

    monkeypatch.setattr(guests, "kernel_sources", kernel_sources)
    good = trials(monkeypatch, LaneStart("", 210.0, True, 1))
    said = run_async(good.copies(Parked()))  # type: ignore[arg-type]
    assert said == "its first event came after 210 ms; the parked guest takes 100 MiB"
    booted = trials(monkeypatch, LaneStart("", 2100.0, False, 1))
    with pytest.raises(Failure, match="a copy failed: its lane booted"):
        run_async(booted.copies(Parked()))  # type: ignore[arg-type]
    with pytest.raises(Failure, match="DUET_TEMPLATES_MIB is 0"):
        run_async(booted.copies(None))


def test_what_a_process_shares_and_what_bounds_it_is_seen() -> None:
    assert shared_spaces(os.getpid()) == list(guests.SPACES)
    assert shared_spaces(0) == list(guests.SPACES), "not to be seen is not apart"
    assert lane_files(os.getpid()) == []
    with Group(Budget(64 << 20, 8, 30), "lane") as group:
        if group.missing_controllers:
            pytest.skip("no control group can be made here")
        limits = limits_of(group.folders)
    assert limits["memory"] == "64 MiB" and limits["threads"] == "8"
    assert limits.get("CPU shares", "307 of 1024") == "307 of 1024"


def test_a_process_beyond_its_budget_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with Group(Budget(64 << 20, 8)) as group:
        if group.missing:
            pytest.skip(group.missing[0])
    assert "used 192 MiB in a control group of 64 MiB was killed" in host.budget_is_enforced()
    monkeypatch.setattr(host, "TAKES_BYTES", 1 << 20)
    with pytest.raises(Failure, match="was not killed"):
        host.budget_is_enforced()


@pytest.mark.skipif(bool(missing_box()), reason=missing_box() or "none")
def test_a_file_is_compiled_in_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "a C file was compiled in a box in " in host.try_box()
    monkeypatch.setattr(host, "SOURCE", "int main(void) { return x; }\n")
    with pytest.raises(Failure, match="a C file could not be compiled in a sandbox"):
        host.try_box()


def test_the_disk_of_the_cache_is_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DUET_CACHE", str(tmp_path / "none-yet"))
    monkeypatch.setattr(host, "DISK_BYTES", 8 << 20)
    monkeypatch.setattr(host, "SLOW_BYTES_PER_S", 1)
    assert f"MiB/s, 8 MiB written and synced in {tmp_path}" in host.disk_speed()
    monkeypatch.setattr(host, "SLOW_BYTES_PER_S", 1 << 50)
    with pytest.raises(Failure, match="slow"):
        host.disk_speed()
    monkeypatch.setattr(host, "cache_dir", lambda: Path("/proc"))
    with pytest.raises(Failure, match="/proc cannot be written to"):
        host.disk_speed()
