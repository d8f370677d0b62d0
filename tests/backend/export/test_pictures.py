# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures and films are what Chromium draws of the built page; each frame is another moment."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from duet.base.settings import repo_root
from duet.cli.entry import main
from duet.export import browser
from duet.lessons import load as lessons

RUN = "04-extent-shrinker/one-file"

pytestmark = [
    pytest.mark.skipif(
        not any(map(shutil.which, browser.NAMES)), reason="Chromium is not installed: setup.sh dev"
    ),
    pytest.mark.skipif(
        not (repo_root() / "frontend/dist/site/chunks.json").is_file(),
        reason="the page is not built: setup.sh page",
    ),
]


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack_from(">II", png, 16)
    return width, height


def test_a_picture_has_its_size_and_shows_its_moment(tmp_path: Path) -> None:
    pictures = []
    for at in ("0.5", "2.5"):
        out = tmp_path / f"{at}.png"
        given = ["--to", "png", "--at", at, "--size", "800x500", "--theme", "dark"]
        assert main(["export", RUN, str(out), *given]) == 0
        pictures.append(out.read_bytes())
    assert {size_of(png) for png in pictures} == {(800, 500)}
    assert pictures[0] != pictures[1]
    assert min(map(len, pictures)) > 10_000


def test_a_handout_has_a_page_for_each_slide(tmp_path: Path) -> None:
    out = tmp_path / "handout.pdf"
    assert main(["export", RUN, str(out), "--to", "pdf"]) == 0
    pdf = out.read_bytes()
    assert pdf.startswith(b"%PDF-")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    scenes = lessons.load(RUN.split("/")[0]).lesson.scenes
    assert len(scenes) < pages <= 3 * len(scenes)
    # A4 across, in points.
    assert re.search(rb"/MediaBox\s*\[\s*0 0 84[12][\d.]* 59[45]", pdf)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed: setup.sh dev")
@pytest.mark.parametrize(("to", "frames"), [("gif", 4), ("webm", 8)])
def test_a_film_has_its_frames(to: str, frames: int, tmp_path: Path) -> None:
    out = tmp_path / f"film.{to}"
    given = ["--from", "0.5", "--to-ms", "4", "--seconds", "0.32", "--size", "640x400"]
    assert main(["export", RUN, str(out), "--to", to, *given]) == 0
    reported = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", out, "-f", "framemd5", "-"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    sums = [
        line.split(",")[-1] for line in reported.stdout.splitlines() if not line.startswith("#")
    ]
    assert len(sums) >= frames
    assert len(set(sums)) > frames // 2


def test_without_chromium_it_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(browser, "NAMES", ("no-such-browser",))
    assert main(["export", RUN, str(tmp_path / "x.png"), "--to", "png"]) == 3
    assert "Chromium, which is not installed" in capsys.readouterr().err
    site = tmp_path / "site"
    assert main(["export", RUN, str(site), "--to", "site"]) == 0
    assert "No still picture for browsers without JavaScript" in capsys.readouterr().err
    assert (site / "index.html").is_file() and not (site / "picture.webp").exists()
