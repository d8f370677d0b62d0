# SPDX-License-Identifier: GPL-2.0-or-later
"""A sealed guest that is a copy where a template is there, and boots where none is."""

from __future__ import annotations

import logging
import time

from duet.base.errors import DuetError, InfraError
from duet.guests.boot import BootReport, try_boot
from duet.guests.clones.copy import CloneMachine
from duet.guests.clones.store import Templates
from duet.guests.clones.template import Template, template_key
from duet.guests.limits import RESUME_S
from duet.guests.machine import Machine
from duet.guests.qemu import QemuGuest
from duet.guests.types import Accel, GuestSpec

LOG = logging.getLogger("duet.clones")
READY = "stood ready"
"""Outcome in the report of a copy whose QEMU was up before its lane asked for it."""


class CloneableGuest(QemuGuest):
    """A guest of a server that has templates; it asks for the one that it lacks.

    Args:
        templates: the server's.
    """

    def __init__(self, spec: GuestSpec, policy: str, templates: Templates) -> None:
        super().__init__(spec, policy)
        self._templates = templates

    async def start(self, accel: Accel, version: str) -> Machine:
        """See MachineGuest.start(): copied, or booted if that fails."""
        key = template_key(self.spec, version) if accel is Accel.TCG else None
        template = self._templates.find(key)
        if template is not None:
            ready = self._templates.take_ready(template.key, self.spec)
            if ready is not None and await self._go_on(ready):
                return ready
            machine = await self._copy(template, accel)
            if machine is not None:
                return machine
        else:
            self._templates.want(key, self.spec)
        return await super().start(accel, version)

    async def park(self, later: bool = False) -> None:
        """Have a template made for guests like this one, if there is none.

        Args:
            later: see Templates.want().

        Raises:
            InfraError: kernel, root or QEMU are missing.
        """
        accel, version = await self.prepare()
        if accel is Accel.TCG:
            self._templates.want(template_key(self.spec, version), self.spec, later)

    async def _go_on(self, machine: CloneMachine) -> bool:
        """Let a copy that stands ready go on; False: it has failed, and another is made."""
        began = time.monotonic()
        try:
            failure = await try_boot(machine, RESUME_S)
        except (DuetError, OSError) as error:
            failure = InfraError(f"a ready copy failed: {error}.", remedy="Another one is made.")
        except BaseException:
            await machine.close()
            raise
        if failure is None:
            self._copied(began, READY)
            return True
        await machine.close()
        LOG.warning("%s %s\n%s", failure.sentence, failure.remedy, failure.detail)
        return False

    def _copied(self, began: float, outcome: str) -> None:
        self.cloned = True
        self.reports = (BootReport(1, time.monotonic() - began, outcome),)

    async def _copy(self, template: Template, accel: Accel) -> Machine | None:
        """A copy that goes on, or None: its template is not used again."""
        began = time.monotonic()
        try:
            machine = CloneMachine(self.spec, accel, template)
            try:
                failure = await try_boot(machine, RESUME_S)
            except BaseException:
                await machine.close()
                raise
            if failure is None:
                self._copied(began, "copied")
                return machine
            await machine.close()
        except DuetError as error:
            failure = error
        except OSError as error:
            failure = InfraError(
                f"a parked guest could not be copied: {error}.",
                remedy="The lane boots. Look at the free space of the disk and at ulimit -n.",
            )
        self._templates.discard(template.key)
        LOG.warning("%s %s\n%s", failure.sentence, failure.remedy, failure.detail)
        return None
