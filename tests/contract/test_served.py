# SPDX-License-Identifier: GPL-2.0-or-later
"""What real servers send passes the page's own checks, key by key: messages and HTTP bodies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from duet.api.app import create_app
from duet.bundle.reader import open_bundle
from duet.kernels import KernelSettings
from duet.lessons.load import load, slugs
from duet.server.archive import ArchiveFolder
from duet.server.wiring import default_director
from tests.support.page_checks import Answer, complaints, get, packed
from tests.support.toy_server import SLUG, page, serving
from tests.support.toy_stage import toy_app

RECORDING = load(SLUG).recordings()[0]


async def recorded(address: str, slug: str, run: str) -> list[dict[str, Any]]:
    async with page(address) as one:
        await one.say(type="open", lesson=slug, run=run)
        await one.until_type("reading", whole=True)
        return one.seen


def test_recordings_lessons_and_bodies(
    root: Path, tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUET_RUNS", str(tmp_path / "runs"))
    saved = ArchiveFolder.default()
    names = [saved.add(RECORDING) for _ in range(3)]
    (saved.folder / f"{names[2]}.duet").write_bytes(b"no bundle")
    settings = KernelSettings(tmp_path, root / "kernel-patches")
    app = create_app(lambda hub: default_director(hub, settings, False), page=root / "none")
    run = f"recorded:{SLUG}:{RECORDING.stem}"
    answers: list[Answer] = []
    with serving(app) as address:
        for slug in slugs():
            view = load(slug).lesson.view
            kind = "readNumbersLesson" if view is None else "readPictureLesson"
            answers.append((kind, get(address, f"/api/lessons/{slug}")))
            if load(slug).recordings():
                name = f"recorded:{slug}:{load(slug).recordings()[0].stem}"
                answers += packed(run_async(recorded(address, slug, name)))
        arm = open_bundle(RECORDING).manifest.arms[0].name
        lists = {
            "readLessonLine": get(address, "/api/lessons"),
            "readSavedRun": get(address, "/api/kept"),
            "readRawEvent": get(address, f"/api/runs/{run}/lanes/{arm}/events?around_ns=5e6"),
        }
        for read, body in lists.items():
            assert json.loads(body), read
            answers += [(read, json.dumps(one).encode()) for one in json.loads(body)]
        pair = f"first={quote(run)}&second={quote(f'kept:{SLUG}:{names[0]}')}"
        answers += [
            ("readHealth", get(address, "/api/health")),
            ("readComparison", get(address, f"/api/compare?{pair}")),
            ("readDeleted", get(address, f"/api/kept/{names[1]}", "DELETE")),
            ("readFailureBody", get(address, "/api/lessons/99-none")),
            ("readFailureBody", get(address, f"/api/runs/{run}/lanes/x/events?around_ns=x")),
        ]
    assert {json.loads(b)["lesson"] for r, b in answers if r == "readSavedRun"} == {None, SLUG}
    assert complaints(root, answers) == []


def test_a_live_run(root: Path, run_async: Any) -> None:
    async def live(address: str) -> list[dict[str, Any]]:
        async with page(address) as one:
            await one.open()
            await one.say(type="open", lesson="99-none")
            await one.until_type("error")
            await one.start("rwsem", "srcu", hogs=2, seconds=1)
            await one.until_over()
            await one.say(type="measure", lesson=SLUG, arms=["rwsem", "srcu"], repeats=1)
            await one.until_type("measured")
            return one.seen

    with serving(toy_app(root / "none", speed=20.0)) as address:
        seen = run_async(live(address))
        health = get(address, "/api/health")
    kinds = {message["type"] for message in seen}
    assert kinds >= {"hello", "lesson", "run", "lane", "rows", "batch", "metrics", "begun", "runs"}
    assert complaints(root, [*packed(seen), ("readHealth", health)]) == []


def test_a_wrong_answer_is_seen(root: Path) -> None:
    line = {"slug": "a", "title": "b", "question": "c"}
    wrong = [line | {"title": None}, line | {"mood": 1}]
    answers = [("readLessonLine", json.dumps(one).encode()) for one in (line, *wrong)]
    assert complaints(root, answers) == [
        "readLessonLine title: Invalid input: expected string, received null",
        "readLessonLine .mood: not in the contract",
    ]
