# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage `stream`: from a guest's tracepoint to a decoded column, with no event lost.

All runs take turns in one guest with one vCPU. A program makes events of one type as fast as it
can. Our side is the product's agent, virtio-serial and decoder. The peers are trace-cmd record in
the same guest, whose file the host then reads, and trace_pipe over the serial port. The ring
buffers have equal sizes.

On a shared host, the guest's clock includes the time that its vCPU waits for a CPU. So the highest
rate is counted in CPU time of the vCPU. If the vCPU has a core of its own, its CPU time is the
guest's time.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from duet.base.errors import DuetError, InfraError
from duet.base.settings import cache_dir
from duet.kernels import KernelSettings
from tools.bench.speed.capture import lessons_below, need_kernels
from tools.bench.speed.guests.streaming import TRACE_CMD, Ran, Rig, write_stream
from tools.bench.speed.pairs import (
    Bench,
    DifferentResultsError,
    Figure,
    Result,
    Row,
    Skipped,
    Stage,
    Turn,
    median_figure,
    row_of,
)

NAME = "stream"
EVENTS, SMOKE_EVENTS = 600_000, 60_000
"""600,000 events are 36 MB, more than four times the ring buffer."""
SERIAL_EVENTS = 2_000
TRIPS, SMOKE_TRIPS = 15_000, 4_000
OFF, UNREAD, OURS = "off", "unread", "ours"
RATE_TRIES, RATE_STEP = 6, 0.8
"""Number of rates that are tried, and each rate's share of the one before."""
PIXEL_RUNS = 3
RENAME = frozenset({"rename"})
NONE: frozenset[str] = frozenset()
SCHEDULER = frozenset({"switch", "waking"})
TARGET = 1.5
OVERHEAD = 1.3
PIXEL_P50_MS, PIXEL_P99_MS = 80.0, 200.0
REPORT_S = 300.0
SHELL_EVENTS = 20
"""Most events beside the program's: each program that starts is renamed once, too."""
RATE = "highest rate without loss, one vCPU"
WHOLE = "tracepoint to decoded columns, one vCPU"
PIXEL = "event to pixel, two lanes with nine hogs each"
VSOCK = Path("/dev/vhost-vsock")
PORT = "trace_pipe over the serial port"


def run(bench: Bench) -> Iterator[Result]:
    """Yield the comparisons, the overheads, and the delay to a pixel."""
    yield _vsock()
    try:
        need_kernels(KernelSettings.default())
        root = cache_dir() / "bench"
        write_stream(root)
        with lessons_below(root), asyncio.Runner() as runner:
            yield from _in_guest(bench, runner, root)
    except DuetError as error:
        yield Skipped(NAME, WHOLE, f"{error.sentence} {error.remedy}")
    if not bench.smoke:
        yield from _pixels()


def _vsock() -> Skipped:
    """Return why trace-cmd over vsock does not run."""
    case = "trace-cmd over vsock"
    if not VSOCK.exists():
        return Skipped(NAME, case, f"The host has no {VSOCK}; load the module vhost_vsock.")
    return Skipped(NAME, case, "Our guests have no vsock device: their QEMU opens no host device.")


def _in_guest(bench: Bench, runner: asyncio.Runner, root: Path) -> Iterator[Result]:
    """Yield the comparisons whose runs take turns in one guest."""
    events = SMOKE_EVENTS if bench.smoke else EVENTS
    trips = SMOKE_TRIPS if bench.smoke else TRIPS
    rig = Rig(root)
    runner.run(rig.open())
    try:
        hammer = Work("hammer", RENAME, {"events": events})
        rates = {} if bench.smoke else runner.run(find_rates(rig, hammer))
        file = bench.folder / "trace.dat"
        turns = runner.run(take_turns(bench, rig, hammer, rates, file))
        if TRACE_CMD in turns.ran:
            # A smoke run's events fit into the ring buffer, so its rate says nothing.
            yield from () if bench.smoke else (rate_row(turns, events, rates),)
            yield whole_row(turns, events)
        else:
            yield Skipped(NAME, WHOLE, "trace-cmd is not installed. Run: apt-get install trace-cmd")
        yield host_cost(turns, events)
        yield runner.run(serial_row(bench, rig))
        yield from overheads("nothing but events", turns)
        pingpong = Work("pingpong", SCHEDULER, {"trips": trips})
        yield from overheads("task switches", runner.run(take_turns(bench, rig, pingpong, {})))
    finally:
        runner.run(rig.close())


@dataclass(frozen=True, slots=True)
class Work:
    """A program of the guest, with its events and its knobs."""

    program: str
    probes: frozenset[str]
    params: Mapping[str, int]


