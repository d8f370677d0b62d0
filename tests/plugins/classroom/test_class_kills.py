# SPDX-License-Identifier: GPL-2.0-or-later
"""Killing the server loses no answer that was confirmed."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from duet.plugins.classroom import queries as reading
from duet.plugins.classroom.records import Stored
from duet.plugins.classroom.routes import report_of
from duet.store.store import Store
from tests.plugins.classroom import worker
from tests.plugins.classroom.pages import join, start
from tests.support.toy_server import Page, browser, cookie, page
from tools.bench.classroom import own_places

KILLS = 100
SERVER_KILLS = 5
LONGEST_S = 0.15
"""Between the first answer and the kill."""
WAIT_S = 60.0
FAR = 1_000_000
"""Values of one process and of the next one are so far apart."""


def stored(url: str, run_async: Any) -> Stored:
    """What a restarted server finds."""

    async def read() -> Stored | None:
        store = Store(url)
        store.begin()
        try:
            lines = await store.ask(lambda c: reading.classes_of(c, "local"))
            assert len(lines) == 1
            return await store.ask(lambda c: reading.load(c, lines[0][0].class_id))
        finally:
            await store.close()

    found: Stored | None = run_async(read())
    assert found is not None
    return found


@pytest.mark.nightly  # one kill of a whole server is tried in each run
def test_100_kills_lose_no_confirmed_answer(tmp_path: Path, run_async: Any) -> None:
    url = f"sqlite:///{tmp_path / 'classes.sqlite'}"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([worker.__name__])
    rng = random.Random(20)
    code, secrets = "", list[str]()
    confirmed: dict[tuple[str, str], float] = {}
    answers = 0
    for kill in range(KILLS):
        mine, theirs = context.Pipe(duplex=False)
        words = (url, code, secrets, kill * FAR, theirs)
        process = context.Process(target=worker.run, args=words)
        process.start()
        theirs.close()
        assert mine.poll(WAIT_S)
        code, secrets = mine.recv()
        assert mine.poll(WAIT_S), "nothing was answered"
        time.sleep(rng.uniform(0, LONGEST_S))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join(WAIT_S)
        assert process.exitcode == -signal.SIGKILL
        with contextlib.suppress(EOFError, OSError):
            while True:
                member, question, value = mine.recv()
                confirmed[member, question] = value
                answers += 1
        mine.close()
        if kill % 10 == 9:
            check(stored(url, run_async), confirmed)
    assert answers > 10 * KILLS and len(confirmed) == worker.MEMBERS * worker.QUESTIONS
    report = report_of(stored(url, run_async))
    assert report.members == worker.MEMBERS
    assert [q.rounds[0].answers for q in report.questions] == [worker.MEMBERS] * 3
    print(f"{KILLS} kills, {answers} confirmed answers, none is lost")


def check(found: Stored, confirmed: dict[tuple[str, str], float]) -> None:
    """Each confirmed answer is there, or the one after it, which was about to be confirmed."""
    there = {(one.member, one.question): one.value for one in found.answers}
    for key, value in confirmed.items():
        now = there.get(key)
        assert now is not None and value <= now, (key, value, now)


@contextlib.contextmanager
def real_server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A whole server, which is killed at the end of the block if it was not before."""
    command = [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-build", "--no-guests"]
    environment = os.environ | own_places(str(folder))
    with subprocess.Popen(
        [*command, "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,  # a killed server leaves its session's priority
    ) as process:
        try:
            assert process.stdout is not None
            tree = json.loads(process.stdout.readline())
            yield process, f"{tree['host']}:{tree['port']}"
        finally:
            process.kill()
            process.wait(WAIT_S)


async def answer_until_killed(
    one: Page, choice: int, step: str, confirmed: set[tuple[str, str, int]]
) -> None:
    with contextlib.suppress(ConnectionClosed):
        for number in range(20):
            question = f"q{number}"
            await one.say(type="class_answer", step=step, question=question, choice=choice)
            await one.until_type("class_answered", step=step, question=question)
            confirmed.add((step, question, choice))


def test_a_whole_server_that_is_killed_has_all_answers_in_its_report(
    tmp_path: Path, run_async: Any
) -> None:
    rng = random.Random(5)
    confirmed: set[tuple[str, str, int]] = set()
    known: dict[str, Any] = {"secrets": [""] * 3, "cookie": ""}

    async def lesson(address: str, process: subprocess.Popen[str], step: str) -> None:
        async with contextlib.AsyncExitStack() as stack:
            teacher = await stack.enter_async_context(browser(address, "teacher"))
            if "class" in known:
                await teacher.say(type="class_resume", class_id=known["class"]["class_id"])
                await teacher.until_type("class_tally")
            else:
                known["class"] = await start(teacher)
            pages = [await stack.enter_async_context(page(address)) for _ in range(3)]
            for number, one in enumerate(pages):
                secret = known["secrets"][number]
                welcome = await join(one, known["class"]["code"], f"m{number}", secret)
                known["secrets"][number] = welcome["secret"]
            work = [
                asyncio.create_task(answer_until_killed(one, number, step, confirmed))
                for number, one in enumerate(pages)
            ]
            await asyncio.sleep(rng.uniform(0.005, LONGEST_S))
            process.kill()
            await asyncio.wait_for(asyncio.gather(*work), WAIT_S)

    def report(address: str) -> dict[str, Any]:
        connection = http.client.HTTPConnection(address, timeout=WAIT_S)
        # The cookie's name has the port, which each start of the server chooses anew.
        path = f"/api/classes/{known['class']['class_id']}/report"
        connection.request("GET", path, headers=cookie(address, "teacher"))
        answer = connection.getresponse()
        assert answer.status == 200
        tree: dict[str, Any] = json.loads(answer.read())
        connection.close()
        return tree

    for kill in range(SERVER_KILLS):
        with real_server(tmp_path) as (process, address):
            run_async(lesson(address, process, f"r{kill}"))
    with real_server(tmp_path) as (_, address):
        tree = report(address)
    counts = {(q["step"], q["question"]): q["rounds"][0]["counts"] for q in tree["questions"]}
    assert len(confirmed) >= SERVER_KILLS
    for step, question, choice in confirmed:
        assert counts[step, question].get(str(choice)) == 1
    assert tree["members"] == 3
    print(f"{SERVER_KILLS} kills of a server, {len(confirmed)} confirmed answers, none is lost")
