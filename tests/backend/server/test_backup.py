# SPDX-License-Identifier: GPL-2.0-or-later
"""A backup of a server that goes on, restored into an empty place, is the same to the byte."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import zipfile
from pathlib import Path

import pytest

from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.base.errors import InputError
from duet.cli import main
from duet.kernels import Change, Changes
from duet.kernels.image import Store
from duet.lessons.load import load
from duet.server.archive import ArchiveFolder
from duet.server.backup import FORMAT, FORMAT_FILE, MANIFEST, Places, claim, kind_of, make, restore

OWNERS = ("", "0123456789abcdef", "fedcba9876543210")
DIFF = "--- a/mm/vmscan.c\n+++ b/mm/vmscan.c\n@@ -1,1 +1,1 @@\n-one\n+two\n"


def places(root: Path) -> Places:
    return Places(root / "runs", root / "access.json", root / "cache/changes/kernel-patches")


def files(where: Places) -> dict[str, tuple[bytes, int, int]]:
    """Name -> content, mode, time."""
    return {
        name: (path.read_bytes(), path.stat().st_mode & 0o777, path.stat().st_mtime_ns)
        for name, path in where.files()
    }


@pytest.fixture
def stored(tmp_path: Path) -> Places:
    """A server's places with runs, tokens and a change."""
    where = places(tmp_path / "there")
    folder = ArchiveFolder(where.runs, 40, 1 << 30)
    for number, owner in enumerate(OWNERS):
        name = folder.save(
            os.urandom(3000 + number), owner=owner, name=f"run-20260101-00000{number}"
        )
        os.utime(where.runs / f"{name}.duet", ns=(number * 10**9, number * 10**9))
    AccessFile(where.access).make(Role, again=False)
    lesson = load("02-grace-periods")
    change = Change(lesson.slug, "srcu", DIFF, ("mm/vmscan.c",))
    store = Changes(where.changes.parent, Store(tmp_path / "kernels"))
    store.put(lesson, change)
    store.built(change.name, "key")
    return where


def test_what_was_stored_is_there_again(stored: Places, tmp_path: Path) -> None:
    backup, empty = tmp_path / "backup", places(tmp_path / "here")
    made = make(backup, stored)
    assert made.counts() == {"run": 3, "owner": 2, "tokens": 1, "change": 2}
    assert backup.stat().st_mode & 0o777 == 0o600
    restore(backup, empty, replace=False)
    assert files(empty) == files(stored)
    names = list(ArchiveFolder(empty.runs, 40, 1 << 30).paths())
    assert names == list(ArchiveFolder(stored.runs, 40, 1 << 30).paths())
    assert ArchiveFolder(empty.runs, 40, 1 << 30).owner(names[0]) == OWNERS[2]
    assert AccessFile(empty.access).load() == AccessFile(stored.access).load()
    assert not (empty.changes / "own-srcu").exists()


