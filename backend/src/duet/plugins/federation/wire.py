# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages that servers exchange about pages in classes, and their checks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import msgpack
from pydantic import Field

from duet import messages as m
from duet.base.access import Person, Role, RoleName, Visitor
from duet.host.protocol import MessageBody, read
from duet.messages.codec import MAX_CLIENT_BYTES, Packet, unpack_client
from duet.plugins.classroom import messages as cm
from duet.plugins.federation.limits import BODY_BYTES, PAGES
from duet.rpc.link import protocol_violation

PATH: Final = "/servers/relay/1"
"""Path of the WebSocket. Its number changes whenever the messages change."""
GIVEN: Final = ("class", "error")
"""Prefixes of the message types that may be sent to a page of another server."""
Number = Annotated[int, Field(ge=0, lt=1 << 53)]
Word = Annotated[str, Field(max_length=256)]
Entering = cm.StartClass | cm.ResumeClass | cm.JoinClass


class Who(MessageBody):
    """A visitor who has been authenticated by the other server."""

    ident: Word
    role: RoleName
    key: Word = ""
    name: Word = ""

    @classmethod
    def of(cls, visitor: Visitor) -> Who:
        person = visitor.person or Person("", "")
        return cls(
            ident=visitor.ident, role=visitor.role.word, key=person.key, name=person.name[:256]
        )

    def visitor(self) -> Visitor:
        person = Person(self.key, self.name) if self.key else None
        return Visitor(self.ident, Role[self.role.upper()], None, person)


class PageCommand(MessageBody):
    """A page's command. If `who` is set, the page enters a class."""

    page: Number
    who: Who | None = None
    command: Annotated[bytes, Field(max_length=MAX_CLIENT_BYTES)]

    def read(self) -> m.Command:
        """Return the command.

        Raises:
            InputError: the command is not for classes.
        """
        command = unpack_client(self.command)
        if isinstance(command, m.Ack) or not command.tag().startswith(GIVEN[0]):
            raise protocol_violation("a command that is not for classes")
        return command


class Left(MessageBody):
    """Tells the other server that a page has been closed, or is no longer in a class of that
    server."""

    page: Number


class Deleted(MessageBody):
    """Asks the owner to delete a class that this visitor started."""

    who: Who
    class_id: Word


class Watched(MessageBody):
    """Requests a live run from another server."""

    run_id: Word


class PageMessage(MessageBody):
    """A message to pages. It replaces unsent messages that have the same key."""

    pages: Annotated[list[Number], Field(max_length=PAGES)]
    type: Word
    key: Annotated[list[Word], Field(max_length=8)] | None
    body: Annotated[bytes, Field(max_length=BODY_BYTES)]


@dataclass(slots=True)
class OutgoingMessage:
    """A message and the pages that receive it."""

    packet: Packet
    pages: list[int]

    def packed(self) -> bytes:
        key = None if self.packet.key is None else list(self.packet.key)
        packet = self.packet
        tree = {"pages": self.pages, "type": packet.type, "key": key, "body": packet.body}
        found: bytes = msgpack.packb(tree)
        return found


def is_for_page(packet: Packet) -> bool:
    """May a message be sent to pages of other servers?"""
    return packet.type.startswith(GIVEN)


def encode_command(page: int, command: m.Command, visitor: Visitor | None = None) -> bytes:
    """Encode a command.

    Args:
        visitor: the visitor of a page that enters a class.
    """
    body = msgpack.packb(command.model_dump())
    who = None if visitor is None else Who.of(visitor)
    return PageCommand(page=page, who=who, command=body).packed()


def decode_message(body: bytes) -> tuple[Packet, Sequence[int]]:
    """Decode a message and the list of its pages.

    Raises:
        InfraError: this message must not be sent to a page in a class.
    """
    found = read(PageMessage, body)
    packet = Packet(found.body, found.type, None if found.key is None else tuple(found.key))
    if not is_for_page(packet):
        raise protocol_violation(f"a message '{found.type:.40}'")
    return packet, found.pages
