# SPDX-License-Identifier: GPL-2.0-or-later
"""A patch is read strictly, and no patch reads or writes a file outside of its tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.kernels.diffs import PatchFails, PatchRefused, exact_diff, read_diff
from duet.kernels.recipe import patched_files
from duet.kernels.tree import WorkTree
from tests.backend.trials.commits import git
from tests.support import miniature

GOOD = "diff --git a/fs/a.c b/fs/a.c\n--- a/fs/a.c\n+++ b/fs/a.c\n@@ -1 +1 @@\n-hello\n+hullo\n"
NEW = "new file mode {mode}\nindex 000000000000..1111111\n--- /dev/null\n+++ b/{name}\n"
OTHER = "diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-hello\n+hullo\n"


def created(name: str, mode: str, line: str) -> str:
    """A part that creates a file of one line."""
    head = f"diff --git a/{name} b/{name}\n" + NEW.format(mode=mode, name=name)
    return head + f"@@ -0,0 +1 @@\n+{line}\n"


REFUSED = {
    "header alone, out of the tree": (GOOD + "diff --git a/../victim b/../victim\n", "not inside"),
    "out of the tree": (OTHER.format(name="../victim"), "is not inside the kernel's tree"),
    "out of the tree, later": (OTHER.format(name="fs/../../victim"), "is not inside"),
    "absolute": (OTHER.format(name="/etc/victim"), "is not inside the kernel's tree"),
    "symbolic link": (created("fs/secret.c", "120000", "../../victim"), "as a symbolic link"),
    "change of a link": (
        OTHER.format(name="fs/a.c").replace("\n---", "\nindex 11..22 120000\n---", 1),
        "as a symbolic link",
    ),
    "submodule": (created("fs/module", "160000", "Subproject commit 1"), "as a submodule"),
    "device": (created("fs/device", "060000", "x"), "as no plain file"),
    "rename, out of the tree": (
        "diff --git a/fs/a.c b/../b.c\nsimilarity index 100%\nrename from fs/a.c\n"
        "rename to ../b.c\n",
        "is not inside the kernel's tree",
    ),
    "copy from out of the tree": (
        "diff --git a/../victim b/fs/b.c\ncopy from ../victim\ncopy to fs/b.c\n",
        "is not inside the kernel's tree",
    ),
    "rename under equal names": (
        "diff --git a/fs/a.c b/fs/a.c\nrename from ../victim\nrename to fs/a.c\n",
        "then another file",
    ),
    "rename of another file": (
        "diff --git a/fs/a.c b/fs/b.c\nrename from ../victim\nrename to fs/b.c\n",
        "then another file",
    ),
    "rename and copy": (
        "diff --git a/fs/a.c b/fs/b.c\nrename from fs/a.c\ncopy to fs/b.c\n",
        "then another file",
    ),
    "two names without a rename": (
        "diff --git a/fs/a.c b/fs/b.c\n--- a/fs/a.c\n+++ b/fs/b.c\n@@ -1 +1 @@\n-hello\n+hullo\n",
        "then another file",
    ),
    "a link that is renamed": (
        "diff --git a/fs/a.c b/fs/b.c\nsimilarity index 90%\nrename from fs/a.c\n"
        "rename to fs/b.c\nindex 11..22 120000\n--- a/fs/a.c\n+++ b/fs/b.c\n"
        "@@ -1 +1 @@\n-hello\n+/etc/passwd\n",
        "as a symbolic link",
    ),
    "binary": (
        "diff --git a/fs/a.c b/fs/a.c\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKc\n",
        "not text",
    ),
    "binary, not in the patch": (
        "diff --git a/fs/a.c b/fs/a.c\nindex 1..2 100644\nBinary files a/fs/a.c and b/x differ\n",
        "not text",
    ),
    "other names below": (
        GOOD.replace("+++ b/fs/a.c", "+++ b/../victim"),
        "then another file",
    ),
    "quoted name": ('diff --git "a/\\056./victim" "b/\\056./victim"\n', "does not name two files"),
    "a part without its line": (
        GOOD + "--- a/../victim\n+++ b/../victim\n@@ -1 +1 @@\n-hello\n+hullo\n",
        "without a 'diff --git' line",
    ),
    "a hunk that is cut off": (GOOD.removesuffix("+hullo\n"), "cut off or damaged"),
    "a hunk with a line too many": (GOOD + "+more\n", "cut off or damaged"),
    "git's own folder": (OTHER.format(name=".git/config"), "no kernel file"),
}


@pytest.fixture
def work(tmp_path: Path) -> WorkTree:
    tree = WorkTree(tmp_path / "tree")
    (tree.src / "fs").mkdir(parents=True)
    (tree.src / "fs" / "a.c").write_text("hello\n")
    for folder in (tmp_path, tree.folder, tree.src):
        (folder / "victim").write_text("hello\n")
    return tree


def switch(work: WorkTree, text: str) -> None:
    patch = work.folder / "one.patch"
    patch.write_text(text)
    work.switch([patch])


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED)
def test_a_patch_that_leads_out_of_the_tree_is_refused(
    work: WorkTree, text: str, said: str
) -> None:
    with pytest.raises(PatchRefused, match=said) as caught:
        switch(work, text)
    assert caught.value.remedy
    assert (work.src / "fs" / "a.c").read_text() == "hello\n", "nothing is written before"
    for folder in (work.folder.parent, work.folder, work.src):
        assert (folder / "victim").read_text() == "hello\n"


def test_no_file_is_reached_through_a_link_of_the_tree(work: WorkTree) -> None:
    (work.src / "out").symlink_to(work.folder.parent)
    (work.src / "fs" / "link.c").symlink_to(work.folder.parent / "victim")
    for name in ("out/victim", "fs/link.c"):
        with pytest.raises(
            PatchRefused, match="its path passes through a symbolic link in the tree"
        ):
            switch(work, OTHER.format(name=name))
    assert (work.folder.parent / "victim").read_text() == "hello\n"


def test_text_around_the_diff_never_reaches_patch(work: WorkTree) -> None:
    """patch(1) would apply a diff in a mail's text, and start ed(1) for an ed script."""
    mail = "Subject: [PATCH] x\n\n--- a/victim\n+++ b/victim\n@@ -1 +1 @@\n-hello\n+hullo\n---\n\n"
    script = "--- a/victim\n+++ b/victim\n1c\nhullo\n.\n1!touch made\n"
    switch(work, mail + script + GOOD + "-- \n2.39.2\n")
    assert (work.src / "fs" / "a.c").read_text() == "hullo\n"
    assert (work.src / "victim").read_text() == "hello\n"
    assert not (work.src / "made").exists()


