# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies that stand ready: made when nothing runs, bounded, taken once, and not left behind."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InfraError
from duet.guests.clones import Template, Templates, guest
from duet.guests.clones.copy import CloneMachine, ReadyCopy
from duet.guests.clones.guest import READY, CloneableGuest
from duet.guests.clones.ready import MOST_READY
from duet.guests.clones.template import create_memfd, template_key
from duet.guests.types import Accel, GuestSpec, Microscope

SPEC = GuestSpec("srcu", Path("/k/bzImage"), Path("/k/root"), plan="plan 1\nrun x 3\n")
KNOB = replace(SPEC, plan="plan 1\nrun x 9\n")
MIB = 1 << 20


class TreeState:
    """In place of a CloneMachine that was prepared."""

    def __init__(self, key: str, spec: GuestSpec, rehearsed: bool) -> None:
        self.key, self.spec, self.rehearsed = key, spec, rehearsed
        self.alive, self.closed = True, False

    def assign(self, spec: GuestSpec) -> None:
        self.spec = spec

    async def close(self) -> None:
        self.alive = False
        await asyncio.sleep(0.01)  # QEMU takes a moment to end
        self.closed = True


class Made:
    """Makes templates of 1 MiB and ready copies, and knows them all."""

    def __init__(self) -> None:
        self.standing: list[TreeState] = []
        self.fails = self.rehearsals_fail = 0
        self.rehearsing = asyncio.Event()
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.ready_mib = 2

    async def template(self, key: str, _: GuestSpec) -> Template:
        memory, state = create_memfd("m", MIB), create_memfd("s")
        os.pwrite(memory, b"x" * MIB, 0)
        return Template(key, "plan 1\n", memory, state, (), b"hello", b"ready", 0.1)

    async def prepare(self, template: Template, spec: GuestSpec, rehearsed: bool) -> ReadyCopy:
        if rehearsed:
            self.rehearsing.set()
            await self.go_on.wait()
        if self.fails or (rehearsed and self.rehearsals_fail):
            self.fails -= not rehearsed
            self.rehearsals_fail -= rehearsed
            raise InfraError("no.", remedy="none.")
        self.standing.append(TreeState(template.key, spec, rehearsed))
        size_bytes = self.ready_mib * MIB
        return ReadyCopy(self.standing[-1], size_bytes, rehearsed)  # type: ignore[arg-type]

    @property
    def stand(self) -> list[str]:
        return [one.key for one in self.standing if not one.closed]


def run(body: Callable[[Made, Templates], Awaitable[None]], budget: int = 1 << 30) -> Made:
    """With templates that are owned, and all given back at the end."""
    made = Made()

    async def scenario() -> None:
        async with Templates(budget, made.template, made.prepare) as templates:
            await body(made, templates)

    asyncio.run(scenario())
    assert made.stand == []
    return made


async def park(templates: Templates, *keys: str, later: bool = False) -> None:
    for key in keys:
        templates.request(key, SPEC, later)
        await settled(templates)


async def settled(templates: Templates) -> None:
    async with asyncio.timeout(60):
        await templates.wait_settled()


def test_one_is_made_when_nothing_runs_and_each_is_taken_once() -> None:
    async def body(made: Made, templates: Templates) -> None:
        await park(templates, "a")
        now = templates.counts()
        assert (now.ready, now.ready_bytes, now.making) == (1, 2 * MIB, 0)
        async with templates.paused():
            taken: Any = templates.take_ready("a", KNOB)
            assert taken is made.standing[1] and taken.spec == KNOB
            assert templates.take_ready("a", KNOB) is None
            await asyncio.sleep(0.01)
            assert len(made.standing) == 2, "one was made in a run"
        await settled(templates)
        now = templates.counts()
        assert (now.ready, now.taken, len(made.standing)) == (1, 1, 4)
        assert not taken.closed, "a lane owns it"
        await taken.close()

    run(body)


def test_one_that_rehearses_takes_the_place_of_one_that_stands() -> None:
    async def body(made: Made, templates: Templates) -> None:
        made.go_on.clear()
        templates.request("a", SPEC)
        await asyncio.wait_for(made.rehearsing.wait(), 60)
        assert [one.rehearsed for one in made.standing] == [False] and templates.counts().ready == 1
        async with templates.paused():  # a run ends the rehearsal, and its lane need not wait
            taken: Any = templates.take_ready("a", SPEC)
            assert taken is made.standing[0] and not taken.closed
            await taken.close()
        made.go_on.set()
        await settled(templates)
        assert [(one.rehearsed, one.closed) for one in made.standing[1:]] == [
            (False, True),
            (True, False),
        ]

    run(body)


def test_all_stand_before_one_rehearses() -> None:
    async def body(made: Made, templates: Templates) -> None:
        made.go_on.clear()
        for key in ("a", "b"):
            templates.request(key, SPEC)
        await asyncio.wait_for(made.rehearsing.wait(), 60)
        assert made.stand == ["a", "b"]
        made.go_on.set()
        await settled(templates)
        assert [one.key for one in made.standing if one.rehearsed] == ["a", "b"]

    run(body)


