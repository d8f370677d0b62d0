# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of background builds in the terminal: a server's own kernels, with a fake make."""

from __future__ import annotations

import asyncio
import io
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from duet import messages as m
from duet.base.errors import InfraError
from duet.cli.build_progress import BuildBar, BuildLines, BuildProgress, ConsoleLog, left_words
from duet.kernels import ArmSpec, KernelSettings, Phase
from duet.kernels import BuildProgress as Moment
from duet.lessons.load import load
from duet.server import builds as build_messages
from duet.server import builds as kernel_builds
from duet.server.builds import CheckoutKernels

SLUG = "02-grace-periods"
ARMS = list(load(SLUG).usual_arms)
KERNELS = len(ARMS)
Feed = Callable[[Callable[[Moment], None], ArmSpec, int, int], None]


class Clock:
    """Seconds that the fake build moves on; the event loop reads them."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def a_build(clock: Clock) -> Feed:
    """One kernel of 1,000 objects, 10 of them a second."""

    def feed(tell: Callable[[Moment], None], spec: ArmSpec, index: int, total: int) -> None:
        def at(phase: Phase, done: int = 0) -> None:
            tell(Moment(phase, spec.lesson, spec.name, index, total, done, 1000, clock.now_s))

        at(Phase.CONFIG)
        for done in range(0, 1001, 100):
            at(Phase.COMPILE, done)
            clock.now_s += 10
        at(Phase.LINK, 1000)
        at(Phase.DONE, 1000)

    return feed


def work(
    shown: BuildProgress,
    feed: Feed,
    run_async: Any,
    monkeypatch: pytest.MonkeyPatch,
    settings: KernelSettings,
) -> None:
    """Let a server's kernels build all arms of lesson 02; each moment is shown before the next."""
    there: list[str] = []

    def build(
        wanted: list[ArmSpec],
        settings: KernelSettings,
        on_progress: Callable[[Moment], None],
        stop: threading.Event,
    ) -> None:
        def tell(moment: Moment) -> None:
            on_progress(moment)
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(240)

        for index, spec in enumerate(wanted):
            feed(tell, spec, index, len(wanted))
            there.append(spec.name)

    async def whole() -> None:
        nonlocal loop
        loop = asyncio.get_running_loop()
        kernels = CheckoutKernels(settings, shown)
        arms = [arm.name for arm in load(SLUG).lesson.arms]
        monkeypatch.setattr(kernels, "ready", lambda slug: {arm: arm in there for arm in arms})
        await asyncio.wait_for(kernels.work(lambda _: None), 240)

    loop: asyncio.AbstractEventLoop
    monkeypatch.setattr(kernel_builds, "build", build)
    monkeypatch.setattr(kernel_builds, "make_ready", lambda *_: False)
    monkeypatch.setattr(build_messages, "TELL_EVERY_S", -1.0)
    monkeypatch.setattr(kernel_builds, "RETRY_S", 0.01)
    monkeypatch.setattr(kernel_builds.lesson_cache, "usable", lambda: [load(SLUG)])
    run_async(whole())


@pytest.fixture
def settings(tmp_path: Path, root: Path) -> KernelSettings:
    """A store without any kernel."""
    return KernelSettings(tmp_path, root / "kernel-patches", tmp_path / "none.tar.xz")


def test_a_log_gets_a_line_a_minute_with_kernel_progress_and_time_left(
    settings: KernelSettings, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, out = Clock(), io.StringIO()
    work(BuildLines(out, clock), a_build(clock), run_async, monkeypatch, settings)
    lines = out.getvalue().splitlines()
    assert lines[:4] == [
        f"kernel 1 of {KERNELS}, {SLUG} rwsem: configuring",
        f"kernel 1 of {KERNELS}, {SLUG} rwsem: compiling 600 of 1000 objects, about a minute left",
        f"kernel {SLUG} rwsem: done",
        f"kernel 2 of {KERNELS}, {SLUG} srcu: configuring",
    ]
    assert lines[-2:] == [f"kernel {SLUG} {ARMS[-1]}: done", "all kernels are built"]
    assert len(lines) == 3 * len(ARMS) + 1


def test_a_terminal_gets_a_bar_that_goes_away(
    settings: KernelSettings, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, out = Clock(), io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    bar = BuildBar(console, clock)
    bar.show()
    drawn: list[str] = []
    update = bar.update

    def draw(build: m.Build) -> None:
        update(build)
        with console.capture() as taken:
            console.print(bar._bar)
        drawn.append(taken.get())

    monkeypatch.setattr(bar, "update", draw)
    work(bar, a_build(clock), run_async, monkeypatch, settings)
    assert any(
        f"kernel 3 of {KERNELS}" in each and "compiling 500 of 1000 objects" in each
        for each in drawn
    )
    assert "all kernels are built" in out.getvalue()
    assert not console._live_stack


def test_a_failed_build_is_in_the_log_with_its_remedy_and_is_tried_again_after_the_others(
    settings: KernelSettings,
    run_async: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, out = Clock(), io.StringIO()
    tries: list[str] = []
    good = a_build(clock)

    def feed(tell: Callable[[Moment], None], spec: ArmSpec, index: int, total: int) -> None:
        tries.append(spec.name)
        if len(tries) == 2:
            raise InfraError("the disk is full.", remedy="Free some.")
        good(tell, spec, index, total)

    work(BuildLines(out, clock), feed, run_async, monkeypatch, settings)
    lines = out.getvalue().splitlines()
    assert "the disk is full. Free some." in caplog.text
    assert tries == [*ARMS, ARMS[1]]
    assert lines[-1] == "all kernels are built"


def test_nothing_to_build_prints_nothing() -> None:
    out = io.StringIO()
    lines = BuildLines(out)
    lines.started(0)
    lines.finished()
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("left_s", "words"),
    [
        (None, ""),
        (20, "about a minute left"),
        (89, "about a minute left"),
        (570, "about 10 min left"),
    ],
)
def test_time_left_is_said_in_minutes(left_s: float | None, words: str) -> None:
    assert left_words(left_s) == words


def test_a_log_record_is_one_line_and_cannot_act_on_the_terminal() -> None:
    out = io.StringIO()
    log = ConsoleLog(Console(file=out, force_terminal=True, width=40))
    title = f"title \x1b]0;x [red]{'long ' * 20}"
    log.emit(logging.LogRecord("duet", logging.ERROR, "", 0, title, (), None))
    assert out.getvalue() == f"title \\u001b]0;x [red]{'long ' * 20}\n"


def test_a_bar_waits_for_the_greeting() -> None:
    out = io.StringIO()
    bar = BuildBar(Console(file=out, force_terminal=True, width=120))
    bar.started(2)
    assert out.getvalue() == ""
    bar.show()
    assert "kernels" in out.getvalue()
    bar.close()