def test_modes_of_a_new_file_are_not_taken_over(work: WorkTree) -> None:
    switch(work, created("fs/new.c", "100755", "int new;"))
    assert (work.src / "fs" / "new.c").stat().st_mode & 0o777 == 0o644
    assert read_diff(created("fs/new.c", "100755", "x"))[0].mode == "to 100755"


def test_what_git_writes_is_applied_to_the_byte(work: WorkTree, tmp_path: Path) -> None:
    """Files made, emptied, removed, without a newline, with carriage returns and form feeds."""
    old, new = tmp_path / "old", tmp_path / "new"
    contents = {
        "fs/a.c": (b"hello\n", b"-- \nhello\n\n--- a/x\n"),
        "fs/crlf.c": (b"one\r\ntwo\r\n", b"one\r\n2\r\n\x0c\n"),
        "fs/end.c": (b"no newline", b"none\nhere"),
        "fs/gone.c": (b"x\n", None),
        "fs/made.c": (None, b"made\n"),
        "fs/empty.c": (None, b""),
    }
    for name, pair in contents.items():
        for side, content in zip((old, new), pair, strict=True):
            (side / name).parent.mkdir(parents=True, exist_ok=True)
            if content is not None:
                (side / name).write_bytes(content)
    for name, (before, _) in contents.items():
        if before is not None:
            (work.src / name).write_bytes(before)
    words = ["git", "diff", "--no-index", "--no-renames", "old", "new"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    text = done.stdout.decode()
    for word in ("old", "new"):
        text = text.replace(f"a/{word}/", "a/").replace(f"b/{word}/", "b/")
    patch = work.folder / "git.patch"
    patch.write_bytes(text.encode())
    work.switch([patch])
    for name, (_, after) in contents.items():
        path = work.src / name
        assert (path.read_bytes() if path.exists() else None) == after, name


MOVES = (
    {"a.c": 1, "b.c": 2, "c.c": 3, "d.c": 4},
    {"sub/a.c": 1, "b.c": 2, "c.c": (3, 9), "e.c": (3, 20), "d.c": 4},  # moved; copied and changed
    {"sub/a.c": (1, 7), "b.c": (2, 4), "c.c": 4, "d.c": (3, 9)},  # two that take each other's place
    {"b.c": (1, 7), "x/y/z.c": (1, 7, 8), "c.c": 4, "d.c": (3, 9), "n.c": ()},
)
"""File -> what it was made of and which of its lines were changed, one commit after another."""


def _written(made: int | tuple[int, ...]) -> str:
    origin, *changed = (made,) if isinstance(made, int) else made or (0,)
    lines = (f"{'changed' if n in changed else 'line'} {n} of {origin}\n" for n in range(30))
    return "".join(lines) if origin else ""


def test_renames_and_copies_of_git_are_applied_as_git_applies_them(
    work: WorkTree, tmp_path: Path
) -> None:
    source, patches = tmp_path / "repository", []
    git(tmp_path, "init", "-q", str(source))
    for number, files in enumerate(MOVES):
        for path in source.rglob("*.c"):
            path.unlink()
        for name, made in files.items():
            for folder in (source, work.src) if number == 0 else (source,):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(_written(made))
        git(source, "add", "-A")
        git(source, "commit", "-qm", str(number))
        if number:
            options = ("--find-renames", "--find-copies-harder", "-B")
            patches.append(tmp_path / f"{number}.patch")
            patches[-1].write_text(git(source, "diff", *options, "HEAD~", "HEAD") + "\n")
    text = "".join(path.read_text() for path in patches)
    assert text.count("\nrename from") >= 2 and "\ncopy from" in text
    written = work.switch(patches)
    assert "a.c" in written, "the old name of a file that was renamed"
    found = {path.relative_to(work.src).as_posix() for path in work.src.rglob("*.c")}
    assert found == {*MOVES[-1], "fs/a.c"}
    for name, made in MOVES[-1].items():
        assert (work.src / name).read_text() == _written(made), name
    work.switch([])
    for name, made in MOVES[0].items():
        assert (work.src / name).read_text() == _written(made), "the originals are back"


def test_a_rename_that_does_not_fit_is_refused(work: WorkTree) -> None:
    move = "diff --git a/{0} b/{1}\nsimilarity index 100%\nrename from {0}\nrename to {1}\n"
    (work.src / "fs" / "b.c").write_text("other\n")
    with pytest.raises(PatchFails, match=r"renames fs/a\.c to fs/b\.c, and this kernel already"):
        switch(work, move.format("fs/a.c", "fs/b.c"))
    with pytest.raises(PatchFails, match="lacks the file that it renames"):
        switch(work, move.format("fs/none.c", "fs/c.c"))
    assert (work.src / "fs" / "b.c").read_text() == "other\n"
    assert read_diff(move.format("fs/a.c", "fs/b.c"))[0].names == ("fs/a.c", "fs/b.c")
    assert patched_files(move.format("fs/a.c", "fs/b.c")) == ["fs/a.c", "fs/b.c"]


def test_blanks_in_place_of_tabs_are_named(work: WorkTree) -> None:
    (work.src / "fs" / "a.c").write_text("{\n\treturn 1;\n}\n")
    text = GOOD.split("@@")[0] + "@@ -1,3 +1,3 @@\n {\n-        return 1;\n+        return 2;\n }\n"
    with pytest.raises(PatchRefused, match=r"hunk 1 .*blanks and tabs are ignored") as caught:
        switch(work, text)
    assert "git send-email" in caught.value.remedy
    assert (work.src / "fs" / "a.c").read_text() == "{\n\treturn 1;\n}\n"


def test_a_patch_of_a_mailer_with_carriage_returns_applies(work: WorkTree) -> None:
    patch = work.folder / "dos.patch"
    patch.write_bytes(GOOD.replace("\n", "\r\n").encode())
    work.switch([patch])
    assert (work.src / "fs" / "a.c").read_bytes() == b"hullo\n"


def test_every_patch_of_the_repository_has_the_strict_form(root: Path) -> None:
    paths = sorted((root / "kernel-patches").rglob("*.patch"))
    assert len(paths) > 20
    for path in paths:
        files = read_diff(path.read_text())
        assert [one.name for one in files] == patched_files(path.read_text()), path
        assert not any(one.mode for one in files), path
        assert exact_diff(files).count("\n@@ -") == path.read_text().count("\n@@ -"), path


def test_a_patch_that_fails_is_still_named(work: WorkTree) -> None:
    with pytest.raises(PatchFails, match=r"wanted to apply one\.patch, but hunk 1"):
        switch(work, GOOD.replace("-hello", "-goodbye"))
    with pytest.raises(InputError, match=r"this kernel has no mm/vmscan\.c"):
        switch(work, miniature.replace("mm/vmscan.c", miniature.VMSCAN, 3, "x"))
