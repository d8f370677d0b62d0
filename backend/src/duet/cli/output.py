# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes to stdout (results) and to stderr (progress, errors)."""

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
    """The text of a JSON document: of a tree, or of a model (duet.cli.keys)."""
    if is_dataclass(tree) and not isinstance(tree, type):
        tree = asdict(tree)
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def emit(tree: object) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(document(tree))


def note(text: str) -> None:
    """One line of progress on stderr."""
    print(text, file=sys.stderr, flush=True)


def fail(error: DuetError, as_json: bool) -> None:
    """An error as two lines on stderr, or as JSON on stdout."""
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
"""Lines of a console or log tail that a terminal gets; --json has all of it."""


def parse_settings(settings: list[str]) -> dict[str, int]:
    """`--set hogs=9` as name -> value.

    Raises:
        InputError: not NAME=WHOLE NUMBER, or one knob with two values.
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
                f"--set wants NAME=NUMBER, but '{setting:.60}' came.",
                remedy="Write for example: --set hogs=9.",
            ) from None
        if values.setdefault(name, number) != number:
            raise InputError(
                f"--set gives '{name:.40}' two values, {values[name]} and {number}.",
                remedy="Give each knob once; --sweep measures several values of one.",
            )
    return values


def split_names(text: str) -> tuple[str, ...]:
    """`rwsem,srcu` as a tuple; empty text gives none."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


# What verbs print cannot act on the terminal that shows it, and a full device is one sentence.
#
# Recordings and guests bring text of their own: titles, compilers, lines of workloads, error
# details. A control character in it could rename the window or fill the clipboard, and a
# bidirectional override could show another file name than the real one. So every such character is
# printed as its escape (`\u001b`), which in JSON means the same character again. Source: ECMA-48;
# UTR 36, 2.10.

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


# Exit codes of the calls that judge a kernel, as `git bisect run` takes them.
#
# 0 is good, 125 cannot be said, above 127 stops the bisection, all others are bad. So no trouble
# may end with one of these others. Source: git-bisect(1), "Bisect run".

GOOD, BAD, UNKNOWN, STOP = 0, 1, 125, 255
ALWAYS = "check"
IF_ASKED = ("try", "--worse-than")


def judges(words: Sequence[str]) -> bool:
    """Whether a command line asks for a judgement: `check`, or `try` with --worse-than."""
    verb, option = IF_ASKED
    asked = any(word == option or word.startswith(f"{option}=") for word in words)
    return words[:1] == [ALWAYS] or (words[:1] == [verb] and asked)


def code_of(error: DuetError) -> int:
    """What an error is for a bisection.

    A kernel that does not build or boot, and trouble of the host, are no judgement of this commit;
    what the next commit would meet as well (a call that is not usable) ends the search.
    """
    from duet.kernels.compiler import CompileFails, OptionLost
    from duet.kernels.diffs import PatchFails
    from duet.kernels.image import SameKernel
    from duet.trials.trees import NotComparable

    of_one_commit = (PatchFails, CompileFails, OptionLost, NotComparable, SameKernel)
    if isinstance(error, (KernelError, InfraError)):
        return UNKNOWN
    return UNKNOWN if isinstance(error, of_one_commit) else STOP