@dataclass(slots=True)
class Turns:
    """Runs of one program, grouped by the way in which its events are read.

    Args:
        ran: runs for each way: OFF, UNREAD, OURS, and TRACE_CMD if it is installed.
        read_s: for each run of trace-cmd, the time to read its file on the host.
    """

    ran: dict[str, list[Ran]] = field(default_factory=dict)
    read_s: list[float] = field(default_factory=list)

    def vcpu_s(self, way: str) -> list[float]:
        """Return the vCPU's CPU time in each run with one way of reading."""
        return [one.vcpu_s for one in self.ran[way]]


def readers() -> tuple[str, ...]:
    """Return the ways to read events that are possible here."""
    return (OURS, *([TRACE_CMD] if shutil.which(TRACE_CMD) else []))


async def find_rates(rig: Rig, work: Work) -> dict[str, int]:
    """Return the highest rate of events at which each reader loses none; 0 is full speed.

    Raises:
        InfraError: a reader loses events at the lowest rate that is tried.
    """
    rates = {}
    for way in readers():
        rates[way] = rate = 0
        for _ in range(RATE_TRIES):
            ran = await start(rig, work, way, rate)
            if not ran.lost:
                rates[way] = rate
                break
            rate = int(ran.per_s * RATE_STEP)
        else:
            raise InfraError(
                f"{way} loses events even at {rate:,} events per second.",
                remedy="Try again on a quieter machine.",
            )
    return rates


async def take_turns(
    bench: Bench, rig: Rig, work: Work, rates: Mapping[str, int], file: Path | None = None
) -> Turns:
    """Run a program in all ways, in turns.

    Args:
        rates: way -> events per second. A way without a rate runs at full speed.
        file: where to copy trace-cmd's file, to read it on the host; None if it is not read.

    Raises:
        InfraError: events were lost.
        DifferentResultsError: our side and trace-cmd do not have the same events.
    """
    found = Turns()
    ways = (OFF, UNREAD, *(readers() if file or not bench.smoke else (OURS,)))
    for number in range(bench.pairs):
        ran = {way: await run_once(rig, work, way, rates.get(way, 0)) for way in ways}
        if file is not None and TRACE_CMD in ran:
            began = time.monotonic()
            rig.copy_from_disk("trace.dat", file)
            reported(file)
            found.read_s.append(time.monotonic() - began)
            if number == 0:
                same_events(ran[OURS].events, reported(file, count=True), work.params["events"])
        for way, one in ran.items():
            found.ran.setdefault(way, []).append(one)
    return found


async def start(rig: Rig, work: Work, way: str, rate: int) -> Ran:
    """Run a program in one way, at a rate (0: full speed) for which the program has a knob."""
    workload = work.program + {UNREAD: "-unread", TRACE_CMD: "-record"}.get(way, "")
    params = {**work.params, **({"rate": rate} if rate else {})}
    return await rig.run(workload, work.probes if way == OURS else NONE, **params)


async def run_once(rig: Rig, work: Work, way: str, rate: int = 0) -> Ran:
    """Run a program in one way.

    Raises:
        InfraError: events were lost, although a program read them.
    """
    ran = await start(rig, work, way, rate)
    if ran.lost and way != UNREAD:
        raise InfraError(
            f"{way} lost {ran.lost:,} events of {work.program}.",
            remedy="Try again on a quieter machine.",
        )
    return ran


def rate_row(turns: Turns, events: int, rates: Mapping[str, int]) -> Row:
    """Compare the rates in the guest while the events are read.

    A reader that lost events at full speed runs at a lower rate. CPU time does not show this rate,
    so the row then compares the guest's time.
    """
    ceiling = statistics.median(turns.vcpu_s(TRACE_CMD)) / statistics.median(turns.vcpu_s(UNREAD))
    mine, theirs = (
        [Turn(one.work_s, one.vcpu_s) for one in turns.ran[way]] for way in (OURS, TRACE_CMD)
    )
    return row_of(
        NAME, RATE, "trace-cmd record", mine, theirs, work=events, unit="events", target=TARGET,
        clock="wall" if any(rates.values()) else "cpu",
        note="CPU time of the vCPU while a program makes the events as fast as it can; nobody "
        f"loses any. The ratio cannot exceed {ceiling:.2f}, which it is if no program reads the "
        "events: to make an event costs the guest far more than to read it.",
    )  # fmt: skip


