# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes over real sockets: real files, a real box, a kernel in miniature, synthetic guests."""

from __future__ import annotations

import json
import queue
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duet.kernels import Changes, KernelSettings
from duet.server import own_arms as own_lessons
from duet.server import own_arms as own_ready
from duet.server.own_arms import ChangedKernels
from tests.support import miniature
from tests.support.own_server import diff, own_app
from tests.support.small_tree import NEEDS_BOX
from tests.support.toy_server import SLUG, Page, page, serving

ARMS = ("rwsem", "srcu")
Told = dict[str, Any]


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return miniature.make_settings(tmp_path, miniature.REAL_FILES)


@pytest.fixture
def app(tmp_path: Path, settings: KernelSettings, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server whose lesson has the miniature's kernels, built."""
    return own_app(tmp_path, settings, monkeypatch)


def cookie(address: str, name: str) -> dict[str, Any]:
    port = address.rpartition(":")[2]
    return {"additional_headers": {"Cookie": f"duet-{port}={name:x<22}"}}


async def changed(one: Page, *phases: str) -> Told:
    return await one.until(lambda m: m["type"] == "changed" and m["phase"] in phases, 60)


async def opened(one: Page) -> None:
    await one.open(run="none")
    await one.until_type("lesson")


@NEEDS_BOX
def test_a_change_becomes_an_arm_that_runs(app: Any, run_async: Any) -> None:
    async def visit(address: str) -> None:
        mine = cookie(address, "a")
        async with page(address, **mine) as one, page(address, **mine) as tab:
            await opened(one)
            await opened(tab)
            await one.say(type="change", lesson=SLUG, arm="srcu", diff=diff())
            lesson = (await one.until_type("lesson"))["lesson"]
            arm = lesson["arms"][-1]
            assert arm["name"].startswith("own-srcu-") and arm["title"] == "SRCU, changed"
            assert arm["patch_texts"][-1]["text"] == diff()
            assert lesson["ready"][arm["name"]] is False
            built = await changed(one, "built", "failed")
            assert (built["arm"], built["base"], built["error"]) == (arm["name"], "srcu", None)
            lesson = [m for m in one.seen if m["type"] == "lesson"][-1]["lesson"]
            assert lesson["ready"][arm["name"]] is True, "before `built` comes"
            assert {m["phase"] for m in one.seen if m["type"] == "changed"} >= {"wait", "compile"}
            await changed(tab, "built")  # another page of the same visitor
            await one.start("rwsem", "srcu", arm["name"])
            run = await one.until_type("run", phase="running")
            assert run["arms"] == ["rwsem", "srcu", arm["name"]]
            await one.until_over()
            await one.say(type="change", lesson=SLUG, arm="srcu", diff=diff())
            assert (await changed(one, "built", "wait"))["phase"] == "built", "known already"

    with serving(app) as address:
        run_async(visit(address))


@NEEDS_BOX
def test_another_visitor_sees_the_arm_with_its_run_alone(app: Any, run_async: Any) -> None:
    async def visit(address: str) -> None:
        first, second = cookie(address, "a"), cookie(address, "b")
        async with page(address, **first) as one, page(address, **second) as other:
            await opened(one)
            await opened(other)
            await one.say(type="change", lesson=SLUG, arm="srcu", diff=diff())
            arm = (await changed(one, "built"))["arm"]
            await one.start("srcu", arm)
            run = await one.begun()
            await one.until_over()
            assert not [m for m in other.seen if m["type"] == "changed"]
            await other.open(run=run)
            await other.until_type("run", run_id=run)
            lesson = [m for m in other.seen if m["type"] == "lesson"][-1]["lesson"]
            assert lesson["arms"][-1]["name"] == arm

    with serving(app) as address:
        run_async(visit(address))


@NEEDS_BOX
def test_what_the_compiler_says_names_the_line(app: Any, run_async: Any) -> None:
    async def visit(address: str) -> None:
        async with page(address) as one:
            await opened(one)
            text = "error: mm/vmscan.c:20:3: error: no such thing"
            await one.say(type="change", lesson=SLUG, arm="srcu", diff=diff(text=text))
            failed = await changed(one, "failed", "built")
            assert failed["error"]["code"] == "compile-fails"
            await one.say(type="change", lesson=SLUG, arm="srcu", diff=diff(text="well"))
            assert (await changed(one, "built", "failed"))["phase"] == "built", "the next one is"

    with serving(app) as address:
        run_async(visit(address))


def test_what_is_refused_is_a_sentence(
    app: Any, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_lessons, "missing_box", lambda: "")
    cases: list[tuple[str, str, str]] = [
        ("srcu", miniature.diff("Makefile", "a\n", "b\n"), "may change sources and headers only"),
        ("none", diff(), "has no arm 'none'"),
        ("srcu", "hello", "changes no file"),
    ]

    async def visit(address: str) -> None:
        async with page(address) as one:
            await opened(one)
            for arm, text, words in cases:
                await one.say(type="change", lesson=SLUG, arm=arm, diff=text)
                refused = await changed(one, "refused", "wait")
                assert words in refused["error"]["sentence"] and refused["arm"] == ""
                assert refused["error"]["remedy"]
            await one.start("srcu", "own-srcu-0123456789")
            error = await one.until_type("error")
            assert "is not stored here" in error["sentence"]

    with serving(app) as address:
        run_async(visit(address))


def test_a_server_that_compiles_nothing_shows_the_text(app: Any, settings: KernelSettings) -> None:
    own = own_lessons.OwnLessons(
        ChangedKernels(settings, Changes(settings.cache, settings.store)), "No."
    )
    assert own.off() == "No."
    assert [file.name for file in own.source(SLUG, "srcu")] == ["mm/vmscan.c"]
    assert own_lessons.OwnLessons(None).off() == own_lessons.NONE_HERE


def test_why_no_sandbox_can_be_made_is_for_the_operator(
    settings: KernelSettings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reason = "[Errno 22] a mount (private) at / is refused"
    monkeypatch.setattr(own_lessons, "missing_box", lambda: reason)
    own = own_lessons.OwnLessons(ChangedKernels(settings, Changes(settings.cache, settings.store)))
    caplog.set_level("INFO", "duet.api")
    assert "./duet doctor" in own.off()
    assert "Errno" not in own.off()
    assert reason in caplog.text


Off = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.parametrize(
    ("off", "words"),
    [
        (lambda m: m.setattr(own_lessons, "missing_box", lambda: "no bubblewrap"), "./duet doctor"),
        (lambda m: m.setenv("DUET_CHANGES", "off"), "switched changes off"),
    ],
)
def test_where_nothing_can_be_changed_the_text_is_there(
    app: Any, run_async: Any, monkeypatch: pytest.MonkeyPatch, off: Off, words: str
) -> None:
    off(monkeypatch)

    async def visit(address: str) -> None:
        async with page(address) as one:
            await opened(one)
            await one.say(type="change", lesson=SLUG, arm="srcu", diff=diff())
            refused = await changed(one, "refused", "wait")
            assert (refused["error"]["code"], words in refused["error"]["sentence"]) == (
                "changes-off",
                True,
            )

    with serving(app) as address:
        run_async(visit(address))
        url = f"http://{address}/api/lessons/{SLUG}/arms/srcu/source"
        source = json.load(urllib.request.urlopen(url))
        assert words in source["off"]
        (file,) = source["files"]
        assert file["name"] == "mm/vmscan.c" and "srcu\n" in file["text"]
        assert file["regions"] == [{"title": "", "first": 10, "last": 10}]


def test_who_opens_the_editor_finds_the_tree_ready(
    app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_lessons, "missing_box", lambda: "")
    asked: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(own_ready, "make_ready", lambda arm, *more: asked.put(arm.name))
    with serving(app) as address:
        url = f"http://{address}/api/lessons/{SLUG}/arms/srcu/source"
        urllib.request.urlopen(url).read()
        assert asked.get(timeout=20) == "srcu"
        monkeypatch.setenv("DUET_CHANGES", "off")
        urllib.request.urlopen(url).read()
        with pytest.raises(queue.Empty):
            asked.get(timeout=0.5)
