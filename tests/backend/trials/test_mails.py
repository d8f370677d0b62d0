# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches as people have them: what is taken of a file, a thread and a folder."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from duet.base.settings import repo_root
from duet.kernels.recipe import patch_commit, patch_diff, patch_subject, patched_files
from duet.trials.mails import (
    MOST_BYTES,
    NoPatch,
    Patch,
    parse,
    read_patches,
    series_name,
)

DIFF = """\
diff --git a/mm/a.c b/mm/a.c
--- a/mm/a.c
+++ b/mm/a.c
@@ -1,3 +1,3 @@ int f(void)
 {
-	return 1;
+	return 2;
 }
"""


def mail(subject: str, body: str, identity: str = "one@host") -> str:
    return (
        "From mboxrd@z Thu Jan  1 00:00:00 1970\n"
        f"From: A. Author <a@example.org>\nDate: Sat, 31 Jan 2026 10:00:00 +0000\n"
        f"Message-ID: <{identity}>\nSubject: {subject}\n\n{body}\n"
    )


def thread(*mails: str) -> tuple[Patch, ...]:
    return parse("".join(mails).encode(), "thread")


def test_every_patch_of_the_lessons_is_read_as_the_builder_reads_it() -> None:
    files = sorted(repo_root().glob("kernel-patches/0*/**/*.patch"))
    assert len(files) > 15
    for path in files:
        (patch,) = read_patches(path)
        text = path.read_text()
        assert patch.subject == patch_subject(text)
        assert patch_diff(patch.text()) == patch_diff(text), path
        assert patch.message and patch.message.splitlines()[0] in text


def test_a_thread_gives_its_latest_version_in_the_order_of_its_numbers() -> None:
    message = "Why it is slow.\n\nSigned-off-by: A. Author <a@example.org>\n---\n a.c | 2 +-\n\n"
    found = thread(
        mail("[PATCH v2 0/2] A series", "What it is about.\n"),
        mail("[PATCH v2 2/2] mm: second", message + DIFF.replace("a.c", "b.c"), "v2-2@host"),
        mail("Re: [PATCH v2 1/2] mm: first", "> " + DIFF.replace("\n", "\n> ") + "\nNo.\n"),
        mail("[PATCH 1/1] mm: before it was two", message + DIFF),
        mail("[PATCH v2 1/2] mm: first,\n and folded", message + DIFF, "v2-1@host"),
    )
    assert [patch.subject for patch in found] == ["mm: first, and folded", "mm: second"]
    assert [patch.number for patch in found] == [1, 2]
    assert found[0].message.startswith("Why it is slow.") and "a.c |" not in found[0].message
    assert found[0].link == "https://lore.kernel.org/r/v2-1@host"
    assert "Link: https://lore.kernel.org/r/v2-1@host" in found[0].text()
    assert patched_files(found[1].diff) == ["mm/b.c"]


def test_an_author_within_the_message_is_the_author() -> None:
    (patch,) = thread(mail("[PATCH] mm: x", "From: B. Real <b@example.org>\n\nWhy.\n---\n" + DIFF))
    assert (patch.author, patch.message) == ("B. Real <b@example.org>", "Why.")


def test_quoted_printable_is_decoded() -> None:
    body = "Why.\n---\n" + DIFF.replace("=", "=3D").replace("return 2", "return=202")
    encoded = mail("[PATCH] mm: x", body).replace(
        "Subject:", "Content-Transfer-Encoding: quoted-printable\nSubject:"
    )
    (patch,) = thread(encoded)
    assert "+\treturn 2;" in patch.diff


def test_a_plain_diff_is_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "my-idea.diff"
    path.write_text(DIFF.split("\n", 1)[1])  # without its `diff --git` line, as diff -u writes it
    (patch,) = read_patches(path)
    assert patch.subject == "my-idea" and patched_files(patch.text()) == ["mm/a.c"]


def test_a_new_and_a_removed_file_get_their_names() -> None:
    (one,) = parse(b"--- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+int x;\n", "x")
    (other,) = parse(b"--- a/mm/old.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int x;\n", "x")
    made, gone = one.diff, other.diff
    assert patched_files(made) == ["mm/new.c"] and patched_files(gone) == ["mm/old.c"]


