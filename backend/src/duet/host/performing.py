# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of a host process: what a server asks of them, from their start to their file."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from pydantic import JsonValue

from duet import messages as m
from duet.base.budgets import SLOT_GUESTS
from duet.base.errors import InputError
from duet.base.logs import about
from duet.guests.clones import TemplateCounts
from duet.host import requests as packets
from duet.host import requests as r
from duet.host.fetching import Bring, nothing
from duet.host.guests import Others, Parking, live_spec, template_bytes
from duet.host.judging import Judging, measure_plan, measured_message
from duet.kernels import KernelSettings
from duet.lenses import LensState, Sample
from duet.lessons.load import USUAL_CPUS, cpus
from duet.lessons.plan import act_line
from duet.measure import Measuring, Progress
from duet.messages.codec import SAMPLES, Packet, batch, pack, pack_line
from duet.rpc import limits
from duet.rpc.peer import Events, Handler
from duet.runs.pack import bundle_bytes
from duet.runs.sources import JudgeRequest, MeasureRequest, RunRequest, kernel_sources, only
from duet.session import (
    Batch,
    Contention,
    HoldState,
    Lanes,
    LaneSource,
    LaneState,
    Line,
    Loss,
    Metrics,
    Row,
    RunResult,
    RunSession,
    RunState,
    SessionSink,
    contention_bound,
)

# What a session tells of a run becomes messages; the one place where both words are known.

Send = Callable[[Packet], None]
SAMPLE_FIELDS = (
    *("probe", "clock", "torn", "failed", "n"),
    *("columns", "dtypes", "facts", "texts"),
)


class Feed(SessionSink):
    """Publishes what a session reports as messages.

    Args:
        run: the run message as it stands before the run; phase and message are updated.
        send: where packets go: to hub and log, or (a recording) to a log alone.
        contention: lane -> what a recording says of it; a live run reports it while it goes on.
        cpus: of the host on which the guests ran.
        vcpus: of each guest.
    """

    def __init__(
        self,
        run: m.Run,
        send: Send,
        contention: Mapping[str, Contention] | None = None,
        cpus: int | None = None,
        vcpus: int = USUAL_CPUS,
    ) -> None:
        self.run = run
        self._send = send
        self._lanes: dict[str, LaneState] = {}
        self._contention = dict(contention or {})
        self._bound = contention_bound(max(1, vcpus), cpus or len(os.sched_getaffinity(0)))
        self._seq: Counter[tuple[str, str]] = Counter()
        # Host times of chunks are monotonic; pages know only Unix time.
        self._to_unix_ns = time.time_ns() - time.monotonic_ns()

    def announce(self, **changes: object) -> None:
        """Publish the run's state, changed."""
        self.run = self.run.model_copy(update=changes)
        self._send(pack(self.run))

    def on_run(self, state: RunState) -> None:
        """The run's phase."""
        self.announce(phase=str(state.phase), message=state.message)

    def on_lane(self, state: LaneState) -> None:
        """A lane's phase."""
        self._lanes[state.arm] = state
        self._send_lane(state)

    def on_contention(self, arm: str, contention: Contention) -> None:
        """How long a lane's guest waited for the host."""
        self._contention[arm] = contention
        if arm in self._lanes:
            self._send_lane(self._lanes[arm])

    def _send_lane(self, state: LaneState) -> None:
        found = self._contention.get(state.arm)
        waited = None if found is None else {**asdict(found), "bound": self._bound}
        self._send(
            pack(
                m.Lane.model_validate(
                    {
                        "run_id": self.run.run_id,
                        "arm": state.arm,
                        "phase": str(state.phase),
                        "message": state.message,
                        "remedy": state.remedy,
                        "detail": state.detail,
                        "accel": None if state.accel is None else str(state.accel),
                        "pid": state.pid,
                        "kernel": state.kernel,
                        "boot_s": state.boot_s,
                        "cloned": state.cloned,
                        "contention": waited,
                    }
                )
            )
        )

    def on_rows(self, arm: str, rows: tuple[Row, ...]) -> None:
        """All rows of a lane."""
        body = [
            m.Row.model_validate({"row": r.row, "tid": r.tid, "name": r.name, "role": str(r.role)})
            for r in rows
        ]
        self._send(pack(m.Rows(run_id=self.run.run_id, arm=arm, rows=body)))

    def on_batch(self, arm: str, new: Batch) -> None:
        """New rows of one table, numbered per table and lane."""
        seq = self._seq[arm, new.table]
        self._seq[arm, new.table] += 1
        newest: float | None = None
        if self.run.source == "live" and new.newest_host_ns:
            newest = (new.newest_host_ns + self._to_unix_ns) / 1e6
        run_id = self.run.run_id
        self._send(pack(batch(run_id, arm, new.table, seq, new.watermark_ns, new.columns, newest)))

    def on_metrics(self, arm: str, metrics: Metrics) -> None:
        """Counts so far."""
        tree: Mapping[str, object] = metrics.as_dict()
        self._send(pack(m.Metrics.model_validate({"run_id": self.run.run_id, "arm": arm, **tree})))

    def on_loss(self, arm: str, loss: Loss) -> None:
        """Events lost before the stream."""
        tree = {"t0_ns": loss.t0_ns, "t1_ns": loss.t1_ns, "events": loss.events}
        where = {"run_id": self.run.run_id, "arm": arm, "where": str(loss.where)}
        self._send(pack(m.Loss.model_validate({**where, **tree})))

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """A sample of the x-ray, numbered per probe and lane."""
        table = SAMPLES + sample.probe
        seq = self._seq[arm, table]
        self._seq[arm, table] += 1
        body = {
            "run_id": self.run.run_id,
            "arm": arm,
            "seq": seq,
            "t_ns": t_ns,
            "error_ns": float(sample.error_ns),
            "took_ns": float(sample.took_ns),
            **{name: getattr(sample, name) for name in SAMPLE_FIELDS},
        }
        self._send(pack(m.Sample.model_validate(body)))

    def on_lens(self, arm: str, state: LensState) -> None:
        """How the x-ray is."""
        tree = {"run_id": self.run.run_id, "arm": arm, **asdict(state)}
        self._send(pack(m.Lens.model_validate(tree)))

    def on_hold(self, state: HoldState) -> None:
        """How a lane is held."""
        tree = {"run_id": self.run.run_id, **asdict(state)}
        self._send(pack(m.Held.model_validate(tree)))

    def on_line(self, arm: str, line: Line) -> None:
        """One line of the workload."""
        seq = self._seq[arm, "lines"]
        self._seq[arm, "lines"] += 1
        body = m.Line.model_validate(
            {
                "run_id": self.run.run_id,
                "arm": arm,
                "stream": line.stream,
                "text": line.text,
                "t_ns": line.t_ns,
            }
        )
        self._send(pack_line(body, seq))


