# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors on their way to another process, and back.

What comes is checked: a child has read what nobody vouches for, and a host process has guests of
strangers. The page's `ErrorMessage` is made of the same errors, without the kind.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from duet.base.errors import DuetError, InfraError, InputError, KernelError, printable

CODE: Final = 40
"""Characters of each part, at most."""
SENTENCE: Final = 2000
DETAIL: Final = 64 * 1024
_KINDS: Final = {kind.exit_code: kind for kind in (DuetError, InputError, InfraError, KernelError)}

_Sentence = Annotated[str, Field(max_length=SENTENCE), AfterValidator(printable)]
_lines: Final = partial(printable, keep="\n\t")


class Failure(BaseModel):
    """An error.

    Args:
        exit_code: its kind; 1: none of the three, nobody foresaw it.
        code: for programs; a kind has more than one.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    exit_code: int = Field(ge=min(_KINDS), le=max(_KINDS))
    code: Annotated[str, Field(max_length=CODE), AfterValidator(printable)]
    sentence: _Sentence
    remedy: _Sentence
    detail: Annotated[str, Field(max_length=DETAIL), AfterValidator(_lines)] = ""

    @classmethod
    def of(cls, error: DuetError) -> Failure:
        """An error of this process; of a long detail the end."""
        return cls(
            exit_code=error.exit_code,
            code=printable(error.code[:CODE]),
            sentence=printable(error.sentence[:SENTENCE]),
            remedy=printable(error.remedy[:SENTENCE]),
            detail=_lines(error.detail[-DETAIL:]),
        )

    def error(self) -> DuetError:
        """As it was raised there; of a kind's own kinds only the code is left."""
        found = _KINDS[self.exit_code](self.sentence, remedy=self.remedy, detail=self.detail)
        found.code = self.code
        return found


def pack_error(error: DuetError) -> bytes:
    return Failure.of(error).model_dump_json().encode()


def unpack_error(body: Any) -> DuetError | None:
    """What pack_error gave, from wherever it comes; None: it is something else."""
    try:
        return Failure.model_validate_json(body).error()
    except ValidationError:
        return None
