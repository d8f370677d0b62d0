# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 5. Ring-buffer pages become numpy columns, through libtraceevent. Pure."""

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
    """Load the C binding now, compiling it if the set-up did not; a first page then costs nothing.

    Raises:
        InfraError: it is not built and cannot be built.
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
