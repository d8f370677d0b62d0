# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 2. Ring-buffer pages become numpy columns, through libtraceevent. Pure."""

from duet.decode.columns import CpuColumns, EventType, Field, FieldKind, LostEvents, Table
from duet.decode.decoder import DecodeError, Decoder

__all__ = [
    "CpuColumns",
    "DecodeError",
    "Decoder",
    "EventType",
    "Field",
    "FieldKind",
    "LostEvents",
    "Table",
]
