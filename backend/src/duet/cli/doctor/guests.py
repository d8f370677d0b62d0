# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks with a real guest: its boot, a copy of the guest, its isolation, and its CPU time."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from duet.base.errors import DuetError, InfraError
from duet.cli.arguments import read_request
from duet.cli.doctor.first_event import FirstEvent, first_event, spec_of, wait_parked
from duet.cli.doctor.line import DELEGATE, Failure
from duet.cli.selftest import built_arms
from duet.confine.control_groups import groups_of
from duet.guests import Guest
from duet.guests.clones import Templates
from duet.kernels import KernelSettings
from duet.lessons import load as lessons
from duet.lessons.load import cpus
from duet.runs.selftest import shortest_run
from duet.runs.sources import kernel_sources
from duet.session import Contention, RunSpec, contention_bound
from duet.session.lane.setup import guest_of

NO_COPY: Final = "Lanes boot as before; the server's log says why a copy failed."
CALM: Final = "End other work on this host, or give it more CPUs."


class ContentionSink(FirstEvent):
    """Sink that also records how long the guest's vCPUs waited for a host CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.contention: Contention | None = None

    def on_contention(self, arm: str, contention: Contention) -> None:
        """Store the newest waiting time."""
        self.contention = contention


class GuestTrials:
    """Checks that boot one arm of a lesson. The arm's kernel is already built.

    Raises:
        InfraError: no kernel is built.
    """

    def __init__(self) -> None:
        self._request = shortest_built_run()
        self._arm = self._request.arms[0]
        self._contention: Contention | None = None
        self._accel = ""

    async def boots(self) -> str:
        """Check that a guest boots, finishes a workload, and sends events.

        Raises:
            InfraError: the guest does not boot, finish the workload or send events.
        """
        sink = ContentionSink()
        start = await first_event(self._request, self._arm, None, sink, whole=True)
        if start.ms is None:
            raise InfraError(
                start.why,
                remedy="Run ./duet selftest, which gives details, then run ./duet run LESSON.",
            )
        self._contention, self._accel = sink.contention, sink.accel
        tries = f", at try {start.attempts}" if start.attempts > 1 else ""
        return (
            f"the first event of {self._request.folder.slug}/{self._arm} came after "
            f"{start.ms / 1e3:.1f} s{tries} ({sink.accel})"
        )

    async def copies(self, templates: Templates | None) -> str:
        """Check that a guest can be parked and that its copy runs.

        Args:
            templates: the parked guests; None if parking is switched off.

        Raises:
            Failure: no copy runs, so lanes have to boot.
        """
        if self._accel == "kvm":
            return "none is needed: under KVM each lane boots"
        if templates is None:
            raise Failure(
                "no guest is parked, because DUET_TEMPLATES_MIB is 0", "Unset this variable."
            )
        sources = await kernel_sources(
            self._request.folder, (self._arm,), KernelSettings.default(), templates
        )
        source = sources[self._arm]
        if source.park is not None:
            await source.park(guest_of(spec_of(self._request, self._arm), source, None), False)
        await wait_parked(templates)
        if not templates.count:
            raise Failure("no guest could be parked, so each lane boots", NO_COPY)
        start = await first_event(self._request, self._arm, templates)
        if start.ms is None or not start.cloned:
            raise Failure(f"a copy failed: {start.why or 'its lane booted'}", NO_COPY)
        mib = templates.held_bytes / 2**20
        how = "from a copy that was ready: its" if start.ready else "its"
        return (
            f"{how} first event came after {start.ms:.0f} ms; the parked guest takes {mib:.0f} MiB"
        )

    async def apart(self) -> str:
        """Check that a guest's QEMU has namespaces of its own.

        Raises:
            Failure: QEMU shares some namespaces with the server.
        """
        async with self._up() as guest:
            shared = shared_spaces(guest.facts.pid or 0)
        if shared:
            raise Failure(
                f"a guest's QEMU shares namespaces with the server: {', '.join(shared)}",
                "Run ./setup.sh kernels as root, or allow user namespaces.",
            )
        return f"a guest's QEMU has its own: {', '.join(SPACES)}"

    async def bounded(self) -> str:
        """Check that a guest's QEMU is in a control group with resource limits.

        Raises:
            Failure: QEMU is in no such group, or some limits are missing.
        """
        async with self._up() as guest:
            inside = lane_files(guest.facts.pid or 0)
            limits = limits_of(groups_of(os.getpid()))
        if not inside or "memory" not in limits:
            raise Failure("a guest's QEMU is in no control group with a memory limit", DELEGATE)
        return ", ".join(f"{name} {value}" for name, value in limits.items())

    async def waits(self) -> str:
        """Report how long the booted guest's vCPUs waited for a host CPU.

        Raises:
            Failure: the vCPUs waited too long, or nothing was measured.
        """
        if self._contention is None:
            raise Failure("nothing was measured: no guest ran", "Read the results above.")
        share = self._contention.share
        host = len(os.sched_getaffinity(0))
        bound = contention_bound(cpus(self._request.folder.lesson, self._request.params), host)
        said = (
            f"a guest's vCPUs waited for {100 * share:.0f} % of the time that they needed, on "
            f"{host} CPUs; figures are valid up to {100 * bound:.0f} %"
        )
        if share > bound:
            raise Failure(said, CALM)
        return said

    @asynccontextmanager
    async def _up(self) -> AsyncIterator[Guest]:
        """Start a guest that does nothing."""
        arm, request = self._arm, self._request
        sources = await kernel_sources(request.folder, (arm,), KernelSettings.default())
        wanted = guest_of(spec_of(request, arm), sources[arm], None)
        async with sources[arm].guest(wanted) as guest:
            yield guest


def shortest_built_run() -> RunSpec:
    """Return a short run on one arm whose kernel is built.

    Raises:
        InfraError: no kernel is built.
    """
    settings = KernelSettings.default()
    for slug in lessons.slugs():
        try:
            folder = lessons.load(slug)
            arms = built_arms(folder, settings) if "wall" in folder.lesson.clocks else []
        except DuetError:  # another check reports the unreadable lesson
            continue
        if arms:
            return shortest_run(read_request(slug, arms[0], "", "wall", []))
    raise InfraError(
        "no guest can be booted, because no lesson has a built kernel.",
        remedy="Run ./duet build.",
    )


SPACES: Final = ("mnt", "pid", "net", "ipc", "uts")
"""Namespaces that a guest's QEMU must not share with the server; see namespaces(7)."""