def test_a_folder_is_a_series_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("0002-b.patch", "0001-a.patch"):
        (tmp_path / name).write_text(mail(f"[PATCH] {name}", "Why.\n---\n" + DIFF))
    (tmp_path / "README").write_text("no patch")
    assert [p.subject for p in read_patches(tmp_path)] == ["0001-a.patch", "0002-b.patch"]


def test_a_folder_of_quilt_is_read_in_the_order_of_its_series(tmp_path: Path) -> None:
    for name in ("a.patch", "b.patch", "c.patch"):
        (tmp_path / name).write_text(mail(f"[PATCH] {name}", "Why.\n---\n" + DIFF))
    (tmp_path / "series").write_text("# first\nc.patch -p1\n\na.patch # and\n")
    assert [p.subject for p in read_patches(tmp_path)] == ["c.patch", "a.patch"]
    (tmp_path / "series").write_text("none.patch\n")
    with pytest.raises(NoPatch, match=r"none\.patch, but it cannot be read"):
        read_patches(tmp_path)


@pytest.mark.parametrize("text", ["", "Dear all,\n\nplease test.\n", mail("[PATCH] x", "No diff.")])
def test_a_file_without_a_patch_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.patch"
    path.write_text(text)
    with pytest.raises(NoPatch, match="there is no diff in it"):
        read_patches(path)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoPatch, match="No such file"):
        read_patches(tmp_path / "none.patch")
    with pytest.raises(NoPatch, match=r"a folder without \*\.patch files"):
        read_patches(tmp_path)


def test_the_commit_of_format_patch_goes_on_and_that_of_other_mailboxes_is_none() -> None:
    commit = "0123456789abcdef" * 2 + "01234567"
    text = mail("[PATCH] mm: x", "Why.\n---\n" + DIFF)
    made = text.replace(
        "From mboxrd@z Thu Jan  1 00:00:00 1970", f"From {commit} Mon Sep 17 00:00:00 2001"
    )
    (patch,), (other,) = thread(made), thread(text)
    assert patch.commit == commit and other.commit == ""
    assert patch.text().startswith(f"From {commit} Mon Sep 17 00:00:00 2001\n")
    assert patch_commit(patch.text()) == commit
    assert patch_commit(other.text()) == "", "zeros are no commit"


MESSAGE = "Why.\n---\n"
FIRST = mail("[PATCH 1/2] mm: first", MESSAGE + DIFF, "v1-1@host")
SECOND = mail("[PATCH 2/2] mm: second", MESSAGE + DIFF, "v1-2@host")
AGAIN = mail("[PATCH v2 2/2] mm: second, again", MESSAGE + DIFF, "v2-2@host")


def read_all(*mails: str) -> tuple[list[str], list[str]]:
    """Subjects, and what was said."""
    said: list[str] = []
    found = parse("".join(mails).encode(), "thread", said.append)
    return [patch.subject for patch in found], said


def test_a_re_roll_of_a_part_goes_on_with_the_version_before() -> None:
    sentence = "v2 in thread has only 2/2; the rest of the series is 1/2 of v1"
    assert read_all(FIRST, SECOND, AGAIN) == (["mm: first", "mm: second, again"], [sentence])
    third = AGAIN.replace("v2 2/2", "v3 1/2").replace("second, again", "first, again")
    third = third.replace("v2-2@host", "v3-1@host")
    subjects, (said,) = read_all(FIRST, SECOND, AGAIN, third)
    assert subjects == ["mm: first, again", "mm: second, again"]
    assert said == "v3 in thread has only 1/2; the rest of the series is 2/2 of v2"


def test_what_nobody_sent_is_named() -> None:
    sentence = "thread lacks 1/2 of v2; the series is tried without"
    assert read_all(AGAIN) == (["mm: second, again"], [sentence])
    longer = FIRST.replace("1/2", "1/3")
    beside = (
        "thread has patches that are not part of the series and are left out: “mm: first” of {}"
    )
    assert read_all(longer, AGAIN) == (
        ["mm: second, again"],
        [beside.format("a@example.org"), sentence],
    )
    _, (said,) = read_all(mail("[PATCH 1/999999] mm: x", MESSAGE + DIFF))
    assert said.startswith("thread lacks 2/999999, 3/999999,") and "and others of v1" in said


