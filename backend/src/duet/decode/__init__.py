# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 5: decode ring-buffer pages into numpy columns with libtraceevent. No I/O."""

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
