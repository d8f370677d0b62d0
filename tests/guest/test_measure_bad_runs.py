# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure` where guests go wrong: what is reported, what is kept, and that no guest stays."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from duet.base.errors import KernelError
from duet.cli import main
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson
from tests.support.processes import guests_below

pytestmark = pytest.mark.guest

SLUG = "02-grace-periods"
WORDS = ["measure", SLUG, "--arms", "rwsem,srcu", "--clock", "wall", "--repeats", "1"]
GOOD = "storm: hogs=1 seconds=1 umounts=7 per_s=7 errors=0"
"""What the workload writes when one hog is asked for; with nine it goes wrong."""


def shell(good: str, bad: str) -> str:
    """One word to the agent, and no keyword, since those are read before $IFS is put in."""
    return "sh -c " + f"test {{hogs}} = 1&&{good}||{bad}".replace(" ", "${{IFS}}")


TROUBLES: dict[str, tuple[dict[str, Any], str, str]] = {
    "out of memory": (
        {"run": 'awk BEGIN{{if({hogs}==1){{print"' + GOOD.replace(" ", '"FS"') + '";exit}}'
         's=sprintf("%4000s",0);for(;;)a[i++]=s""i}}'},
        "the guest of lane srcu ran out of memory (192 MB), and its kernel killed `awk`.",
        "raise memory_mb in lesson.yaml",
    ),
    "verify": (
        {"run": shell(f"echo {GOOD}", "(echo storm: 3 of 9 hogs counted less>&2;exit 1)")},
        "the workload on srcu ended with status 1: storm: 3 of 9 hogs counted less.",
        "Fix what the workload reports, and measure again.",
    ),
    "full disk": (
        {"setup": ["duet-scratch ext4 64"],
         "run": shell(f"echo {GOOD}", "dd if=/dev/zero of=/scratch/full bs=1M")},
        "the workload on srcu ended with status 1: dd: error writing '/scratch/full': No space "
        "left on device.",
        "raise its scratch_mb",
    ),
}  # fmt: skip


@pytest.fixture(params=TROUBLES)
def trouble(
    request: Any, kernel_images: Any, lesson02: LessonFolder, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """The sentence and the remedy of a lesson whose workload goes wrong so."""
    change, sentence, remedy = TROUBLES[request.param]
    data = lesson02.lesson.model_dump() | {"memory_mb": 192}
    data["workloads"]["storm"] |= change | {"optional": {}, "start_marker": "duet: start"}
    folder = replace(lesson02, lesson=Lesson.model_validate(data))
    monkeypatch.setattr(lessons, "load", lambda slug: folder)
    return sentence, remedy


@pytest.mark.alone
@pytest.mark.timeout(400)
def test_what_was_measured_is_kept_and_the_trouble_is_reported(
    trouble: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    sentence, remedy = trouble
    code = main([*WORDS, "--sweep", "hogs=1,9", "--json"])
    tree = json.loads(capsys.readouterr().out)
    assert code == KernelError.exit_code
    assert tree["partial"] == "rwsem and srcu failed, and their remaining runs were skipped"
    reported = {error["arm"]: error for error in tree["errors"]}
    assert sentence in reported["srcu"]["sentence"]
    assert remedy in reported["srcu"]["remedy"]
    kept = {(r["params"]["hogs"], r["arm"]): (r["n"], r["refused"]) for r in tree["rows"]}
    assert (kept[1, "rwsem"], kept[1, "srcu"]) == ((1, None), (1, None))
    assert kept[9, "srcu"][0] == 0
    assert kept[9, "srcu"][1] in reported["srcu"]["sentence"]
    assert guests_below() == []


@pytest.mark.timeout(300)
def test_where_nothing_was_measured_the_trouble_is_the_answer(
    trouble: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    sentence, remedy = trouble
    assert main([*WORDS, "--set", "hogs=9"]) == KernelError.exit_code
    reported = capsys.readouterr()
    assert reported.out == ""
    assert sentence.replace("srcu", "rwsem") in reported.err
    assert remedy in reported.err
    assert guests_below() == []
