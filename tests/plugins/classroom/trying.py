# SPDX-License-Identifier: GPL-2.0-or-later
"""A server on which a class tries runs: the real queue, and synthetic guests with numbers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from duet.api.app import create_app
from duet.server.director import Director
from duet.session import RunSpec
from duet.store.store import Store
from duet.stream.hub import Hub
from tests.plugins.classroom.pages import join, start
from tests.support.toy_server import SLUG, Message, Page, browser
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyRun, ToyStage

STEP = "three-hogs"
ARMS = ["rwsem", "srcu"]
ENDLESS_S = 60


class NumberedRun(ToyRun):
    """rwsem does 100 umounts/s for each hog, SRCU 20; ENDLESS_S is until it is stopped."""

    begun: list[int]
    halt: asyncio.Event

    async def perform(self, slot: int = 0) -> None:
        self.begun.append(self.request.params["hogs"])
        if self.request.params["seconds"] < ENDLESS_S:
            await super().perform(slot)
            return
        self.state("running")
        await self.halt.wait()
        self.state("stopped")

    async def stop(self) -> None:
        self.halt.set()
        await super().stop()

    def says(self, arm: str) -> str:
        rate = self.request.params["hogs"] * (100 if arm == "rwsem" else 20)
        return f"storm: umounts=1 per_s={rate}"


class NumberedStage(ToyStage):
    """Remembers which runs were performed."""

    def __init__(self, speed: float) -> None:
        super().__init__(speed)
        self.made: list[RunSpec] = []
        self.performed: list[int] = []
        """Hogs of each run, in the order in which they began."""

    def prepare(self, spec: RunSpec, hub: Hub) -> ToyRun:
        self.made.append(spec)
        run = NumberedRun(spec, hub, self.speed)
        run.begun, run.halt = self.performed, asyncio.Event()
        run.state("preparing")
        return run


def tries_app(folder: Path, stage: ToyStage, live: bool = True) -> Any:
    """The application; classes are stored in the folder."""

    def director(hub: Hub) -> Director:
        store = Store(f"sqlite:///{folder / 'classes.sqlite'}")
        return Director(hub, stage, ToyRecordings(), ToyKernels(), store=store, live=live)

    (folder / "index.html").write_text("built")
    return create_app(director, page=folder)


@contextlib.asynccontextmanager
async def trying(address: str, *names: str, opened: bool = True) -> AsyncIterator[list[Page]]:
    """The teacher's page and one of each member, all with the lesson open."""
    async with contextlib.AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(browser(address, "teacher"))
        code = (await start(teacher))["code"]
        if opened:
            await teacher.say(type="class_open_step", lesson=SLUG, step=STEP, knobs=True)
            await teacher.until(lambda m: m["type"] == "class_opened" and m["steps"])
        pages = [teacher]
        for name in names:
            one = await stack.enter_async_context(browser(address, name))
            await one.open()
            await one.until_type("lesson")
            await join(one, code, name)
            pages.append(one)
        yield pages


async def attempt(one: Page, **params: int) -> None:
    """Try a run of the step with these knobs."""
    await one.say(type="class_try", lesson=SLUG, step=STEP, arms=ARMS, params=params)


async def gallery(one: Page, *states: str) -> list[Message]:
    """The runs that a page sees, once they stand so, in the order of their numbers."""
    found = await one.until(
        lambda m: m["type"] == "class_tries" and [t["state"] for t in m["tries"]] == list(states)
    )
    tries: list[Message] = found["tries"]
    return tries
