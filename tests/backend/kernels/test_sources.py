# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources that Debian packages have: from own lists or the archive, by exact name, and checked."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from duet.kernels import ArmSpec, BuildProgress, KernelSettings, Phase, build
from duet.kernels import source_fetch as sources
from duet.kernels import source_fetch as sources_apt
from duet.kernels.source import NoSource, fetched_tarball
from duet.kernels.tree import BuildStopped
from tests.support import miniature
from tests.support.debian_archive import Archive, own_apt, served

pytestmark = [
    pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")
    for name in ("apt-get", "gpg", "gpg-agent")
]
NAME = "linux-source-6.1"
INSTALLED = f"/usr/src/{NAME}-of-no-machine.tar.xz"
"""Where base.yaml says that the package puts it; nothing is there."""
NOBODY = 65534


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Suites old (6.1 of two ages), old-security (the newest 6.1), new (6.12 alone)."""
    made = Archive(tmp_path_factory.mktemp("debian"))
    content = miniature.make_settings(tmp_path_factory.mktemp("content")).base.tarball.read_bytes()
    made.add("old", NAME, "6.1.7-1", INSTALLED, content + b"older")
    made.add("old-security", NAME, "6.1.9-1", INSTALLED, content)
    made.add("new", f"{NAME}2", "6.12.1-1", INSTALLED, content + b"another kernel")
    for suite in ("old", "old-security", "new"):
        made.publish(suite)
    return made


@pytest.fixture
def address(archive: Archive) -> Iterator[str]:
    with served(archive) as where:
        yield where


@pytest.fixture
def settings(
    tmp_path: Path, archive: Archive, address: str, monkeypatch: pytest.MonkeyPatch
) -> KernelSettings:
    """A base whose source is in a package; this machine knows no package, the archive is a toy."""
    made = miniature.make_settings(tmp_path)
    (made.patches / "bases/6.1/base.yaml").write_text(
        "about: toy\nseries: '6.1'\ndefault: true\nconfig: [base.config]\n"
        f"source: {{package: {NAME}, suites: [old, old-security], tarball: {INSTALLED}}}\n"
    )
    monkeypatch.setattr(sources_apt, "KEYRING", archive.keyring)
    monkeypatch.setattr(sources_apt, "ARCHIVE", address)
    monkeypatch.setattr(sources, "_failed", {})
    own_lists(tmp_path, monkeypatch, "")
    return made


def own_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, *, update: bool = True
) -> None:
    """Let these be the machine's package sources."""
    variables = own_apt(tmp_path / f"apt-{len(list(tmp_path.glob('apt-*')))}", lines)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if lines and update:
        subprocess.run(["apt-get", "-qq", "update"], check=True, timeout=120)


def fetch(settings: KernelSettings, stop: Event | None = None) -> tuple[Path, list[str]]:
    said: list[str] = []
    return sources_apt.fetch(settings.base, settings.cache, said.append, stop or Event()), said


def test_the_archive_gives_the_newest_of_its_suites(settings: KernelSettings) -> None:
    path, said = fetch(settings)
    assert path == fetched_tarball(settings.base, settings.cache)
    assert not path.read_bytes().endswith(b"older"), "that of the suite without -security"
    assert said[-1].startswith(f"Fetching {NAME} 6.1.9-1, ")
    assert list(path.parent.iterdir()) == [path]
    assert settings.tarball(settings.base).path == path


