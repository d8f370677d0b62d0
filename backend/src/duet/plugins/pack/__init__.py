# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements for a host on which nothing may be installed: `duet pack`.

`contents.py` collects what the host lacks, `archive.py` writes it as one file. On the host
`unpack.py` (standard library alone) restores and checks the files, and `program.py` measures.
`duet measure --from` reads the result (measure/elsewhere.py).
"""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    core.verb("pack", "verb", "Pack measurements for a host with nothing installed.", "measure")
