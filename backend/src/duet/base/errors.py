# SPDX-License-Identifier: GPL-2.0-or-later
"""Every expected failure of Kernel Duet: one sentence, one remedy, one exit code.

A person must be able to act on an error without reading a traceback, and a script without
parsing it. Trouble of the infrastructure (QEMU, disk, port) and trouble of a guest kernel
are different types, because they send the reader to different places.
"""


class DuetError(Exception):
    """An expected failure.

    Args:
        sentence: what was wanted and what came, in one sentence.
        remedy: what to do now, in one sentence.
        detail: longer material such as a console tail or a log tail; shown on demand.
    """

    exit_code: int = 1
    code: str = "error"

    def __init__(self, sentence: str, *, remedy: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy
        self.detail = detail


class InputError(DuetError):
    """What the caller gave is not usable: lesson, parameter, bundle, patch, URL, frame."""

    exit_code = 2
    code = "input"


class InfraError(DuetError):
    """The host cannot do it: a program, a package, disk, a port or a time limit."""

    exit_code = 3
    code = "infra"


class KernelError(DuetError):
    """A guest kernel did something wrong: no boot, a panic, a probe that does not resolve."""

    exit_code = 4
    code = "kernel"


def as_duet_error(error: Exception, where: str) -> DuetError:
    """The error itself; of an unexpected one its type and text, never a traceback.

    Args:
        where: it happened, as in "in the server".
    """
    if isinstance(error, DuetError):
        return error
    what = f"{type(error).__name__}: {error}"
    found = DuetError(
        f"something unexpected happened {where} ({what:.300}).",
        remedy="Look at the server's terminal, and start it again if this comes back.",
    )
    found.code = "unexpected"
    return found


def printable(text: str, keep: str = "") -> str:
    """As it may stand in a sentence on a terminal, whoever wrote it.

    Args:
        keep: characters that stay although they are not printed, as line ends.
    """
    return "".join(c if c.isprintable() or c in keep else "?" for c in text)
