# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures as a person reads them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.stream.messages.base import Message


class ErrorMessage(Message):
    """One failure as a person should read it."""

    type: Literal["error"] = "error"
    code: str
    sentence: str
    remedy: str
    detail: str = ""
    run: str | None = Field(
        default=None, description="the run, as it was asked for, that will not come or is not whole"
    )
