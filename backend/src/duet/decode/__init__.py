# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 5: parse format files with libtraceevent, and read ring-buffer pages. No I/O.

A lane reduces records without making columns of them (session/loop). For exports, and for the
events behind a mark, Decoder decodes records into numpy columns.
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
