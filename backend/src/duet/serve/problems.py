# SPDX-License-Identifier: GPL-2.0-or-later
"""What the compiler says of lines, out of the last lines of a build."""

from __future__ import annotations

import re

from duet.stream import messages as m

MOST = 50
"""Problems that are sent; the first is what matters."""
_LINE = re.compile(
    r"^(?P<file>[\w./+-]+):(?P<line>\d{1,7}):(?:(?P<column>\d{1,5}):)? "
    r"(?:fatal )?(?P<severity>error|warning): (?P<text>.*)$",
    re.MULTILINE,
)


def problems(text: str) -> list[m.Problem]:
    """Errors and warnings of gcc, each place once, in their order.

    Args:
        text: as make passed it on; files are relative to the kernel's source.
    """
    found: dict[tuple[str, ...], m.Problem] = {}
    for match in _LINE.finditer(text):
        line = int(match["line"])
        if line == 0:
            continue
        problem = m.Problem(
            file=match["file"].removeprefix("./"),
            line=line,
            column=int(match["column"] or 0),
            severity="error" if match["severity"] == "error" else "warning",
            text=match["text"][:500],
        )
        found.setdefault((problem.file, str(line), problem.text), problem)
    return list(found.values())[:MOST]
