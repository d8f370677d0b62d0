# SPDX-License-Identifier: GPL-2.0-or-later
"""What every message shares, and the words that several use."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

PROTOCOL = 3
"""Raised when an old page could misread a new server."""

Source = Literal["live", "recorded"]
ClockName = Literal["wall", "count"]
Dtype = Literal["f8", "i4", "u1", "u4", "i2"]
ActionName = Literal[
    "watch", "run", "change", "answer", "control_others", "teach", "measure", "delete_others"
]
RunPhase = Literal[
    "preparing", "booting", "ready", "running", "draining", "done", "stopped", "failed"
]
LanePhase = Literal[
    "waiting", "building", "booting", "ready", "running", "draining", "done", "stopped", "failed"
]
BuildPhase = Literal[
    "wait", "extract", "patch", "config", "compile", "link", "store", "done", "failed"
]


class Message(BaseModel):
    """Frozen, and no unknown keys."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_serialization_defaults_required=True
    )


# Failures as a person reads them.


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
