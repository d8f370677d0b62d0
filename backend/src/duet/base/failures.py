# SPDX-License-Identifier: GPL-2.0-or-later
"""Serialization of errors between processes.

The receiver validates each error, because its sender can be a child that has read untrusted bytes,
or a host process that runs strangers' guests. The `ErrorMessage` for the page is built from such an
error, without the error type.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from duet.base.errors import DuetError, InfraError, InputError, KernelError, printable

CODE: Final = 40
"""Longest error code, in characters. SENTENCE and DETAIL limit the other fields."""
SENTENCE: Final = 2000
DETAIL: Final = 64 * 1024
_KINDS: Final = {kind.exit_code: kind for kind in (DuetError, InputError, InfraError, KernelError)}

_Sentence = Annotated[str, Field(max_length=SENTENCE), AfterValidator(printable)]
_lines: Final = partial(printable, keep="\n\t")


class Failure(BaseModel):
    """A serialized error.

    Args:
        exit_code: identifies the error type in `duet.base.errors`; 1 means an unexpected error.
        code: a more specific identifier for programs.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    exit_code: int = Field(ge=min(_KINDS), le=max(_KINDS))
    code: Annotated[str, Field(max_length=CODE), AfterValidator(printable)]
    sentence: _Sentence
    remedy: _Sentence
    detail: Annotated[str, Field(max_length=DETAIL), AfterValidator(_lines)] = ""

    @classmethod
    def of(cls, error: DuetError) -> Failure:
        """Serialize an error. Only the end of a long `detail` is sent."""
        return cls(
            exit_code=error.exit_code,
            code=printable(error.code[:CODE]),
            sentence=printable(error.sentence[:SENTENCE]),
            remedy=printable(error.remedy[:SENTENCE]),
            detail=_lines(error.detail[-DETAIL:]),
        )

    def error(self) -> DuetError:
        """Return the error for the receiver to raise.

        The error has the base type and the code, even if the sender's type was a subclass.
        """
        found = _KINDS[self.exit_code](self.sentence, remedy=self.remedy, detail=self.detail)
        found.code = self.code
        return found


def pack_error(error: DuetError) -> bytes:
    return Failure.of(error).model_dump_json().encode()


def unpack_error(body: Any) -> DuetError | None:
    """Parse the untrusted output of `pack_error`; None if it is malformed."""
    try:
        return Failure.model_validate_json(body).error()
    except ValidationError:
        return None