def shared_spaces(pid: int) -> list[str]:
    """Return the namespaces that a process shares with this one.

    A namespace that cannot be read counts as shared.
    """
    found = []
    for name in SPACES:
        try:
            theirs = Path(f"/proc/{pid}/ns/{name}").readlink()
        except OSError:
            found.append(name)
            continue
        if theirs == Path(f"/proc/self/ns/{name}").readlink():
            found.append(name)
    return found


def lane_files(pid: int) -> list[str]:
    """Return the lane control groups that a process is in; see cgroups(7)."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return []
    return [line for line in lines if "/duet-lane-" in line]


def limits_of(folders: list[Path]) -> dict[str, str]:
    """Return the limits that these control groups set: memory, threads, CPU weight."""
    found = {}
    for names, what, unit in (
        (("memory.max", "memory.limit_in_bytes"), "memory", "MiB"),
        (("pids.max",), "threads", ""),
        (("cpu.weight",), "CPU weight", "of 100"),
        (("cpu.shares",), "CPU shares", "of 1024"),
    ):
        for path in (folder / name for folder in folders for name in names):
            try:
                value = int(path.read_text())
            except (OSError, ValueError):
                continue
            found[what] = f"{value >> 20 if unit == 'MiB' else value} {unit}".rstrip()
    return found
