# SPDX-License-Identifier: GPL-2.0-or-later
"""A build in a box: what it makes comes out, the tree stays, and nothing of the box is left."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from duet import confine as boxed
from duet.confine import BoxEnded, BoxStopped, Job, NoBox, Step, Wanted, run_boxed
from duet.confine import box as probing
from duet.confine import box as running
from duet.confine.box import is_kind
from tests.support.small_tree import (
    ENVIRONMENT,
    LIMITS,
    MAIN,
    NEEDS_BOX,
    build,
    digest,
    make_tree,
)

pytestmark = NEEDS_BOX


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path)


def test_a_build_comes_out_and_the_tree_stays(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def mkdtemp(prefix: str) -> str:
        made.append(tempfile.mkdtemp(prefix))
        return made[-1]

    monkeypatch.setattr(running, "tempfile", SimpleNamespace(mkdtemp=mkdtemp))
    before = digest(tree)
    to = tmp_path / "made"
    done = build(tree, {"other.c": "int other(void)\n{\n\treturn 42;\n}\n"}, to=to)
    assert (done.failed, done.code) == ("", 0), done.tail
    assert is_kind(to.read_bytes()[:1024], "vmlinux")
    assert to.stat().st_uid == os.geteuid()
    assert digest(tree) == before
    assert len(made) == 1 and not Path(made[0]).exists(), "nothing of it is left"


def test_two_builds_at_once_do_not_see_each_other(tree: Path, tmp_path: Path) -> None:
    made = {}

    def one(number: int) -> None:
        made[number] = build(
            tree,
            {"other.c": f"int other(void)\n{{\n\treturn {number};\n}}\n"},
            to=tmp_path / str(number),
            command="make && sleep 0.5 && cat other.c && ls -d *.o",
        )

    threads = [threading.Thread(target=one, args=(number,)) for number in (11, 22)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in (11, 22):
        assert not made[number].failed
        assert f"return {number};" in made[number].tail
    assert (tmp_path / "11").read_bytes() != (tmp_path / "22").read_bytes()


def test_a_failing_build_shows_the_compilers_words(tree: Path, tmp_path: Path) -> None:
    to = tmp_path / "made"
    done = build(tree, {"main.c": MAIN.replace("other();", "other(")}, to=to)
    assert (done.failed, done.code) == ("make", 2)
    assert "main.c:5" in done.tail and "error: expected" in done.tail
    assert not to.exists()


def test_a_build_can_be_stopped(tree: Path) -> None:
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    began = time.monotonic()
    job = Job(str(tree), (Step("make", ("/bin/sleep", "60")),), environment=ENVIRONMENT)
    with pytest.raises(BoxStopped):
        run_boxed(job, LIMITS, stop=stop)
    assert time.monotonic() - began < 50


def test_lines_come_while_it_runs_and_are_cut(tree: Path) -> None:
    lines: list[str] = []
    words = ("/bin/sh", "-c", "echo one; head -c 9000 /dev/zero | tr '\\0' x; echo; echo last")
    job = Job(str(tree), (Step("make", words),), environment=ENVIRONMENT)
    run_boxed(job, LIMITS, on_line=lines.append)
    assert lines[0] == "one" and lines[-1] == "last" and len(lines[1]) == 2000


def test_a_folder_may_be_read_and_not_written(tree: Path, tmp_path: Path) -> None:
    cache = tmp_path / "private" / "cache"
    cache.mkdir()
    (cache / "object").write_text("good\n")
    (cache / "object").chmod(0o600)
    command = f"cat {cache}/object; echo bad > {cache}/object; touch {cache}/new; rm {cache}/object"
    done = build(tree, command=command, readable=(str(cache),))
    assert "good" in done.tail
    assert done.tail.count("Read-only file system") == 3, done.tail
    assert [path.name for path in cache.iterdir()] == ["object"]
    assert (cache / "object").read_text() == "good\n"


def test_a_box_that_cannot_be_made_is_named(tree: Path) -> None:
    job = Job(str(tree / "none"), (Step("make", ("/bin/true",)),), environment=ENVIRONMENT)
    with pytest.raises(NoBox, match=r"cannot create a sandbox for builds: .*No such file"):
        run_boxed(job, LIMITS)


def test_the_probe_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing.shutil, "which", lambda name: None if name == "bwrap" else name)
    probing.missing_box.cache_clear()
    try:
        assert boxed.missing_box() == "the package bubblewrap is not installed"
        with pytest.raises(
            NoBox, match="this machine cannot create a sandbox: the package bubblewrap"
        ) as caught:
            boxed.check_box()
        assert "setup.sh" in caught.value.remedy
    finally:
        probing.missing_box.cache_clear()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("ln -s /etc/shadow vmlinux", "not a regular file"),
        ("rm main.c && ln -s main.c vmlinux", "not a regular file"),
        ("mkfifo vmlinux", "not a regular file"),
        ("mkdir vmlinux", "not a regular file"),
        ("true", "is missing"),
        ("touch vmlinux", "0 bytes"),
        ("head -c 5000000 /dev/zero > vmlinux", "5,000,000 bytes, but 1 to 4,194,304"),
        ("truncate -s 9000G vmlinux 2>/dev/null; truncate -s 20M vmlinux", "20,971,520 bytes"),
        ("echo hello > vmlinux", "does not start like an ELF program"),
        ("gcc -c -o vmlinux main.c", "does not start like an ELF program"),
    ],
)
def test_a_result_is_looked_at_before_it_is_taken(
    tree: Path, tmp_path: Path, command: str, said: str
) -> None:
    to = tmp_path / "made"
    with pytest.raises(BoxEnded, match=said):
        build(tree, to=to, command=command)
    assert not to.exists()


def test_results_below_a_link_are_not_taken(tree: Path, tmp_path: Path) -> None:
    job = Job(
        str(tree),
        (Step("make", ("/bin/sh", "-c", "ln -s /etc arch")),),
        environment=ENVIRONMENT,
        results=(Wanted("arch/passwd", str(tmp_path / "made"), "text", 1 << 20),),
    )
    with pytest.raises(BoxEnded, match="arch/passwd is not a regular file"):
        run_boxed(job, LIMITS)
    assert not (tmp_path / "made").exists()