# One run on real guests, from the request to its file.


def first_message(request: RunRequest, run_id: str) -> m.Run:
    """What is said of a run before it has begun."""
    return m.Run(
        run_id=run_id,
        lesson=request.folder.slug,
        source="live",
        clock=request.clock,
        shift=request.shift,
        params=request.params,
        workload=request.workload,
        arms=[*request.arms, *request.missing],
        phase="preparing",
    )


def now() -> str:
    """This moment, ISO 8601 UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Performance:
    """One live run.

    Args:
        pool: the guests of its slot.
        parking: where its lanes come from.
        first: its message before it began.
        send: where packets go.
        together: the lanes begin when `go` was called, with those of other hosts.
    """

    def __init__(
        self,
        pool: Lanes,
        parking: Parking,
        settings: KernelSettings,
        request: RunRequest,
        first: m.Run,
        send: Callable[[Packet], None],
        together: bool = False,
    ) -> None:
        self._pool, self._parking, self._settings = pool, parking, settings
        self._request = request
        self._run_id = first.run_id
        self._session: RunSession | None = None
        self._result: RunResult | None = None
        self._stopping = asyncio.Event()
        self._waits = together
        self._feed = Feed(first, send, vcpus=cpus(request.folder.lesson, request.params))

    async def perform(self) -> None:
        """Copy or boot what is not up, run, drain; failures of single lanes are messages.

        Raises:
            DuetError: no lane can begin.
        """
        self._feed.announce(started_at=now(), message="")
        async with self._parking.aside():
            await self._perform()

    async def _perform(self) -> None:
        request = self._request
        spec = live_spec(request, self._run_id)
        try:
            sources = await self._unless_stopped(self._parking.fetched(request))
        except Exception:
            self._feed.announce(phase="failed")
            raise
        if sources is None:
            self._feed.announce(phase="stopped")
            return
        await make_room(self._pool, request.arms)
        self._session = RunSession(self._pool, spec, sources, self._feed, self._waits)
        if self._stopping.is_set():
            self._feed.announce(phase="stopped")
            return
        self._result = await self._session.execute()

    async def _unless_stopped(
        self, getting: Coroutine[Any, Any, dict[str, LaneSource]]
    ) -> dict[str, LaneSource] | None:
        """The lanes, for which kernels may have to be fetched; None: the run was stopped."""
        tasks = asyncio.create_task(getting), asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return await tasks[0] if tasks[0].done() else None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def go(self) -> None:
        """Lanes of this run on other hosts are ready as well."""
        self._waits = False
        if self._session is not None:
            self._session.go()

    async def stop(self) -> None:
        """End the workload; perform() then returns."""
        self._stopping.set()
        if self._session is not None:
            await self._session.stop()

    def close(self) -> None:
        """Give up transcripts, packets and children now.

        They refer to each other, and the collector of cycles counts objects, not bytes: without
        this some hundred MB could wait for it.
        """
        if self._session is not None:
            self._session.close()
        self._session = self._result = None
        del self._feed

    async def act(self, name: str, value: int) -> None:
        """Do one of the lesson's acts on every lane.

        Raises:
            InputError: not one of this run's workload, a value out of range, or nothing runs.
        """
        line = act_line(
            self._request.folder.lesson, self._request.workload, name, value, self._request.params
        )
        if self._session is None:
            raise InputError("nothing runs yet.", remedy="Wait until the lanes run.")
        await self._session.say(line)

    async def hold(self, on: bool, after: int) -> None:
        """Hold the guests, or let them go.

        Raises:
            InputError: none can be held now.
        """
        if self._session is None:
            raise InputError("nothing runs yet.", remedy="Wait until the lanes run.")
        if on:
            self._session.hold(after, self._feed.on_hold)
        else:
            self._session.let_go()

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Raw records near a moment. Blocking."""
        if self._session is None:
            return []
        return self._session.raw_events(arm, around_ns, row, n, cpu)

    def bundle(self) -> bytes | None:
        """The whole run as a bundle; blocking."""
        result = self._result
        return None if result is None else bundle_bytes(self._request, result, self._settings)


