# SPDX-License-Identifier: GPL-2.0-or-later
"""A joined host fetches kernels that it lacks from its server, by key, and checks them."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InfraError
from duet.host.fetching import KernelFetcher
from duet.host.guests import Parking
from duet.host.protocol import first_message
from duet.host.runs import GuestRun
from duet.kernels import KernelImage, KernelSettings, inputs, lookup, plan
from duet.kernels.arms import arm_spec
from duet.lessons.load import LessonFolder
from duet.rpc import limits
from duet.server.hosts.door import AT_ONCE, DOOR_PATH
from duet.session import LaneGuests, RunSpec
from tests.backend.host.test_joining import in_loop
from tests.support import miniature
from tests.support.joined import Joining
from tests.support.toy_server import serving

Run = Callable[..., Any]


class Served:
    """A server with one stored kernel, and a host that has joined it."""

    def __init__(self, made: Joining, address: str, image: KernelImage, host: KernelSettings):
        self.made, self.address, self.image, self.host = made, address, image, host
        (self.secret,) = [one.secret for one in made.door._expected.values() if one.came]

    def get(self, path: str, secret: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.address, timeout=60)
        given = {"Authorization": f"Bearer {secret}"} | headers
        connection.request(method, f"/hosts/kernels/{path}", headers=given)
        answer = connection.getresponse()
        with contextlib.closing(connection):
            return answer.status, answer.read()

    def fetcher(self) -> KernelFetcher:
        found = KernelFetcher(f"ws://{self.address}{DOOR_PATH}")
        found.secret = self.secret
        return found


@pytest.fixture
def served(root: Path, tmp_path: Path, lesson02: LessonFolder) -> Iterator[Served]:
    (tmp_path / "server").mkdir()
    settings = miniature.make_settings(tmp_path / "server")
    image = miniature.store_toy(settings, inputs(arm_spec(lesson02, "srcu"), settings))
    made = Joining(settings)
    try:
        with serving(made.app(root)) as address:
            made.relay.to_port = int(address.rpartition(":")[2])
            assert made.stage is not None
            in_loop(made, made.stage.hosts.ready(0, 1))
            yield Served(made, address, image, replace(settings, cache=tmp_path / "host"))
    finally:
        made.relay.close()


def test_what_is_lacking_is_fetched_checked_and_stored(
    served: Served, lesson02: LessonFolder, run_async: Run
) -> None:
    host, key = served.host, served.image.key
    host.cache.mkdir()
    assert plan(arm_spec(lesson02, "srcu"), host) == key and lookup(key, host) is None
    for _ in range(2):
        run_async(served.fetcher().fetch(lesson02, ["srcu", "rwsem"], host))
    found = lookup(key, host)
    assert found is not None and found.manifest.key == key
    for one in ("bzImage", "vmlinux", "System.map", "config"):
        assert (found.folder / one).read_bytes() == (served.image.folder / one).read_bytes()
    assert not list((host.cache / "fetching").iterdir())
    assert lookup(plan(arm_spec(lesson02, "rwsem"), host), host) is None  # the server has none


def test_a_file_that_is_not_what_was_said_is_not_stored(
    served: Served, lesson02: LessonFolder, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.host.cache.mkdir()
    assert served.get(served.image.key, served.secret)[0] == 200  # the server has its digests
    file = served.image.folder / "System.map"
    stat, text = file.stat(), file.read_bytes()
    file.write_bytes(text.swapcase())
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(InfraError, match=r"fetched from the server .*SHA-256"):
        run_async(served.fetcher().fetch(lesson02, ["srcu"], served.host))
    assert lookup(served.image.key, served.host) is None
    assert not list((served.host.cache / "fetching").iterdir())
    assert not (served.host.cache / "kernels").exists()
    monkeypatch.setattr(limits, "FETCH_S", -1.0)
    with pytest.raises(InfraError, match="the transfer took longer than -1 s"):
        run_async(served.fetcher().fetch(lesson02, ["srcu"], served.host))


def test_only_a_host_that_has_joined_gets_kernels(
    served: Served, lesson02: LessonFolder, run_async: Run
) -> None:
    key, secret = str(served.image.key), served.secret
    status, body = served.get(key, secret)
    assert status == 200 and json.loads(body)["manifest"]["key"] == key
    assert served.get(f"{key}/bzImage", secret)[0] == 200
    (peer, _), *_ = in_loop(served.made, served.made.stage.hosts.ready(0, 1))  # type: ignore[union-attr]
    unused = served.made.door.expect(peer.connection)
    for wrong in (served.made.tokens[0], unused, "", "wrong"):
        assert served.get(f"{key}/bzImage", wrong)[0] == 403
    assert served.get(key, secret, Origin=f"http://{served.address}")[0] == 403
    assert served.get(key, secret, method="POST")[0] == 405
    for other in (
        "0" * 24,
        "..",
        f"{key}/manifest.json",
        f"{key}/../{key}/config",
        f"{key}/config/",
    ):
        assert served.get(other, secret)[0] == 404, other
    served.made.door.forget(peer.connection)
    assert served.get(key, secret)[0] == 403
    with pytest.raises(InfraError, match="it answered 403"):
        run_async(served.fetcher().fetch(lesson02, ["srcu"], served.host))


def test_a_fetch_that_nobody_waits_for_ends(
    served: Served, lesson02: LessonFolder, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server whose places are all taken is asked again, until the run is stopped."""
    served.host.cache.mkdir()
    for _ in range(AT_ONCE):
        in_loop(served.made, served.made.door.kernels._places.acquire())
    status, _ = served.get(str(served.image.key), served.secret)
    assert status == 503
    monkeypatch.setattr(limits, "FETCH_AGAIN_S", 0.05)

    async def body() -> None:
        task = asyncio.create_task(served.fetcher().fetch(lesson02, ["srcu"], served.host))
        await asyncio.sleep(0.5)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_async(body(), 60)  # asyncio.run joins its threads: one that went on would hang here
    assert lookup(served.image.key, served.host) is None
    in_loop(served.made, released(served))
    run_async(served.fetcher().fetch(lesson02, ["srcu"], served.host))
    assert lookup(served.image.key, served.host) is not None


async def released(served: Served) -> None:
    served.made.door.kernels._places.release()


def test_a_run_that_is_stopped_waits_for_no_kernel(
    lesson02: LessonFolder, tmp_path: Path, run_async: Run
) -> None:
    async def endless(*_: Any) -> None:
        await asyncio.Event().wait()

    async def body() -> list[str]:
        settings, sent = KernelSettings(tmp_path, tmp_path), []
        params = lesson02.check_params({}, "wall")
        request = RunSpec(lesson02, ("srcu",), "storm", params, "wall")
        async with Parking(settings, 0, endless) as parking, LaneGuests() as lanes:
            first = first_message(replace(request, run_id="run-1"))
            run = GuestRun(lanes, parking, settings, request, first, sent.append)
            task = asyncio.create_task(run.perform())
            await asyncio.sleep(0.1)
            await run.stop()
            await task
            run.close()
        return [str(packet.type) for packet in sent]

    assert "run" in run_async(body(), 60)
