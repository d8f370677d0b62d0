# SPDX-License-Identifier: GPL-2.0-or-later
"""Two servers, nginx and PostgreSQL hold one class, which survives the death of one server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from duet.base.access import Role
from duet.plugins.classroom import queries as reading
from duet.plugins.classroom.records import Stored
from duet.plugins.federation.wire import PATH
from tests.plugins.federation.servers import Site, get, site, viewers
from tests.support.people import Member, Teacher, living, until
from tests.support.postgres import INSTALLED
from tests.support.proxy import NGINX

MEMBERS = 8
KILLS = ((True, signal.SIGKILL), (False, signal.SIGKILL), (True, signal.SIGTERM))
"""Whether the owner of the class ends or the other server, and how."""
SPREAD = 2
"""Pages that each server has at least before a kill."""
BACK_S = 10.0
"""All pages are back within that time, on a busy host. Usual: 0.4 s."""
HUNG_BACK_S = 30.0
"""Usual: 11 s."""
FOLLOWERS = 100
PLACES_S = 3.0
SOON_S = 60.0
pytestmark = pytest.mark.skipif(
    not INSTALLED or NGINX is None, reason="PostgreSQL or nginx is not installed"
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("servers")) as made:
        yield made


def socket_url(address: str) -> str:
    return f"ws://{address}/ws"


@contextlib.asynccontextmanager
async def started(whole: Site, address: str) -> AsyncIterator[Teacher]:
    """The instructor of a new class, who drives."""
    teacher = Teacher(socket_url(address), whole.cookie(token=whole.tokens[Role.INSTRUCTOR]))
    async with living(teacher.live(), teacher.drive(0.1)):
        await until(lambda: bool(teacher.facts), SOON_S)
        yield teacher


async def by_code(whole: Site, code: str) -> str:
    """The cookie of a browser that opens the link of a class, at whichever server."""
    async with asyncio.timeout(SOON_S):
        while True:
            if found := await asyncio.to_thread(whole.cookie, **{"class": code}):
                return found
            await asyncio.sleep(0.2)


async def again(whole: Site) -> None:
    """Start the server that was ended."""
    for server in whole.servers:
        if server.process is None:
            server.start()
            await asyncio.to_thread(server.ready)


def check(found: Stored | None, members: list[Member]) -> None:
    """Nobody is in twice, and each confirmed answer is there, or one that came after it."""
    assert found is not None
    assert sorted(m.name for m in found.members) == sorted(m.name for m in members)
    there = {(one.member, one.question): one.value for one in found.answers}
    for member in members:
        (ident,) = member.ids
        for question, value in member.confirmed.items():
            now = there[ident, question]
            assert now is not None and now >= value, (member.name, question, value, now)
    print(f"{sum(m.answers for m in members)} confirmed answers, none is lost")


def test_followers_at_both_servers_are_near_the_driver(whole: Site, run_async: Any) -> None:
    async def go() -> None:
        one, other = whole.servers
        async with started(whole, one.address) as teacher:
            code, class_id = teacher.facts["code"], teacher.facts["class_id"]
            assert whole.owner(class_id) is one
            cookie = await by_code(whole, code)
            near, far = (
                [
                    Member(socket_url(server.address), cookie, code, f"{server.address}{n}")
                    for n in range(FOLLOWERS)
                ]
                for server in (one, other)
            )
            async with living(*(m.live() for m in (*near, *far))):
                await asyncio.gather(*(m.here.wait() for m in (*near, *far)))
                for member in (*near, *far):
                    member.late_ms.clear()
                await asyncio.sleep(PLACES_S)
            for name, members in (("the owner", near), ("a relay", far)):
                late = np.concatenate([m.late_ms for m in members])
                half, most = np.percentile(late, (50, 99))
                print(f"{len(late)} places by {name}: half within {half:.1f}, 99 % {most:.1f} ms")
                assert len(late) > FOLLOWERS * PLACES_S * 2

    run_async(go())


def test_an_owner_loses_its_session_and_a_class_is_deleted_at_the_other_server(
    whole: Site, run_async: Any
) -> None:
    end = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = :name"
    )

    async def go() -> None:
        one, other = whole.servers
        async with started(whole, other.address) as teacher:
            code, class_id = teacher.facts["code"], teacher.facts["class_id"]
            member = Member(socket_url(one.address), await by_code(whole, code), code, "m")
            async with living(member.live(), member.answer(0.05)):
                await until(lambda: member.answers > 0, BACK_S)
                assert whole.owner(class_id) is other
                whole.ask(lambda c: list(c.execute(end, {"name": other.url})))
                await until(lambda: member.welcomes > 1 and teacher.welcomes > 1, BACK_S)
                answers = member.answers
                await until(lambda: member.answers > answers, BACK_S)

                held, mine = whole.owner(class_id), teacher.cookie
                path = f"/api/classes/{class_id}"
                asked = (get, whole.other(held), path, mine, "DELETE")
                assert (await asyncio.to_thread(*asked))[0] == 200
                await until(lambda: member.facts["open"] is False, BACK_S)
                await until(lambda: whole.owner(class_id) is None, BACK_S)
                found = json.loads((await asyncio.to_thread(get, one, "/api/classes", mine))[1])
                assert class_id not in str(found)

    run_async(go())


def test_a_class_leaves_an_owner_that_hangs(whole: Site, run_async: Any) -> None:
    async def go() -> None:
        one, other = whole.servers
        async with started(whole, other.address) as teacher:
            code, class_id = teacher.facts["code"], teacher.facts["class_id"]
            member = Member(socket_url(one.address), await by_code(whole, code), code, "m")
            async with living(member.live(), member.answer(0.05)):
                await until(lambda: member.answers > 5, BACK_S)
                assert whole.owner(class_id) is other
                with other.hanging():
                    hung = time.monotonic()
                    await until(lambda: member.welcomes > 1, HUNG_BACK_S)
                    print(f"the owner hangs: a page is back after {member.back - hung:.1f} s")
                    answers = member.answers
                    await until(lambda: member.answers > answers + 5, BACK_S)
                    assert whole.owner(class_id) is one
                # It goes on, and owns nothing any more: its own page comes back by the new owner.
                awake = time.monotonic()
                await until(lambda: teacher.welcomes > 1, BACK_S)
                await until(lambda: member.newest > awake + 0.2, BACK_S)
                assert whole.owner(class_id) is one
            assert "its session is ended" in one.log()
        check(whole.ask(lambda c: reading.load(c, class_id)), [member])

    run_async(go())


def test_a_class_survives_the_death_of_either_server(whole: Site, run_async: Any) -> None:
    rng = random.Random(19)
    front = f"{whole.front}/duet"
    operator = whole.cookie(token=whole.tokens[Role.OPERATOR])

    async def go() -> None:
        async with started(whole, front) as teacher:
            code, class_id = teacher.facts["code"], teacher.facts["class_id"]
            cookies = [await by_code(whole, code) for _ in range(MEMBERS)]
            members = [
                Member(socket_url(front), cookie, code, f"m{number}")
                for number, cookie in enumerate(cookies)
            ]
            async with living(*(m.live() for m in members), *(m.answer(0.05) for m in members)):
                for owner, how in rng.sample(KILLS, len(KILLS)):
                    await again(whole)
                    await spread(members)
                    await asyncio.sleep(rng.uniform(0.1, 0.5))
                    await die(owner, how, class_id, members)
            assert teacher.facts["driving"] and not teacher.complaints
            assert whole.behind(PATH) == 404  # servers reach each other past nginx
        check(whole.ask(lambda c: reading.load(c, class_id)), members)

    async def spread(members: list[Member]) -> None:
        """Pages are at both servers: nginx sends browsers back that connect anew."""
        async with asyncio.timeout(SOON_S):
            while True:
                await asyncio.gather(*(one.move() for one in members))
                if min(viewers(server, operator) for server in whole.servers) >= SPREAD:
                    return
                await asyncio.sleep(0.5)

    async def die(owner: bool, how: signal.Signals, class_id: str, members: list[Member]) -> None:
        """End one server; all are back, answer and follow."""
        held = await asyncio.to_thread(whole.owner, class_id)
        server = held if owner and held is not None else whole.other(held)
        before = {m: (m.welcomes, m.answers) for m in members}
        ended = asyncio.create_task(asyncio.to_thread(server.end, how))
        killed = time.monotonic()
        for one in members:
            answers = before[one][1] + 6
            await until(lambda: one.answers > answers and one.newest > killed + 0.2, BACK_S)  # noqa: B023
        moved = [m for m in members if m.welcomes > before[m][0]]
        last = max(m.back for m in moved) - killed
        print(
            f"{how.name} to {'the owner' if owner else 'the other one'}: {len(moved)} of "
            f"{len(members)} pages moved, the last was back after {last:.2f} s"
        )
        await ended
        assert (len(moved) == len(members)) == owner
        assert whole.owner(class_id) is (whole.other(held) if owner else held)

    run_async(go())