async def make_room(pool: Lanes, arms: Sequence[str]) -> None:
    """End guests of other runs that are up still, until those of a run fit its slot."""
    for arm in pool.up:
        if arm not in arms and len({*pool.up, *arms}) > SLOT_GUESTS:
            await pool.close(arm)


# All guests of a host process, in slots that share none.


class GuestStage:
    """Owns guests. Use as `async with`.

    Args:
        slots: runs at once; each has guests of its own.
        bring: has kernels come that are not here.
    """

    def __init__(self, settings: KernelSettings, slots: int = 1, bring: Bring = nothing) -> None:
        self._settings, self._bring = settings, bring
        self._pools = tuple(Lanes() for _ in range(slots))
        self._parking = Parking(settings, template_bytes(), bring)
        self._owned = AsyncExitStack()

    async def __aenter__(self) -> GuestStage:
        await self._owned.enter_async_context(self._parking)
        for pool in self._pools:
            await self._owned.enter_async_context(pool)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self.rest()
        finally:
            await self._owned.__aexit__(kind, error, trace)

    def prepare(
        self,
        request: RunRequest,
        run_id: str,
        slot: int,
        send: Callable[[Packet], None],
        lanes: Sequence[str] = (),
    ) -> Performance:
        """A run on the guests of a slot, that no other run uses now.

        Args:
            lanes: those of the run that are here, and begin with the others; (): all are here.

        Raises:
            InputError: the run has no such lane.
        """
        first = first_message(request, run_id)
        pool = self._pools[slot]
        here = only(request, lanes) if lanes else request
        return Performance(
            pool, self._parking, self._settings, here, first, send, together=bool(lanes)
        )

    def expect(self, request: RunRequest, others: Others) -> None:
        """Park guests for a run that may be asked for, then for others, while nothing runs."""
        self._parking.expect(request, others)

    def parked(self) -> TemplateCounts:
        """How parked guests stand."""
        return self._parking.counts()

    async def measure(
        self, request: MeasureRequest, run_id: str, publish: Callable[[m.Measured], None]
    ) -> None:
        """Measure lanes one after another, with no other guest alive."""
        async with self._parking.aside():
            await self._measure(request, run_id, publish)

    async def _measure(
        self, request: MeasureRequest, run_id: str, publish: Callable[[m.Measured], None]
    ) -> None:
        await self.rest()
        what = request.run
        await self._bring(what.folder, what.arms, self._settings)
        sources = await kernel_sources(what.folder, what.arms, self._settings)

        def progress(step: Progress) -> None:
            publish(measured_message(what, step, run_id))

        measuring = Measuring(measure_plan(what, request.repeats), sources, progress=progress)
        publish(measured_message(what, await measuring.run(), run_id))

    async def judge(self, request: JudgeRequest, publish: Callable[[m.Judged], None]) -> None:
        """Measure what a challenge wants, and stress, with no other guest alive."""
        folder = request.run.folder
        async with self._parking.aside():
            await self.rest()
            arms = dict.fromkeys((*folder.usual_arms, request.arm))
            await self._bring(folder, arms, self._settings)
            await Judging(folder, request.challenge, request.arm, self._settings, publish).run()

    async def rest(self) -> None:
        """Close all lanes of all slots, at once."""
        async with asyncio.TaskGroup() as group:
            for pool in self._pools:
                group.create_task(pool.close_all())


