# SPDX-License-Identifier: GPL-2.0-or-later
"""build() end to end with real make, patch and tar on a kernel in miniature, faults included."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace as changed
from pathlib import Path

import pytest

from duet.base.errors import DuetError
from duet.kernels import ArmSpec, BuildProgress, KernelSettings, Phase, build, plan
from duet.kernels.compiler import (
    BuildStopped,
    CompileFails,
    OptionLost,
    ToolMissing,
    sweep_half_written,
)
from duet.kernels.source import DiskFull, NoSource
from duet.kernels.tree import BuildBusy, build_lock
from tests.support import miniature

STOCK = ArmSpec("02-toy", "stock")
SRCU = ArmSpec("02-toy", "srcu", (Path("srcu.patch"),))


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    monkeypatch.setenv("HOME", str(tmp_path))  # where the toy Makefile looks for its gate
    return miniature.make_settings(tmp_path)


def owner(settings: KernelSettings) -> subprocess.Popen[bytes]:
    """A process of its own that builds stock."""
    code = (
        "from pathlib import Path, PosixPath\nfrom duet.kernels import *\n"
        f"build([ArmSpec('02-toy', 'stock')], {settings!r})"
    )
    return subprocess.Popen([sys.executable, "-c", code])


def test_arms_come_out_of_one_tree_and_differ_by_their_patch(settings: KernelSettings) -> None:
    reported: list[BuildProgress] = []
    srcu, stock = build([SRCU, STOCK], settings, on_progress=reported.append)
    before = stock.bzimage.read_text().splitlines()[1:]  # without the linker's note
    after = srcu.bzimage.read_text().splitlines()[1:]
    differing = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert differing == [("line 10", "srcu")]
    assert (stock.manifest.objects, stock.manifest.cold) == (2, True)
    assert (srcu.manifest.objects, srcu.manifest.cold) == (1, False), "one file, one object"
    assert [patch.subject for patch in srcu.manifest.patches] == ["mm: trace", "mm: srcu"]
    assert stock.manifest.kernel_version == "6.1.7"
    phases = list(dict.fromkeys((p.arm, p.phase) for p in reported))
    steps = [Phase.PATCH, Phase.CONFIG, Phase.COMPILE, Phase.LINK, Phase.STORE]
    assert phases == [
        ("stock", Phase.EXTRACT),
        *(("stock", step) for step in steps),
        *(("srcu", step) for step in steps),
        ("srcu", Phase.DONE),
    ]
    assert all(p.objects_done <= p.objects_expected for p in reported)
    notes = [p.note for p in reported if p.phase is Phase.COMPILE and p.note]
    assert notes[0].startswith("about 1,3") and "min or less" in notes[0], "a cold tree"
    assert notes[1] == "the tree is at 02-toy stock; about 1 object to compile, 15 s or less."
    assert {p.arms_total for p in reported} == {2}


def test_image_does_not_depend_on_the_order_of_building(
    settings: KernelSettings, tmp_path: Path
) -> None:
    build([STOCK], settings)
    after_stock = build([SRCU], settings)[0]
    fresh = changed(settings, cache=tmp_path / "other-cache")
    alone = build([SRCU], fresh)[0]
    assert alone.key == after_stock.key
    assert alone.bzimage.read_bytes() == after_stock.bzimage.read_bytes()


def test_build_killed_with_its_owner_leaves_no_compiler_and_goes_on_later(
    settings: KernelSettings, tmp_path: Path
) -> None:
    (tmp_path / "gate").touch()
    process = owner(settings)
    assert miniature.wait_for_file(tmp_path / "waiting", 240), "the compiler has started"
    process.send_signal(signal.SIGKILL)
    process.wait()
    (tmp_path / "waiting").unlink()
    # The lock is free only when the last compiler has gone: make passed it on to them.
    with build_lock(settings.cache / "build.lock", wait_s=240, on_wait=lambda note: None):
        time.sleep(0.3)
        assert not (tmp_path / "waiting").exists(), "a compiler still runs"
    (tmp_path / "gate").unlink()
    reported: list[BuildProgress] = []
    image = build([STOCK], settings, on_progress=reported.append)[0]
    assert image.bzimage.read_text().endswith("super\n")
    assert "interrupted" in " ".join(p.note for p in reported)
    assert Phase.EXTRACT not in {p.phase for p in reported}


def test_second_builder_waits_and_finds_the_work_done(
    settings: KernelSettings, tmp_path: Path
) -> None:
    (tmp_path / "gate").touch()
    process = owner(settings)
    assert miniature.wait_for_file(tmp_path / "waiting", 240)
    reported: list[BuildProgress] = []

    def tell(progress: BuildProgress) -> None:
        reported.append(progress)
        (tmp_path / "gate").unlink(missing_ok=True)

    build([STOCK], settings, on_progress=tell)
    assert process.wait(20) == 0
    assert [p.phase for p in reported] == [Phase.WAIT] * (len(reported) - 1) + [Phase.DONE]
    assert f"Process {process.pid} is building kernels" in reported[0].note


def test_waiting_for_another_builder_has_an_end(settings: KernelSettings) -> None:
    with (
        build_lock(settings.cache / "build.lock", wait_s=0, on_wait=lambda note: None),
        pytest.raises(BuildBusy, match=rf"process {os.getpid()} is still building"),
    ):
        build([STOCK], changed(settings, lock_wait_s=0.3))


def test_stop_ends_the_wait_for_another_builder(settings: KernelSettings) -> None:
    stop = threading.Event()
    reported: list[BuildProgress] = []

    def tell(progress: BuildProgress) -> None:
        reported.append(progress)
        stop.set()

    with (
        build_lock(settings.cache / "build.lock", wait_s=0, on_wait=lambda note: None),
        pytest.raises(BuildStopped, match=rf"stopped while process {os.getpid()} was building"),
    ):
        build([STOCK], settings, on_progress=tell, stop=stop)
    assert [one.phase for one in reported] == [Phase.WAIT]


def test_stop_ends_make_and_the_build_goes_on_later(
    settings: KernelSettings, tmp_path: Path
) -> None:
    (tmp_path / "gate").touch()
    stop = threading.Event()

    def tell(progress: BuildProgress) -> None:
        if progress.phase is Phase.COMPILE:
            stop.set()

    with pytest.raises(BuildStopped):
        build([STOCK], settings, on_progress=tell, stop=stop)
    (tmp_path / "gate").unlink()
    assert build([STOCK], settings)[0].manifest.kernel_version == "6.1.7"


def test_compile_error_names_file_and_log_and_heals(settings: KernelSettings) -> None:
    own = settings.patches / "02-toy" / "srcu.patch"
    good = own.read_text()
    message = "error: expected ';'"
    own.write_text(good.replace("+srcu", f"+{message}"))
    with pytest.raises(CompileFails, match="wanted to make bzImage, but make failed") as caught:
        build([STOCK, SRCU], settings)
    assert message in caught.value.detail
    log = settings.cache / "logs" / f"build-{plan(SRCU, settings)}.log"
    assert str(log) in caught.value.remedy and message in log.read_text()
    own.write_text(good)
    assert "srcu" in build([SRCU], settings)[0].bzimage.read_text()


def test_disk_that_fills_up_in_mid_build_is_recognised(settings: KernelSettings) -> None:
    own = settings.patches / "02-toy" / "srcu.patch"
    text = "error: /tmp/x.s: No space left on device"
    own.write_text(own.read_text().replace("+srcu", f"+{text}"))
    with pytest.raises(DiskFull, match="GB free"):
        build([SRCU], settings)


def test_space_is_checked_before_anything_is_unpacked(
    settings: KernelSettings,
) -> None:
    with pytest.raises(DiskFull, match=r"wanted 1000000000\.0 GB to unpack and compile"):
        build([STOCK], changed(settings, tree_bytes=10**18))
    assert not list((settings.cache / "tree").glob("*/src"))


def test_option_that_does_not_stick_fails_the_build(settings: KernelSettings) -> None:
    config = settings.patches / "bases/6.1/base.config"
    config.write_text(config.read_text() + "CONFIG_LOST=y\n")
    with pytest.raises(OptionLost, match=r"wants CONFIG_LOST=y, but .* gave n"):
        build([STOCK], settings)


def test_missing_tools_name_their_packages(
    settings: KernelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("gcc", "ld", "make"):
        (tools / tool).symlink_to(shutil.which(tool) or "/nowhere")
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(ToolMissing, match="this machine has no flex, bison, bc") as caught:
        build([STOCK], settings)
    assert "apt-get install" in caught.value.remedy and "xz-utils" in caught.value.remedy


def test_source_that_vanished_before_the_first_build_is_named(settings: KernelSettings) -> None:
    plan(STOCK, settings)  # now its identity is known
    settings.base.tarball.unlink()
    with pytest.raises(NoSource) as caught:
        build([STOCK], settings)
    assert "wanted linux-toy, the source of Linux 6.1, but" in caught.value.sentence
    assert isinstance(caught.value, DuetError) and caught.value.exit_code == 3


def test_half_written_objects_of_a_killed_make_are_swept(tmp_path: Path) -> None:
    for name, object_ns, record_ns in (("whole", 1, 2), ("torn", 3, 2)):
        (tmp_path / f"{name}.o").touch()
        (tmp_path / f".{name}.o.cmd").touch()
        os.utime(tmp_path / f"{name}.o", ns=(object_ns, object_ns))
        os.utime(tmp_path / f".{name}.o.cmd", ns=(record_ns, record_ns))
    (tmp_path / "vmlinux").touch()
    sweep_half_written(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("[!.]*")) == ["whole.o"]


def test_a_patch_that_changes_meanwhile_is_reported(settings: KernelSettings) -> None:
    path = settings.patches / "02-toy" / "srcu.patch"

    def edit(progress: BuildProgress) -> None:
        if progress.arm == "stock" and progress.phase is Phase.STORE:
            path.write_text(path.read_text().replace("+srcu", "+srcu2"))

    with pytest.raises(DuetError, match="02-toy, srcu, changed during the kernel build"):
        build([STOCK, SRCU], settings, on_progress=edit)
    assert build([SRCU], settings)[0].bzimage.read_text().count("srcu2") == 1
