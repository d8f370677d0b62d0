# SPDX-License-Identifier: GPL-2.0-or-later
"""Between two servers: who is let in, what is refused, what is said when the owner is silent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import msgpack
import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from duet import messages as m
from duet.base.access import Person, Role, Visitor
from duet.base.errors import DuetError, InfraError, InputError
from duet.messages.codec import Packet, pack
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom.refusals import Elsewhere, not_yours
from duet.plugins.federation import relay, wire
from duet.plugins.federation import shared as finding
from duet.plugins.federation.entrance import ServerEntrance
from duet.plugins.federation.relay import Broken, Relay, Relays
from duet.plugins.federation.shared import OwnerFinder
from duet.server.watchdog import Watchdog
from duet.store.database import servers_url
from duet.stream.http import Admission
from duet.stream.hub import Hub, Viewer
from tests.support.people import until
from tests.support.toy_server import serving

SECRET = "a secret"
STUDENT = Visitor("s", Role.STUDENT, None, Person("p", "Ada"))
JOIN = cm.JoinClass(type="class_join", code="a-b-c", nickname="n")
FORGET = cm.ForgetMe(type="class_forget")
END = cm.EndClass(type="class_end")
OF_A_RUN = pack(m.Control(run_id="r", by="nobody", may_take=False, yours=False))
WITHIN_S = 30.0


class Owner:
    """Notes what it is asked, and answers everybody."""

    def __init__(self) -> None:
        self.asked: list[tuple[Viewer, m.Command]] = []
        self.gone: list[Viewer] = []
        self.trouble: DuetError | None = None

    async def here(self, viewer: Viewer, command: m.Command) -> None:
        self.asked.append((viewer, command))
        if self.trouble is not None:
            raise self.trouble
        packet = pack(cm.ClassConfusion(class_id="c", points=[]))
        for other in {one for one, _ in self.asked}:
            other.put(packet)
            other.put(OF_A_RUN)

    async def delete_here(self, visitor: str, class_id: str) -> None:
        raise not_yours(f"{visitor} may not delete {class_id}")

    def viewer_left(self, viewer: Viewer) -> None:
        self.gone.append(viewer)


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def server(owner: Owner) -> Iterator[str]:
    """Where the owner is reached."""

    async def secret() -> str:
        return SECRET

    app = Starlette(routes=[WebSocketRoute(wire.PATH, ServerEntrance(owner, secret).serve)])
    app.state.admission, app.state.watchdog = Admission(), Watchdog()
    with serving(app) as address:
        yield f"http://{address}"


def page(hub: Hub, visitor: Visitor = STUDENT) -> Viewer:
    return hub.join(visitor)


def types(viewer: Viewer) -> list[str]:
    """What waits for a page."""
    found = []
    while (packet := viewer.outbox.pop()) is not None:
        found.append(packet.type)
    return found


async def dialled(server: str, ended: list[Relay]) -> Relay:
    made = Relay(server, ended.append)
    await made.dial(SECRET)
    return made


def test_pages_are_relayed_with_their_visitors_and_receive_messages_of_classes_alone(
    owner: Owner, server: str, run_async: Any
) -> None:
    async def go() -> None:
        ended: list[Relay] = []
        made, hub = await dialled(server, ended), Hub()
        one, two = page(hub), page(hub, Visitor("t", Role.INSTRUCTOR))
        await made.enter(one, JOIN)
        await made.enter(two, JOIN)
        await made.command(two, END)
        relayed = owner.asked[0][0]
        assert [command for _, command in owner.asked] == [JOIN, JOIN, END]
        assert relayed.visitor == STUDENT and relayed.visitor.person == STUDENT.person
        await until(lambda: one.ready.is_set() and two.ready.is_set(), WITHIN_S)
        await asyncio.sleep(0.1)
        assert set(types(one)) == set(types(two)) == {"class_confusion"}
        made.viewer_left(one)
        await until(lambda: owner.gone == [relayed], WITHIN_S)
        await made.close()
        assert ended == [made] and two.comes_back and not one.expelled
        await until(lambda: len(owner.gone) == 2, WITHIN_S)
        with pytest.raises(Broken):
            await made.command(two, END)

    run_async(go())


def test_rights_and_refusals_come_from_the_owner(owner: Owner, server: str, run_async: Any) -> None:
    async def go() -> None:
        made, one = await dialled(server, []), page(Hub())
        await made.enter(one, JOIN)
        with pytest.raises(InputError, match="may not lead a class"):
            await made.command(one, END)
        with pytest.raises(InputError, match="may not delete"):
            await made.delete(wire.Who.of(STUDENT), "c")
        owner.trouble = Elsewhere("http://third")
        with pytest.raises(InfraError, match="another server") as found:
            await made.enter(one, JOIN)
        assert found.value.code == Elsewhere.code and not isinstance(found.value, Broken)
        with pytest.raises(DuetError, match="a command that is not for classes"):
            await made.command(one, m.Stop(type="stop"))  # type: ignore[arg-type]
        assert len(owner.asked) == 2
        await made.close()

    run_async(go())


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
def test_who_does_not_know_the_secret_is_refused(
    server: str, headers: dict[str, str], run_async: Any
) -> None:
    async def go() -> None:
        with pytest.raises(InvalidStatus):
            await connect(relay.socket_url(server), additional_headers=headers)
        right = {"Authorization": f"Bearer {SECRET}"}
        with pytest.raises(InvalidStatus):  # a browser has nothing to do here
            await connect(relay.socket_url(server), additional_headers=right, origin="http://x")  # type: ignore[arg-type]
        made = Relay(server, lambda _: None)
        with pytest.raises(Broken, match="refuses this server with 403"):
            await made.dial("wrong")
        await made.close()

    run_async(go())


@pytest.mark.parametrize("frame", [b"\0garbage", b"\0" + bytes(9) + b"x"])
def test_garbage_of_another_server_ends_its_connection(
    owner: Owner, server: str, frame: bytes, run_async: Any
) -> None:
    async def go() -> None:
        headers = {"Authorization": f"Bearer {SECRET}"}
        async with connect(relay.socket_url(server), additional_headers=headers) as socket:
            await socket.send(frame)
            with pytest.raises(ConnectionClosed):
                async with asyncio.timeout(WITHIN_S):
                    while True:
                        await socket.recv()
        made = await dialled(server, [])
        await made.enter(page(Hub()), JOIN)  # the next one is served
        await made.close()

    run_async(go())
    assert len(owner.asked) == 1


@pytest.mark.parametrize(
    "tree",
    [
        {"pages": [1], "type": "run", "key": None, "body": b""},
        {"pages": [-1], "type": "class", "key": None, "body": b""},
        {"pages": [1], "type": "class", "key": None, "body": "text"},
        {"pages": [1], "type": "class"},
        7,
    ],
)
def test_what_an_owner_gives_is_checked(tree: object) -> None:
    with pytest.raises(InfraError, match="do not understand each other"):
        wire.decode_message(msgpack.packb(tree))
    packet = Packet(b"x", "class_tally", ("class_tally", "s", "q"))
    found, pages = wire.decode_message(wire.OutgoingMessage(packet, [1, 2]).packed())
    assert (found.body, found.key, list(pages)) == (b"x", packet.key, [1, 2])


def test_an_owner_that_does_not_answer_is_named_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(finding, "FIND_S", 0.3)

    async def go() -> None:
        async def secret() -> str:
            return SECRET

        async def here() -> None:
            raise Elsewhere("http://127.0.0.1:9")

        async def there(_: Relay) -> None:
            raise AssertionError

        found = OwnerFinder("http://127.0.0.1:8", Relays(secret))
        with pytest.raises(InfraError, match="does not answer") as raised:
            await found.at_owner(here, there)
        assert "End the server http://127.0.0.1:9" in raised.value.remedy

    run_async(go())


@pytest.mark.parametrize(
    ("given", "database", "sentence"),
    [
        ("10.0.0.5:8642", "postgresql://db/x", "must be the address"),
        ("http://me:secret@h", "postgresql://db/x", "must be the address"),
        ("http://h/?a=b", "postgresql://db/x", "must be the address"),
        (f"http://{'h' * 60}", "postgresql://db/x", "at most 63 characters"),
        ("http://h:8642", "sqlite:///x", "only in PostgreSQL"),
    ],
)
def test_an_address_that_is_not_usable_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: str, database: str, sentence: str
) -> None:
    monkeypatch.setenv("DUET_SERVERS_URL", given)
    monkeypatch.setenv("DUET_CLASSES_DB", database)
    with pytest.raises(InputError, match=sentence):
        servers_url()
    monkeypatch.setenv("DUET_SERVERS_URL", "https://h.example:8642/")
    monkeypatch.setenv("DUET_CLASSES_DB", "postgresql+psycopg://duet@db/duet")
    assert servers_url() == "https://h.example:8642"
    monkeypatch.delenv("DUET_SERVERS_URL")
    assert servers_url() == ""
