# SPDX-License-Identifier: GPL-2.0-or-later
"""Switching arms in one tree: only what differs is written, and a kill at any point heals."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duet.kernels.diffs import PatchFails
from duet.kernels.tree import WorkTree
from tests.support import miniature

FILES = {"mm/vmscan.c": miniature.VMSCAN, "mm/slab.c": "a\nb\nc\n", "fs/super.c": "x\ny\nz\n"}


@pytest.fixture
def work(tmp_path: Path) -> WorkTree:
    tree = WorkTree(tmp_path / "tree")
    for name, text in FILES.items():
        (tree.src / name).parent.mkdir(parents=True, exist_ok=True)
        (tree.src / name).write_text(text)
        os.utime(tree.src / name, ns=(10**18, 10**18))
    return tree


@pytest.fixture
def arms(tmp_path: Path) -> dict[str, list[Path]]:
    texts = {
        "both": miniature.patch(
            "both", miniature.replace("mm/vmscan.c", miniature.VMSCAN, 30, "traced")
        ),
        "srcu": miniature.patch(
            "srcu",
            miniature.replace("mm/vmscan.c", miniature.VMSCAN, 10, "srcu"),
            miniature.replace("fs/super.c", FILES["fs/super.c"], 2, "wait"),
        ),
        "adds": miniature.patch(
            "adds",
            "diff --git a/mm/new.c b/mm/new.c\nnew file mode 100644\nindex 0000000..1\n"
            "--- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+new\n",
        ),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.patch").write_text(text)
    both = tmp_path / "both.patch"
    arms = {"stock": [], "both": [both]}
    return arms | {name: [both, tmp_path / f"{name}.patch"] for name in ("srcu", "adds")}


def content(work: WorkTree) -> dict[str, str]:
    """Every source file of the tree."""
    return {
        path.relative_to(work.src).as_posix(): path.read_text()
        for path in sorted(work.src.rglob("*.c"))
    }


def test_switch_writes_only_what_differs(work: WorkTree, arms: dict[str, list[Path]]) -> None:
    assert work.switch(arms["both"]) == ["mm/vmscan.c"]
    assert work.switch(arms["both"]) == []
    assert work.switch(arms["srcu"]) == ["fs/super.c", "mm/vmscan.c"]
    lines = content(work)["mm/vmscan.c"].splitlines()
    assert (lines[9], lines[29]) == ("srcu", "traced")
    assert (work.src / "mm/slab.c").stat().st_mtime_ns == 10**18, "an untouched file stays old"
    assert (work.src / "fs/super.c").stat().st_mtime_ns > 10**18, "make must see what changed"


def test_switching_back_restores_every_byte(work: WorkTree, arms: dict[str, list[Path]]) -> None:
    work.switch(arms["srcu"])
    work.switch(arms["adds"])
    assert content(work)["mm/new.c"] == "new\n"
    assert work.switch(arms["stock"]) == ["mm/new.c", "mm/vmscan.c"]
    assert content(work) == FILES


def test_every_order_of_arms_gives_the_same_tree(
    work: WorkTree, arms: dict[str, list[Path]]
) -> None:
    seen: dict[str, dict[str, str]] = {}
    for name in ("srcu", "both", "adds", "stock", "adds", "srcu", "stock", "both", "srcu"):
        work.switch(arms[name])
        assert seen.setdefault(name, content(work)) == content(work), name


@pytest.mark.parametrize("after", range(5))
def test_switch_killed_anywhere_is_healed_by_the_next(
    work: WorkTree, arms: dict[str, list[Path]], after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real kill: the child ends with _exit after `after` renames, in the middle of a switch."""
    child = os.fork()
    if child == 0:
        left = after
        real = Path.rename

        def rename(self: Path, target: Path) -> Path:
            nonlocal left
            if left == 0:
                os._exit(9)
            left -= 1
            return real(self, target)

        monkeypatch.setattr(Path, "rename", rename)
        work.switch(arms["srcu"])
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == (9 if after < 4 else 0), "two originals and two files are renamed into place"
    fresh = WorkTree(work.folder)
    fresh.switch(arms["both"])
    expected = miniature.VMSCAN.replace("line 30\n", "traced\n")
    assert content(fresh) == FILES | {"mm/vmscan.c": expected}
    fresh.switch(arms["stock"])
    assert content(fresh) == FILES


def test_patch_that_does_not_apply_names_file_and_hunk(
    work: WorkTree, arms: dict[str, list[Path]], tmp_path: Path
) -> None:
    stale = miniature.VMSCAN.replace("line 20", "line twenty")
    bad = tmp_path / "stale.patch"
    bad.write_text(
        miniature.patch(
            "stale",
            miniature.replace("fs/super.c", FILES["fs/super.c"], 2, "fine"),
            miniature.replace("mm/vmscan.c", stale, 21, "never"),
        )
    )
    work.switch(arms["both"])
    before = content(work)
    with pytest.raises(PatchFails) as caught:
        work.switch([*arms["both"], bad])
    assert str(caught.value) == (
        "wanted to apply stale.patch, but hunk 1 (line 18) does not fit mm/vmscan.c."
    )
    assert "README" in caught.value.remedy
    assert content(work) == before, "a patch that fails leaves the tree alone"


def test_patch_for_a_file_the_kernel_lacks_is_refused(work: WorkTree, tmp_path: Path) -> None:
    bad = tmp_path / "gone.patch"
    bad.write_text(miniature.patch("gone", miniature.replace("mm/shrinker.c", "a\nb\n", 1, "c")))
    with pytest.raises(PatchFails, match=r"gone\.patch, but this kernel has no mm/shrinker\.c"):
        work.switch([bad])


def test_reach_counts_objects_behind_a_header(work: WorkTree) -> None:
    for name, needs in (("a", "include/linux/fs.h"), ("b", "include/linux/fs.h"), ("c", "x.h")):
        (work.src / "mm" / f".{name}.o.cmd").write_text(f"deps := \\\n  {needs} \\\n")
    assert work.objects() == 3
    assert work.reach(["mm/vmscan.c"]) == 1
    assert work.reach(["mm/vmscan.c", "include/linux/fs.h"]) == 3
