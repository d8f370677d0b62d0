# SPDX-License-Identifier: GPL-2.0-or-later
"""What verbs print cannot act on the terminal that shows it, and a full device is one sentence.

Recordings and guests bring text of their own: titles, compilers, lines of workloads, error details.
A control character in it could rename the window or fill the clipboard, and a bidirectional
override could show another file name than the real one. So every such character is printed as its
escape (`\\u001b`), which in JSON means the same character again. Source: ECMA-48; UTR 36, 2.10.
"""

from __future__ import annotations

import contextlib
import os
import sys
import unicodedata
from collections.abc import Iterator
from typing import TextIO, cast

from duet.base.errors import InfraError

HARMLESS = frozenset("\n\t")
UNSAFE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""General categories: controls, format characters (bidirectional ones among them), surrogates,
line and paragraph separators."""


class OutputFull(InfraError):
    """Standard output takes nothing more."""

    code = "output"


def visible(text: str) -> str:
    """The text with every unsafe character as its escape."""
    if text.isprintable():
        return text
    return "".join(_escape(each) if _is_unsafe(each) else each for each in text)


def _is_unsafe(character: str) -> bool:
    return character not in HARMLESS and unicodedata.category(character) in UNSAFE


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


class Plain:
    """A stream that passes visible text only; everything else is the stream's own.

    Args:
        stream: sys.stdout or sys.stderr as it was.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """See TextIO.write.

        Raises:
            OutputFull: the device has no room.
        """
        with _full():
            self.stream.write(visible(text))
        return len(text)

    def flush(self) -> None:
        """See TextIO.flush.

        Raises:
            OutputFull: the device has no room.
        """
        with _full():
            self.stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)


@contextlib.contextmanager
def _full() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has gone, which is no trouble
    except OSError as error:
        raise OutputFull(
            f"the result could not be written: {error.strerror or error}.",
            remedy="Make room where the output goes, then run it again.",
        ) from error


@contextlib.contextmanager
def plain_output() -> Iterator[None]:
    """Within, sys.stdout and sys.stderr pass visible text only."""
    out, err = cast(TextIO, Plain(sys.stdout)), cast(TextIO, Plain(sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


def raw(stream: TextIO) -> TextIO:
    """The stream below, for a progress bar, which moves the cursor and shows no foreign text."""
    return stream.stream if isinstance(stream, Plain) else stream


def silence(stream: TextIO) -> None:
    """Write nothing more to a stream; else Python complains once more at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
