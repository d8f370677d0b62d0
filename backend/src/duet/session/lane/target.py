# SPDX-License-Identifier: GPL-2.0-or-later
"""The object that the microscope watches, and names of what else is busy: the x-ray finds both."""

from __future__ import annotations

import asyncio
import re
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from duet.errors import InfraError, InputError
from duet.lenses.limits import AIM_FOUND_S, AIM_READY_S
from duet.lenses.scope.client import ScopeClient
from duet.lenses.scope.wire import MAX_WATCH_BYTES, Cells
from duet.lessons.schema import MicroscopeConfig
from duet.session.accesses import busiest, long_address

IDENTIFY = "identify"
CANDIDATES = 4096
"""Addresses of the busiest lines that are looked at."""
IDENTIFIED = 400
"""Addresses that are asked for at once."""
IDENTIFIED_S = 5.0
"""For the answer to one question. Usual: 0.2 s."""
STACK, STACK_BYTES = "task stack", 16 << 10
"""As the x-ray calls it; THREAD_SIZE of x86-64, to which stacks are aligned."""
USER_END = 1 << 47
"""User memory lies below, the kernel's own far above, on x86-64."""
VMALLOC, VMALLOC_END = 0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000
"""Where stacks lie on x86-64 (CONFIG_VMAP_STACK; Documentation/x86/x86_64/mm.rst)."""


class Target:
    """The watched object: the workload says that it is there, and the x-ray finds it.

    Args:
        config: what is watched; None: nothing is.
    """

    def __init__(self, config: MicroscopeConfig | None) -> None:
        self._config = config
        self._ready, self._found = asyncio.Event(), asyncio.Event()
        self.watched: tuple[int, int] | None = None
        """Address and bytes."""
        self.fields: tuple[tuple[int, str], ...] = ()
        """Offset and name, by offset."""

    @property
    def ready(self) -> bool:
        """The workload has said that the object is there, and waits."""
        return self._ready.is_set()

    def line(self, text: str) -> None:
        """A line of the workload."""
        if self._config is not None and re.search(self._config.ready, text):
            self._ready.set()

    def sample(self, raw: dict[str, Any]) -> None:
        """A sample of the x-ray, before it has a guest time."""
        if self._config is None or raw["probe"] != self._config.probe or not self.ready:
            return
        facts = raw["facts"]
        if self.watched is None and facts.get("found") and facts.get("address48"):
            self.watched = long_address(facts["address48"]), int(facts["size"])
            offsets = struct.unpack(f"<{raw['n']}i", raw["columns"]["offset"])
            nested = raw["columns"]["nested"]
            fields = zip(offsets, raw["texts"], nested, strict=True)
            self.fields = tuple((at, name) for at, name, part in fields if not part)
            self._found.set()

    async def aim(self, client: ScopeClient) -> None:
        """Have the plugin watch the object once it is found, or count from now on if none is.

        Raises:
            DuetError: it is not found in time, or the plugin refuses.
        """
        if self._config is None:
            await client.reset()
            return
        try:
            address, size = await self._find()
        except TimeoutError as error:
            raise InfraError(
                f"the microscope watches nothing: {self._missed()} in time.",
                remedy="Look at the workload's lines and at the x-ray; then run it again.",
            ) from error
        if not 0 < size <= MAX_WATCH_BYTES:
            raise InputError(
                f"the microscope watches 1 to {MAX_WATCH_BYTES} bytes, but the object has {size}.",
                remedy="Watch a part of it, such as one of its fields.",
            )
        await client.watch(address, size, self._config.log)

    async def _find(self) -> tuple[int, int]:
        """Address and bytes, once they are known.

        Raises:
            TimeoutError: the workload was not ready, or the object not found, in time.
        """
        async with asyncio.timeout(AIM_READY_S):
            await self._ready.wait()
        async with asyncio.timeout(AIM_FOUND_S):
            await self._found.wait()
        assert self.watched is not None
        return self.watched

    def _missed(self) -> str:
        """Why `_find` took too long."""
        if self.ready:
            return "the x-ray has not found the object"
        return "the workload has not said that the object is there"


class LineNames:
    """What lies at busy addresses, as far as the x-ray was asked."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self._answered = asyncio.Event()

    def sample(self, raw: dict[str, Any]) -> None:
        """A sample of the x-ray, before it has a guest time."""
        if raw["probe"] != IDENTIFY:
            return
        shorts = struct.unpack(f"<{raw['n']}d", raw["columns"]["address"])
        named = zip(map(long_address, shorts), raw["texts"], strict=True)
        self.names |= {address: words for address, words in named if words}
        self._answered.set()

    async def ask(self, cells: Cells, request: Callable[[str], None]) -> None:
        """Have those named that have no name yet; returns with the answer, or without one in time.

        Args:
            cells: counts; of these the busiest lines are named.
            request: asks the x-ray for addresses: hexadecimal, with commas.
        """
        new = self._unnamed(busiest(cells, CANDIDATES))
        if new:
            self._answered.clear()
            request(",".join(f"{address:x}" for address in new))
            with suppress(TimeoutError):
                async with asyncio.timeout(IDENTIFIED_S):
                    await self._answered.wait()

    def _unnamed(self, busy: list[int]) -> list[int]:
        """Those that have no name yet; of a stack, which is one thing, one address."""
        stacks = {a // STACK_BYTES for a, words in self.names.items() if words.startswith(STACK)}
        new: list[int] = []
        for address in busy:
            block = address // STACK_BYTES
            if address in self.names or block in stacks:
                continue
            if VMALLOC <= address < VMALLOC_END:
                stacks.add(block)
            new.append(address)
        return new[:IDENTIFIED]
