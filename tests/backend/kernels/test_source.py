# SPDX-License-Identifier: GPL-2.0-or-later
"""The source tarball: hashed once, unpacked whole, and bad ones refused in a sentence."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace as changed
from pathlib import Path

import pytest

from duet.kernels import KernelSettings
from duet.kernels.source import (
    BadTarball,
    DiskFull,
    NoSource,
    Tarball,
    check_space,
    fetched_tarball,
    find_tarball,
    kernel_version,
    unpack,
)
from tests.support import miniature


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return miniature.make_settings(tmp_path)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_tarball_is_hashed_again_only_when_it_changed(
    settings: KernelSettings, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = find_tarball(settings.base, None, cache)
    with monkeypatch.context() as patched:
        patched.setattr(hashlib, "file_digest", None)
        assert find_tarball(settings.base, None, cache) == first
    with settings.base.tarball.open("ab") as stream:
        stream.write(b"more")
    assert find_tarball(settings.base, None, cache).sha256 != first.sha256


def test_same_bytes_elsewhere_are_the_same_source(settings: KernelSettings, cache: Path) -> None:
    copy = cache.parent / "copy.tar.xz"
    copy.write_bytes(settings.base.tarball.read_bytes())
    default = find_tarball(settings.base, None, cache)
    assert find_tarball(settings.base, copy, cache).sha256 == default.sha256


def test_stored_kernels_outlive_the_tarball(settings: KernelSettings, cache: Path) -> None:
    known = find_tarball(settings.base, None, cache)
    settings.base.tarball.unlink()
    assert find_tarball(settings.base, None, cache) == known


def test_fetched_source_is_second_to_an_installed_one(
    settings: KernelSettings, cache: Path
) -> None:
    fetched = fetched_tarball(settings.base, cache)
    fetched.parent.mkdir(parents=True)
    fetched.write_bytes(b"of another version")
    installed = find_tarball(settings.base, None, cache)
    assert installed.path == settings.base.tarball
    settings.base.tarball.unlink()
    found = find_tarball(settings.base, None, cache)
    assert (found.path, found.sha256) == (
        fetched,
        hashlib.sha256(b"of another version").hexdigest(),
    )
    fetched.unlink()
    assert find_tarball(settings.base, None, cache) == found, "what was used last is remembered"


def test_missing_source_says_how_to_get_it(settings: KernelSettings, cache: Path) -> None:
    settings.base.tarball.unlink()
    with pytest.raises(NoSource, match="but there is no such file") as caught:
        find_tarball(settings.base, None, cache)
    assert "./duet build, which fetches it" in caught.value.remedy
    assert "--source TARBALL" in caught.value.remedy
    with pytest.raises(NoSource, match=r"/nowhere\.tar\.xz") as caught:
        find_tarball(settings.base, Path("/nowhere.tar.xz"), cache)
    assert "--source" in caught.value.remedy


def test_broken_memory_is_forgotten(settings: KernelSettings, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "tarballs.json").write_text("{half")
    assert len(find_tarball(settings.base, None, cache).sha256) == 64


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"README": "hello"}, "it has no kernel Makefile"),
        ({"Makefile": "all:\n\techo hi\n"}, "it has no kernel Makefile"),
        (
            {"Makefile": miniature.MAKEFILE.replace("PATCHLEVEL = 1\n", "PATCHLEVEL = 12\n")},
            r"is 6\.12\.7",
        ),
    ],
)
def test_tarball_of_something_else_is_refused(
    settings: KernelSettings, tmp_path: Path, files: dict[str, str], said: str
) -> None:
    other = miniature.make_tarball(tmp_path / "other.tar.xz", files)
    target = tmp_path / "tree" / "src"
    with pytest.raises(BadTarball, match=said) as caught:
        unpack(Tarball(other, "0"), settings.base, target, lock_fd=os.dup(0))
    assert "linux-6.1" in caught.value.remedy
    assert not any((tmp_path / "tree").iterdir()), "nothing half-unpacked stays"


def test_truncated_tarball_is_refused(settings: KernelSettings, tmp_path: Path) -> None:
    torn = tmp_path / "torn.tar.xz"
    torn.write_bytes(settings.base.tarball.read_bytes()[:-40])
    with pytest.raises(BadTarball, match="tar could not read it"):
        unpack(Tarball(torn, "0"), settings.base, tmp_path / "tree" / "src", lock_fd=os.dup(0))


def test_unpacked_tree_appears_whole(settings: KernelSettings, tmp_path: Path) -> None:
    target = tmp_path / "tree" / "src"
    (tmp_path / "tree" / "src.unpacking").mkdir(parents=True)
    (tmp_path / "tree" / "src.unpacking" / "left-by-a-killed-call").touch()
    unpack(Tarball(settings.base.tarball, "0"), settings.base, target, lock_fd=os.dup(0))
    assert sorted(path.name for path in target.iterdir()) == ["Makefile", "fs", "mm"]
    assert kernel_version(target) == "6.1.7"


def test_full_disk_says_needed_and_free(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match=r"wanted 999999\.0 GB to compile, but .* GB free") as caught:
        check_space(tmp_path, 999_999 * 10**9, "to compile")
    assert "DUET_CACHE" in caught.value.remedy


def test_series_of_the_base_decides(settings: KernelSettings, tmp_path: Path) -> None:
    newer = changed(settings.base, series="6.12")
    with pytest.raises(BadTarball, match=r"wanted Linux 6\.12"):
        unpack(
            Tarball(settings.base.tarball, "0"), newer, tmp_path / "tree" / "src", lock_fd=os.dup(0)
        )
