# SPDX-License-Identifier: GPL-2.0-or-later
"""What servers say to each other of a page in a class, and the checks of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import msgpack
from pydantic import Field

from duet import messages as m
from duet.base.access import Person, Role, RoleName, Visitor
from duet.host.requests import Part, read
from duet.messages.codec import MAX_CLIENT_BYTES, Packet, unpack_client
from duet.plugins.classroom import messages as cm
from duet.plugins.federation.limits import BODY_BYTES, PAGES
from duet.rpc.link import not_understood

PATH: Final = "/servers/relay/1"
"""The number changes with what is said here."""
GIVEN: Final = ("class", "error")
"""How the types of messages begin that reach a page of another server."""
Number = Annotated[int, Field(ge=0, lt=1 << 53)]
Word = Annotated[str, Field(max_length=256)]
Entering = cm.StartClass | cm.ResumeClass | cm.JoinClass


class Who(Part):
    """A visitor, as the server says that let it in."""

    ident: Word
    role: RoleName
    key: Word = ""
    name: Word = ""

    @classmethod
    def of(cls, visitor: Visitor) -> Who:
        """Of a visitor of this server."""
        person = visitor.person or Person("", "")
        return cls(
            ident=visitor.ident, role=visitor.role.word, key=person.key, name=person.name[:256]
        )

    def visitor(self) -> Visitor:
        """Of another server."""
        person = Person(self.key, self.name) if self.key else None
        return Visitor(self.ident, Role[self.role.upper()], None, person)


class Said(Part):
    """A command of a page; with `who`, the page comes into a class."""

    page: Number
    who: Who | None = None
    command: Annotated[bytes, Field(max_length=MAX_CLIENT_BYTES)]

    def read(self) -> m.Command:
        """The command.

        Raises:
            InputError: it is none of a class.
        """
        command = unpack_client(self.command)
        if isinstance(command, m.Ack) or not command.tag().startswith(GIVEN[0]):
            raise not_understood("a command that is none of a class")
        return command


class Left(Part):
    """A page has gone, or is in no class of the other server any more."""

    page: Number


class Deleted(Part):
    """A class shall be deleted that this visitor started."""

    who: Who
    class_id: Word


class Watched(Part):
    """A live run."""

    run_id: Word


class Given(Part):
    """A message to pages; latest wins among those of one key."""

    pages: Annotated[list[Number], Field(max_length=PAGES)]
    type: Word
    key: Annotated[list[Word], Field(max_length=8)] | None
    body: Annotated[bytes, Field(max_length=BODY_BYTES)]


@dataclass(slots=True)
class Giving:
    """A message and the pages that it goes to."""

    packet: Packet
    pages: list[int]

    def packed(self) -> bytes:
        """As it travels."""
        key = None if self.packet.key is None else list(self.packet.key)
        packet = self.packet
        tree = {"pages": self.pages, "type": packet.type, "key": key, "body": packet.body}
        found: bytes = msgpack.packb(tree)
        return found


def goes(packet: Packet) -> bool:
    """Whether a message concerns a page of another server."""
    return packet.type.startswith(GIVEN)


def said(page: int, command: m.Command, visitor: Visitor | None = None) -> bytes:
    """A command as it travels.

    Args:
        visitor: whose page comes into a class.
    """
    body = msgpack.packb(command.model_dump())
    who = None if visitor is None else Who.of(visitor)
    return Said(page=page, who=who, command=body).packed()


def given(body: bytes) -> tuple[Packet, Sequence[int]]:
    """A message that came, and its pages.

    Raises:
        InfraError: no page of a class receives such a thing.
    """
    found = read(Given, body)
    packet = Packet(found.body, found.type, None if found.key is None else tuple(found.key))
    if not goes(packet):
        raise not_understood(f"a message '{found.type:.40}'")
    return packet, found.pages
