# SPDX-License-Identifier: GPL-2.0-or-later
"""A parked guest: what is stored of it, and what it was made from."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from duet.guests.clones.files import held_bytes
from duet.guests.clones.plans import parked_plan
from duet.guests.qemu import kernel_cmdline
from duet.guests.types import Clock, GuestSpec


def template_key(spec: GuestSpec, qemu_version: str) -> str | None:
    """Names a template by everything that it is made from; None where there can be none.

    There is none on the count clock, whose runs repeat a boot to the instruction, and none for a
    guest whose plan is not known or traces nothing: measure runs boot.
    """
    if spec.clock is not Clock.WALL or spec.plan is None or spec.boot_plan is not None:
        return None
    made_of = {
        "qemu": qemu_version,
        "kernel": _identity(spec.bzimage),
        "root": _identity(spec.initrd),
        "plugin": _identity(spec.microscope.plugin) if spec.microscope else None,
        "functions": spec.microscope.functions if spec.microscope else None,
        "cmdline": kernel_cmdline(spec, verbose=False),
        "machine": [spec.vcpus, spec.memory_mib, spec.disks_mib],
        "plan": parked_plan(spec.plan),
    }
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:24]


def _identity(path: Path | None) -> list[str | int] | None:
    """A file as it is now: another one at its path is another one."""
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return [str(path)]
    return [str(path), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]


@dataclass(slots=True)
class Template:
    """One parked guest. Its descriptors are files in memory, sealed.

    Args:
        key: see template_key().
        plan: what it was set up with.
        memory: descriptor of the guest's memory.
        state: descriptor of QEMU's migration stream without that memory.
        disks: descriptors of its scratch disks.
        greeting: bytes of the control port up to HELLO.
        setup: bytes of the control port after PLAN, up to READY.
        made_s: how long the boot and the plan took.
    """

    key: str
    plan: str
    memory: int
    state: int
    disks: tuple[int, ...]
    greeting: bytes
    setup: bytes
    made_s: float
    drawn: set[bytes] = field(default_factory=set)
    """Random bytes that its copies drew: a second time the same means that none was reseeded."""

    @property
    def held_bytes(self) -> int:
        """Memory that it takes."""
        return sum(held_bytes(number) for number in (self.memory, self.state, *self.disks))

    def close(self) -> None:
        """Give its memory back, when the last copy has ended."""
        for number in (self.memory, self.state, *self.disks):
            with suppress(OSError):
                os.close(number)
