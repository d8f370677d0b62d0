# SPDX-License-Identifier: GPL-2.0-or-later
"""ccache under kbuild: objects that were compiled once come back when an arm is left again.

The tree keeps the objects of the arm it stands at. Leaving an arm that touches fs.h or dcache.h
makes a thousand of them stale, although most were compiled before, for another arm. Optional:
without ccache everything is compiled, and the kernels are the same to the byte.

Only C goes through it. ccache 4.7 sees `.incbin` in what the preprocessor gives, and that it is not
given when it trusts dependency files. piggy.S brings the compressed kernel in so, and says nothing
of it but its length: of two arms with equal lengths the second would boot the first one's kernel.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from duet import durable

LIMIT = "3G"
"""Objects with DWARF, compressed: some 250 MB an arm that touches a far-reaching header."""
COMPILER = """#!/bin/sh
# gcc, by way of ccache unless it is to assemble (backend/src/duet/kernels/ccache.py says why).
for word; do
	case $word in *.S | *.s) exec {gcc} "$@" ;; esac
done
exec {ccache} {gcc} "$@"
"""


def ccache_environment(store: Path, path: str) -> dict[str, str]:
    """Variables for make; empty when ccache is not installed.

    Args:
        store: folder for the objects; made by ccache. The compiler's stand-in goes into STORE-bin.
        path: PATH as it would be without ccache.
    """
    gcc, ccache = shutil.which("gcc", path=path), shutil.which("ccache", path=path)
    if gcc is None or ccache is None:
        return {}
    return {
        # By its own name, so that kbuild's commands do not change.
        "PATH": f"{_stand_in(store.with_name(store.name + '-bin'), gcc, ccache)}:{path}",
        "CCACHE_DIR": str(store),
        "CCACHE_MAXSIZE": LIMIT,
        # kbuild asks for dependency files anyway; with them a miss needs no preprocessor run.
        "CCACHE_DEPEND": "1",
        # Patching a header and taking the patch back gives it a new time, and the old content.
        "CCACHE_SLOPPINESS": "include_file_mtime,include_file_ctime",
    }


def _stand_in(folder: Path, gcc: str, ccache: str) -> Path:
    """The folder of a `gcc` that asks ccache for what may be asked of it."""
    folder.mkdir(parents=True, exist_ok=True)
    script = COMPILER.format(gcc=shlex.quote(gcc), ccache=shlex.quote(ccache))
    durable.write(folder / "gcc", script.encode(), mode=0o755)
    return folder
