# SPDX-License-Identifier: GPL-2.0-or-later
"""One run on two host processes, a lane on each: they begin together, and end each by itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgpack
import pytest

from duet import messages as m
from duet.base.errors import DuetError, InfraError
from duet.bundle import open_bundle, write_bundle
from duet.host import protocol as packets
from duet.host import protocol as r
from duet.host.feed import Feed
from duet.host.protocol import first_message
from duet.lessons.load import load
from duet.messages.codec import Packet
from duet.rpc import limits
from duet.rpc.peer import Events, Peer
from duet.runs.pack import Part, join_bundles
from duet.server.hosts.processes import Place
from duet.server.hosts.stage import HostedRun, Merged, not_ready
from duet.session import LaneGuests, Limits, RunSession, RunSpec
from duet.stream.hub import Hub, RunLog
from tests.backend.host.test_hosted_run import RUN, wanted_run
from tests.support.fakes import Fleet
from tests.support.peers import connected, ends

ARMS = ("srcu", "srcu-expedited")
SPLIT = ("srcu", "rwsem")
RECORDED = Path("lessons/02-grace-periods/recorded/3-hogs.duet")


class Host:
    """What a host process does, on guests that follow a script."""

    def __init__(self, spec: RunSpec, fleet: Fleet, bundle: bytes) -> None:
        self.request, self.fleet, self.content = spec, fleet, bundle
        self.session: RunSession | None = None
        self.asked: list[str] = []
        handlers = {"perform": self.perform, "stop": self.stop, "bundle": self.bundle}
        self.there = Peer(handlers, {"go": self.go, "close": lambda body: None}, "the server")
        self.here = Peer({})

    async def perform(self, body: bytes, event: Events) -> bytes:
        asked = r.read(r.Perform, body)
        self.asked = asked.lanes

        def send(packet: Packet) -> None:
            event(packets.packed(packet))

        feed = Feed(asked.what.run, send)
        spec = self.request.only(asked.lanes)
        async with LaneGuests(Limits(tick_s=0.005)) as lanes:
            sources = self.fleet.sources(*asked.lanes)
            self.session = RunSession(lanes, spec, sources, feed, waits=bool(asked.lanes))
            await self.session.execute()
        return b""

    def go(self, body: bytes) -> None:
        assert self.session is not None
        self.session.go()

    async def stop(self, body: bytes, event: Events) -> bytes:
        assert self.session is not None
        await self.session.stop()
        return b""

    async def bundle(self, body: bytes, event: Events) -> bytes:
        event(self.content)
        return str(len(self.content)).encode()


class Watched(Hub):
    """Notes what is sent of lanes, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []
        self.phases: list[str] = []

    def publish(self, log: RunLog, packet: Packet) -> None:
        super().publish(log, packet)
        if packet.type == "lane":
            lane = msgpack.unpackb(packet.body)
            self.order.append(f"{lane['arm']} {lane['phase']}")
        elif packet.type == "run":
            self.phases.append(msgpack.unpackb(packet.body)["phase"])


class TwoHosts:
    """Hosts of a stage."""

    def __init__(self, hosts: list[Host]) -> None:
        self.hosts = hosts

    async def ready(self, slot: int, lanes: int, begins: bool = False) -> tuple[Place, ...]:
        return tuple(Place(host.here, 0) for host in self.hosts)


@contextlib.asynccontextmanager
async def spread(fleet: Fleet, *bundles: bytes) -> AsyncIterator[tuple[HostedRun, Watched, Any]]:
    """A run on two hosts that are connected by real socket pairs."""
    params = load("02-grace-periods").check_params({"seconds": 1, "hogs": 1})
    request = wanted_run(arms=ARMS, params=params)
    hosts = [Host(request, fleet, bundle) for bundle in bundles or (b"", b"")]
    beats = []
    for host in hosts:
        await connected(host.here, host.there, ends)
        for peer in (host.here, host.there):
            beats.append(asyncio.create_task(peer.connection.run_heartbeat()))
    hub = Watched()
    try:
        yield HostedRun(TwoHosts(hosts), request, hub), hub, hosts  # type: ignore[arg-type]
    finally:
        for host in hosts:
            for peer in (host.here, host.there):
                peer.connection.end("over")
                await peer.ended()
        await asyncio.gather(*beats)


