# SPDX-License-Identifier: GPL-2.0-or-later
"""The instructor looks over a member's shoulder, where the member agrees: both directions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, StrictBool

from duet.stream.messages.base import Message
from duet.stream.messages.class_commands import PlaceFields, Word

WatchPhase = Literal["none", "asking", "watched"]


class WatchMember(Message):
    """This page of the instructor wants to follow a member's place.

    Args:
        member: from the roster; empty: nobody any more.
    """

    type: Literal["class_watch"]
    member: Word = ""


class Consent(Message):
    """A member lets the instructor look over its shoulder in this class, or does not any more."""

    type: Literal["class_consent"]
    allowed: StrictBool


class ShowPlace(PlaceFields):
    """A member who is watched is at another place; refused without its consent."""

    type: Literal["class_here"]


class ClassWatched(Message):
    """To the pages of one member: whether the instructor looks over its shoulder; latest wins."""

    type: Literal["class_watched"] = "class_watched"
    class_id: str
    phase: WatchPhase
    allowed: bool | None = Field(description="what the member said in this class; null: nothing")


class ClassWatching(Message):
    """To the page of the instructor that asked; latest wins."""

    type: Literal["class_watching"] = "class_watching"
    class_id: str
    member: str = Field(description="empty: nobody is watched")
    name: str
    phase: Literal["none", "asking", "watched", "refused", "away"] = Field(
        description="refused: the member does not want it, or not any more; away: it has no page"
    )


class ClassSeen(PlaceFields):
    """Where the watched member is, to the page that watches; latest wins."""

    type: Literal["class_seen"] = "class_seen"
    class_id: str
    member: str
    number: int = Field(description="rises with each place")
    age_s: float = Field(default=0.0, ge=0)
    sent_ns: float = Field(default=0.0, description="Unix time in ns when the server sent it")


WatchCommand = WatchMember | Consent | ShowPlace
WatchMessage = ClassWatched | ClassWatching | ClassSeen
