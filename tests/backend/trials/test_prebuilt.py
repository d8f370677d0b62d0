# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels built elsewhere become the arms of a trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.base.settings import repo_root
from duet.lessons.load import load
from duet.trials.ask import Asked, read_trial
from duet.trials.spec import Trial
from duet.trials.tracing import Tracing
from duet.trials.write import Times, write_trial
from tests.backend.kernels.test_prebuilt import CONFIG, build_kernel
from tests.backend.trials.made import KNOWN, PATCH


def tried(tmp_path: Path, asked: Asked) -> Trial:
    return read_trial(asked, tmp_path / "trials", repo_root() / "kernel-patches", KNOWN)


def test_two_builds_are_two_bases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = build_kernel(tmp_path / "one/linux")
    after = build_kernel(tmp_path / "two/linux", CONFIG + "CONFIG_MORE=y\n")
    made = tried(tmp_path, Asked("sleep 1", kernels=(before, after)))
    assert [arm.name for arm in made.arms] == ["linux", "linux-2"]
    assert len({base.name for base in made.bases}) == 2
    folder = tmp_path / made.name
    write_trial(folder, made, Tracing(), Times())
    monkeypatch.setenv("DUET_LESSONS", str(folder))
    arms = load(made.slug).lesson.arms
    assert [arm.base for arm in arms] == [base.name for base in made.bases]
    place = Path(made.bases[1].source["image"])
    assert (place / "vmlinux").read_bytes() == (after / "vmlinux").read_bytes()


def test_stock_of_a_base_may_stand_beside_one(tmp_path: Path) -> None:
    made = tried(tmp_path, Asked("sleep 1", base="6.1", kernels=(build_kernel(tmp_path / "mine"),)))
    assert [arm.name for arm in made.arms] == ["stock", "mine"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"patches": (PATCH,)}, "a patch needs kernel source"),
        ({"shared": (PATCH,)}, "a patch needs kernel source"),
        (
            {"vmlinux": (Path("a"), Path("b"))},
            "wanted one --vmlinux for each --kernel, but got 2 for 1",
        ),
        ({}, "needs two kernels, but only one"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, more: dict[str, tuple[Path, ...]], words: str
) -> None:
    kernel = build_kernel(tmp_path / "mine")
    with pytest.raises(InputError, match=words):
        tried(tmp_path, Asked("sleep 1", kernels=(kernel,), **more))
