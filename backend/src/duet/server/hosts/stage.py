# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs on host processes (implements server.interfaces.Stage).

The server's own process boots no guests. When a host process dies, its guests die with it, and its
runs fail with an error message.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from duet import messages as m
from duet.base.errors import DuetError, InfraError, InputError
from duet.guests.clones import TemplateCounts
from duet.host import protocol as r
from duet.kernels import KernelSettings
from duet.messages.codec import Packet, pack
from duet.rpc import limits
from duet.rpc.peer import Events, Handler, Tasks
from duet.runs.pack import Part, join_bundles
from duet.runs.sources import JudgeRequest, MeasureRequest
from duet.server.hosts.processes import Hosts, Place, divide_lanes
from duet.server.meters import LaneStarts
from duet.session import RunSpec
from duet.stream.hub import OVER, Hub, RunLog

# A share consists of the lanes of a run that are on one host process.

Take = Callable[["Share", m.SessionMessage, Packet], None]


class Share:
    """The lanes of a run that are on one host process.

    Args:
        first: the run's first message, which names all lanes.
        arms: the arms of these lanes.
    """

    def __init__(self, place: Place, first: m.Run, arms: Sequence[str]) -> None:
        self.arms = tuple(arms)
        self._place, self._first = place, first
        self._patience: asyncio.Timeout | None = None
        """Timeout of `perform` while `perform` runs, otherwise None."""

    async def perform(self, what: r.SentRun, take: Take, together: bool) -> None:
        """Run the lanes until they have ended.

        Args:
            take: receives each message of these lanes, together with the packet that encodes the
                message for browsers.
            together: whether the lanes wait for `go`, so that they begin at the same time as lanes
                on other hosts.

        Raises:
            DuetError: none of the lanes can begin, or the host process is gone.
        """
        asked = r.Perform(
            slot=self._place.slot,
            what=what,
            lanes=list(self.arms) if together else [],
        )

        def taken(travelled: bytes) -> None:
            message, packet = r.read_packet(travelled, self._first, self.arms)
            take(self, message, packet)

        try:
            async with asyncio.timeout(None) as self._patience:
                await self._place.peer.call("perform", asked.packed(), None, taken)
        except TimeoutError as error:
            raise InfraError(
                f"{', '.join(self.arms)} was still not ready {limits.TOGETHER_S:g} s after the "
                "other lanes.",
                remedy="Start the run again.",
            ) from error
        finally:
            self._patience = None

    def give_up(self) -> None:
        """Make `perform` fail, because the other lanes have waited for too long."""
        if self._patience is not None:
            self._patience.reschedule(asyncio.get_running_loop().time())

    def go(self) -> None:
        """Start the workloads, because all lanes of the run are ready."""
        self._place.peer.note("go", r.OfRun(run_id=self._first.run_id).packed())

    def close(self) -> None:
        """Tell the host process to release the run."""
        self._place.peer.note("close", r.OfRun(run_id=self._first.run_id).packed())

    async def call(
        self,
        name: str,
        asked: r.OfRun,
        timeout_s: float = limits.CALL_S,
        event: Events | None = None,
    ) -> bytes:
        """Send a request for this run to its host process. Raises the same errors as
        Peer.call()."""
        return await self._place.peer.call(name, asked.packed(), timeout_s, event)

    async def raw_events(self, where: r.OfRun) -> list[dict[str, JsonValue]]:
        """Return raw records near a moment."""
        found = await self.call("raw", where, limits.RAW_S)
        try:
            tree = json.loads(found)
        except ValueError as error:
            raise _unreadable("raw records") from error
        if not isinstance(tree, list) or not all(isinstance(one, dict) for one in tree):
            raise _unreadable("raw records")
        return tree

    async def bundle(self) -> bytes | None:
        """Return these lanes as a bundle; None if the host process has no data of these lanes."""
        content = bytearray()

        def piece(of: bytes) -> None:
            if len(content) <= limits.BUNDLE_BYTES:
                content.extend(of)

        whose = r.OfRun(run_id=self._first.run_id)
        length = await self.call("bundle", whose, limits.BUNDLE_S, piece)
        if not length:
            return None
        if str(len(content)).encode() != length:
            raise _unreadable("a file")
        return bytes(content)


