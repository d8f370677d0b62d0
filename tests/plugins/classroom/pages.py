# SPDX-License-Identifier: GPL-2.0-or-later
"""A server without guests that holds classes, and pages of its instructor and members."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from duet.api.app import create_app
from duet.server.director import Director
from duet.store.store import Store
from tests.support.toy_server import SLUG, Message, Page, browser, page
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyStage


def class_app(folder: Path) -> Any:
    """The application; classes are stored in the folder."""

    def director(hub: Any) -> Director:
        store = Store(f"sqlite:///{folder / 'classes.sqlite'}")
        return Director(hub, ToyStage(50.0), ToyRecordings(), ToyKernels(), store=store)

    (folder / "index.html").write_text("built")
    return create_app(director, page=folder)


@contextlib.asynccontextmanager
async def teacher_and_two(address: str) -> AsyncIterator[tuple[Page, Page, Page]]:
    """Three pages of three browsers."""
    async with browser(address, "teacher") as teacher, page(address) as one, page(address) as two:
        yield teacher, one, two


async def start(one: Page, **fields: object) -> Message:
    """Start a class; gives its `class` message."""
    await one.say(type="class_start", lesson=SLUG, **fields)
    await one.until_type("class_welcome", part="instructor")
    return await one.until_type("class")


async def join(one: Page, code: str, nickname: str = "", secret: str = "") -> Message:
    """Join; gives `class_welcome`."""
    await one.say(type="class_join", code=code, nickname=nickname, secret=secret)
    welcome = await one.until(lambda m: m["type"] in ("class_welcome", "error"))
    assert welcome["type"] == "class_welcome", welcome
    await one.until_type("class")
    return welcome


async def drive(one: Page, step: str, **fields: object) -> None:
    """Be somewhere else."""
    place = {"lesson": SLUG, "step": step, "place": f"?lesson={SLUG}&step={step}"}
    await one.say(type="class_drive", **place, **fields)


async def refused(one: Page, **message: object) -> Message:
    """What the server answers to a command that it refuses."""
    await one.say(**message)
    return await one.until_type("error")
