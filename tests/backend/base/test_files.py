# SPDX-License-Identifier: GPL-2.0-or-later
"""What is published has reached the disk before its name appears, and the name afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from duet.base import files as durable
from duet.export.scene import Target
from duet.server.archive import ArchiveFolder


class Disk:
    """A disk that forgets what was not synced: it records syncs and new names in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: set[int] = set()
        self.lost: list[str] = []
        """Names that a power cut after all of this would leave empty or take away."""
        self._names: dict[int, str] = {}
        real_sync = os.fsync
        monkeypatch.setattr(os, "fsync", lambda handle: (self._sync(handle), real_sync(handle)))
        for call in ("rename", "replace", "link"):
            monkeypatch.setattr(os, call, self._naming(getattr(os, call)))

    def _sync(self, handle: int) -> None:
        inode = os.fstat(handle).st_ino
        self.synced.add(inode)
        self._names.pop(inode, None)

    def _naming(self, call: Callable[..., None]) -> Callable[..., None]:
        def named(source: str, target: str, **more: object) -> None:
            for path in _all(Path(source)):
                if path.stat().st_ino not in self.synced:
                    self.lost.append(str(path))
            call(source, target, **more)
            self._names[Path(target).parent.stat().st_ino] = str(target)

        return named

    def check(self) -> None:
        assert not self.lost, "named before its bytes were synced"
        assert not self._names, "its folder was not synced after the name appeared"


def _all(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir():
        yield from path.rglob("*")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def test_a_file_survives_a_power_cut(disk: Disk, tmp_path: Path) -> None:
    durable.write(tmp_path / "a", b"1", mode=0o600)
    disk.check()
    assert (tmp_path / "a").read_bytes() == b"1"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_a_folder_survives_a_power_cut(disk: Disk, tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    (draft / "in").mkdir(parents=True)
    (draft / "in" / "a").write_bytes(b"1")
    durable.publish_folder(draft, tmp_path / "whole")
    disk.check()


def test_a_saved_run_survives_a_power_cut(disk: Disk, tmp_path: Path) -> None:
    assert ArchiveFolder(tmp_path / "runs", 4, 1 << 20).save(b"run") is not None
    disk.check()


def test_an_export_survives_a_power_cut(disk: Disk, tmp_path: Path) -> None:
    with Target(tmp_path / "a.csv").file() as file:
        file.write(b"1")
    disk.check()


def test_the_disk_of_these_tests_sees_what_is_not_synced(disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "draft").write_bytes(b"1")
    (tmp_path / "draft").rename(tmp_path / "whole")
    with pytest.raises(AssertionError, match="before its bytes"):
        disk.check()


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"before")
    with pytest.raises(RuntimeError), durable.open_atomic(tmp_path / "a") as file:
        file.write(b"half")
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"before"