def test_lanes_on_two_hosts_begin_when_both_are_ready(run_async: Any) -> None:
    async def play() -> None:
        fleet = Fleet()
        fleet.slow["srcu"] = 0.3
        async with asyncio.timeout(30), spread(fleet) as (run, hub, hosts):
            await run.perform()
            assert [host.asked for host in hosts] == [["srcu"], ["srcu-expedited"]]
            assert hub.order.index("srcu ready") < hub.order.index("srcu-expedited running")
            assert {lane.phase for lane in run.log.lanes().values()} == {"done"}
            order = ("preparing", "booting", "ready", "running", "draining", "done")
            places = [order.index(phase) for phase in hub.phases]
            assert places == sorted(places) and hub.phases.count("done") == 1

    run_async(play())


def test_a_host_that_goes_takes_its_lane_along_and_not_the_other(run_async: Any) -> None:
    async def play() -> None:
        fleet = Fleet()
        fleet.slow["srcu"] = 5.0  # it would be ready after that
        async with asyncio.timeout(30), spread(fleet) as (run, hub, hosts):
            performing = asyncio.create_task(run.perform())
            while "srcu-expedited ready" not in hub.order:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            hosts[0].here.connection.end("node a is down")
            await performing
            lanes, last = run.log.lanes(), run.log.run()
            assert lanes["srcu"].phase == "failed" and "node a is down" in lanes["srcu"].message
            assert lanes["srcu-expedited"].phase == "done"
            assert last is not None and last.phase == "done"

    run_async(play())


def test_a_host_that_never_comes_holds_no_other_lane_back(run_async: Any) -> None:
    async def play() -> None:
        async with asyncio.timeout(30), spread(Fleet()) as (run, _, hosts):
            hosts[1].here.connection.end("it never came")
            await run.perform()
            phases = {arm: lane.phase for arm, lane in run.log.lanes().items()}
            assert phases == {"srcu": "done", "srcu-expedited": "failed"}

    run_async(play())


def test_without_any_host_the_run_fails(run_async: Any) -> None:
    async def play() -> None:
        async with asyncio.timeout(30), spread(Fleet()) as (run, _, hosts):
            for host in hosts:
                host.here.connection.end("the lease is over")
            with pytest.raises(InfraError, match="the lease is over"):
                await run.perform()
            last = run.log.run()
            assert last is not None and last.phase == "failed"

    run_async(play())


def test_stop_ends_lanes_that_wait_for_each_other(run_async: Any) -> None:
    async def play() -> None:
        fleet = Fleet()
        fleet.slow["srcu"] = 2.0
        async with asyncio.timeout(30), spread(fleet) as (run, hub, _):
            performing = asyncio.create_task(run.perform())
            while "srcu-expedited ready" not in hub.order:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            await run.stop()
            await performing
            last = run.log.run()
            assert last is not None and last.phase == "stopped"

    run_async(play())


