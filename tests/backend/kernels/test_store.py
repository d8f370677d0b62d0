# SPDX-License-Identifier: GPL-2.0-or-later
"""The store holds whole images only, and a build with nothing to do is over at once."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from duet.kernels import ArmSpec, BuildProgress, KernelSettings, build, inputs, lookup, plan
from tests.support import miniature

ARMS = (
    ArmSpec("02-toy", "stock"),
    ArmSpec("02-toy", "srcu", (Path("srcu.patch"),)),
    ArmSpec("01-other", "after"),
)


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return miniature.make_settings(tmp_path)


def test_unknown_key_is_none(settings: KernelSettings) -> None:
    assert lookup(plan(ARMS[0], settings), settings) is None


def test_published_image_is_found_with_its_symbols(settings: KernelSettings) -> None:
    image = miniature.store_toy(settings, inputs(ARMS[0], settings))
    assert lookup(image.key, settings) == image
    assert image.symbols() == {"_text": 0xFFFFFFFF81000000}
    assert sorted(path.name for path in settings.store.folder.iterdir()) == [image.key]


@pytest.mark.parametrize("lost", ["vmlinux", "bzImage", "System.map", "config", "manifest.json"])
def test_image_with_a_lost_part_counts_as_absent(settings: KernelSettings, lost: str) -> None:
    need = inputs(ARMS[0], settings)
    image = miniature.store_toy(settings, need)
    (image.folder / lost).unlink()
    assert lookup(image.key, settings) is None
    assert lookup(miniature.store_toy(settings, need).key, settings) is not None, "and is replaced"


@pytest.mark.parametrize("cut", ["vmlinux", "bzImage", "System.map", "config"])
@pytest.mark.parametrize("size", [0, 1])
def test_image_with_a_part_cut_off_counts_as_absent(
    settings: KernelSettings, cut: str, size: int
) -> None:
    """A power cut may leave a file shorter than it was written."""
    need = inputs(ARMS[0], settings)
    image = miniature.store_toy(settings, need)
    os.truncate(image.folder / cut, size)
    assert lookup(image.key, settings) is None
    assert lookup(miniature.store_toy(settings, need).key, settings) is not None, "and is replaced"


def test_image_without_sizes_or_not_proven_counts_as_absent(settings: KernelSettings) -> None:
    image = miniature.store_toy(settings, inputs(ARMS[0], settings))
    file = image.folder / "manifest.json"
    text = file.read_text()
    file.write_text(text.replace('"proven": true', '"proven": false'))
    assert lookup(image.key, settings) is None
    file.write_text(text)
    assert lookup(image.key, settings) is not None
    (image.folder / "sizes.json").unlink()
    assert lookup(image.key, settings) is None


def test_failed_publish_leaves_nothing(settings: KernelSettings) -> None:
    image = miniature.store_toy(settings, inputs(ARMS[0], settings))
    other = inputs(ARMS[1], settings)
    manifest = image.manifest.model_copy(update={"key": other.key()})
    with pytest.raises(FileNotFoundError):
        settings.store.publish({"bzImage": Path("/nowhere/bzImage")}, manifest)
    assert sorted(path.name for path in settings.store.folder.iterdir()) == [image.key]


def test_build_with_nothing_to_do_ends_within_a_second(settings: KernelSettings) -> None:
    for arm in ARMS:
        miniature.store_toy(settings, inputs(arm, settings))
    reported: list[BuildProgress] = []
    started = time.process_time()  # others may want this machine, too
    images = build(ARMS, settings, on_progress=reported.append)
    assert time.process_time() - started < 1
    assert [image.key for image in images] == [plan(arm, settings) for arm in ARMS]
    assert images[0] == images[2], "stock is one image"
    assert reported == []
    assert not (settings.cache / "build.lock").exists(), "nothing to do takes no lock"


def test_whole_process_with_nothing_to_do_ends_within_a_second(settings: KernelSettings) -> None:
    """The same from a fresh interpreter; CPU time, so that a busy machine cannot fail it."""
    miniature.store_toy(settings, inputs(ARMS[1], settings))
    code = (
        "from pathlib import Path; from duet.kernels import *;"
        f"s = KernelSettings(Path({str(settings.cache)!r}), Path({str(settings.patches)!r}));"
        "build([ArmSpec('02-toy', 'srcu', (Path('srcu.patch'),))], s)"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1
