# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of verbs: results on stdout, progress and errors on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, is_dataclass
from typing import TextIO, cast

from duet.base.errors import DuetError, InfraError, InputError, KernelError


def document(tree: object) -> str:
    """Format a tree or a model (duet.cli.keys) as a JSON document."""
    if is_dataclass(tree) and not isinstance(tree, type):
        tree = asdict(tree)
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def emit(tree: object) -> None:
    """Print one JSON document on stdout."""
    sys.stdout.write(document(tree))


def note(text: str) -> None:
    """Print one line of progress on stderr."""
    print(text, file=sys.stderr, flush=True)


def fail(error: DuetError, as_json: bool) -> None:
    """Print an error as two lines on stderr, or as JSON on stdout."""
    if as_json:
        body = {
            "code": error.code,
            "sentence": error.sentence,
            "remedy": error.remedy,
            "detail": error.detail,
        }
        emit({"error": body})
        return
    print(f"error: {error.sentence}\nremedy: {error.remedy}", file=sys.stderr)
    if error.detail:
        tail = error.detail.rstrip().splitlines()[-DETAIL_LINES:]
        print("\n".join(f"  | {line}" for line in tail), file=sys.stderr)


DETAIL_LINES = 15
"""Number of last lines of a console or log that are shown on a terminal. --json has all lines."""


def parse_settings(settings: list[str]) -> dict[str, int]:
    """Parse `--set` options such as `hogs=9` into name -> value.

    Raises:
        InputError: an option is not NAME=WHOLE NUMBER, or a knob has two values.
    """
    values: dict[str, int] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip()
        try:
            if not equals or not name:
                raise ValueError
            number = int(value)
        except ValueError:
            raise InputError(
                f"--set needs NAME=NUMBER, but got '{setting:.60}'.",
                remedy="Write for example --set hogs=9.",
            ) from None
        if values.setdefault(name, number) != number:
            raise InputError(
                f"--set gives '{name:.40}' two values, {values[name]} and {number}.",
                remedy="Give each knob once; --sweep measures several values of a knob.",
            )
    return values


def split_names(text: str) -> tuple[str, ...]:
    """Split names such as `rwsem,srcu`. An empty text gives an empty tuple."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


# Makes output safe for terminals, and turns a full device into one error sentence.
#
# Recordings and guests contain text from others: titles, compiler names, workloads' output, error
# details. A control character in it could rename the terminal window or fill the clipboard. A
# bidirectional override could disguise a file name. So each such character is printed as its escape
# (`\u001b`), which in JSON stands for the same character. Source: ECMA-48; UTR 36, 2.10.

HARMLESS = frozenset("\n\t")
UNSAFE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Unicode general categories: control characters, format characters (including bidirectional
overrides), surrogates, line and paragraph separators.
"""


class OutputFull(InfraError):
    """Standard output cannot be written: the device is full."""

    code = "output"


def visible(text: str) -> str:
    """Replace each unsafe character with its escape."""
    if text.isprintable():
        return text
    return "".join(_escape(each) if _is_unsafe(each) else each for each in text)


def _is_unsafe(character: str) -> bool:
    return character not in HARMLESS and unicodedata.category(character) in UNSAFE


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


class Plain:
    """Stream that escapes unsafe characters and passes everything else to the wrapped stream.

    Args:
        stream: the original sys.stdout or sys.stderr.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write escaped text.

        Raises:
            OutputFull: the device is full.
        """
        with _full():
            self.stream.write(visible(text))
        return len(text)

    def flush(self) -> None:
        """Flush the wrapped stream.

        Raises:
            OutputFull: the device is full.
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
        raise  # the reader has closed the pipe, which is no error
    except OSError as error:
        raise OutputFull(
            f"the result could not be written: {error.strerror or error}.",
            remedy="Free space on the output's device, then run the command again.",
        ) from error


@contextlib.contextmanager
def plain_output() -> Iterator[None]:
    """Make sys.stdout and sys.stderr escape unsafe characters within the block."""
    out, err = cast(TextIO, Plain(sys.stdout)), cast(TextIO, Plain(sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


def raw(stream: TextIO) -> TextIO:
    """Return the wrapped stream, for progress bars.

    A progress bar writes control characters to move the cursor, and shows no text from others.
    """
    return stream.stream if isinstance(stream, Plain) else stream


def silence(stream: TextIO) -> None:
    """Discard all further output, because otherwise Python prints an error at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


# Exit codes of verbs that judge a kernel, for `git bisect run`.
#
# 0 means good, 125 means undecided, and a code above 127 stops the bisection. Every other code
# means bad, so an error must end with 125 or a code above 127. Source: git-bisect(1), "Bisect run".

GOOD, BAD, UNKNOWN, STOP = 0, 1, 125, 255
ALWAYS = "check"
IF_ASKED = ("try", "--worse-than")


def judges(words: Sequence[str]) -> bool:
    """Return whether a command line judges a kernel: `check`, and `try` with --worse-than."""
    verb, option = IF_ASKED
    asked = any(word == option or word.startswith(f"{option}=") for word in words)
    return words[:1] == [ALWAYS] or (words[:1] == [verb] and asked)


def code_of(error: DuetError) -> int:
    """Map an error to an exit code for a bisection.

    A kernel that does not build or boot, or a failure of the host, proves nothing about this
    commit. An error that would also occur with the next commit, such as an unusable command line,
    ends the search.
    """
    from duet.kernels.compiler import CompileFails, OptionLost
    from duet.kernels.diffs import PatchFails
    from duet.kernels.image import SameKernel
    from duet.trials.trees import NotComparable

    of_one_commit = (PatchFails, CompileFails, OptionLost, NotComparable, SameKernel)
    if isinstance(error, (KernelError, InfraError)):
        return UNKNOWN
    return UNKNOWN if isinstance(error, of_one_commit) else STOP
