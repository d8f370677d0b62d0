# SPDX-License-Identifier: GPL-2.0-or-later
"""The greeting, and a lesson."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.access import RoleName
from duet.stream.messages.base import PROTOCOL, ActionName, Message
from duet.stream.messages.lesson import NumbersLesson, PictureLesson


class Heartbeat(Message):
    """Nothing else was sent for a while: the connection and the server are there."""

    type: Literal["heartbeat"] = "heartbeat"


class LessonCard(Message):
    """A lesson in the list of a greeting."""

    slug: str
    title: str
    question: str
    available: bool = Field(description="every kernel of the lesson is built")
    picture: bool = Field(description="it has a view; without one it is numbers only so far")


class Hello(Message):
    """First message to every viewer."""

    type: Literal["hello"] = "hello"
    protocol: int = PROTOCOL
    version: str
    viewer: str = Field(description="this page's name in the server's log")
    live: bool = Field(default=True, description="false: this server shows recordings only")
    role: RoleName = "operator"
    denied: dict[ActionName, str] = Field(
        default={}, description="what this visitor may not do, and why in a sentence"
    )
    lessons: list[LessonCard]


class LessonMessage(Message):
    """Answer to `open`: a lesson's files with patch texts and prose (see lesson_view)."""

    type: Literal["lesson"] = "lesson"
    lesson: PictureLesson | NumbersLesson = Field(
        json_schema_extra={"opaque": True},
        description="the page checks it by itself, since it says by name what it cannot show",
    )