def test_where_rehearsals_fail_or_would_be_counted_one_stands_without() -> None:
    async def body(made: Made, templates: Templates) -> None:
        made.rehearsals_fail = 3
        await park(templates, "a")
        assert made.rehearsals_fail == 1 and made.stand == ["a"]
        watched = replace(SPEC, microscope=Microscope(Path("/p.so"), "f"))
        assert templates.take_ready("a", watched) is None
        await settled(templates)
        assert made.stand == ["a"] and not any(one.rehearsed for one in made.standing)

    run(body)


def test_a_lane_that_differs_in_more_than_its_plan_does_not_take_it() -> None:
    async def body(made: Made, templates: Templates) -> None:
        await park(templates, "a")
        other = replace(SPEC, arm="other")
        assert templates.take_ready("a", other) is None
        await settled(templates)
        assert [one.spec for one in made.standing] == [SPEC, SPEC, other, other]
        assert [one.closed for one in made.standing] == [True, True, True, False]

    run(body)


def test_those_of_the_templates_that_were_wanted_last_stand() -> None:
    async def body(made: Made, templates: Templates) -> None:
        await park(templates, "later", later=True)
        await asyncio.sleep(0.01)
        assert templates.count == 1 and made.standing == []
        keys = [f"k{number}" for number in range(MOST_READY + 1)]
        await park(templates, *keys)
        await asyncio.sleep(0.01)
        assert made.stand == keys[1:]
        await park(templates, keys[0])  # a page opens its lesson
        await asyncio.sleep(0.01)
        assert made.stand == [*keys[2:], keys[0]]

    run(body)


def test_they_count_in_the_budget_and_go_before_templates() -> None:
    async def body(made: Made, templates: Templates) -> None:
        await park(templates, "a")
        assert made.stand == [] and templates.counts().ready == 0, "of unknown size"

    run(body, 40 * MIB)

    async def fuller(made: Made, templates: Templates) -> None:
        await park(templates, "a")
        assert made.stand == ["a"]
        await park(templates, *(f"k{number}" for number in range(50)))
        assert templates.held_bytes + templates.counts().ready_bytes <= 52 * MIB
        assert templates.count == 51 and made.stand == []

    run(fuller, 52 * MIB)

    async def later(made: Made, templates: Templates) -> None:
        made.ready_mib = 30
        await park(templates, "a")
        assert made.stand == ["a"]
        for number in range(25):
            templates.request(f"k{number}", SPEC, later=True)
        async with asyncio.timeout(60):
            # Also for those that may be wanted.
            while templates.count < 26 or made.stand:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    run(later, 52 * MIB)


def test_one_goes_with_its_template_and_one_that_died_is_replaced() -> None:
    async def body(made: Made, templates: Templates) -> None:
        await park(templates, "a")
        templates.discard("a")
        await settled(templates)
        assert made.stand == [] and templates.counts().ready == 0
        await park(templates, "b")
        made.standing[-1].alive = False
        assert templates.counts().ready == 0 and templates.take_ready("b", SPEC) is None
        await settled(templates)
        assert all(one.closed for one in made.standing[:-1]) and made.stand == ["b"]

    run(body)


def test_what_fails_twice_is_not_tried_again() -> None:
    async def body(made: Made, templates: Templates) -> None:
        made.fails = 3
        await park(templates, "a")
        assert templates.take_ready("a", SPEC) is None
        await settled(templates)
        assert made.fails == 1 and templates.count == 1

    run(body)


def key_of(made: Made) -> str:
    key = template_key(SPEC, "7.2")
    assert key is not None
    return key


@pytest.mark.parametrize("sound", [True, False])
def test_where_a_ready_copy_fails_its_lane_is_copied_as_it_comes(
    monkeypatch: pytest.MonkeyPatch, sound: bool
) -> None:
    async def try_boot(machine: Any, _: float) -> None:
        if isinstance(machine, TreeState) and not sound:
            raise InfraError("no.", remedy="none.")

    monkeypatch.setattr(guest, "try_boot", try_boot)
    monkeypatch.setattr(guest, "CloneMachine", lambda *_: "copied")

    async def body(made: Made, templates: Templates) -> None:
        await park(templates, key_of(made))
        lane = CloneableGuest(KNOB, "auto", templates)
        machine: Any = await lane.start(Accel.TCG, "7.2")
        assert lane.cloned and templates.count == 1
        assert (machine is made.standing[1], made.standing[1].closed) == (sound, not sound)
        assert lane.reports[0].outcome == (READY if sound else "copied")
        await made.standing[1].close()

    run(body)


def test_a_ready_copy_gets_the_lines_of_the_lane_that_takes_it() -> None:
    async def body() -> None:
        template = await Made().template("k", SPEC)
        machine = CloneMachine(SPEC, Accel.TCG, template)
        assert not machine.alive and machine._amendment == "run x 3\n"
        machine.assign(KNOB)
        assert machine.spec == KNOB and machine._amendment == "run x 9\n"
        await machine.close()
        template.close()

    asyncio.run(body())
