# SPDX-License-Identifier: GPL-2.0-or-later
"""A stranger's patch changes C and assembler sources and headers, and nothing else."""

from __future__ import annotations

import pytest

from duet.base.settings import patch_files
from duet.kernels.diffs import MOST_BYTES, MOST_FILES, PatchRefused, check_patch


def diff(name: str) -> str:
    """A part that changes one line of a file."""
    return f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize("name", ["mm/vmscan.c", "include/linux/fs.h", "arch/x86/lib/memcpy_64.S"])
def test_sources_and_headers_may_change(name: str) -> None:
    assert [one.name for one in check_patch(diff(name))] == [name]


@pytest.mark.parametrize(
    "name",
    [
        *("Makefile", "mm/Makefile", "mm/Kconfig", "Kbuild", "arch/x86/Makefile.um", ".config"),
        *("scripts/link-vmlinux.sh", "scripts/mod/modpost.c", "tools/objtool/check.c"),
        *("arch/x86/boot/tools/build.c", "arch/x86/entry/vdso/vdso2c.c", "usr/gen_init_cpio.c"),
        *("lib/gen_crc32table.c", "lib/raid6/mktables.c", "certs/extract-cert.c"),
        *("kernel/bounds.c.sh", "kernel/gen_kheaders.sh", "arch/x86/kernel/vmlinux.lds.S.py"),
        *("arch/x86/tools/relocs.c", "arch/x86/entry/syscalls/syscall_64.tbl"),
    ],
)
def test_what_a_build_starts_may_not(name: str) -> None:
    with pytest.raises(
        PatchRefused, match=r"the patch changes .*, (but patches may|which belongs to)"
    ) as e:
        check_patch(diff("mm/vmscan.c") + diff(name))
    assert name in e.value.sentence and "DUET_PATCH_FILES" in e.value.remedy


def test_the_operator_may_allow_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUET_PATCH_FILES", "*/Makefile:*/Kconfig")
    assert patch_files() == ("*/Makefile", "*/Kconfig")
    assert check_patch(diff("mm/Makefile") + diff("mm/Kconfig"), patch_files())
    with pytest.raises(PatchRefused, match=r"changes scripts/x\.sh"):
        check_patch(diff("scripts/x.sh"), patch_files())
    assert check_patch(diff("scripts/x.sh"), ("*",))


def test_modes_and_links_are_refused_whatever_is_allowed() -> None:
    mode = "diff --git a/mm/a.c b/mm/a.c\nold mode 100644\nnew mode 100755\n"
    with pytest.raises(PatchRefused, match=r"mode of mm/a\.c from 100644 to 100755"):
        check_patch(mode, ("*",))
    new = diff("mm/a.c").replace("--- a/mm/a.c", "new file mode {}\n--- /dev/null")
    with pytest.raises(PatchRefused, match=r"mode of mm/a\.c to 100755"):
        check_patch(new.format(100755), ("*",))
    with pytest.raises(PatchRefused, match="symbolic link"):
        check_patch(new.format(120000), ("*",))


def test_a_patch_has_bounds() -> None:
    with pytest.raises(PatchRefused, match="bytes, but at most"):
        check_patch(" " * MOST_BYTES + diff("mm/a.c"))
    with pytest.raises(PatchRefused, match=f"at most {MOST_FILES}"):
        check_patch("".join(diff(f"mm/a{n}.c") for n in range(MOST_FILES + 1)))
    with pytest.raises(PatchRefused, match="changes no file"):
        check_patch("Subject: hello\n")


@pytest.mark.parametrize("how", ["rename", "copy"])
def test_both_names_of_a_file_that_moves_are_looked_at(how: str) -> None:
    text = "diff --git a/{0} b/{1}\nsimilarity index 100%\n{2} from {0}\n{2} to {1}\n"
    (one,) = check_patch(text.format("mm/a.c", "mm/b.c", how))
    assert one.names == ("mm/a.c", "mm/b.c")
    for names in (("scripts/mod/modpost.c", "mm/b.c"), ("mm/a.c", "scripts/mod/modpost.c")):
        with pytest.raises(PatchRefused, match=r"the patch changes scripts/mod/modpost\.c"):
            check_patch(text.format(*names, how))
