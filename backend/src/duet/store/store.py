# SPDX-License-Identifier: GPL-2.0-or-later
"""One thread that owns the database: calls are queued to it, bounded, and awaited.

Calls that wait together share a transaction, so an answer of each of 300 members costs a few
syncs of the disk. A call returns after the commit: what it stored is on the disk then.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from duet.base import budgets
from duet.base.errors import InfraError
from duet.store import database as claims
from duet.store.database import Sessions, connect_args, engine_of, trouble, upgrade
from duet.store.limits import CALL_S, CLOSE_S, TOGETHER

Result = TypeVar("Result")
log = logging.getLogger("duet.store")


class Call:
    """One piece of work and who waits for it."""

    def __init__(self, work: Callable[[Connection], Any]) -> None:
        self.work = work
        self.future: Future[Any] = Future()
        self.result: Any = None
        self.error: Exception | None = None

    def finish(self) -> None:
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Store:
    """The database of the plug-ins. `begin` and `close` frame its life.

    Args:
        url: of SQLAlchemy; see duet.store.database.
        server: where other servers, which share the database, reach this one; empty: there are
            none.

    Attributes:
        opening: called in the first transaction, once all tables are there; add to it before
            `begin`.
    """

    def __init__(self, url: str, server: str = "") -> None:
        self.server = server
        self.sessions = Sessions()
        self.opening: list[Callable[[Connection], object]] = []
        self._url = url
        self._waiting: deque[Call] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._broken: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="classes", daemon=True)

    def begin(self) -> None:
        """Start the thread, which opens the database; what is asked meanwhile waits."""
        if self.server:
            self.sessions.begin()
        self._thread.start()

    async def close(self) -> None:
        """Store what waits, and end."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.ident is not None:
            await asyncio.to_thread(self._thread.join, CLOSE_S)

    async def ask(self, work: Callable[[Connection], Result], within_s: float = CALL_S) -> Result:
        """Do something in the database; returns once it is committed.

        Raises:
            InfraError: too much waits, it took too long, or the database refused.
            DuetError: what the work itself raised.
        """
        call = Call(self.sessions.fenced(work) if self.server else work)
        with self._changed:
            if self._closing or len(self._waiting) >= budgets.CLASS_WAITING:
                raise InfraError(
                    "the database of classes is behind and takes nothing more just now.",
                    remedy="Try again in some seconds.",
                )
            self._waiting.append(call)
            self._changed.notify()
        try:
            async with asyncio.timeout(within_s):
                result: Result = await asyncio.wrap_future(call.future)
        except TimeoutError as error:
            raise InfraError(
                f"the database of classes did not answer within {within_s:.0f} s.",
                remedy="Try again; look at the disk of the server.",
            ) from error
        return result

    # In the thread

    def _run(self) -> None:
        engine = self._opened()
        while calls := self._next():
            if engine is None and self.server:  # a machine of its own, which may be up later
                engine = self._opened()
            if engine is not None:
                carry_out(engine, calls)
            for call in calls if engine is None else ():
                call.error = self._broken
            for call in calls:
                call.finish()
        if engine is not None:
            engine.dispose()

    def _opened(self) -> Engine | None:
        """The database, as it is used from now on; None: it cannot be."""
        former, self._broken = self._broken, None
        try:
            return self._open()
        except SQLAlchemyError as error:
            self._broken = trouble(error)
        except Exception as error:
            self._broken = error
        if str(former) != str(self._broken):
            log.error("no class can be held: %s", self._broken)
        return None

    def _open(self) -> Engine:
        engine = engine_of(self._url, **(connect_args(self.server) if self.server else {}))
        if self.server:
            self.sessions.attach(engine)
        with engine.begin() as connection:
            if self.server:
                claims.wait_for_upgrades(connection)
            upgrade(connection)
            for tidy in self.opening:
                tidy(connection)
        return engine

    def _next(self) -> list[Call]:
        """What waits, oldest first; empty: it is over."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                calls: list[Call] = []
                while self._waiting and len(calls) < TOGETHER:
                    call = self._waiting.popleft()
                    if call.future.set_running_or_notify_cancel():
                        calls.append(call)
                if calls or (self._closing and not self._waiting):
                    return calls


def carry_out(engine: Engine, calls: list[Call]) -> None:
    """All of them in one transaction; if one fails, each in its own.

    Savepoints would not do: SQLite undoes the whole transaction when the disk is full, and the
    commit that follows says nothing of it.
    """
    try:
        with engine.begin() as connection:
            for call in calls:
                call.result = call.work(connection)
    except Exception as error:
        if len(calls) > 1:
            for call in calls:
                carry_out(engine, [call])
        else:
            calls[0].error = trouble(error) if isinstance(error, SQLAlchemyError) else error
