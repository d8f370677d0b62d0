# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of another server with a changed arm: its patch is read, shown, and never built."""

from __future__ import annotations

import asyncio
from pathlib import Path

from duet.bundle import open_bundle, write_bundle
from duet.kernels import BroughtChanges, Change, read_change
from duet.lessons.load import LessonFolder, load
from duet.lessons.view import lesson_tree
from duet.messages.codec import Packet
from duet.server.own_arms import OwnLessons
from duet.server.recordings import RecordedRun
from duet.stream.hub import RunLog

SLUG, ARM = "02-grace-periods", "srcu"
DIFF = """diff --git a/mm/vmscan.c b/mm/vmscan.c
--- a/mm/vmscan.c
+++ b/mm/vmscan.c
@@ -1,2 +1,2 @@
 /* a */
-int one;
+int another;
"""


def change(folder: LessonFolder, diff: str = DIFF) -> Change:
    return read_change(folder, ARM, diff)


def text_of(folder: LessonFolder, name: str) -> str:
    arms = lesson_tree(folder, [], {})["arms"]
    assert isinstance(arms, list)
    (found,) = [arm for arm in arms if isinstance(arm, dict) and arm["name"] == name]
    texts = found["patch_texts"]
    assert isinstance(texts, list)
    last = texts[-1] if len(texts) > len(folder.arm(ARM).patches) else None
    return str(last["text"]) if isinstance(last, dict) else ""


def test_a_text_that_did_not_make_the_arm_is_left_out() -> None:
    folder = load(SLUG)
    mine = change(folder)
    known = BroughtChanges()
    other = change(folder, DIFF.replace("another", "lie"))
    for wrong in (other.patch("x"), "no patch", "", DIFF.replace("mm/", "../")):
        known.take(folder, mine.name, wrong.encode())
        assert known.shown(folder, mine.name) is folder
    known.take(folder, "srcu", mine.patch("x").encode())
    known.take(folder, mine.name, mine.patch("lies about the title").encode())
    shown = known.shown(folder, mine.name)
    assert text_of(shown, mine.name) == DIFF
    assert shown.arm(mine.name).summary == "mm/vmscan.c: +1 -1 lines"
    assert "lies" not in shown.brought[mine.name]
    assert shown.changes == {}, "it cannot be built"
    other_lesson = load("01-shrinker-bitmaps")
    assert known.shown(other_lesson, mine.name) is other_lesson


def test_the_text_is_there_when_the_run_is_announced(tmp_path: Path) -> None:
    folder = load(SLUG)
    mine = change(folder, DIFF.replace("another", "a_third"))
    usable = [(path, open_bundle(path)) for path in folder.recordings()]
    _, bundle = min(
        (one for one in usable if ARM in {entry.name for entry in one[1].manifest.arms}),
        key=lambda one: one[0].stat().st_size,
    )
    entry = bundle.manifest.arm(ARM).model_copy(update={"name": mine.name})
    manifest = bundle.manifest.model_copy(update={"arms": (entry,)})
    path = tmp_path / "run.duet"
    patches = {f"{mine.name}.patch": mine.patch("SRCU").encode()}
    write_bundle(path, manifest, {mine.name: bundle.records(ARM)}, patches)
    own = OwnLessons(None)
    assert text_of(own.shown(SLUG, [mine.name]), mine.name) == ""
    seen: list[str] = []

    def publish(log: RunLog, packet: Packet) -> None:
        if packet.type == "run" and not seen:
            seen.append(text_of(own.shown(SLUG, [mine.name]), mine.name))

    run = RecordedRun(folder, path, "recorded:x", publish)
    asyncio.run(run.perform())
    run.close()
    assert seen == [mine.diff]
