# SPDX-License-Identifier: GPL-2.0-or-later
"""What every message shares, and the words that several use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from duet.base import plugins
from duet.base.access import Action

PROTOCOL = 3
"""Raised when an old page could misread a new server."""

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
"""Table name of a probe's samples in gaps, before the probe's name."""

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Which part of a numbered table a message carries; what a gap must name if it is dropped."""

    run_id: str
    arm: str
    table: str
    seq: int
    rows: int


class Message(BaseModel):
    """Frozen, and no unknown keys."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_serialization_defaults_required=True
    )


class Tagged(Message):
    """A message on its own; its field `type` tells which."""

    @classmethod
    def tag(cls) -> str:
        tag: str = get_args(cls.model_fields["type"].annotation)[0]
        return tag


class ServerMessage(Tagged):
    """A message to the page.

    Attributes:
        latest_by: fields; a newer message of this type with the same values replaces an older one
            that waits for a slow viewer. None: each one counts.
        lasting: it belongs to the viewer, not to a run, and survives a switch of runs.
    """

    latest_by: ClassVar[tuple[str, ...] | None] = None
    lasting: ClassVar[bool] = False

    def key(self) -> Key | None:
        """Messages of one key replace each other in an outbox; None: each counts."""
        if self.latest_by is None:
            return None
        return (self.tag(), *(str(getattr(self, field)) for field in self.latest_by))

    def span(self) -> Span | None:
        """Of a message that may be dropped when a viewer is slow; the drop is reported as a gap."""
        return None


class SessionMessage(ServerMessage):
    """What a session reports of its run; all that a host process may send to browsers."""

    if TYPE_CHECKING:  # each declares it, behind `type`
        run_id: str


class ClientMessage(Tagged):
    """A message from the page."""


class Command(ClientMessage):
    """What a viewer wants done.

    Attributes:
        needs: what the viewer must be allowed to do; whose run it is decides more.
        frequent: a page sends it some ten times a second; it has a budget of its own.
        boots: it boots guests.
    """

    needs: ClassVar[Action]
    frequent: ClassVar[bool] = False
    boots: ClassVar[bool] = False


Some = TypeVar("Some", bound=Tagged)


def models(kind: type[Some]) -> dict[str, type[Some]]:
    """All messages of one direction by their `type`, those of plug-ins too, in order of the type.

    Args:
        kind: ServerMessage, ClientMessage, or a kind of them.

    Raises:
        ValueError: two have the same type.
    """
    plugins.offered("messages")
    found: dict[str, type[Some]] = {}
    for model in _tagged(kind):
        if model.tag() in found:
            raise ValueError(f"{model.__name__} and {found[model.tag()].__name__} have one type")
        found[model.tag()] = model
    return dict(sorted(found.items()))


def _tagged(kind: type[Some]) -> list[type[Some]]:
    if "type" in kind.model_fields:
        return [kind]
    return [model for child in kind.__subclasses__() for model in _tagged(child)]


@cache
def reader(kind: type[Tagged]) -> TypeAdapter[Any]:
    """Reads each message of that kind by its `type`."""
    union: Any = Union[tuple(models(kind).values())]  # noqa: UP007
    return TypeAdapter(Annotated[union, Field(discriminator="type")])


@cache
def lasting_types() -> frozenset[str]:
    """Types that belong to the viewer, not to a run; they survive a switch of runs."""
    return frozenset(tag for tag, model in models(ServerMessage).items() if model.lasting)


class ErrorMessage(ServerMessage):
    """One failure as a person should read it."""

    lasting = True
    type: Literal["error"] = "error"
    code: str
    sentence: str
    remedy: str
    detail: str = ""
    run: str | None = Field(
        default=None, description="the run, as it was asked for, that will not come or is not whole"
    )
