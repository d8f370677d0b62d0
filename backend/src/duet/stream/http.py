# SPDX-License-Identifier: GPL-2.0-or-later
"""uvicorn's HTTP protocol with limits on connections, and timeouts for requests and responses.

uvicorn itself waits forever for the first byte of a request, and accepts connections until the
process runs out of file descriptors.
"""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.http11 import Request
from websockets.protocol import State

from duet.base import budgets
from duet.stream.packets import frames

# Limits on connections and sockets, in total and per address.
#
# At the limit, a new connection replaces the connection that has been idle longest. So idle
# connections cannot keep viewers out.

FEWEST = 64
"""Lowest connection limit, even if the process may open few files."""


class AdmittedConnection:
    """One connection, counted in the limits. It is idle until `mark_active` is called.

    Attributes:
        dropped: whether the connection was closed in favour of a new connection, so that failed
            sends are expected.
    """

    __slots__ = ("_limit", "address", "drop", "dropped")

    def __init__(self, limit: ConnectionLimit, address: str, drop: Callable[[], object]) -> None:
        self._limit = limit
        self.address = address
        self.drop = drop
        self.dropped = False

    def mark_active(self) -> None:
        self._limit.mark_active(self)

    def mark_idle(self) -> None:
        """Mark the connection as idle from now on."""
        self._limit.mark_idle(self)

    def remove(self) -> None:
        """Stop counting the connection; repeated calls have no effect."""
        self._limit.remove(self)


class ConnectionLimit:
    """Limits on connections or on sockets.

    Args:
        total: maximum number of connections.
        per_address: maximum number of connections from one address.
        shared: addresses of proxies; a proxy may use all `total` connections.
    """

    def __init__(self, total: int, per_address: int, shared: Container[str] = ()) -> None:
        self.total = total
        self._shared = shared
        self.per_address = min(per_address, total)
        self.dropped = 0
        self.refused = 0
        self._taken: set[AdmittedConnection] = set()
        self._of: Counter[str] = Counter()
        self._idle: OrderedDict[AdmittedConnection, None] = OrderedDict()
        self._idle_of: defaultdict[str, OrderedDict[AdmittedConnection, None]] = defaultdict(
            OrderedDict
        )

    def __len__(self) -> int:
        return len(self._taken)

    def admit(self, address: str, drop: Callable[[], object]) -> AdmittedConnection | None:
        """Admit a connection; return None if the limit is reached and no connection is idle.

        Args:
            drop: function that closes the connection when a new connection replaces it; it must not
                wait.
        """
        own = self._of[address] >= self.per_address and address not in self._shared
        if (own and not self._drop(self._idle_of[address])) or (
            len(self._taken) >= self.total and not self._drop(self._idle)
        ):
            self.refused += 1
            return None
        admitted = AdmittedConnection(self, address, drop)
        self._taken.add(admitted)
        self._of[address] += 1
        self.mark_idle(admitted)
        return admitted

    def mark_active(self, admitted: AdmittedConnection) -> None:
        if self._idle.pop(admitted, admitted) is None:
            of = self._idle_of[admitted.address]
            of.pop(admitted, None)
            if not of:
                del self._idle_of[admitted.address]

    def mark_idle(self, admitted: AdmittedConnection) -> None:
        if admitted in self._taken:
            for idle in (self._idle, self._idle_of[admitted.address]):
                idle[admitted] = None
                idle.move_to_end(admitted)

    def remove(self, admitted: AdmittedConnection) -> None:
        if admitted not in self._taken:
            return
        self._taken.discard(admitted)
        self.mark_active(admitted)
        self._of[admitted.address] -= 1
        if not self._of[admitted.address]:
            del self._of[admitted.address]

    def _drop(self, idle: OrderedDict[AdmittedConnection, None]) -> bool:
        """Drop the connection that has been idle longest; return False if none is idle."""
        admitted = next(iter(idle), None)
        if admitted is None:
            return False
        self.dropped += 1
        self.remove(admitted)
        admitted.dropped = True
        admitted.drop()
        return True