def test_own_lists_come_first_and_a_name_is_no_pattern(
    settings: KernelSettings,
    archive: Archive,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = f"deb [arch=amd64 signed-by={archive.keyring}] {address}"
    own_lists(tmp_path, monkeypatch, f"{line} new main\n")
    listed = subprocess.run(
        ["apt-cache", "policy", NAME], capture_output=True, text=True, timeout=60, check=True
    )
    assert f"{NAME}2:" in listed.stdout, "apt itself takes the name for a pattern"
    path, said = fetch(settings)
    assert not path.read_bytes().endswith(b"another kernel")
    assert said[0] == f"Looking for {NAME} at {address}."
    path.unlink()

    own_lists(tmp_path, monkeypatch, f"{line} old main\n{line} new main\n")
    path, said = fetch(settings)
    assert path.read_bytes().endswith(b"older")
    assert [sentence.split(",")[0] for sentence in said] == [f"Fetching {NAME} 6.1.7-1"]


def test_lists_of_the_machine_stay_as_they_are(
    settings: KernelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_of(tmp_path / "apt-0")
    fetch(settings)
    assert files_of(tmp_path / "apt-0") == before


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".bin"  # apt's own memory of its lists
    }


def test_own_mirror_is_asked_before_the_archive(
    settings: KernelSettings,
    archive: Archive,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mirror = f"{address.removesuffix('debian')}mirror/debian"
    line = f"deb [signed-by={archive.keyring}] {mirror} new main\n"
    own_lists(tmp_path, monkeypatch, line, update=False)
    where = archive.files / "mirror"
    where.symlink_to(".")
    try:
        assert fetch(settings)[1][0] == f"Looking for {NAME} at {mirror}."
    finally:
        where.unlink()
    places = [f"Looking for {NAME} at {place}." for place in (mirror, address)]
    assert fetch(settings)[1][:2] == places


@pytest.mark.parametrize("wrong", ["unsigned", "another key", "changed package"])
def test_what_debian_has_not_signed_is_refused(
    wrong: str, settings: KernelSettings, tmp_path: Path, archive: Archive, address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    bad = tmp_path / "bad"
    bad.mkdir()
    other = Archive(bad)
    shutil.copytree(archive.files / "pool", other.files / "pool")
    for suite in ("old", "old-security"):
        other.publish(suite, sign=wrong != "unsigned")
    if wrong == "changed package":
        monkeypatch.setattr(sources_apt, "KEYRING", other.keyring)
        for package in other.files.rglob("*.deb"):
            package.write_bytes(package.read_bytes()[::-1])
    with served(other) as where:
        monkeypatch.setattr(sources_apt, "ARCHIVE", where)
        with pytest.raises(NoSource, match="could not be fetched from Debian's archive") as caught:
            fetch(settings)
    assert "DUET_SOURCE=FILE" in caught.value.remedy
    assert not fetched_tarball(settings.base, settings.cache).exists()


def test_each_system_without_a_source_has_its_sentence(
    settings: KernelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources_apt, "KEYRING", tmp_path / "no-keys.gpg")
    with pytest.raises(NoSource, match="Debian's keys") as caught:
        fetch(settings)
    assert caught.value.remedy.startswith("Run apt-get install debian-archive-keyring, or give a")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoSource, match="this system lacks apt-get or dpkg-deb") as caught:
        fetch(settings)
    assert caught.value.remedy.startswith("Give a linux-6.1.*.tar.xz from kernel.org (DUET_SOURCE=")
    other = replace(settings.base, both="both-6.12")
    with pytest.raises(NoSource) as caught:
        sources_apt.fetch(other, settings.cache, print, Event())
    assert f"at {fetched_tarball(other, settings.cache)}; or" in caught.value.remedy
    assert "docker compose up" in caught.value.remedy


def test_nothing_is_fetched_for_a_base_of_no_suite(settings: KernelSettings) -> None:
    file = settings.patches / "bases/6.1/base.yaml"
    file.write_text(file.read_text().replace("suites: [old, old-security], ", ""))
    with pytest.raises(NoSource, match="this machine's package lists lack the package"):
        fetch(settings)


def test_a_fetch_that_is_stopped_leaves_nothing(settings: KernelSettings) -> None:
    stop = Event()
    stop.set()
    with pytest.raises(BuildStopped):
        fetch(settings, stop)
    assert list((settings.cache / "sources" / NAME).iterdir()) == []


def test_another_user_needs_no_right(settings: KernelSettings, archive: Archive) -> None:
    """Of all that is read, what lies in folders of pytest's is root's alone: so it is copied."""
    if os.geteuid() != 0:
        pytest.skip("all other tests here run as this user")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        keyring = Path(shutil.copy(archive.keyring, place))
        patches = shutil.copytree(settings.patches, place / "kernel-patches")
        apt = own_apt(place / "apt", "")["APT_CONFIG"]
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", folder], check=True, timeout=60)
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                os.environ |= {"APT_CONFIG": apt, "HOME": folder}
                sources_apt.KEYRING = keyring
                fetch(KernelSettings(place / "cache", patches))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert (place / "cache/sources" / NAME).stat().st_uid == NOBODY


def building(settings: KernelSettings) -> list[str]:
    """Build the toy's kernel; what was said of its source."""
    said: list[BuildProgress] = []
    build([ArmSpec("02-toy", "stock")], settings, on_progress=said.append)
    return [moment.note for moment in said if moment.phase is Phase.EXTRACT and moment.note]


def test_the_first_build_fetches_and_no_other(
    settings: KernelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert building(settings)[-1].startswith(f"Fetching {NAME} 6.1.9-1, ")
    monkeypatch.setattr(sources_apt, "ARCHIVE", "http://127.0.0.1:1/debian")
    assert building(settings) == []
    shutil.rmtree(settings.cache / "sources")
    assert building(settings) == [], "a stored kernel needs no source"
    shutil.rmtree(settings.store.folder)
    assert building(settings) == [], "its tree is there"
    shutil.rmtree(settings.cache / "tree")
    shutil.rmtree(settings.store.folder)
    with pytest.raises(NoSource):
        building(settings)


def test_a_source_that_cannot_be_had_is_not_asked_for_again_at_once(
    settings: KernelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources_apt, "ARCHIVE", "http://127.0.0.1:1/debian")
    with pytest.raises(NoSource, match="Failed to fetch") as first:
        building(settings)
    began = time.monotonic()
    for _ in range(20):
        with pytest.raises(NoSource) as again:
            building(settings)
        assert again.value is first.value
    assert time.monotonic() - began < 1, "twenty kernels of a server"
    monkeypatch.setattr(sources, "AGAIN_S", 0.0)
    with pytest.raises(NoSource) as later:
        building(settings)
    assert later.value is not first.value


def test_a_source_that_somebody_names_is_never_replaced(settings: KernelSettings) -> None:
    named = replace(settings, source=Path("/nowhere/linux-6.1.tar.xz"))
    with pytest.raises(NoSource, match=r"/nowhere/linux-6\.1\.tar\.xz, but there is no such file"):
        building(named)
    assert not (settings.cache / "sources").exists()
