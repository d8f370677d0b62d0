# SPDX-License-Identifier: GPL-2.0-or-later
"""What all pools do alike: they own their leases, and release them at their own end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from types import TracebackType

from duet.pools.lease import Backing, Lease
from duet.pools.limits import SILENT_S
from duet.pools.types import Kind, Refusal, Want


class OwningPool:
    """Base of the backends.

    Args:
        silent_s: see limits.SILENT_S.
    """

    name = ""
    python = sys.executable

    def __init__(self, silent_s: float = SILENT_S) -> None:
        self._silent_s = silent_s
        self.leases: set[Lease] = set()

    async def reserve(self, want: Want) -> Lease | Refusal:
        """See types.Pool."""
        want.check()
        return await self._reserve(want)

    async def kinds(self) -> Sequence[Kind] | Refusal:
        """See types.Pool."""
        raise NotImplementedError

    async def _reserve(self, want: Want) -> Lease | Refusal:
        raise NotImplementedError

    def _made(self, want: Want, hosts: Sequence[str], backing: Backing) -> Lease:
        lease = Lease(want, hosts, backing, self._silent_s)
        lease.on_over = self.leases.discard
        self.leases.add(lease)
        return lease

    async def __aenter__(self) -> OwningPool:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.gather(*(lease.release() for lease in list(self.leases)))
