# SPDX-License-Identifier: GPL-2.0-or-later
"""ccache under kbuild: objects that were compiled once come back when an arm is left again.

The tree keeps the objects of the arm it stands at. Leaving an arm that touches fs.h or dcache.h
makes a thousand of them stale, although most were compiled before, for another arm. Optional:
without ccache everything is compiled, and the kernels are the same to the byte.
"""

from __future__ import annotations

from pathlib import Path

MASQUERADE = Path("/usr/lib/ccache")
"""Debian's folder of compilers by their own names, so that kbuild's commands do not change."""
LIMIT = "3G"
"""Objects with DWARF, compressed: some 250 MB an arm that touches a far-reaching header."""


def ccache_environment(store: Path, path: str, masquerade: Path = MASQUERADE) -> dict[str, str]:
    """Variables for make; empty when ccache is not installed.

    Args:
        store: folder for the objects; made by ccache.
        path: PATH as it would be without ccache.
        masquerade: see MASQUERADE.
    """
    if not (masquerade / "gcc").exists():
        return {}
    return {
        "PATH": f"{masquerade}:{path}",
        "CCACHE_DIR": str(store),
        "CCACHE_MAXSIZE": LIMIT,
        # kbuild asks for dependency files anyway; with them a miss needs no preprocessor run.
        "CCACHE_DEPEND": "1",
        # Patching a header and taking the patch back gives it a new time, and the old content.
        "CCACHE_SLOPPINESS": "include_file_mtime,include_file_ctime",
    }
