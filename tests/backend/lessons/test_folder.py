# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson is a folder: copied under another slug it is a lesson, deleted it is missed by nobody.

Both are done in a copy of the checkout, with the tests that hold for whichever lessons there are.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from duet.lessons import load

GENERIC_TESTS = (
    "tests/backend/test_fair_arms.py",
    "tests/backend/lessons/test_words.py",
)
"""Tests that find the lessons by looking."""
LINT_S, TESTS_S = 300, 300


@pytest.fixture
def checkout(tmp_path: Path, root: Path) -> Path:
    """A checkout whose lessons (without recordings) and patches are its own; the rest are links."""
    copy = tmp_path / "checkout"
    copy.mkdir()
    for path in root.iterdir():
        if path.name not in ("lessons", "kernel-patches", ".git"):
            (copy / path.name).symlink_to(path)
    shutil.copytree(root / "kernel-patches", copy / "kernel-patches")
    (copy / "lessons").mkdir()
    for folder in filter(Path.is_dir, (root / "lessons").iterdir()):
        # Recordings say which lesson they are of, so a copy has none; other tests play them.
        without = shutil.ignore_patterns("recorded")
        shutil.copytree(folder, copy / "lessons" / folder.name, ignore=without)
    return copy


def lint(checkout: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Lessons and problems, as `duet lint` sees them there."""
    done = run(checkout, LINT_S, "-m", "duet", "lint", "--json")
    tree = json.loads(done.stdout)
    return tree["lessons"], tree["problems"]


def run(checkout: Path, timeout_s: float, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "DUET_ROOT": str(checkout), "DUET_SETUP": "skip"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=checkout, env=env, capture_output=True, text=True, timeout=timeout_s,
    )  # fmt: skip


def generic_tests(checkout: Path) -> None:
    options = ("-c", "backend/pyproject.toml", "--rootdir", ".", "-p", "no:cacheprovider", "-q")
    done = run(checkout, TESTS_S, "-m", "pytest", *options, *GENERIC_TESTS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.parametrize("slug", ["02-grace-periods"])
def test_a_copy_under_another_slug_is_a_lesson(checkout: Path, slug: str) -> None:
    new = "06-a-copy"
    shutil.copytree(checkout / "lessons" / slug, checkout / "lessons" / new)
    shutil.copytree(checkout / "kernel-patches" / slug, checkout / "kernel-patches" / new)
    slugs, problems = lint(checkout)
    assert new in slugs
    assert problems == []
    assert load.load(new, checkout).lesson == load.load(slug).lesson
    generic_tests(checkout)


@pytest.mark.parametrize("slug", ["02-grace-periods"])
def test_a_lesson_that_is_deleted_is_missed_by_nobody(checkout: Path, slug: str) -> None:
    shutil.rmtree(checkout / "lessons" / slug)
    shutil.rmtree(checkout / "kernel-patches" / slug)
    slugs, problems = lint(checkout)
    assert slug not in slugs and len(slugs) == len(load.slugs()) - 1
    assert problems == []
    generic_tests(checkout)
