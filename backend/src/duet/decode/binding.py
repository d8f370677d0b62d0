# SPDX-License-Identifier: GPL-2.0-or-later
"""The C functions of _pages.c, typed. ctypes frees the interpreter lock while they run."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from duet.native import compiled, loaded

SOURCE = Path(__file__).with_name("_pages.c")


class Loss(ctypes.Structure):
    """struct loss of _pages.c; count is -1 if the kernel did not say."""

    _fields_ = (
        ("t0", ctypes.c_uint64),
        ("t1", ctypes.c_uint64),
        ("count", ctypes.c_int64),
        ("page", ctypes.c_int64),
    )


_HANDLE = ctypes.c_void_p
_INT_OUT = ctypes.POINTER(ctypes.c_int)
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "duet_new": (_HANDLE, [ctypes.c_int]),
    "duet_free": (None, [_HANDLE]),
    "duet_error": (ctypes.c_char_p, [_HANDLE]),
    "duet_header_page": (ctypes.c_int, [_HANDLE, ctypes.c_char_p, ctypes.c_long]),
    "duet_add_event": (ctypes.c_int, [_HANDLE, *[ctypes.c_char_p] * 3, ctypes.c_long]),
    "duet_event_id": (ctypes.c_int, [_HANDLE, ctypes.c_int]),
    "duet_nfields": (ctypes.c_int, [_HANDLE, ctypes.c_int]),
    "duet_field": (ctypes.c_char_p, [_HANDLE, ctypes.c_int, ctypes.c_int, *[_INT_OUT] * 4]),
    "duet_decode": (ctypes.c_int, [_HANDLE, ctypes.c_int, ctypes.c_char_p, ctypes.c_long]),
    "duet_rows": (ctypes.c_long, [_HANDLE, ctypes.c_int]),
    "duet_column": (ctypes.c_void_p, [_HANDLE, ctypes.c_int, ctypes.c_int]),
    "duet_losses": (ctypes.c_long, [_HANDLE, ctypes.POINTER(ctypes.POINTER(Loss))]),
    "duet_unknown": (ctypes.POINTER(ctypes.c_uint64), [_HANDLE]),
    "duet_clear": (None, [_HANDLE]),
}


def ensure(flags: Sequence[str] = ()) -> Path:
    """The decoder's library, compiled if need be (see native.compiled)."""
    return compiled(SOURCE, "libtraceevent", flags=flags)


@cache
def library() -> ctypes.CDLL:
    """The compiled binding, loaded once.

    Raises:
        InfraError: it is not built and cannot be built.
    """
    return loaded(ensure(), _SIGNATURES)
