# SPDX-License-Identifier: GPL-2.0-or-later
"""Building in the background: what pages get, and that a failure is a sentence."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.errors import InfraError
from duet.kernels import ArmSpec, BuildProgress, KernelSettings, Phase
from duet.lessons.load import LessonFolder, load
from duet.serve import kernel_builds
from duet.serve.build_messages import BuildMessages
from duet.serve.kernel_builds import CheckoutKernels
from duet.stream import messages as m
from duet.stream.codec import failure

SLUG = "02-grace-periods"


def at(arm: str, phase: Phase, done: int = 0) -> BuildProgress:
    return BuildProgress(phase, SLUG, arm, 0, 2, done, 100, 1.0)


def reported(
    steps: list[BuildProgress],
) -> tuple[BuildMessages, list[tuple[str, str, int]], list[Any]]:
    raw: list[m.Build] = []
    messages = BuildMessages(SLUG, ["rwsem", "srcu"], raw.append)
    for step in steps:
        messages.progress(step)
    return messages, [(b.arm, b.phase, b.done) for b in raw], raw


def test_an_arm_is_done_when_the_next_one_begins() -> None:
    steps = [
        at("rwsem", Phase.COMPILE, 1),
        at("rwsem", Phase.LINK, 99),
        at("srcu", Phase.PATCH),
        at("srcu", Phase.STORE, 3),
        at("srcu", Phase.DONE, 3),
    ]
    messages, seen, raw = reported(steps)
    messages.finished()
    assert seen == [
        ("rwsem", "compile", 1),
        ("rwsem", "link", 99),
        ("rwsem", "done", 99 * 0),
        ("srcu", "patch", 0),
        ("srcu", "store", 3),
    ]
    assert [(b.arm, b.phase) for b in raw[5:]] == [("srcu", "done")]


def test_counting_steps_are_reported_a_few_times_a_second_only() -> None:
    _, seen, _ = reported([at("rwsem", Phase.COMPILE, n) for n in range(1000)])
    assert len(seen) < 10


def test_a_failure_closes_every_open_arm_with_the_sentence() -> None:
    messages, _, raw = reported([at("rwsem", Phase.COMPILE, 1), at("srcu", Phase.PATCH)])
    messages.failed(failure(InfraError("disk full.", remedy="free some.")))
    last = raw[-1]
    assert (last.arm, last.phase, last.error.sentence) == ("srcu", "failed", "disk full.")
    assert [b.arm for b in raw if b.phase == "done"] == ["rwsem"]


def test_no_source_is_reported_to_every_page_and_tried_again(
    tmp_path: Path, root: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_builds, "RETRY_S", 0.05)
    monkeypatch.setattr(kernel_builds.lesson_cache, "usable", lambda: [load(SLUG)])
    arms = set(load(SLUG).usual_arms)
    settings = KernelSettings(tmp_path, root / "kernel-patches", tmp_path / "none.tar.xz")
    kernels = CheckoutKernels(settings)
    seen: list[m.Build] = []

    async def work() -> None:
        twice = asyncio.Event()

        def tell(message: m.Message) -> None:
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


def with_optional(slug: str, arm: str) -> LessonFolder:
    """The lesson, with one arm marked optional."""
    folder = load(slug)
    arms = tuple(
        one.model_copy(update={"optional": one.optional or one.name == arm})
        for one in folder.lesson.arms
    )
    return replace(folder, lesson=folder.lesson.model_copy(update={"arms": arms}))


def test_an_optional_arm_is_built_once_somebody_names_it(
    tmp_path: Path, root: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = with_optional(SLUG, "srcu")
    ready = dict.fromkeys((arm.name for arm in folder.lesson.arms), False)
    rounds: list[list[str]] = []

    def build(wanted: list[ArmSpec], *_: Any, **__: Any) -> tuple[()]:
        rounds.append([spec.name for spec in wanted])
        ready.update((spec.name, True) for spec in wanted)
        return ()

    monkeypatch.setattr(kernel_builds, "build", build)
    monkeypatch.setattr(kernel_builds.lesson_cache, "usable", lambda: [folder])
    monkeypatch.setattr(kernel_builds.lesson_cache, "find", lambda slug: folder)
    kernels = CheckoutKernels(KernelSettings(tmp_path, root / "kernel-patches"))
    monkeypatch.setattr(kernels, "ready", lambda slug: dict(ready))

    async def work() -> None:
        await kernels.work(lambda message: None)
        assert not kernels.name(SLUG, ["rwsem"]), "that one is built anyway"
        assert kernels.name(SLUG, ["rwsem", "srcu"]), "work() must be called for it"
        assert not kernels.name(SLUG, ["srcu"]), "it is known by now"
        await kernels.work(lambda message: None)

    run_async(work())
    assert rounds == [list(folder.usual_arms), ["srcu"]]
    assert "srcu" not in folder.usual_arms
