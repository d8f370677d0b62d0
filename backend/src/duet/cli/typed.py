# SPDX-License-Identifier: GPL-2.0-or-later
"""What was typed, for reports that say how to get them again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_WORDS: ContextVar[tuple[str, ...]] = ContextVar("words", default=())


@contextmanager
def typed(words: Sequence[str]) -> Iterator[None]:
    """While this lasts, typed_line() is of these words."""
    token = _WORDS.set(tuple(words))
    try:
        yield
    finally:
        _WORDS.reset(token)


def typed_line() -> str:
    """The command line, quoted for a shell; "" outside a call of main()."""
    words = _WORDS.get()
    return shlex.join(["./duet", *words]) if words else ""
