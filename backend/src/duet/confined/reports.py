# SPDX-License-Identifier: GPL-2.0-or-later
"""A failure as bytes, and back. What comes is checked: a host process has guests of strangers."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from duet.confined.replies import plain
from duet.errors import DuetError, InfraError, InputError, KernelError

_KINDS: Final[tuple[type[DuetError], ...]] = (InputError, InfraError, KernelError)
SENTENCE: Final = 2000
DETAIL: Final = 64 * 1024


class _Report(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    exit_code: int
    code: str = Field(max_length=40)
    sentence: str = Field(max_length=SENTENCE)
    remedy: str = Field(max_length=SENTENCE)
    detail: str = Field(default="", max_length=DETAIL)


def report(error: Exception) -> bytes:
    """A failure as bytes; of an unexpected one its type and text."""
    if not isinstance(error, DuetError):
        what = f"{type(error).__name__}: {error}"
        error = DuetError(
            f"something unexpected happened beside the guests ({what:.300}).",
            remedy="Look at the server's terminal, and start it again if this comes back.",
        )
        error.code = "unexpected"
    found = _Report(
        exit_code=error.exit_code,
        code=error.code[:40],
        sentence=error.sentence[:SENTENCE],
        remedy=error.remedy[:SENTENCE],
        detail=error.detail[-DETAIL:],
    )
    return found.model_dump_json().encode()


def error_of(body: bytes) -> DuetError:
    """A failure that the other side reports."""
    try:
        found = _Report.model_validate_json(body)
    except ValidationError:
        return InfraError(
            "a failure was reported that cannot be read.",
            remedy="Use the same version of Kernel Duet on both sides.",
        )
    kind = next((kind for kind in _KINDS if kind.exit_code == found.exit_code), DuetError)
    detail = "\n".join(plain(line) for line in found.detail.split("\n"))
    error = kind(plain(found.sentence), remedy=plain(found.remedy), detail=detail)
    error.code = plain(found.code)
    return error
