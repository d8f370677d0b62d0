# SPDX-License-Identifier: GPL-2.0-or-later
"""The same store on PostgreSQL, where its server is installed."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, make_url, text

from duet.base.errors import InfraError
from duet.plugins.classroom import queries
from duet.plugins.classroom import queries as reading
from duet.plugins.classroom.records import ConfusionFacts
from duet.plugins.classroom.tables import METADATA
from duet.plugins.federation.shared import shared_secret
from duet.store import database as claims
from duet.store.database import SETTINGS, file_of
from duet.store.limits import DEAD_PEER_S
from duet.store.store import Store
from tests.plugins.classroom.test_store import ANSWER, MEMBER, QUESTION, fill
from tests.support.postgres import INSTALLED, postgres
from tests.support.proxy import free_port

END = text(
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = :server"
)
pytestmark = pytest.mark.skipif(not INSTALLED, reason="PostgreSQL's programs are not installed")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Of a server of its own."""
    with postgres(port=free_port()) as server:
        yield server.url


def over_tcp(url: str) -> str:
    """The same server by its port, not by its socket."""
    parts = make_url(url)
    query = {"host": "127.0.0.1", "port": str(parts.query["port"])}
    return parts.set(query=query).render_as_string(hide_password=False)


def test_classes_are_stored_and_deleted_there_too(url: str, run_async: Any) -> None:
    async def go() -> None:
        store = Store(url)
        store.begin()
        facts = await store.ask(fill)
        members = [replace(MEMBER, member=name, joined_s=time.time()) for name in ("m1", "m2")]
        calls = [store.ask(lambda c, m=m: queries.add_member(c, "c1", m)) for m in members]
        first, second = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(first, InfraError) and second is None
        await store.close()
        again = Store(url)
        again.begin()
        found = await again.ask(lambda c: reading.load(c, "c1"))
        assert found is not None and found.facts == facts
        assert found.questions == (QUESTION,) and found.answers == (ANSWER,)
        assert found.confusion == (ConfusionFacts(30, "one hog", 2),)
        assert await again.ask(lambda c: reading.open_class(c, facts.code.upper())) == "c1"
        await again.ask(lambda c: queries.forget_member(c, "c1", "m1"))
        found = await again.ask(lambda c: reading.load(c, "c1"))
        assert found is not None and found.answers == ()
        difference = await again.ask(
            lambda c: compare_metadata(MigrationContext.configure(c), METADATA)
        )
        assert difference == []
        await again.ask(lambda c: queries.delete_class(c, "c1"))
        assert await again.ask(lambda c: reading.load(c, "c1")) is None
        await again.close()

    run_async(go())
    assert file_of(url) is None


def test_one_of_two_servers_owns_a_class_until_its_session_ends(url: str, run_async: Any) -> None:
    async def go() -> None:
        stores = [Store(url, f"http://{name}") for name in ("one", "two")]
        for store in stores:
            store.begin()  # both at once: the tables are made by one of them
        one, two = stores
        lost: list[str] = []
        one.sessions.lost.register(lambda: lost.append("one"))
        assert await one.ask(shared_secret) == await two.ask(shared_secret)

        def owned(connection: Connection) -> str | None:
            return claims.claim(connection, "c2")

        assert await one.ask(owned) is None
        assert await one.ask(owned) is None  # once more
        assert await two.ask(owned) == "http://one"
        await one.ask(lambda c: claims.release(c, "c2"))
        assert await two.ask(lambda c: claims.owner(c, "c2")) is None
        assert await one.ask(owned) is None
        # What is asked for under a session that has ended is not done in the next one.
        await two.ask(lambda c: list(c.execute(END, {"server": "http://one"})))
        assert await two.ask(owned) is None
        with pytest.raises(InfraError, match="was lost and has been replaced"):
            await one.ask(lambda c: queries.set_driver(c, "c2", "stale"))
        await asyncio.sleep(0)
        assert lost == ["one"]
        assert await one.ask(owned) == "http://two"
        await two.close()
        assert await one.ask(owned) is None
        await one.close()

    run_async(go())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has TCP_USER_TIMEOUT")
def test_the_database_gives_a_silent_server_up_after_eight_seconds(
    url: str, run_async: Any
) -> None:
    async def go() -> dict[str, str]:
        store = Store(over_tcp(url), "http://tcp")
        store.begin()
        shown = await store.ask(
            lambda c: {name: str(c.scalar(text(f"SHOW {name}"))) for name in SETTINGS}
        )
        await store.close()
        return shown

    shown = run_async(go())
    probes = [int(shown[f"tcp_keepalives_{name}"]) for name in ("idle", "interval", "count")]
    assert probes[0] + probes[1] * probes[2] == DEAD_PEER_S
    assert shown["tcp_user_timeout"] in (f"{DEAD_PEER_S}s", str(DEAD_PEER_S * 1000))


def test_one_of_several_servers_waits_for_its_database(url: str, run_async: Any) -> None:
    async def go() -> None:
        later = Store(url.replace("/postgres?", "/later?"), "http://one")
        later.begin()
        with pytest.raises(InfraError, match="does not exist"):
            await later.ask(shared_secret)
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("CREATE DATABASE later"))
        engine.dispose()
        assert await later.ask(shared_secret)
        await later.close()

    run_async(go())