class Performing:
    """All runs that go on, or are over and not given up yet.

    Args:
        stage: gives the guests.
    """

    def __init__(self, requests: r.Requests, stage: Callable[[], GuestStage]) -> None:
        self._requests, self._stage = requests, stage
        self.room = asyncio.Event()
        """Set while the server has nearly all that was sent to it."""
        self._runs: dict[str, Performance] = {}
        self._beginning: set[str] = set()
        self._ended_early: set[str] = set()
        """Runs that are read still, and those of them that are to end as soon as they begin."""

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What a server may call."""
        return {
            "perform": self._perform,
            "stop": self._stop,
            "act": self._act,
            "hold": self._hold,
            "raw": self._raw,
            "bundle": self._bundle,
        }

    def close_all(self) -> None:
        """Give up all runs."""
        for run in self._runs.values():
            run.close()
        self._runs.clear()

    async def _perform(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.Perform, body)
        self._ended_early.discard(asked.run_id)
        self._beginning.add(asked.run_id)
        try:
            request = await asyncio.to_thread(self._requests.run, asked.run)
            run = self._stage().prepare(
                request,
                asked.run_id,
                asked.slot,
                lambda packet: event(packets.packed(packet)),
                tuple(asked.lanes),
            )
        finally:
            self._beginning.discard(asked.run_id)
        self._runs[asked.run_id] = run
        if asked.run_id in self._ended_early:
            await run.stop()
        with about(run=asked.run_id, lesson=request.folder.slug):
            await run.perform()
        return b""

    async def _stop(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.OfRun, body)
        if asked.run_id in self._beginning:
            self._ended_early.add(asked.run_id)
        else:
            await self._of(asked).stop()
        return b""

    async def _act(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.OfRun, body)
        await self._of(asked).act(asked.name, asked.value)
        return b""

    async def _hold(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.OfRun, body)
        await self._of(asked).hold(asked.on, asked.value)
        return b""

    async def _raw(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.OfRun, body)
        where = (asked.arm, asked.around_ns, asked.row, asked.most, asked.cpu)
        return json.dumps(await asyncio.to_thread(self._of(asked).raw_events, *where)).encode()

    async def _bundle(self, body: bytes, event: Events) -> bytes:
        """The file in pieces; the answer is its length, or nothing where there is none."""
        content = await asyncio.to_thread(self._of(r.read(r.OfRun, body)).bundle)
        if content is None:
            return b""
        for at in range(0, len(content), limits.PIECE_BYTES):
            event(content[at : at + limits.PIECE_BYTES])
            await self.room.wait()
        return str(len(content)).encode()

    def go(self, body: bytes) -> None:
        """All lanes of a run are ready, those on other hosts included."""
        run = self._runs.get(r.read(r.OfRun, body).run_id)
        if run is not None:
            run.go()

    def close(self, body: bytes) -> None:
        """Give up a run."""
        run = self._runs.pop(r.read(r.OfRun, body).run_id, None)
        if run is not None:
            run.close()

    def _of(self, asked: r.OfRun) -> Performance:
        run = self._runs.get(asked.run_id)
        if run is None:
            raise InputError("that run is not here any more.", remedy="Start it again.")
        return run
