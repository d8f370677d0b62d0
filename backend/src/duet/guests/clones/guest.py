# SPDX-License-Identifier: GPL-2.0-or-later
"""Sealed guest that is copied from a template, or booted if there is no template."""

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
READY = "ready copy"
"""Outcome that a ready copy's boot report shows."""


class CloneableGuest(QemuGuest):
    """Guest that is copied from a template. Without a template, it boots and requests a template.

    Args:
        templates: templates of the server.
    """

    def __init__(self, spec: GuestSpec, policy: str, templates: Templates) -> None:
        super().__init__(spec, policy)
        self._templates = templates

    async def start(self, accel: Accel, version: str) -> Machine:
        """Return a ready copy, or else a new copy, or else a booted machine.

        Raises:
            DuetError: no copy could be started, and the machine did not boot.
        """
        key = template_key(self.spec, version) if accel is Accel.TCG else None
        template = self._templates.find(key)
        if template is not None:
            ready = self._templates.take_ready(template.key, self.spec)
            if ready is not None and await self._resume_ready(ready):
                return ready
            machine = await self._copy(template, accel)
            if machine is not None:
                return machine
        else:
            self._templates.request(key, self.spec)
        return await super().start(accel, version)

    async def park(self, later: bool = False) -> None:
        """Request a template for guests like this one, unless there already is a template.

        Args:
            later: low priority, as in Templates.request().

        Raises:
            InfraError: kernel, root or QEMU is missing.
        """
        accel, version = await self.prepare()
        if accel is Accel.TCG:
            self._templates.request(template_key(self.spec, version), self.spec, later)

    async def _resume_ready(self, machine: CloneMachine) -> bool:
        """Resume a ready copy. If that fails, close the copy and return False."""
        began = time.monotonic()
        try:
            failure = await try_boot(machine, RESUME_S)
        except (DuetError, OSError) as error:
            failure = InfraError(
                f"a ready copy failed: {error}.", remedy="The lane gets a new copy."
            )
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
        """Copy the template and resume the copy; on failure discard the template, return None."""
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
                remedy="The lane boots. Check the free disk space and ulimit -n.",
            )
        self._templates.discard(template.key)
        LOG.warning("%s %s\n%s", failure.sentence, failure.remedy, failure.detail)
        return None
