# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 5: read formats with libtraceevent, and records of ring-buffer pages. No I/O.

A lane reduces records as they are (session/loop); exports, and whoever looks at the events behind a
mark, decode them into numpy columns (Decoder).
"""

from duet.decode.decoder import (
    CpuColumns,
    DecodeError,
    Decoder,
    EventType,
    Field,
    FieldKind,
    LostEvents,
    Table,
    library,
)


def prepare() -> None:
    """Load the C library before the first page is decoded, and compile it if necessary.

    Raises:
        InfraError: the library cannot be compiled.
    """
    library()


__all__ = [
    "CpuColumns",
    "DecodeError",
    "Decoder",
    "EventType",
    "Field",
    "FieldKind",
    "LostEvents",
    "Table",
    "prepare",
]
