# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording's texts cannot act on the terminal; a device without room is one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from duet.cli.entry import main
from duet.cli.output import visible
from duet.lessons.load import load

THREE = load("02-grace-periods").folder / "recorded/3-hogs.duet"
EVIL = "a\x1b]0;PWNED\x07\x1b[2J\u202egpj\u2066\u200b\x9b31m"
BIDI = "a\u202egpj\u2066\u200b"
ESCAPED = r"a\u001b]0;PWNED\u0007\u001b[2J\u202egpj\u2066\u200b\u009b31m"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A recording whose manifest has control characters wherever it has text."""
    path = tmp_path / "hostile.duet"
    with zipfile.ZipFile(THREE) as good, zipfile.ZipFile(path, "w") as bad:
        for name in good.namelist():
            content = good.read(name)
            if name == "manifest.json":
                tree = json.loads(content)
                tree["host"] = {"cpu": BIDI}
                for arm in tree["arms"]:
                    arm["title"] = BIDI
                    arm["kernel"]["compiler"] = EVIL
                content = json.dumps(tree).encode()
            bad.writestr(name, content)
    return path


@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize("verb", ["inspect", "compare"])
def test_no_verb_prints_what_a_terminal_obeys(
    verb: str, more: list[str], hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(hostile)] + ([str(THREE)] if verb == "compare" else [])
    main([verb, *files, *more])
    printed = "".join(capsys.readouterr())
    assert visible(printed) == printed
    assert (ESCAPED if verb == "compare" else r"a\u202egpj\u2066\u200b") in printed


def test_json_still_says_the_same_text(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(hostile), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["host"]["cpu"] == BIDI


@pytest.mark.parametrize("text", ["plain\n\ttext", "µs, ±, 한국어, 𝛼", "no\u00a0break"])
def test_text_that_is_harmless_stays(text: str) -> None:
    assert visible(text) == text


def test_characters_beyond_16_bits_and_surrogates_are_escaped_as_json_does() -> None:
    assert visible("\U000e0041") == r"\udb40\udc41"
    assert visible("\ud800") == r"\ud800"


@pytest.mark.parametrize("words", [["runs", "--json"], ["runs"], ["inspect", "nothing", "--json"]])
def test_a_device_without_room_is_one_sentence(words: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "duet", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "DUET_RUNS": str(tmp_path)},
        )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if words[0] == "runs":
        assert done.returncode == 3
        assert "No space left on device" in done.stderr
    else:
        assert done.returncode == 2