def test_a_whole_version_goes_on_with_nothing() -> None:
    again = AGAIN.replace("2/2", "1/1").replace("second, again", "second")
    assert read_all(FIRST, SECOND, again) == (["mm: second"], [])
    assert read_all(SECOND, FIRST) == (["mm: first", "mm: second"], [])
    assert read_all(FIRST, SECOND, again.replace("v2 1/1", "v2")) == (["mm: second"], [])
    subjects, (said,) = read_all(FIRST, SECOND, AGAIN.replace("v2 2/2", "v2"))
    assert subjects == ["mm: second, again"] and "“mm: first” of a@example.org, “mm: sec" in said
    assert read_all(FIRST, FIRST, SECOND) == (["mm: first", "mm: second"], []), "by two lists"


def test_the_parts_of_a_folder_are_not_missed(tmp_path: Path) -> None:
    (tmp_path / "0001-a.patch").write_text(FIRST)
    (tmp_path / "0002-b.patch").write_text(SECOND)
    said: list[str] = []
    assert len(read_patches(tmp_path, said.append)) == 2 and said == []
    assert len(read_patches(tmp_path / "0001-a.patch", said.append)) == 1 and len(said) == 1


B4 = """\
From git@z Thu Jan  1 00:00:00 1970
Subject: [PATCH v2 {}/2] {}
From: "A. Author" <a@example.org>
Date: Sat, 31 Jan 2026 10:00:00 +0000
Message-Id: <v2-{}@host>
MIME-Version: 1.0
Content-Type: text/plain; charset="utf-8"
Content-Transfer-Encoding: 7bit

Why.

Signed-off-by: A. Author <a@example.org>
---
 mm/a.c | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

{}--
2.39.5

"""
"""As b4 0.16 writes a series for `git am`."""


@pytest.mark.parametrize("ending", [".mbx", ".am"])
def test_a_series_of_b4_is_read_as_a_file_and_in_a_folder(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"v2_20260131_a_series{ending}"
    path.write_text("".join(B4.format(n, s, n, DIFF) for n, s in ((1, "mm: a"), (2, "mm: b"))))
    path.with_suffix(".cover").write_text("Subject: [PATCH v2 0/2] A series\n\nWhat it is.\n")
    found = read_patches(path)
    assert [patch.subject for patch in found] == ["mm: a", "mm: b"] and found[0].commit == ""
    assert found[0].link == "https://lore.kernel.org/r/v2-1@host" and "2.39" not in found[1].diff
    assert read_patches(tmp_path) == found


def test_a_packed_mailbox_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "t.mbox.gz"
    path.write_bytes(gzip.compress(FIRST.encode()) + gzip.compress(SECOND.encode()))
    assert [patch.subject for patch in read_patches(path)] == ["mm: first", "mm: second"]
    assert series_name(path) == "t" == series_name(tmp_path / "t.mbox")
    assert read_patches(tmp_path) == read_patches(path)
    plain = DIFF.split("\n", 1)[1]
    path.write_bytes(gzip.compress(plain.encode()))
    assert read_patches(path)[0].subject == "t"


def test_a_packed_mailbox_that_unpacks_into_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.mbox.gz"
    small = gzip.compress(bytes(1 << 20))
    path.write_bytes(small * 4096)  # four gigabytes
    tracemalloc.start()
    with pytest.raises(NoPatch, match="at most 33,554,432 bytes of patches"):
        read_patches(path)
    assert tracemalloc.get_traced_memory()[1] < 5 * MOST_BYTES
    tracemalloc.stop()


@pytest.mark.parametrize("cut", [2, 9, 40])
def test_a_packed_mailbox_that_was_cut_off_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.mbox.gz"
    path.write_bytes(gzip.compress(FIRST.encode())[:cut])
    with pytest.raises(NoPatch, match="cannot be unpacked"):
        read_patches(path)


def test_a_mail_of_parts_within_parts_is_refused() -> None:
    part = "Content-Type: multipart/mixed; boundary=b{0}\n\n--b{0}\n"
    for count, inner in ((20, part), (20_000, part), (20_000, "Content-Type: message/rfc822\n\n")):
        text = "Subject: x\n" + "".join(inner.format(n) for n in range(count))
        data = f"{text}Content-Type: text/plain\n\n{DIFF}".encode()
        if count < 100:
            assert len(parse(data, "deep")) == 1
            continue
        with pytest.raises(NoPatch, match="too many nested"):
            parse(data, "deep")
