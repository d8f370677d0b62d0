# SPDX-License-Identifier: GPL-2.0-or-later
"""terms.yaml and recap.yaml: what they may say, what the page gets, and what is plain text."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from duet.export.site import index_html
from duet.lessons import load as lessons
from duet.lessons.document import LessonError
from duet.lessons.load import LessonFolder
from duet.lessons.plan import outline
from duet.lessons.view import common_folders, explained, lesson_tree, pattern, read_common
from duet.messages.lesson import lesson_of

SLUG = "02-grace-periods"
OURS = [slug for slug in lessons.slugs() if slug[0].isdigit()]
WRONG = [
    ("terms.yaml", "{name: RCU, shared: true}", "{name: RCU, shared: true, says: x}",
     "terms[0].shared", "explained both in the common file and here"),
    ("terms.yaml", "    says: A sleepable RCU", "    # says: A sleepable RCU", "terms[1]",
     "a term needs an explanation"),
    ("terms.yaml", "drawing: srcu.svg", "drawing: ../srcu.svg", "terms[1].drawing", "pattern"),
    ("terms.yaml", "also: [hogs]", "als: [hogs]", "terms[4].als", "did you mean 'also'"),
    ("recap.yaml", "    number: 4\n", "", "quiz[1]", "a question needs choices or a number"),
    ("recap.yaml", "    right: 3\n", "    right: 4\n", "quiz[0].right",
     "`right` must be from 1 to 3, not 4"),
    ("recap.yaml", "number: 4\n", "number: 4\n    choices: [a, b]\n", "quiz[1].number",
     "a question has both choices and a number"),
    ("recap.yaml", "step: ticks", "step: tick", "quiz[0].step", "no scene is called 'tick'"),
]  # fmt: skip

NEEDED = {
    "01-shrinker-bitmaps": {"memcg", "shrinker", "bit", "visit", "pass"},
    "02-grace-periods": {"RCU", "SRCU", "grace period", "tick", "hog", "shrinker_rwsem"},
    "03-inode-recycling": {"inode", "inactivation", "RCU", "grace period", "cookie", "shadow"},
    "04-extent-shrinker": {"extent", "delayed", "scan", "budget", "tree"},
    "05-cacheline-pingpong": {"cache line", "false sharing", "MESI", "lockref", "upgrade"},
}
"""Words that readers who were new to the kernel had missed."""


@pytest.fixture
def copy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one lesson, whose common folder is its own."""
    without = shutil.ignore_patterns("recorded")
    for folder in (f"lessons/{SLUG}", "lessons/_common", f"kernel-patches/{SLUG}"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=without)
    monkeypatch.setenv("DUET_ROOT", str(tmp_path))
    return tmp_path / "lessons" / SLUG


@pytest.mark.parametrize(("file", "old", "new", "key", "sentence"), WRONG)
def test_what_is_wrong_is_named_by_file_line_and_key(
    copy: Path, file: str, old: str, new: str, key: str, sentence: str
) -> None:
    path = copy / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(LessonError) as caught:
        lessons.load(SLUG)
    one = caught.value.problems[0]
    assert (one.file, one.key) == (f"lessons/{SLUG}/{file}", key)
    assert sentence in one.sentence
    assert abs(one.line - 1 - text[: text.index(old)].count("\n")) <= 4
    assert one.remedy.endswith(".")


@pytest.mark.parametrize("slug", OURS)
def test_a_word_that_readers_missed_is_explained(slug: str) -> None:
    assert NEEDED.get(slug, set()) <= {one.term.name for one in explained(lessons.load(slug))}


def test_a_shared_term_comes_from_the_common_file(copy: Path) -> None:
    found = {one.term.name: one for one in explained(lessons.load(SLUG))}
    assert found["RCU"].term.says.startswith("Read-copy-update.")
    assert found["RCU"].drawing == copy.parent / "_common/drawings/rcu.svg"
    assert found["shrinker"].term.entry is False
    (copy.parent / "_common/terms.yaml").unlink()
    assert "RCU" not in {one.term.name for one in explained(lessons.load(SLUG))}


def test_a_common_file_that_is_wrong_is_named_and_the_lesson_is_still_shown(copy: Path) -> None:
    path = copy.parent / "_common/terms.yaml"
    path.write_text(path.read_text().replace("    also: [shrinkers]", "    als: [shrinkers]"))
    folder = lessons.load(SLUG)
    with pytest.raises(LessonError) as caught:
        read_common(common_folders(folder.folder)[0])
    assert str(caught.value.problems[0]).startswith("lessons/_common/terms.yaml:6: terms[0].als")
    assert lesson_tree(folder, [], {})["terms"] == []
    assert "<h2>Questions</h2>" in outline(folder)


def test_the_page_gets_terms_with_their_drawings(copy: Path) -> None:
    (copy / "drawings/tick.svg").write_text("<svg><script/></svg>")
    lesson = lesson_of(lesson_tree(lessons.load(SLUG), [], {}))
    assert [term.name for term in lesson.terms][:4] == ["RCU", "SRCU", "grace period", "tick"]
    assert set(lesson.drawings) == {"RCU", "SRCU", "grace period", "shrinker"}
    assert lesson.drawings["SRCU"].startswith("<svg ")


def test_forms_are_whole_words_and_small_ones_may_begin_a_sentence() -> None:
    found = pattern(("grace period", "RCU", "tick", "ticks")).findall(
        "Grace\nperiod, RCU, SRCU, rcu, ticks and Tick; sticks, tick_do, tick-less."
    )
    assert found == ["Grace\nperiod", "RCU", "ticks", "Tick"]


def test_without_scripts_the_page_says_mail_terms_and_recap(copy: Path) -> None:
    path = copy / "recap.yaml"
    path.write_text(path.read_text().replace("has 250 ticks", "<script>250 ticks</script>"))
    text = outline(lessons.load(SLUG))
    assert "Qi Zheng, 2023-05-31" in text and "<dt><b>grace period</b></dt>" in text
    assert "<b>4 ms.</b>" in text and "<b>ticks.</b>" in text
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert text in index_html(lessons.load(SLUG), "page.css", [])


@pytest.fixture(params=OURS)
def folder(request: pytest.FixtureRequest) -> LessonFolder:
    return lessons.load(str(request.param))


def test_each_lesson_begins_with_its_terms_and_ends_with_five_questions(
    folder: LessonFolder,
) -> None:
    entry = [one for one in explained(folder) if one.term.entry]
    assert 3 <= len(entry) <= 5
    assert all(one.drawing and one.drawing.is_file() for one in entry)
    assert folder.lesson.explain and len(folder.lesson.quiz) == 5
    assert any(one.choices for one in folder.lesson.quiz)
    assert any(one.number is not None for one in folder.lesson.quiz)
    assert folder.lesson.mails


def test_what_is_shared_serves_two_lessons(root: Path) -> None:
    used = Counter(
        term.name for slug in OURS for term in lessons.load(slug).lesson.terms if term.shared
    )
    common = [term.name for term in read_common(root / "lessons/_common")]
    assert all(used[name] >= 2 for name in common), used