def whole_row(turns: Turns, events: int) -> Row:
    """Compare the times until the host has all events."""
    mine = [Turn(one.wall_s, one.vcpu_s + one.host_s) for one in turns.ran[OURS]]
    theirs = [
        Turn(one.wall_s + read_s, one.vcpu_s + one.host_s + read_s)
        for one, read_s in zip(turns.ran[TRACE_CMD], turns.read_s, strict=True)
    ]
    return row_of(
        NAME, WHOLE, "trace-cmd record, its file read on the host", mine, theirs,
        work=events, unit="events", clock="wall", target=TARGET,
        note="From the first event until all are columns; for trace-cmd, until trace-cmd report "
        "has printed its file, which came from the guest's disk.",
    )  # fmt: skip


def host_cost(turns: Turns, events: int) -> Figure:
    """Return what streaming and decoding cost the host."""
    cost = [1e6 * one.host_s / events for one in turns.ran[OURS]]
    return median_figure(
        NAME, "CPU time of the host for a million events, without the vCPU", cost, "s"
    )


def overheads(what: str, turns: Turns) -> Iterator[Figure]:
    """Yield the CPU time of each way, relative to events that are enabled but not read."""
    for way, title in ((OFF, "off"), (OURS, "streamed by us"), (TRACE_CMD, "trace-cmd record")):
        if way not in turns.ran:
            continue
        pairs = zip(turns.vcpu_s(way), turns.vcpu_s(UNREAD), strict=True)
        ratios = [mine / base for mine, base in pairs]
        yield median_figure(
            NAME, f"CPU time by on but unread, {what}: {title}", ratios, "x",
            OVERHEAD if way == OURS else None,
        )  # fmt: skip


async def serial_row(bench: Bench, rig: Rig) -> Row:
    """Compare with trace_pipe over the serial port, whose turns have fewer events.

    Raises:
        InfraError: events were lost.
    """
    events = SMOKE_EVENTS if bench.smoke else EVENTS // 3
    work = Work("hammer", RENAME, {"events": events})
    mine, theirs = [], []
    for _ in range(bench.pairs):
        ours = await run_once(rig, work, OURS)
        before = rig.serial_events
        peer = await rig.run("hammer-serial", events=SERIAL_EVENTS)
        came = rig.serial_events - before
        if came < SERIAL_EVENTS:
            raise InfraError(
                f"only {came:,} of {SERIAL_EVENTS:,} events arrived over the serial port.",
                remedy="Try again on a quieter machine.",
            )
        share = SERIAL_EVENTS / events
        mine.append(Turn(ours.wall_s * share, (ours.vcpu_s + ours.host_s) * share))
        theirs.append(Turn(rig.serial_at - peer.begun_at, peer.vcpu_s + peer.host_s))
    return row_of(
        NAME, WHOLE, PORT, mine, theirs, work=SERIAL_EVENTS, unit="events", clock="wall",
        note=f"Our turns have {events:,} events; their time is scaled. The text is not parsed.",
    )  # fmt: skip


def reported(file: Path, count: bool = False) -> int:
    """Print a file with trace-cmd report, and return the number of its events.

    Args:
        count: count the events; else the text goes to /dev/null, and the number is 0.
    """
    out = subprocess.PIPE if count else subprocess.DEVNULL
    words = [TRACE_CMD, "report", str(file)]
    done = subprocess.run(
        words, stdout=out, stderr=subprocess.DEVNULL, check=True, timeout=REPORT_S
    )
    return done.stdout.count(b": task_rename:") if count else 0


def same_events(ours: int, theirs: int, events: int) -> None:
    """Check that both sides have all events, and at most a few more than the program made.

    Raises:
        DifferentResultsError: a side has fewer events, or far more.
    """
    for name, number in (("ours", ours), (TRACE_CMD, theirs)):
        if not events <= number <= events + SHELL_EVENTS:
            raise DifferentResultsError(
                f"{NAME}: the program made {events:,} events, but {name} has {number:,}."
            )


def _pixels() -> Iterator[Result]:
    """Yield the delay from an event to its picture, over several runs."""
    import numpy as np

    from tools.bench.speed.guests.pixels import event_to_pixel

    try:
        found = asyncio.run(event_to_pixel(PIXEL_RUNS))
    except DuetError as error:
        yield Skipped(NAME, PIXEL, f"{error.sentence} {error.remedy}")
        return
    for name, share, target in (("p50", 50, PIXEL_P50_MS), ("p99", 99, PIXEL_P99_MS)):
        values = [float(np.percentile(one.whole, share)) for one in found]
        yield median_figure(
            NAME, f"{PIXEL}, {name}", values, "ms", target,
            note="From a span's end in the guest to the end of the frame that shows it, beyond the "
            "least transport to the host that was seen.",
        )  # fmt: skip


STAGE = Stage(NAME, "from a guest's tracepoint to a decoded column", run, 30)
