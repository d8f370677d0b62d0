# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of lessons that are nobody's own: the lint of words lets them stand in generic code."""

from __future__ import annotations

_ENGLISH = "plain English, and no name of a lesson where it stands"
GENERIC: dict[str, str] = {
    "running": "a state that every lesson with states has",
    "runnable": "a state that every lesson with states has",
    "wait_other": "a state that every lesson with states has",
    "seconds": "a unit in the names of keys and columns",
    "protocol": "of the wire, of an address",
    "thread": "what a row of threads is called by default",
    "link": "of a page, of the linker, of a library",
    "read": "a kind of access in the microscope's counts",
    "write": "a kind of access in the microscope's counts",
    "rmw": "a kind of access in the microscope's counts",
    "plain": "of a mail's text, text/plain",
    "vain": "a colour of the palette, too",
    "switch": "a verb of `duet bench`",
    "tasks": "what a lab consists of",
    **dict.fromkeys(
        ("batch", "count", "drop", "entries", "files", "found", "name", "seek", "unknown", "what"),
        _ENGLISH,
    ),
}
"""Names that lessons share with the program -> why they are nobody's own."""
