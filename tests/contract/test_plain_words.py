# SPDX-License-Identifier: GPL-2.0-or-later
"""Prose and names use plain words: phrases that only this project's authors read are refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

REFUSED = re.compile(
    r"\b(un)?told\b|_told\b|\b(heard|hears|hearers?|tellers?|likewise|wish(es|ed)?)\b"
    r"|\bclass (Ask|House|Tape|Told)\b|\b([A-Z]\w*(Wish|Teller|Hearer|Tape))\b"
    r"|\bwhat there is\b|(?<!\bsaid, and )\bwhat became of\b|\bbeside it\b"
    r"|\b([Tt]wins?|[Kk]eepers?)\b"
    r'|"""It (does|reads|stands by now)\."""'
    # Of saved runs, whose ids (`kept:`) and address (/api/kept) keep their names.
    r"|\b[Kk]ept as (bundles|\{|%s)|\b(could not|may) be kept\b|\bkept-runs\b"
    r"|(\b(runs?|recordings?)|%s) (is|are) (not )?kept\b"
)
FOLDERS = ("backend", "frontend", "tests", "tools", "docs")
FILES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Makefile", "setup.sh")
TEXT = {".py", ".ts", ".tsx", ".mjs", ".md", ".css", ".sh", ".c", ".h", ".toml", ".yml", ".yaml"}
THIS = "tests/contract/test_plain_words.py"
EXCEPTIONS = {
    "untold": "a count of the microscope's protocol (vm-images/microscope/PROTOCOL.md)",
}
"""Word -> why it may stand. Only ever fewer."""


def refused(text: str) -> list[str]:
    """Words of a text that have a plain replacement."""
    return [m.group() for m in REFUSED.finditer(text) if m.group() not in EXCEPTIONS]


def test_no_file_brings_a_private_word_back(root: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", *FOLDERS, *FILES],
        cwd=root, capture_output=True, text=True, timeout=60, check=True,
    ).stdout.split()  # fmt: skip
    files = [name for name in listed if Path(name).suffix in TEXT or name in FILES]
    assert len(files) > 500
    found = [
        f"{name}:{number}: {word}"
        for name in files
        if name != THIS and (root / name).exists()
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1)
        for word in refused(line)
    ]
    assert found == [], (
        "say it in plain words: reported, received, request, reference, saved, the same"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a page that is told so", ["told"]),
        ("class GuestWish:", ["GuestWish"]),
        ('"""It does."""', ['"""It does."""']),
        ("seed: likewise.", ["likewise"]),
        ("the wire.c beside it", ["beside it"]),
        ("a slow twin", ["twin"]),
        ("its keeper", ["keeper"]),
        ("the run could not be kept", ["could not be kept"]),
        ("GET /api/kept gives kept:x:run-1", []),
        ("cells.untold += 1", []),
        ("a task of 256 threads", []),
        ("what became of the run", ["what became of"]),
    ],
)
def test_such_words_are_found(text: str, words: list[str]) -> None:
    assert refused(text) == words
