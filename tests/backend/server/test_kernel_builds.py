# SPDX-License-Identifier: GPL-2.0-or-later
"""Building in the background: what pages get, and that a failure is a sentence."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet import messages as m
from duet.base.errors import InfraError
from duet.kernels import ArmSpec, BuildProgress, KernelSettings, Phase
from duet.kernels.tree import BuildStopped
from duet.lessons.load import LessonFolder, load, slugs
from duet.messages.codec import failure
from duet.server import builds as kernel_builds
from duet.server.builds import BuildMessages, CheckoutKernels

SLUG = "02-grace-periods"


def at(arm: str, phase: Phase, done: int = 0) -> BuildProgress:
    return BuildProgress(phase, SLUG, arm, 0, 2, done, 100, 1.0)


def reported(steps: list[BuildProgress]) -> tuple[BuildMessages, list[m.Build]]:
    seen: list[m.Build] = []
    messages = BuildMessages(SLUG, "rwsem", ["rwsem", "srcu"], seen.append)
    for step in steps:
        messages.progress(step)
    return messages, seen


def test_phases_of_an_arm_are_reported_and_then_that_it_is_done() -> None:
    messages, seen = reported(
        [
            at("rwsem", Phase.COMPILE, 1),
            at("rwsem", Phase.LINK, 99),
            at("rwsem", Phase.DONE, 99),
        ]
    )
    messages.finished()
    assert [(b.phase, b.done) for b in seen] == [("compile", 1), ("link", 99), ("done", 99)]
    assert seen[0].arms == ["rwsem", "srcu"]


def test_counting_steps_are_reported_a_few_times_a_second_only() -> None:
    _, seen = reported([at("rwsem", Phase.COMPILE, n) for n in range(1000)])
    assert len(seen) < 10


def test_a_failure_is_reported_with_its_sentence() -> None:
    messages, seen = reported([at("rwsem", Phase.COMPILE, 1)])
    messages.failed(failure(InfraError("disk full.", remedy="free some.")))
    assert seen[-1].phase == "failed" and seen[-1].error is not None
    assert seen[-1].error.sentence == "disk full."


def test_no_source_is_reported_to_every_page_once_in_the_log_and_tried_again(
    tmp_path: Path,
    root: Path,
    run_async: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(kernel_builds, "RETRY_S", 0.05)
    monkeypatch.setattr(kernel_builds.lesson_cache, "usable", lambda: [load(SLUG)])
    arms = set(load(SLUG).usual_arms)
    settings = KernelSettings(tmp_path, root / "kernel-patches", tmp_path / "none.tar.xz")
    kernels = CheckoutKernels(settings)
    seen: list[m.Build] = []

    async def work() -> None:
        twice = asyncio.Event()

        def tell(message: m.ServerMessage) -> None:
            assert isinstance(message, m.Build)
            seen.append(message)
            if len(seen) == 2 * len(arms):
                twice.set()

        task = asyncio.create_task(kernels.work(tell))
        await asyncio.wait_for(twice.wait(), 240)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run_async(work())
    assert kernels.ready(SLUG).items() >= dict.fromkeys(arms, False).items()
    assert {b.phase for b in seen} == {"failed"}
    assert seen[0].error is not None
    assert "none.tar.xz" in seen[0].error.sentence
    assert seen[0].error.remedy
    assert {m.arm for m in kernels.latest()} == arms  # type: ignore[attr-defined]
    said = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(said) == 1 and "none.tar.xz" in said[0]


def with_optional(slug: str, arm: str) -> LessonFolder:
    """The lesson, with one arm marked optional."""
    folder = load(slug)
    arms = tuple(
        one.model_copy(update={"optional": one.optional or one.name == arm})
        for one in folder.lesson.arms
    )
    return replace(folder, lesson=folder.lesson.model_copy(update={"arms": arms}))


class Builder:
    """Stands for the compiler: notes what is built, and may hold a build until it is stopped."""

    def __init__(
        self, folders: list[LessonFolder], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        by_slug = {folder.slug: folder for folder in folders}
        self.there: set[tuple[str, str]] = set()
        self.begun: list[str] = []
        self.held = ""
        monkeypatch.setattr(kernel_builds, "build", self.build)
        monkeypatch.setattr(kernel_builds, "make_ready", lambda *_: False)
        monkeypatch.setattr(kernel_builds.lesson_cache, "usable", lambda: folders)
        monkeypatch.setattr(kernel_builds.lesson_cache, "find", by_slug.__getitem__)
        patches = KernelSettings.default().patches
        source = tmp_path / "linux-6.1.tar.xz"
        source.write_bytes(b"not unpacked here")
        self.kernels = CheckoutKernels(KernelSettings(tmp_path, patches, source))
        monkeypatch.setattr(
            self.kernels,
            "ready",
            lambda slug: {a.name: (slug, a.name) in self.there for a in by_slug[slug].lesson.arms},
        )

    def build(
        self, wanted: list[ArmSpec], *_: Any, on_progress: Any, stop: threading.Event
    ) -> tuple[()]:
        (spec,) = wanted
        self.begun.append(f"{spec.lesson[:2]} {spec.name}")
        if self.held == self.begun[-1]:
            on_progress(BuildProgress(Phase.COMPILE, spec.lesson, spec.name, 0, 1, 5, 900, 1.0))
            assert stop.wait(60)
            self.held = ""
            raise BuildStopped("stopped.", remedy="go on.")
        self.there.add((spec.lesson, spec.name))
        return ()


def test_an_optional_arm_is_built_once_somebody_requests_it(
    tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = with_optional(SLUG, "srcu")
    builder = Builder([folder], monkeypatch, tmp_path)
    kernels = builder.kernels

    async def work() -> None:
        await kernels.work(lambda message: None)
        assert not kernels.request(SLUG, ["rwsem"]), "that one is there"
        assert kernels.request(SLUG, ["rwsem", "srcu"]), "work() must be called for it"
        await kernels.work(lambda message: None)
        assert not kernels.request(SLUG, ["srcu"]), "it is there by now"

    run_async(work())
    assert sorted(builder.begun[:-1]) == sorted(f"02 {arm}" for arm in folder.usual_arms)
    assert builder.begun[-1] == "02 srcu"
    assert "srcu" not in folder.usual_arms


def test_each_lesson_has_its_first_comparison_before_any_has_a_third_kernel(
    tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [load(slug) for slug in slugs()]
    builder = Builder(folders, monkeypatch, tmp_path)
    run_async(builder.kernels.work(lambda message: None))
    first = [f"{f.slug[:2]} {arm.name}" for f in folders for arm in f.lesson.arms[:2]]
    assert sorted(builder.begun[: len(first)]) == sorted(first)
    assert len(builder.begun) == sum(len(folder.usual_arms) for folder in folders)


def test_a_requested_arm_moves_to_the_front_and_a_long_build_makes_way(
    tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = Builder([load(slug) for slug in slugs()], monkeypatch, tmp_path)
    builder.held = "01 after"
    seen: list[m.Build] = []

    async def work() -> None:
        compiling = asyncio.Event()

        def tell(message: m.ServerMessage) -> None:
            assert isinstance(message, m.Build)
            seen.append(message)
            if message.phase == "compile":
                compiling.set()

        task = asyncio.create_task(builder.kernels.work(tell))
        await asyncio.wait_for(compiling.wait(), 60)
        builder.kernels.request("04-extent-shrinker", ["evictable-list", "stock"])
        await asyncio.wait_for(task, 120)

    run_async(work())
    assert builder.begun[:3] == ["01 after", "04 stock", "04 evictable-list"]
    assert builder.begun[3] == "01 after", "it goes on where it was"
    assert ("01-shrinker-bitmaps", "after", "wait") in {(b.lesson, b.arm, b.phase) for b in seen}