def test_a_host_that_is_never_ready_is_given_up(
    monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(limits, "TOGETHER_S", 0.3)

    async def play() -> None:
        fleet = Fleet()
        fleet.slow["srcu"] = 20.0
        async with asyncio.timeout(15), spread(fleet) as (run, _, _):
            await run.perform()
            lanes = run.log.lanes()
            assert lanes["srcu"].message == "srcu was still not ready 0.3 s after the other lanes."
            assert lanes["srcu-expedited"].phase == "done"

    run_async(play())


def test_the_file_has_the_lanes_of_hosts_that_are_there_still(
    root: Path, tmp_path: Path, run_async: Any
) -> None:
    parts = split(root, tmp_path)

    async def play() -> None:
        bundles = [part.content for part in parts]
        async with asyncio.timeout(30), spread(Fleet(), *bundles) as (run, _, hosts):
            await run.perform()
            hosts[1].here.connection.end("it has crashed")
            content = await asyncio.to_thread(run.bundle)
            assert content is not None
            path = tmp_path / "half.duet"
            path.write_bytes(content)
            assert [arm.name for arm in open_bundle(path).manifest.arms] == ["srcu"]
            hosts[0].here.connection.end("it has crashed, too")
            with pytest.raises(InfraError, match="crashed"):
                await asyncio.to_thread(run.bundle)

    run_async(play())


def test_an_end_that_was_reported_stays(run_async: Any) -> None:
    merged = Merged(first_message(wanted_run(arms=ARMS)), 1)
    done = first_message(wanted_run(arms=ARMS)).model_copy(update={"phase": "done"})
    assert merged.report(0, done) == done
    assert merged.fail(0, InfraError("gone.", remedy="")) is None


def split(root: Path, tmp_path: Path, **changes: Any) -> list[Part]:
    """A recording of two lanes as two bundles of one each, as two hosts make them."""
    whole = open_bundle(root / RECORDED)
    parts = []
    entries = [whole.manifest.arm(arm) for arm in SPLIT]
    for number, entry in enumerate(entries):
        manifest = whole.manifest.model_copy(update={"arms": (entry,), **changes})
        patches = {name: whole.patch(name) for name in whole.patches}
        path = tmp_path / f"{number}.duet"
        write_bundle(path, manifest, {entry.name: whole.records(entry.name)}, patches)
        parts.append(Part([entry.name], path.read_bytes()))
    return parts


def test_files_of_two_hosts_are_one_recording(root: Path, tmp_path: Path) -> None:
    whole = open_bundle(root / RECORDED)
    arms = list(SPLIT)
    path = tmp_path / "joined.duet"
    path.write_bytes(
        join_bundles(split(root, tmp_path), [*arms, "mainline"], {"mainline": "It died."})
    )
    found = open_bundle(path)
    assert [entry.name for entry in found.manifest.arms] == arms
    for arm in arms:
        assert list(found.records(arm)) == list(whole.records(arm))
    assert found.manifest.left_out == {"mainline": "It died."}
    assert found.manifest.host == {**whole.manifest.host, "hosts": "2"}
    assert found.patches == whole.patches


def test_files_that_are_not_of_one_run_are_refused(root: Path, tmp_path: Path) -> None:
    parts = split(root, tmp_path)
    other = split(root, tmp_path, params={"hogs": 9})
    anothers = parts[1]._replace(arms=parts[0].arms)
    for given in (
        [parts[0], other[1]],
        [parts[0], parts[0]],
        [parts[0], anothers],
        [parts[0], Part(["rwsem"], b"PK rubbish")],
    ):
        with pytest.raises(DuetError):
            join_bundles(given, SPLIT, {})


def test_a_run_is_where_its_slowest_part_is() -> None:
    def state(phase: m.RunPhase, **more: Any) -> m.Run:
        return first.model_copy(update={"phase": phase, **more})

    first = first_message(wanted_run(arms=ARMS))
    merged = Merged(first, 2)
    began = {"started_at": "2026-01-01T00:00:02Z"}
    assert merged.report(0, state("running", **began)) is not None
    assert merged.report(0, state("draining", **began)) is None
    after = merged.report(1, state("booting", started_at="2026-01-01T00:00:01Z"))
    assert after is not None and after.phase == "booting"
    assert after.started_at == "2026-01-01T00:00:01Z"
    merged.report(0, state("failed", message="It broke."))
    last = merged.report(1, state("done"))
    assert last is not None and (last.phase, last.message) == ("done", "")


def test_lanes_wait_for_those_that_boot_and_not_for_those_that_are_over() -> None:
    def lane(phase: m.LanePhase) -> m.Lane:
        return m.Lane(run_id=RUN, arm="a", phase=phase)

    assert not_ready(["a", "b"], {"a": lane("ready")}) == {"b"}
    assert not_ready(["a", "b"], {"a": lane("ready"), "b": lane("booting")}) == {"b"}
    assert not_ready(["a", "b"], {"a": lane("ready"), "b": lane("failed")}) == set()
