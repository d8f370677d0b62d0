# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions a diff changes, on the patches of the lessons and on styles of the kernel."""

from __future__ import annotations

import pytest

from duet.base.settings import repo_root
from duet.kernels.changed import changes, defined
from duet.kernels.recipe import patched_files
from duet.trials.mails import read_patches

FIRST = {
    "01-shrinker-bitmaps/before": ["shrink_slab_memcg"],
    "02-grace-periods/srcu": [
        *("xchg_nr_deferred_memcg", "add_nr_deferred_memcg", "register_shrinker_prepared"),
        *("unregister_shrinker", "synchronize_shrinkers", "shrink_slab"),
    ],
    "03-inode-recycling/wait-at-recycle": [
        *("xfs_inode_wait_gp", "xfs_iget_recycle", "xfs_inodegc_queue"),
    ],
    "04-extent-shrinker/scan-2013": ["es_do_reclaim_extents"],
    "05-cacheline-pingpong/lockref-moved": [],
}


@pytest.mark.parametrize("name", FIRST)
def test_functions_that_the_patches_of_lessons_change(name: str) -> None:
    (patch,) = read_patches(repo_root() / "kernel-patches" / f"{name}.patch")
    assert [change.function for change in changes(patch.diff)] == FIRST[name]


@pytest.mark.parametrize(
    "line, name",
    [
        ("static int foo(struct x *y)", "foo"),
        ("xfs_inodegc_queue(", "xfs_inodegc_queue"),
        ("struct dentry *d_lookup(const struct dentry *parent,", "d_lookup"),
        ("SYSCALL_DEFINE2(umount, char __user *, name, int, flags)", "__x64_sys_umount"),
        ("static inline void __put(struct y *y)", "__put"),
        ("int declared(void);", None),
        ("struct foo {", None),
        ("TRACE_EVENT(mm_shrink_slab_start,", None),
        ("DEFINE_PER_CPU(int, x);", None),
        ("\treturn foo(bar);", None),
        ("EXPORT_SYMBOL(foo)", None),
        ("static int (*handler)(int) = foo;", None),
    ],
)
def test_a_line_that_begins_a_function(line: str, name: str | None) -> None:
    assert defined(line) == name


def test_what_stands_outside_functions_changes_none() -> None:
    diff = """\
diff --git a/a.c b/a.c
@@ -1,9 +1,9 @@ int before(void)
 }

+static int counter;
+
+struct added {
+	int member;
+};
+
 int after(void)
 {
-	return 1;
+	return 2;
 }
diff --git a/Documentation/x.rst b/Documentation/x.rst
@@ -1 +1 @@ int text(void)
-	old
+	new
"""
    assert [(c.file, c.function) for c in changes(diff)] == [("a.c", "after")]
    assert patched_files(diff) == ["a.c", "Documentation/x.rst"]
