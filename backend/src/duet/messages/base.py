# SPDX-License-Identifier: GPL-2.0-or-later
"""Base classes of all messages, and types that several messages use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from duet.base import plugins
from duet.base.access import Action

PROTOCOL = 3
"""Protocol version, increased when an old page could misinterpret a new server."""

Source = Literal["live", "recorded"]
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


SAMPLES = "xray:"
"""Prefix of a probe's name in the `table` of a gap in its samples."""

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Rows of a numbered table in a message. If the message is dropped, a gap reports them."""

    run_id: str
    arm: str
    table: str
    seq: int
    rows: int


class Message(BaseModel):
    """Base of all models. They are frozen and reject unknown keys.

    A model's validator is built when it is first used, because most processes use few models.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_serialization_defaults_required=True,
        defer_build=True,
    )


class Tagged(Message):
    """A message with the field `type`, which identifies its model."""

    @classmethod
    def tag(cls) -> str:
        tag: str = get_args(cls.model_fields["type"].annotation)[0]
        return tag


class ServerMessage(Tagged):
    """A message to the page.

    Attributes:
        latest_by: names of fields. In a slow viewer's queue, a new message of this type replaces an
            older message with equal values in these fields. None if messages of this type are never
            replaced.
        lasting: whether the message belongs to the viewer and not to a run, so that it stays queued
            when the viewer switches to another run.
    """

    latest_by: ClassVar[tuple[str, ...] | None] = None
    lasting: ClassVar[bool] = False

    def key(self) -> Key | None:
        """Return the key by which a newer message replaces this message in an outbox, or None."""
        if self.latest_by is None:
            return None
        return (self.tag(), *(str(getattr(self, field)) for field in self.latest_by))

    def span(self) -> Span | None:
        """Return the span to report as a gap if this message is dropped.

        A message without a span (None) is never dropped.
        """
        return None


class SessionMessage(ServerMessage):
    """A session's message about its run. Host processes may send pages only session messages."""

    if TYPE_CHECKING:  # each subclass declares `run_id` after `type`
        run_id: str


class ClientMessage(Tagged):
    """A message from the page."""


class Command(ClientMessage):
    """A request of a viewer.

    Attributes:
        needs: the action that the viewer's role must allow. Whether the viewer controls the run is
            checked separately.
        frequent: whether the command has a separate rate limit, because a page sends it about ten
            times per second.
        boots: whether the command boots guests.
    """

    needs: ClassVar[Action]
    frequent: ClassVar[bool] = False
    boots: ClassVar[bool] = False


Some = TypeVar("Some", bound=Tagged)


def models(kind: type[Some]) -> dict[str, type[Some]]:
    """Return all subclasses of a class of messages by `type`, sorted, including those of plug-ins.

    Args:
        kind: ServerMessage, ClientMessage, or a subclass.

    Raises:
        ValueError: two models have the same type.
    """
    plugins.offered("messages")
    found: dict[str, type[Some]] = {}
    for model in _tagged(kind):
        if model.tag() in found:
            raise ValueError(
                f"{model.__name__} and {found[model.tag()].__name__} have the same type"
            )
        found[model.tag()] = model
    return dict(sorted(found.items()))


def _tagged(kind: type[Some]) -> list[type[Some]]:
    if "type" in kind.model_fields:
        return [kind]
    return [model for child in kind.__subclasses__() for model in _tagged(child)]


@cache
def message_parser(kind: type[Tagged]) -> TypeAdapter[Any]:
    """Return the parser for all messages of a class."""
    union: Any = Union[tuple(models(kind).values())]  # noqa: UP007
    return TypeAdapter(Annotated[union, Field(discriminator="type")])


@cache
def lasting_types() -> frozenset[str]:
    """Return the types of all `lasting` messages."""
    return frozenset(tag for tag, model in models(ServerMessage).items() if model.lasting)


class ErrorMessage(ServerMessage):
    """An error for the viewer."""

    lasting = True
    type: Literal["error"] = "error"
    code: str
    sentence: str
    remedy: str
    detail: str = ""
    run: str | None = Field(
        default=None, description="id of the requested run that failed or is incomplete"
    )
