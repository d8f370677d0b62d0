# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files of a kernel a stranger's patch may change.

A build runs programs of the tree on the host: what Makefiles, Kconfig files and scripts say, and
host programs that are compiled on the way. So a patch that is not the operator's own changes what
becomes part of the kernel: C and assembler sources, and headers. That alone makes no build safe
(the compiler and objtool read hostile text), so such builds run in `duet.boxed`, too.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from duet.kernels.diff_form import FileDiff, read_diff
from duet.kernels.diff_names import PatchRefused

SUFFIXES = (".c", ".h", ".S")
HOST_FOLDERS = (
    *("scripts/", "tools/", "usr/", "certs/", "arch/x86/boot/", "arch/x86/tools/"),
    *("arch/x86/entry/vdso/", "samples/", "Documentation/"),
)
"""Here the build compiles or starts programs for the host (hostprogs of the Makefiles of 6.1), or
what it makes is no part of the kernel."""
HOST_FILES = (
    *("lib/gen_crc*.c", "lib/raid6/mktables.c", "drivers/tty/vt/conmakehash.c", "*/relocs*"),
    *("drivers/gpu/drm/radeon/mkregtable.c", "lib/crypto/*.pl", "kernel/gen_*"),
)
MOST_BYTES = 256 << 10
"""Of a patch. Usual: 1-20 KB."""
MOST_FILES = 64
"""That a patch changes. Usual: 1-5."""

TAKE_OUT = "Take that file out of the patch, or ask who operates this server: DUET_PATCH_FILES."


def check_patch(text: str, more: tuple[str, ...] = ()) -> tuple[FileDiff, ...]:
    """The files that a patch changes, if it may change all of them.

    Args:
        text: of the patch or its mail.
        more: what the operator allows beyond sources and headers: patterns of fnmatch on whole
            names, "*" for every file. Links, modes and binary files are never allowed.

    Raises:
        PatchRefused: it may not; the sentence names the first such file.
    """
    if len(text.encode()) > MOST_BYTES:
        raise PatchRefused(
            f"the patch has {len(text.encode()):,} bytes, and at most {MOST_BYTES:,} are taken.",
            remedy="Send the part that matters.",
        )
    files = read_diff(text)
    if not files:
        raise PatchRefused(
            "the patch changes no file: it has no 'diff --git' line.",
            remedy="Make it with `git format-patch` or `git diff`.",
        )
    if len(files) > MOST_FILES:
        raise PatchRefused(
            f"the patch changes {len(files)} files, and at most {MOST_FILES} are taken.",
            remedy="Send the part that matters.",
        )
    for one in files:
        if one.mode:
            raise PatchRefused(
                f"the patch changes the mode of {one.name} {one.mode}, and modes stay as they are.",
                remedy="Leave the lines about modes out of the patch.",
            )
        for name in one.names:
            if not any(fnmatchcase(name, pattern) for pattern in more):
                _check_kind(name)
    return files


def _check_kind(name: str) -> None:
    if not name.endswith(SUFFIXES):
        raise PatchRefused(
            f"the patch changes {name}, and patches may change sources and headers only"
            f" ({', '.join(SUFFIXES)}).",
            remedy=TAKE_OUT,
        )
    folder = next((folder for folder in HOST_FOLDERS if name.startswith(folder)), None)
    if folder or any(fnmatchcase(name, pattern) for pattern in HOST_FILES):
        raise PatchRefused(
            f"the patch changes {name}, which is there for programs that run while a kernel is"
            " built, on the server itself.",
            remedy=TAKE_OUT,
        )