def _unreadable(what: str) -> InfraError:
    return InfraError(
        f"the host process sent {what} that cannot be read.", remedy="Start the run again."
    )


# Computes the state of a run whose lanes are on several hosts, and finds the lanes that are not
# ready. Pure.
#
# For lanes in one process, session/run.py computes the state.

_GOING: Final = ("preparing", "booting", "ready", "running", "draining")
"""Phases in the order in which a run passes through them."""
_NOT_READY: Final = frozenset({"waiting", "building", "booting"})


class Merged:
    """The state of a run, merged from the states that its parts report.

    Args:
        first: the `run` message from before the run began.
        parts: number of parts.
    """

    def __init__(self, first: m.Run, parts: int) -> None:
        self._parts = [first] * parts
        self._last: m.Run | None = None

    def report(self, part: int, state: m.Run) -> m.Run | None:
        """Store a part's newest state. Return the run's state if it changed, else None."""
        self._parts[part] = state
        last, self._last = self._last, self._state()
        return None if self._last == last else self._last

    def fail(self, part: int, error: DuetError) -> m.Run | None:
        """Mark a part as failed unless it has ended. Return the run's state if it changed, else
        None."""
        state = self._parts[part]
        if state.phase in OVER:
            return None
        how = {"phase": "failed", "message": error.sentence}
        return self.report(part, state.model_copy(update=how))

    def _state(self) -> m.Run:
        """Return the run's state. Its phase is the phase of the slowest part that has not ended."""
        phases = [part.phase for part in self._parts]
        started = [part.started_at for part in self._parts if part.started_at]
        same = {"started_at": min(started, default=None)}
        for phase in _GOING:
            if phase in phases:
                return self._of(phase).model_copy(update=same)
        for phase in ("stopped", "done"):
            if phase in phases:
                return self._of(phase).model_copy(update={**same, "message": ""})
        return self._of("failed").model_copy(update=same)

    def _of(self, phase: str) -> m.Run:
        return next(part for part in self._parts if part.phase == phase)


def not_ready(arms: Iterable[str], lanes: Mapping[str, m.Lane]) -> set[str]:
    """Return the arms whose lanes are still preparing to start.

    All other lanes wait for these lanes, so that all start together.
    """
    return {arm for arm in arms if arm not in lanes or lanes[arm].phase in _NOT_READY}


# A run consists of shares. A request about one lane goes to the share that contains the lane.


class Shares:
    """The shares of a run; empty until the run has a host process.

    Args:
        first: the run's first message.
        arms: the run's arms, whose lanes are divided among `places`.
    """

    def __init__(self, places: Sequence[Place], first: m.Run, arms: Sequence[str]) -> None:
        parts = divide_lanes(arms, len(places))
        self._all = tuple(
            Share(place, first, own) for place, own in zip(places, parts, strict=True)
        )
        self._waiting = set(arms)
        """Lanes of the shares that have not ended. Cleared once all lanes begin."""
        self._late: set[str] = set()
        """Lanes of `_waiting` that are not ready."""
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Share]:
        return iter(self._all)

    def index(self, share: Share) -> int:
        return self._all.index(share)

    def go_if_ready(self, lanes: Mapping[str, m.Lane]) -> None:
        """Start all lanes if all of them are ready. If only some are ready, start the timeout."""
        if len(self._all) < 2 or not self._waiting:
            return
        self._late = not_ready(self._waiting, lanes)
        if not self._late:
            self._begin()
        elif self._late < self._waiting and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(limits.TOGETHER_S, self._give_up)

    def ended(self, share: Share, lanes: Mapping[str, m.Lane]) -> None:
        """Stop waiting for the lanes of a share that has ended."""
        self._waiting.difference_update(share.arms)
        self.go_if_ready(lanes)

    def _begin(self) -> None:
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
        for share in self._all:
            share.go()

    def _give_up(self) -> None:
        for share in self._all:
            if self._late & set(share.arms):
                share.give_up()

    def close(self) -> None:
        """Tell the host processes to release the run."""
        for share in self._all:
            share.close()

    async def call_all(self, name: str, asked: r.OfRun) -> None:
        """Send a request to all shares.

        Raises:
            DuetError: the request failed on every share, or the run has no share yet.
        """
        if not self._all:
            raise InputError("the run has not started yet.", remedy="Wait until the lanes run.")
        answers = [share.call(name, asked) for share in self._all]
        found = await asyncio.gather(*answers, return_exceptions=True)
        failed = [error for error in found if isinstance(error, BaseException)]
        if len(failed) == len(found):
            raise failed[0]

    async def raw_events(self, where: r.OfRun) -> list[dict[str, JsonValue]]:
        """Return raw records near a moment of a lane. The run has at least one share."""
        having = [share for share in self._all if where.arm in share.arms] or self._all
        return await having[0].raw_events(where)

    async def bundles(self) -> list[Part]:
        """Return one bundle for each share that has data.

        Raises:
            DuetError: every host process is gone or has sent no bundle.
        """
        found: list[Part] = []
        errors: list[DuetError] = []
        for share in self._all:
            try:
                content = await share.bundle()
            except DuetError as error:
                errors.append(error)
                continue
            if content is not None:
                found.append(Part(share.arms, content))
        if errors and not found:
            raise errors[0]
        return found


