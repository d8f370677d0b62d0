# SPDX-License-Identifier: GPL-2.0-or-later
"""Each mail of the corpus is read as it should be, and as git reads it where git takes it."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.kernels.diffs import read_diff
from duet.kernels.tree import WorkTree
from duet.trials.mail_text import decoded
from duet.trials.mails import Damaged, parse, read_patches
from tests.corpus.mails.made import SOURCE, Case, Wanted, all_cases

CASES = all_cases()


def write_source(folder: Path) -> Path:
    for name, text in SOURCE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*.c") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def expected(patches: tuple[Wanted, ...]) -> dict[str, str]:
    found = dict(SOURCE)
    for patch in patches:
        for name, text in patch.after.items():
            if text is None:
                del found[name]
            else:
                found[name] = text
    return found


@pytest.mark.parametrize("one", CASES, ids=[one.name for one in CASES])
def test_a_mail_is_read_as_it_should_be(tmp_path: Path, one: Case) -> None:
    path = tmp_path / "case.mbox"
    path.write_bytes(one.content)
    said: list[str] = []
    work = WorkTree(tmp_path / "tree")
    write_source(work.src)

    def read() -> None:
        found = read_patches(path, said.append)
        files = []
        for number, patch in enumerate(found):
            files.append(tmp_path / f"{number}.patch")
            files[-1].write_text(patch.text(), encoding="utf-8")
        assert [patch.subject for patch in found] == [patch.subject for patch in one.patches] or (
            one.refused
        )
        work.switch(files)
        assert contents(work.src) == expected(one.patches)
        for patch, wanted in zip(found, one.patches, strict=True):
            assert (patch.author, patch.message) == (wanted.author, wanted.message.strip())

    if one.refused:
        with pytest.raises(InputError, match=one.refused) as caught:
            read()
        assert caught.value.remedy
        if isinstance(caught.value, Damaged):
            assert ("git send-email" in caught.value.remedy) == (b"Subject:" in one.content)
        return
    read()
    assert len(said) == len(one.said), said
    for sentence, pattern in zip(said, one.said, strict=True):
        assert re.search(pattern, sentence), sentence


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    "one", [one for one in CASES if one.git is not None], ids=lambda one: one.name
)
def test_git_reads_the_same(tmp_path: Path, one: Case) -> None:
    """git mailsplit and git mailinfo, as git am calls them, and git apply."""

    def git(*words: str, given: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *words], cwd=tmp_path, input=given, capture_output=True, check=True
        )
        return decoded(done.stdout)  # git mailinfo gives raw bytes of headers as they are

    write_source(tmp_path)
    assert one.git is not None
    mails = [one.content]
    if one.patches[0].author:  # else there is no mail, and so nothing to be split
        git("mailsplit", "-b", "-o.", given=one.content)
        mails = [path.read_bytes() for path in sorted(tmp_path.glob("00*"))]
    assert len(mails) == len(one.patches)
    for text, wanted in zip(mails, one.patches, strict=True):
        if not wanted.author:
            git("apply", *one.git, given=text)
            continue
        said = git("mailinfo", "--scissors", "message", "patch", given=text)
        heads = dict(line.split(": ", 1) for line in said.splitlines() if line)
        assert heads["Subject"] == wanted.subject
        assert f"{heads['Author']} <{heads['Email']}>" == wanted.author
        assert (tmp_path / "message").read_text().strip() == wanted.message.strip()
        git("apply", *one.git, "patch")
    assert contents(tmp_path) == expected(one.patches)


PIECES = (
    *(b"\n", b"\r\n", b"\x00", b"\xff", b"From ", b"--- ", b"diff --git ", b"@@ -0,0 +1 @@\n"),
    *(
        b"=?utf-7?q?+2AA-?=",
        b"=?x-none?b?4?=",
        b"=?\xf3?q?a?=",
        b"charset=utf-7",
        b"charset=hex",
        b"delsp=yes",
    ),
    *(b"Content-Type: multipart/mixed; boundary=a\n", b"message/rfc822", b"format=flowed;"),
    *(b"References: <a@b> <1@host>\n", b"filename*=utf-8''%ff", b"\x1b[1m"),
)


def test_a_mail_that_is_damaged_anyhow_is_read_or_refused() -> None:
    chance = random.Random(1)
    read = refused = 0
    for _ in range(400):
        data = bytearray(chance.choice(CASES).content)
        for _ in range(chance.randrange(1, 8)):
            at = chance.randrange(len(data) + 1)
            other = chance.choice(CASES).content
            data[at : at + chance.choice((0, 1, 30))] = chance.choice((*PIECES, other[: at % 300]))
        try:
            for patch in parse(bytes(data), "damaged", str.encode):  # type: ignore[arg-type]
                patch.text().encode()
                read_diff(patch.text())
            read += 1
        except InputError as error:
            assert error.remedy
            refused += 1
    assert read > 100 and refused > 100
