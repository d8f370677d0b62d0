# SPDX-License-Identifier: GPL-2.0-or-later
"""A thread that owns the database, with a bounded queue of calls.

Queued calls share a transaction, so 300 answers from a class cost only a few disk syncs. A call
returns after the commit, when its data is on disk.
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
from duet.store.database import Sessions, connect_args, database_error, engine_of, upgrade
from duet.store.limits import CALL_S, CLOSE_S, TOGETHER

Result = TypeVar("Result")
log = logging.getLogger("duet.store")


class Call:
    """A queued call, with its work, its result, and the caller's future."""

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
    """The plug-ins' database. Call `begin` first and `close` at the end.

    Args:
        url: SQLAlchemy URL (duet.store.database).
        server: address of this server for other servers that share the database; '' if there are
            none.

    Attributes:
        opening: functions to call in the first transaction, after the migrations. Append functions
            before `begin`.
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
        """Start the thread, which opens the database. Meanwhile, calls are queued."""
        if self.server:
            self.sessions.begin()
        self._thread.start()

    async def close(self) -> None:
        """Finish queued calls, and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.ident is not None:
            await asyncio.to_thread(self._thread.join, CLOSE_S)

    async def ask(self, work: Callable[[Connection], Result], within_s: float = CALL_S) -> Result:
        """Run work in the database thread; return its result after the commit.

        Args:
            within_s: timeout.

        Raises:
            InfraError: the queue is full, the timeout has passed, or the database reports an error.
            DuetError: raised by the work.
        """
        call = Call(self.sessions.fenced(work) if self.server else work)
        with self._changed:
            if self._closing or len(self._waiting) >= budgets.CLASS_WAITING:
                raise InfraError(
                    "the class database is overloaded.",
                    remedy="Try again in a few seconds.",
                )
            self._waiting.append(call)
            self._changed.notify()
        try:
            async with asyncio.timeout(within_s):
                result: Result = await asyncio.wrap_future(call.future)
        except TimeoutError as error:
            raise InfraError(
                f"the class database did not answer within {within_s:.0f} s.",
                remedy="Try again. If this happens again, check the server's disk.",
            ) from error
        return result

    # These methods run in the store's thread.

    def _run(self) -> None:
        engine = self._opened()
        while calls := self._next():
            if engine is None and self.server:  # retry, because the database may be up now
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
        """Open the database. If this fails, store the error in `_broken` and return None."""
        former, self._broken = self._broken, None
        try:
            return self._open()
        except SQLAlchemyError as error:
            self._broken = database_error(error)
        except Exception as error:
            self._broken = error
        if str(former) != str(self._broken):
            log.error("the class database cannot be opened: %s", self._broken)
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
        """Wait for queued calls, and return them, oldest first. The list is empty once the store is
        closed."""
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
    """Run all calls in one transaction. If a call fails, run each call in a separate transaction.

    Savepoints would not work: SQLite rolls back the whole transaction when the disk is full, and
    the next commit reports no error.
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
            calls[0].error = database_error(error) if isinstance(error, SQLAlchemyError) else error
