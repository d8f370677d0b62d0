# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet compare` says where two recordings stand beside each other on the page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duet.cli.entry import main
from duet.lessons.load import load

SLUG = "01-shrinker-bitmaps"
RECORDED = load(SLUG).folder / "recorded"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["compare", *words]) == 0
    return capsys.readouterr().out.splitlines()[-1]


def test_recordings_of_a_lesson_are_named_as_addresses_name_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    last = said(capsys, f"{SLUG}/6-containers", str(RECORDED / "56-containers.duet"))
    assert last.endswith(f"/?lesson={SLUG}&run=6-containers&with=56-containers")


def test_a_kept_run_is_named_by_its_id_and_a_file_from_elsewhere_is_to_be_added(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUET_RUNS", str(tmp_path))
    kept = tmp_path / "run-20260301-100000.duet"
    shutil.copy(RECORDED / "56-containers.duet", kept)
    last = said(capsys, f"{SLUG}/6-containers", kept.stem)
    assert last.endswith(f"&run=6-containers&with=kept:{SLUG}:{kept.stem}")
    (tmp_path / "elsewhere").mkdir()
    other = shutil.copy(kept, tmp_path / "elsewhere" / "6-containers.duet")
    assert "./duet runs --add" in said(capsys, f"{SLUG}/6-containers", str(other))
