# SPDX-License-Identifier: GPL-2.0-or-later
"""A server whose lesson has the kernels of a miniature, which changes are built from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.api.app import create_app
from duet.kernels import Changes, KernelSettings, build
from duet.kernels.arms import arm_specs
from duet.lessons import load as lesson_cache
from duet.lessons.load import LessonFolder, load
from duet.server.director import Director
from duet.server.own_arms import ChangedKernels
from duet.store.store import Store
from tests.support import miniature
from tests.support.toy_server import SLUG
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyStage

ARMS = ("rwsem", "srcu")


def own_app(
    folder_path: Path,
    settings: KernelSettings,
    monkeypatch: pytest.MonkeyPatch,
    stage: ToyStage | None = None,
    store: Store | None = None,
) -> Any:
    """The application; its two kernels are built."""
    folder = replace(load(SLUG), patch_dir=settings.patches / "02-toy")
    names = {name for arm in folder.lesson.arms for name in arm.patches}
    for number, name in enumerate(sorted(names - {"srcu.patch"}), 1):
        text = miniature.replace("mm/vmscan.c", miniature.VMSCAN, number, name)
        (folder.patch_dir / name).write_text(miniature.patch(name, text))
    usual = lesson_cache.find

    def find(slug: str) -> LessonFolder:
        return folder if slug == SLUG else usual(slug)

    monkeypatch.setattr(lesson_cache, "find", find)
    specs = arm_specs(folder)
    build([specs[name] for name in ARMS], settings)
    changing = ChangedKernels(settings, Changes(settings.cache / "changes", settings.store))

    def director(hub: Any) -> Director:
        guests = stage or ToyStage(50.0)
        parts = (hub, guests, ToyRecordings(), ToyKernels())
        return Director(*parts, changing=changing, store=store)

    (folder_path / "index.html").write_text("built")
    return create_app(director, page=folder_path)


def diff(line: int = 20, text: str = "mine") -> str:
    """A change of one line."""
    return miniature.replace("mm/vmscan.c", miniature.VMSCAN, line, text)