def test_what_is_there_stays_unless_it_is_to_be_replaced(stored: Places, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    make(backup, stored)
    before = files(stored)
    ArchiveFolder(stored.runs, 40, 1 << 30).save(b"later", owner=OWNERS[1])
    with pytest.raises(InputError, match="already stored here"):
        restore(backup, stored, replace=False)
    assert len(files(stored)) == len(before) + 2
    restore(backup, stored, replace=True)
    assert files(stored) == before


@pytest.mark.parametrize("what", ["cut", "changed", "missing", "foreign", "climbs", "no zip"])
def test_a_broken_backup_changes_nothing(stored: Places, tmp_path: Path, what: str) -> None:
    backup, broken, empty = tmp_path / "b", tmp_path / "broken", places(tmp_path / "here")
    make(backup, stored)
    content = backup.read_bytes()
    if what == "cut":
        broken.write_bytes(content[: len(content) // 2])
    elif what == "no zip":
        broken.write_bytes(b"x" * 100)
    else:
        rewritten(backup, broken, what)
    with pytest.raises(InputError, match="is not a complete backup"):
        restore(broken, empty, replace=False)
    assert not empty.runs.exists() and not empty.access.exists()


def rewritten(backup: Path, broken: Path, what: str) -> None:
    """The same backup with one thing wrong, and sound as a zip."""
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(broken, "w") as new:
        tree = json.loads(old.read(MANIFEST))
        run = next(i for i in tree["items"] if i["name"].endswith(".duet"))
        for name in old.namelist():
            if name == MANIFEST or (what == "missing" and name == run["name"]):
                continue
            content = old.read(name)
            if what == "changed" and name == run["name"]:
                content = content[:-1] + bytes([content[-1] ^ 1])
            new.writestr(name, content)
        if what in ("foreign", "climbs"):
            name = "runs/../../evil" if what == "climbs" else "runs/notes.txt"
            new.writestr(name, b"x")
            digest = hashlib.sha256(b"x").hexdigest()
            item = {"name": name, "size": 1, "sha256": digest, "mtime_ns": 0, "mode": 0o644}
            tree["items"].append(item)
        new.writestr(MANIFEST, json.dumps(tree))


def test_a_newer_format_is_named(stored: Places, tmp_path: Path) -> None:
    backup, newer = tmp_path / "b", tmp_path / "newer"
    make(backup, stored)
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(newer, "w") as new:
        tree = json.loads(old.read(MANIFEST)) | {"format": FORMAT + 1, "version": "9.1"}
        new.writestr(MANIFEST, json.dumps(tree))
    with pytest.raises(InputError, match=rf"format {FORMAT + 1} of a newer Kernel Duet \(9.1\)"):
        restore(newer, places(tmp_path / "here"), replace=False)


def test_a_backup_of_a_busy_server_is_whole(stored: Places, tmp_path: Path) -> None:
    """Runs are saved and pruned and tokens rotated meanwhile; each file is one that was there."""
    folder = ArchiveFolder(stored.runs, 6, 1 << 30)
    known: dict[bytes, str] = {}
    end = threading.Event()

    def work() -> None:
        number = 0
        while not end.is_set():
            number += 1
            content = os.urandom(2000)
            known[content] = OWNERS[1]
            folder.save(content, owner=OWNERS[1], name=f"run-20260202-{number:06}")
            if number % 10 == 0:
                AccessFile(stored.access).make([Role.STUDENT], again=True)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for round_ in range(20):
            backup, here = tmp_path / f"b{round_}", places(tmp_path / f"here{round_}")
            make(backup, stored)
            restore(backup, here, replace=False)
            assert len(AccessFile(here.access).load().tokens) == len(Role)
            restored = ArchiveFolder(here.runs, 100, 1 << 30)
            for name, path in restored.paths().items():
                if path.read_bytes() in known:
                    assert restored.owner(name) in (OWNERS[1], "")
    finally:
        end.set()
        thread.join()
    assert len(known) > 20


def test_a_server_does_not_touch_what_a_newer_one_saved(tmp_path: Path) -> None:
    claim(tmp_path)
    claim(tmp_path)
    assert json.loads((tmp_path / FORMAT_FILE).read_text())["format"] == FORMAT
    (tmp_path / FORMAT_FILE).write_text('{"format": 7}')
    with pytest.raises(InputError, match="format 7 of a newer Kernel Duet"):
        claim(tmp_path)
    (tmp_path / FORMAT_FILE).write_text("broken")
    claim(tmp_path)
    assert json.loads((tmp_path / FORMAT_FILE).read_text())["format"] == FORMAT


def test_names_that_no_server_writes_are_nothing() -> None:
    assert kind_of("runs/run-20260101-000000-ab12cd.duet") == "run"
    assert kind_of("changes/own-srcu-0123456789/own-srcu-0123456789.patch") == "change"
    for name in ("runs/../access.json", "changes/own-a-0123456789/kernel", "runs/run-.duet/x", ""):
        assert kind_of(name) is None


def test_the_verbs(
    stored: Places,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def call(*words: str) -> str:
        assert main(list(words)) == 0
        return capsys.readouterr().out

    monkeypatch.setenv("DUET_RUNS", str(stored.runs))
    monkeypatch.setenv("DUET_ACCESS", str(stored.access))
    monkeypatch.setenv("DUET_CACHE", str(stored.changes.parents[1]))
    backup = str(tmp_path / "duet.backup")
    assert "3 saved runs" in call("backup", backup)
    here = places(tmp_path / "here")
    monkeypatch.setenv("DUET_RUNS", str(here.runs))
    monkeypatch.setenv("DUET_ACCESS", str(here.access))
    monkeypatch.setenv("DUET_CACHE", str(here.changes.parents[1]))
    tree = json.loads(call("restore", backup, "--json"))
    assert tree["files"] == {"run": 3, "owner": 2, "tokens": 1, "change": 2}
    assert files(here) == files(stored)
