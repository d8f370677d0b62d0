# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile recordings are refused in one sentence, or play: no crash, no surprise, within bounds."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import DuetError
from duet.base.settings import repo_root
from duet.lessons import load as lessons
from duet.server.recordings import RecordedRun
from duet.stream.hub import RunLog
from tests.corpus.hostile_case import Case, Expect
from tests.corpus.judge_corpus import MOST_TEXT
from tests.corpus.make_corpus import FAMILIES, cases, write

LESSON = "02-grace-periods"
CPU_S = 25.0
"""A case whose bounds refuse it late takes 10 s; most take a tenth of a second."""
RSS_MB = 900
"""Peak of the program and of each child it started. Usual: 60."""
FAMILY_S = 280
REFUSAL = re.compile(r"error: [^\n]{1,600}\nremedy: [^\n]{1,600}\n(?:  \| [^\n]*\n)*")
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys, or what makes a text look like another."""
SURPRISE = re.compile(r"something unexpected|Traceback|\w+Error:")
REFUSED = {"inspect": (2,), "replay": (2, 3, 4)}


def faults(case: Case, came: dict[str, Any]) -> list[str]:
    """What is wrong with how one verb ended."""
    verb, code, text = came["verb"], came["code"], came["text"]
    differs = verb == "replay" and code == 1 and "was recorded as" in text
    wrong: list[str] = []
    if code == 0 or differs:
        answer = Expect.PLAYS
    elif code in REFUSED[verb]:
        answer = Expect.REFUSED
        if not REFUSAL.fullmatch(text[:MOST_TEXT] + ("\n" if len(text) >= MOST_TEXT else "")):
            wrong.append("is not refused in one sentence and one remedy")
    else:
        return [f"ended with {code}"]
    wanted = case.inspect if verb == "inspect" else case.replay
    if wanted is not Expect.EITHER and wanted is not answer:
        wrong.append(f"is {answer.value}, and should be {wanted.value}")
    if SURPRISE.search(text):
        wrong.append("surprised the program")
    if unsafe := UNSAFE.search(text):
        wrong.append(f"printed {unsafe[0]!r}")
    if came["cpu_s"] > CPU_S:
        wrong.append(f"took {came['cpu_s']} s of CPU")
    if came["rss_mb"] > RSS_MB:
        wrong.append(f"took {came['rss_mb']} MB")
    return wrong


@pytest.mark.parametrize("family", FAMILIES)
def test_a_hostile_recording_is_refused_or_plays(family: str, tmp_path: Path) -> None:
    made = {case.name: case for case in write(tmp_path, family)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.corpus.judge_corpus", str(tmp_path)],
        cwd=repo_root(), capture_output=True, text=True, timeout=FAMILY_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == 2 * len(made)
    found = [
        f"{came['verb']} {came['name']} {fault}: {came['text'][-300:]!r}"
        for came in results
        for fault in faults(made[came["name"]], came)
    ]
    assert not found, f"{len(found)} faults\n" + "\n".join(found)


def test_a_page_gets_each_recording_of_hostile_frames_or_a_sentence(
    tmp_path: Path, run_async: Any
) -> None:
    """The page's path packs what the program only prints: numbers must be ones that it can send."""

    async def play(file: Path) -> None:
        run = RecordedRun(lessons.load(LESSON), file, f"kept:{LESSON}:{file.stem}", RunLog.add)
        try:
            with contextlib.suppress(DuetError):
                await run.perform()
        finally:
            run.close()

    for case in write(tmp_path, "frame"):
        run_async(play(tmp_path / f"{case.name}.duet"))


def test_each_case_has_a_name_of_its_own_and_its_file_is_the_same_each_time() -> None:
    names = [case.name for case in cases()]
    assert len(names) == len(set(names)) > 150
    first = next(case for case in cases("bomb") if case.name == "bomb-small-files")
    assert first.content() == first.content()


def test_the_judge_sees_what_should_not_be() -> None:
    case = next(cases("format"))
    usual = {"verb": "inspect", "code": 0, "cpu_s": 0.1, "rss_mb": 60, "text": "fine\n"}
    assert faults(case, usual) == []
    for change in (
        {"code": -11},
        {"code": 1, "text": "error: something unexpected happened.\nremedy: Report it.\n"},
        {"code": 2, "text": "error: this recording is refused.\nremedy: Get it anew.\n"},
        {"text": "\x1b[2J"},
        {"text": "Traceback (most recent call last)"},
        {"cpu_s": 100.0},
        {"rss_mb": 4000},
    ):
        assert faults(case, usual | change), change
