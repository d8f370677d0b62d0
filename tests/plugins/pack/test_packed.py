# SPDX-License-Identifier: GPL-2.0-or-later
"""A pack is made, carried into a root that has only busybox, run there by an ordinary user without
a network, and its result is read here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from duet.cli import main
from duet.measure.elsewhere import read_result
from duet.plugins.pack.archive import split_kernel
from tests.guest.conftest import ImagesOf, images_of

__all__ = ["images_of"]  # a fixture

pytestmark = [pytest.mark.guest, pytest.mark.alone]
LESSON = "02-grace-periods"
WITHIN_S = 900
USER = "1234"


def bare_root(folder: Path) -> Path:
    """A root with busybox as its only program; no Python, no QEMU, no C library."""
    (folder / "bin").mkdir(parents=True)
    busybox = folder / "bin/busybox"
    shutil.copyfile("/bin/busybox", busybox)
    busybox.chmod(0o755)
    names = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout
    for name in names.split():
        if name != "busybox":
            (folder / "bin" / name).symlink_to("busybox")
    for name in ("proc", "dev", "tmp", "home", "etc"):
        (folder / name).mkdir()
    return folder


def inside(root: Path, home: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in the root as an ordinary user."""
    words = [
        "bwrap", "--unshare-all", "--die-with-parent", "--uid", USER, "--gid", USER,
        "--ro-bind", str(root), "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
        "--bind", str(home), "/home", "--chdir", "/home", "--clearenv", "--setenv", "PATH", "/bin",
        "/bin/sh", "-euc", script,
    ]  # fmt: skip
    return subprocess.run(words, capture_output=True, text=True, timeout=WITHIN_S, check=False)


def test_kernels_are_split_and_compressed_again_to_the_same_bytes(
    images_of: ImagesOf,
) -> None:
    image = images_of(LESSON)["rwsem"]
    whole = image.bzimage.read_bytes()
    parts = split_kernel(whole)
    assert parts is not None
    assert len(parts.body) > 2 * len(whole)
    packed = subprocess.run(
        ["lz4", "-l", parts.level, "-c"], input=parts.body, capture_output=True, check=True
    ).stdout
    assert parts.head + packed + parts.tail == whole


def test_a_pack_runs_where_nothing_is_and_its_result_is_read(
    tmp_path: Path,
    images_of: ImagesOf,
    capsys: pytest.CaptureFixture[str],
) -> None:
    images_of(LESSON)
    tar = tmp_path / "pack.tar"
    assert main(["pack", LESSON, "--output", str(tar), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["bytes"] < 64 << 20
    root, home = bare_root(tmp_path / "root"), tmp_path / "home"
    home.mkdir()
    shutil.move(tar, home / "pack.tar")
    (home / "pack.tar").chmod(0o644)
    home.chmod(0o777)

    done = inside(root, home, "tar xf pack.tar; cd pack; ./measure --facts")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "host: cpu " in done.stderr

    done = inside(root, home, "cd pack; ./measure --selftest")
    assert "ok      1 vCPUs" in done.stdout, done.stderr[-3000:]
    assert "ok      measurement" in done.stdout, done.stdout

    done = inside(root, home, "cd pack; ./measure --time 3m --name bare")
    assert done.returncode == 0, done.stderr[-3000:]
    result = home / "pack/result.jsonl"
    read = read_result(result)
    assert read.first.pack == made["pack"]
    assert read.tables, done.stderr[-3000:]
    assert read.skipped
    assert all(one.samples or one.refused for _, table in read.tables for one in table.series)

    words = ["measure", "--published", LESSON, "--from", str(result)]
    assert main(words) == 0
    assert "bare: " in capsys.readouterr().out
    harmed = tmp_path / "harmed.jsonl"
    harmed.write_bytes(result.read_bytes().replace(b'"samples": [', b'"samples": [1.0, ', 1))
    assert main([*words[:-1], str(harmed)]) == 2
    assert "was changed after its run" in capsys.readouterr().err

    (home / "pack/root/root.cpio.gz").write_bytes(b"another root")
    done = inside(root, home, "cd pack; ./measure --facts")
    assert done.returncode == 2
    assert "error: the pack cannot be used: root/root.cpio.gz has changed." in done.stderr