def connections_allowed() -> int:
    """Return CONNECTIONS, or fewer if this process may open only a few files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return budgets.CONNECTIONS
    return max(FEWEST, min(budgets.CONNECTIONS, soft - budgets.FILES_RESERVED))


def _connections(proxies: Container[str] = ()) -> ConnectionLimit:
    total = connections_allowed()
    return ConnectionLimit(
        total, min(budgets.CONNECTIONS_PER_ADDRESS, max(FEWEST, total // 2)), proxies
    )


@dataclass(slots=True)
class Admission:
    """The limits of one server."""

    connections: ConnectionLimit = field(default_factory=_connections)
    sockets: ConnectionLimit = field(
        default_factory=lambda: ConnectionLimit(budgets.SOCKETS, budgets.SOCKETS_PER_ADDRESS)
    )

    @classmethod
    def behind(cls, proxies: Container[str]) -> Admission:
        """Return the limits for a server behind proxies; a proxy may use all connections.

        Sockets are still limited per browser address.
        """
        return cls(connections=_connections(proxies))

    def counts(self) -> dict[str, dict[str, int]]:
        return {
            name: {
                "open": len(limit),
                "most": limit.total,
                "dropped": limit.dropped,
                "refused": limit.refused,
            }
            for name, limit in (("connections", self.connections), ("sockets", self.sockets))
        }


# uvicorn's WebSocket protocol with three additions: writing several messages at once, frames that
# many peers share, and disconnecting a peer that reads nothing.
#
# `websocket.close` waits for an empty send buffer, so it never ends if the peer reads nothing.

ABORT_AFTER_S = 1.0
"""Time for a peer to read the close frame before the connection is aborted."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """Adds the extensions `duet.cut` and `duet.send`. At its end, stops counting the connection."""

    admitted: AdmittedConnection | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.admitted is not None:
            self.admitted.remove()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions = cast(dict[str, object], self.scope["extensions"])
            extensions["duet.cut"] = {"now": self.cut}
            extensions["duet.send"] = {"all": self.send_all, "now": self.send_now}

    async def send_all(self, bodies: Sequence[bytes]) -> None:
        """Send several messages in one write, because a write costs far more than a frame.

        Raises:
            OSError: the peer has disconnected, as with `websocket.send`.
        """
        await self.writable.wait()
        if self.disconnected or self.close_sent or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        self.transport.write(frames(bodies))

    def send_now(self, framed: bytes) -> bool:
        """Write frames, or return False if the send buffer is not empty or the peer is gone."""
        free = self.transport.get_write_buffer_size() == 0
        gone = self.disconnected or self.transport.is_closing()
        if not free or gone or self.close_sent or self.conn.state is not State.OPEN:
            return False
        self.transport.write(framed)
        return True

    def cut(self, code: int, reason: str) -> None:
        """Queue the close frame, then abort the connection after ABORT_AFTER_S."""
        try:
            self.conn.send_close(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
        except InvalidState:
            pass
        self.close_sent = True
        self.stop_keepalive()
        self.close_timer = self.loop.call_later(ABORT_AFTER_S, self.transport.abort)


# Whole HTTP responses, as bytes, for connections that are closed before a request is served.


def no_room(status: bytes, code: str, sentence: str, remedy: str) -> bytes:
    error = {"code": code, "sentence": sentence, "remedy": remedy, "detail": ""}
    body = json.dumps({"error": error}).encode()
    return (
        b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
        b"retry-after: %d\r\nconnection: close\r\n\r\n%b"
        % (status, len(body), budgets.RETRY_AFTER_S, body)
    )


FULL = no_room(
    b"503 Service Unavailable",
    "full",
    "this server has reached its limit of connections.",
    f"Try again in {budgets.RETRY_AFTER_S} seconds.",
)
LATE = no_room(
    b"408 Request Timeout",
    "late",
    f"no whole request came within {budgets.HEADER_S:.0f} seconds.",
    "Send the request again.",
)


TURNED_AWAY = 64
"""Maximum number of refused connections that get a response at the same time. Further connections
are aborted."""
TELL_S = 1.0
"""Time for a refused connection to send its request and read the response."""
ACCEPTS = 64
"""Listen backlog, and maximum number of connections accepted in one iteration of the event loop."""
OUT_OF_FILES = "socket.accept() out of system resource"
LOG_EVERY_S = 10.0

log = logging.getLogger("duet.stream")


class ConnectionProtocol(H11Protocol):
    """One HTTP connection.

    Args:
        admission: the server's limits.
        options: uvicorn's own arguments.
    """

    _away = 0
    """Number of refused connections that are still open."""

    def __init__(self, *, admission: Admission, **options: Any) -> None:
        super().__init__(**options)
        self._admission = admission
        self._admitted: AdmittedConnection | None = None
        self._turned_away = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self._admitted = self._admission.connections.admit(address, transport.abort)
        if self._admitted is not None:
            self._await_head()
        elif ConnectionProtocol._away >= TURNED_AWAY:
            transport.abort()
        else:
            self._turned_away = True
            ConnectionProtocol._away += 1
            self._head_timer = self.loop.call_later(TELL_S, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._leave()

    def data_received(self, data: bytes) -> None:
        if self._admitted is None:
            self._tell(FULL)
            return
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self.cycle is None or self.cycle.response_complete:
            self._await_head()
        else:
            self._admitted.mark_active()
            self._cancel_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._admitted is not None and (self.cycle is None or self.cycle.response_complete):
            self._admitted.mark_idle()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Pass the counted connection to the protocol of the WebSocket."""
        self._cancel_head()
        super().handle_websocket_upgrade(event)
        protocol = self.transport.get_protocol()
        if isinstance(protocol, SocketProtocol) and self._admitted is not None:
            self._admitted.mark_active()
            protocol.admitted, self._admitted = self._admitted, None

    def pause_writing(self) -> None:
        """Watch a peer that reads too slowly, until `resume_writing` is called."""
        super().pause_writing()
        self._look_at_stall(None)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _look_at_stall(self, before: int | None) -> None:
        waiting = self.transport.get_write_buffer_size()
        if before is not None and waiting >= before:
            self.transport.abort()
            return
        self._stall_timer = self.loop.call_later(
            budgets.RESPONSE_STALL_S, self._look_at_stall, waiting
        )

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(budgets.HEADER_S, self._tell, LATE)

    def _cancel_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _tell(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()

    def _leave(self) -> None:
        self._cancel_head()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
        if self._admitted is not None:
            self._admitted.remove()
        if self._turned_away:
            self._turned_away = False
            ConnectionProtocol._away -= 1


class OutOfFiles:
    """Logs that connections cannot be accepted, at most once per LOG_EVERY_S.

    Without this class, asyncio would log every attempt. asyncio itself stops accepting for a
    second.
    """

    def __init__(self) -> None:
        self._attempts = 0
        self._said_at = -LOG_EVERY_S

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle an exception from the event loop."""
        if context.get("message") != OUT_OF_FILES:
            loop.default_exception_handler(context)
            return
        self._attempts += 1
        now = time.monotonic()
        if now - self._said_at >= LOG_EVERY_S:
            self._said_at = now
            log.error(
                "no connection can be accepted (%s); %d attempts so far. Raise `ulimit -n`.",
                *(context.get("exception"), self._attempts),
            )


def server_config(app: Any, **options: Any) -> Config:
    """Return uvicorn's configuration for the server, in production and in tests."""

    def connection(**given: Any) -> ConnectionProtocol:
        return ConnectionProtocol(admission=app.state.admission, **given)

    return Config(
        app,
        http=connection,  # type: ignore[arg-type]
        ws=SocketProtocol,
        ws_max_size=budgets.FRAME_BYTES,
        ws_per_message_deflate=False,
        backlog=ACCEPTS,
        timeout_keep_alive=budgets.KEEP_ALIVE_S,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # duet.api.proxy reads them
        **options,
    )
