# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of expected failures, each with a sentence, a remedy and an exit code.

A person must be able to act on an error without reading a traceback, and a script must be able to
do so without parsing text. Failures of the infrastructure (QEMU, disk, port) and of a guest kernel
are different types, because they need different remedies.
"""


class DuetError(Exception):
    """An expected failure.

    Args:
        sentence: what was expected and what happened instead, in one sentence.
        remedy: what to do now, in one sentence.
        detail: longer text, such as the end of a console or a log; it is shown on demand.
    """

    exit_code: int = 1
    code: str = "error"

    def __init__(self, sentence: str, *, remedy: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy
        self.detail = detail


class InputError(DuetError):
    """Unusable input from the caller: a lesson, parameter, bundle, patch, URL or frame."""

    exit_code = 2
    code = "input"


class InfraError(DuetError):
    """A failure on the host: a program, package, disk or port failed, or a timeout expired."""

    exit_code = 3
    code = "infra"


class KernelError(DuetError):
    """A failure of a guest kernel: a failed boot, a panic, or a missing symbol for a probe."""

    exit_code = 4
    code = "kernel"


def as_duet_error(error: Exception, where: str) -> DuetError:
    """Return a DuetError unchanged; convert other errors to a DuetError without traceback.

    Args:
        where: the place that the sentence names, such as "in the server".
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
    """Return untrusted text with unprintable characters replaced by `?`, safe for a terminal.

    Args:
        keep: unprintable characters that stay, such as line ends.
    """
    return "".join(c if c.isprintable() or c in keep else "?" for c in text)
