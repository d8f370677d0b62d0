# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet pack`: collect measurements for a host on which nothing can be installed.

`contents.py` collects the files that the host lacks, and `archive.py` writes them as one file. On
the host, `unpack.py` (with only the standard library) restores and checks the files, and
`program.py` measures. `duet measure --from` reads the result (measure/elsewhere.py).
"""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    core.verb("pack", "verb", "Pack measurements for a host with nothing installed.", "measure")