# One live run on host processes (implements server.interfaces.QueuedRun).
#
# All lanes of a run are on one host, or each lane is on a host of its own. Lanes on separate hosts
# begin together, as soon as all of them are ready.

Answer = TypeVar("Answer")


class HostedRun:
    """A live run (implements server.interfaces.QueuedRun)."""

    def __init__(self, hosts: Hosts, spec: RunSpec, hub: Hub) -> None:
        self.log = RunLog(spec.run_id, spec.folder.slug)
        self._hosts = hosts
        self._request = spec
        self._hub = hub
        self._first = first = r.first_message(spec)
        self._shares = Shares((), first, ())
        self._merged = Merged(first, 0)
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._starts = LaneStarts()
        self._publish(first.model_copy(update={"message": "This run is waiting for its turn."}))
        self._publish_all(lanes_not_built(spec.run_id, spec.missing))

    def _publish(self, message: m.ServerMessage) -> None:
        self._send(pack(message))

    def _publish_all(self, messages: Iterable[m.ServerMessage]) -> None:
        for message in messages:
            self._publish(message)

    def _send(self, packet: Packet) -> None:
        self._hub.publish(self.log, packet)

    async def perform(self, slot: int = 0) -> None:
        """Run until all lanes have ended. A failed lane causes a message, not an exception.

        Raises:
            DuetError: no lane can begin, or all host processes are gone.
        """
        self._starts.begin()
        arms = self._request.arms
        try:
            what = await asyncio.to_thread(r.sent_run, self._request)
            places = await self._hosts.ready(slot, lanes=len(arms), begins=True)
            self._shares = Shares(places, self._first, arms)
            self._merged = Merged(self._first, len(self._shares))
            if self._stopped.is_set():
                self.withdraw()
                return
            async with asyncio.TaskGroup() as group:
                ends = [group.create_task(self._perform(share, what)) for share in self._shares]
            errors = [error for end in ends if (error := end.result()) is not None]
            if len(errors) == len(ends):
                raise errors[0]
        except DuetError as error:
            self._fail(error)
            raise
        except asyncio.CancelledError:
            self._fail(InfraError("the run was cancelled.", remedy="Start it again."))
            raise

    async def _perform(self, share: Share, what: r.SentRun) -> DuetError | None:
        """Run one share. Return its error instead of raising it, so that the other shares
        continue."""
        why = None
        try:
            await share.perform(what, self._take, together=len(self._shares) > 1)
        except DuetError as error:
            why = error
            self._publish_all(lanes_failed(self.log, share.arms, error))
            self._publish_run(self._merged.fail(self._shares.index(share), error))
        self._shares.ended(share, self.log.lanes())
        return why

    def _take(self, share: Share, message: m.SessionMessage, packet: Packet) -> None:
        if isinstance(message, m.Run):
            self._publish_run(self._merged.report(self._shares.index(share), message))
            return
        self._send(packet)
        if isinstance(message, m.Batch):
            self._starts.on_batch(message.arm)
        elif isinstance(message, m.Lane):
            self._starts.on_lane(message)
            self._shares.go_if_ready(self.log.lanes())

    def _publish_run(self, merged: m.Run | None) -> None:
        if merged is not None:
            self._publish(merged)

    def _fail(self, error: DuetError) -> None:
        """Publish that the run and its lanes have failed, because no host process can report it."""
        last = self.log.run()
        if last is None or self.log.over:
            return
        self._publish_all(lanes_failed(self.log, self._request.arms, error))
        self._publish(last.model_copy(update={"phase": "failed", "message": error.sentence}))

    async def stop(self) -> None:
        """End the workload, so that perform() returns."""
        self._stopped.set()
        if self._shares:
            await self._shares.call_all("stop", r.OfRun(run_id=self.log.run_id))

    def withdraw(self) -> None:
        self._publish(self._first.model_copy(update={"phase": "stopped"}))

    def close(self) -> None:
        """Tell the host processes to release the run."""
        self._shares.close()

    async def act(self, name: str, value: int) -> None:
        """Perform one of the lesson's acts on every lane. Raises the same errors as
        QueuedRun.act()."""
        run_id = self.log.run_id
        await self._shares.call_all("act", r.OfRun(run_id=run_id, name=name, value=value))

    async def hold(self, on: bool, after: int) -> None:
        """Hold or resume the guests. Raises the same errors as QueuedRun.hold()."""
        run_id = self.log.run_id
        await self._shares.call_all("hold", r.OfRun(run_id=run_id, on=on, value=after))

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Return raw records near a moment. Blocking, so do not call it on the event loop."""
        if not self._shares:
            return []
        where = r.OfRun(
            run_id=self.log.run_id, arm=arm, around_ns=around_ns, row=row, most=n, cpu=cpu
        )
        return self._wait(self._shares.raw_events(where))

    def bundle(self) -> bytes | None:
        """Return the complete run as a bundle; None if no lane has data. Blocking, so it must not
        be called on the event loop.

        Raises:
            DuetError: every host process is gone or has sent no bundle.
        """
        parts = self._wait(self._shares.bundles()) if self._shares else []
        if len(self._shares) < 2 or not parts:
            return parts[0].content if parts else None
        lanes = self.log.lanes().values()
        left_out = {lane.arm: lane.message for lane in lanes if lane.phase == "failed"}
        return join_bundles(parts, self._request.arms, left_out)

    def _wait(self, asking: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(asking, self._loop).result()


def lanes_not_built(run_id: str, arms: Iterable[str]) -> list[m.Lane]:
    """Make messages for lanes that cannot run because their kernels are not built."""
    why = "Its kernel is not built yet. Run again when it is."
    return [m.Lane(run_id=run_id, arm=arm, phase="building", message=why) for arm in arms]


def lanes_failed(log: RunLog, arms: Iterable[str], error: DuetError) -> list[m.Lane]:
    """Make messages that report these lanes as failed. Lanes that have ended get no message."""
    lanes = log.lanes()
    waiting = [m.Lane(run_id=log.run_id, arm=arm, phase="waiting") for arm in arms]
    found = [lanes.get(lane.arm, lane) for lane in waiting]
    how = {"phase": "failed", "message": error.sentence, "remedy": error.remedy}
    return [lane.model_copy(update=how) for lane in found if lane.phase not in OVER]


Others = Callable[[], Sequence[RunSpec]]
T = TypeVar("T", bound=BaseModel)


class HostStage:
    """The stage of live runs. Use with `async with`.

    Args:
        make: makes the hosts, given handlers for the requests that host processes may send. None if
            this server boots no guests.
    """

    def __init__(self, make: Callable[[dict[str, Handler]], Hosts] | None) -> None:
        self._hosts = None if make is None else make({"others": self._answer_others})
        self._tasks = Tasks()
        self._others: Others = list
        """Function that the newest call of `expect` passed. It returns further runs that may be
        requested."""
        self._expected: tuple[RunSpec, Others] | None = None
        self._expecting = False

    async def __aenter__(self) -> HostStage:
        if self._hosts is not None:
            await self._hosts.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._tasks.end()
        if self._hosts is not None:
            await self._hosts.__aexit__(None, None, None)

    @property
    def hosts(self) -> Hosts:
        """The hosts of this stage.

        Raises:
            InfraError: this server boots no guests.
        """
        if self._hosts is None:
            raise InfraError(
                "this server shows recordings only.", remedy="Start the server without --no-guests."
            )
        return self._hosts

    @property
    def saves_first(self) -> bool:
        return self._hosts is not None and self._hosts.saves_first

    def prepare(self, spec: RunSpec, hub: Hub) -> HostedRun:
        """Make a run that publishes into the hub."""
        return HostedRun(self.hosts, spec, hub)

    def expect(self, spec: RunSpec, others: Others) -> None:
        """Park guests for a likely run, and then for `others`, while nothing runs."""
        if self._hosts is None:
            return
        self._expected = (spec, others)
        if not self._expecting:
            self._expecting = True
            self._tasks.spawn(self._expect_all(), "expect runs")

    async def _expect_all(self) -> None:
        """Park guests for one expected run after another. A newer run replaces the queued run."""
        try:
            while self._expected is not None:
                (request, self._others), self._expected = self._expected, None
                # the error will be reported when the run is requested
                with contextlib.suppress(DuetError):
                    await self._expect_one(request)
        finally:
            self._expecting = False

    async def _expect_one(self, spec: RunSpec) -> None:
        places = await self.hosts.ready(0, lanes=len(spec.arms))
        for place, arms in zip(places, divide_lanes(spec.arms, len(places)), strict=True):
            what = await asyncio.to_thread(r.sent_run, spec.only(arms))
            place.peer.note("expect", r.Expect(what=what).packed())

    async def _answer_others(self, body: bytes, event: Events) -> bytes:
        def found() -> r.Others:
            return r.Others(runs=[r.sent_run(one) for one in self._others()])

        return (await asyncio.to_thread(found)).packed()

    def parked(self) -> TemplateCounts:
        """Return how many guests are parked."""
        return TemplateCounts() if self._hosts is None else self._hosts.parked()

    async def measure(self, request: MeasureRequest, publish: Callable[[m.Measured], None]) -> None:
        """Measure lanes one after another while no other guest is alive."""
        what = await asyncio.to_thread(r.sent_run, request.run)
        asked = r.MeasureIt(what=what, repeats=request.repeats)
        async with self.hosts.alone() as peer:
            await peer.call("measure", asked.packed(), None, _event_handler(m.Measured, publish))

    async def judge(self, request: JudgeRequest, publish: Callable[[m.Judged], None]) -> None:
        """Judge a challenge by a measurement and a stress test while no other guest is alive."""
        what = await asyncio.to_thread(r.sent_run, request.run)
        asked = r.JudgeIt(what=what, challenge=request.challenge, arm=request.arm)
        async with self.hosts.alone() as peer:
            await peer.call("judge", asked.packed(), None, _event_handler(m.Judged, publish))

    async def rest(self) -> None:
        """Close all lanes. The next run boots its lanes again."""
        if self._hosts is not None:
            await self._hosts.rest()


def begin_of(settings: KernelSettings, slots: int) -> r.Begin:
    """Make the settings with which a host process starts."""
    return r.Begin(
        slots=slots,
        source=None if settings.source is None else str(settings.source),
        base_name=settings.base_name,
    )


def _event_handler(kind: type[T], publish: Callable[[T], None]) -> Callable[[bytes], None]:
    """Return a handler that decodes events of one kind and publishes them."""

    def take(body: bytes) -> None:
        try:
            message = kind.model_validate_json(body)
        except ValidationError as error:
            raise InfraError(
                "the host process sent a message that cannot be read.",
                remedy="Start the run again. If this happens again, read the server's log.",
            ) from error
        publish(message)

    return take
