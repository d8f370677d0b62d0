# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of a parked guest, in real guests: fresh, sound, their own, and soon there."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from duet.guests import GuestRoot, GuestSpec
from duet.guests.clones import CloneableGuest, Template, Templates, prepare_copy
from duet.guests.clones.make import make_template
from duet.guests.clones.template import create_memfd, template_key
from duet.guests.qemu import qemu_version
from duet.wire import (
    Beat,
    Drained,
    Ended,
    FrameReader,
    FrameType,
    GuestError,
    Hello,
    HostFrame,
    Line,
    Ready,
    Stats,
    decode_frame,
    encode,
)
from tests.guest.conftest import serving
from tests.support.processes import guests_below
from tests.support.toy_server import page

pytestmark = pytest.mark.guest

ImagesOf = Callable[[str], dict[str, Any]]
DISK_MIB = 320
BASE = "plan 1\nsetup duet-scratch xfs 320\nbuffer_kb 1024\nevent sched/sched_switch\n"
PARKED_S = 150
"""Until two guests are parked: 5 s on two quiet cores, and nobody waits for it on busy ones."""
MAKE = "run mktemp /scratch/own.XXXXXX\n"


@dataclass
class Seen:
    """What one run said."""

    lines: list[str] = field(default_factory=list)
    trace_bytes: int = 0
    sent_bytes: int = 0
    """Of the last plan, as the agent counts them."""
    status: int | None = None
    lost: int = 0
    cloned: bool = False
    first_event_s: float = 0.0


async def run_once(spec: GuestSpec, templates: Templates, rounds: int = 1) -> Seen:
    """As a session does it: greeting, plan, start, to the last byte, so many times."""
    seen, reader, began = Seen(), FrameReader(), time.monotonic()
    plan = encode(HostFrame(FrameType.PLAN, spec.plan or ""))
    async with CloneableGuest(spec, "tcg", templates) as guest:
        seen.cloned = guest.facts.cloned
        async for chunk in guest.chunks():
            if chunk.stream >= 0:
                seen.first_event_s = seen.first_event_s or time.monotonic() - began
                seen.trace_bytes += len(chunk.payload)
                continue
            for raw in reader.feed(chunk.payload):
                match decode_frame(raw):
                    case Hello():
                        await guest.send(plan)
                    case Ready():
                        await guest.send(encode(HostFrame(FrameType.START)))
                    case Line(_, _, text):
                        seen.lines.append(text)
                    case Ended(_, status):
                        seen.status = status
                    case Beat(_, cpus):
                        seen.sent_bytes = sum(cpu.bytes_sent for cpu in cpus)
                    case Stats(_, cpus):
                        seen.lost = sum(cpu.overrun + cpu.dropped for cpu in cpus)
                    case GuestError(sentence):
                        raise AssertionError(sentence)
                    case Drained():
                        rounds -= 1
                        if not rounds:
                            return seen
                        await guest.send(plan)
    raise AssertionError("the guest ended early")


def test_copies_are_fresh_their_own_and_soon_there(
    images_of: ImagesOf, guest_root: GuestRoot, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "duet.clones")
    image = images_of("03-inode-recycling")["stock"]

    def spec(amendment: str) -> GuestSpec:
        return GuestSpec(
            "stock",
            image.bzimage,
            guest_root.image,
            memory_mib=512,
            disks_mib=(DISK_MIB,),
            cmdline=image.cmdline,
            plan=BASE + amendment,
        )

    async def scenario() -> None:
        async with Templates(1 << 30, prepare=prepare_copy) as templates:
            booted = await run_once(spec("run true\n"), templates)
            assert not booted.cloned and booted.status == 0
            await templates.wait_settled()
            assert templates.count == templates.counts().ready == 1
            # What stands takes no CPU time, and one of two lanes takes it.
            (standing,) = guests_below()
            used = standing.cpu_times()
            await asyncio.sleep(0.5)
            assert sum(standing.cpu_times()[:2]) - sum(used[:2]) <= 0.02
            # Other knobs, one template. Both at once make a file with a random name.
            ours = [spec(f"write /proc/sys/vm/swappiness {n}\n{MAKE}") for n in (11, 22)]
            both = await asyncio.gather(*(run_once(one, templates) for one in ours))
            assert [(one.cloned, one.status) for one in both] == [(True, 0), (True, 0)]
            assert templates.counts().taken == 1
            assert len({one.lines[0] for one in both}) == 2, "the same random numbers"
            assert all(one.trace_bytes > 0 and one.lost == 0 for one in both)
            # One of them has rehearsed: nothing of that reaches its lane.
            assert all(one.trace_bytes <= one.sent_bytes for one in both)
            assert "rehearsed copy is ready" in caplog.text and "cannot rehearse" not in caplog.text
            # What one copy writes is in no other, on the disk and in memory.
            files = await run_once(spec("run ls /scratch\n"), templates)
            assert files.cloned and files.lines == []
            await templates.wait_settled()
            # A copy that stays up takes the same plan again, as a guest that booted does.
            twice = await run_once(ours[0], templates, rounds=2)
            assert twice.cloned and twice.status == 0 and len(set(twice.lines)) == 2
            await templates.wait_settled()  # a rehearsal would share the CPUs with what is timed
            settings = await run_once(spec("run cat /proc/sys/vm/swappiness\n"), templates)
            assert settings.lines == ["60"]
            dates = await run_once(spec("run stat -c %Y /tmp /proc/self\n"), templates)
            assert abs(int(dates.lines[-1]) - time.time()) < 30, "the time of day was not set"
            print(f"boot {booted.first_event_s:.2f} s, copy {settings.first_event_s:.2f} s")
            assert settings.first_event_s < booted.first_event_s / 2

    asyncio.run(scenario())


def test_a_broken_template_is_given_up_and_the_guest_boots(
    images_of: ImagesOf, guest_root: GuestRoot, caplog: pytest.LogCaptureFixture
) -> None:
    image = images_of("03-inode-recycling")["stock"]
    plan = "plan 1\nbuffer_kb 64\nevent sched/sched_switch\nrun true\n"
    spec = GuestSpec("stock", image.bzimage, guest_root.image, cmdline=image.cmdline, plan=plan)

    async def truncated(key: str, wanted: GuestSpec) -> Template:
        made = await make_template(key, wanted)
        half = create_memfd("half")
        os.write(half, os.pread(made.state, os.fstat(made.state).st_size // 2, 0))
        os.close(made.state)
        made.state = half
        return made

    async def scenario() -> None:
        async with Templates(1 << 30, truncated) as templates:
            key = template_key(spec, await qemu_version())
            templates.request(key, spec)
            await templates.wait_settled()
            assert templates.count == 1
            seen = await run_once(spec, templates)
            assert not seen.cloned and seen.status == 0
            assert templates.count == 0

    asyncio.run(scenario())
    assert "A guest boots instead" in caplog.text


def times_parked(log: Path) -> int:
    return log.read_text().count("a guest is parked")


async def parked(log: Path, count: int) -> None:
    """Until the server's log says so; nobody but the server knows."""
    deadline = time.monotonic() + PARKED_S
    while times_parked(log) < count:
        assert time.monotonic() < deadline, f"{times_parked(log)} guests were parked"
        await asyncio.sleep(0.2)


def test_a_page_gets_copies_once_guests_are_parked(
    kernel_images: Any, run_async: Any, tmp_path: Path
) -> None:
    log = tmp_path / "log"

    async def lesson(address: str) -> None:
        async with page(address) as one:
            await one.open()
            await parked(log, 2)
            await one.start("rwsem", "srcu", hogs=2, seconds=1)
            run_id = await one.begun()
            await one.until_type("run", run_id=run_id, phase="done")
            lanes = [m for m in one.of_run(run_id, "lane") if m["phase"] == "running"]
            assert {(m["arm"], m["cloned"]) for m in lanes} == {("rwsem", True), ("srcu", True)}
            rows = {m["arm"]: m["rows"] for m in one.of_run(run_id, "rows")}
            assert {sum(r["role"] == "thread" for r in rows[arm]) for arm in rows} == {2}

    with log.open("w") as written, serving(log=written) as (process, address):
        run_async(lesson(address))
        guests = guests_below(process.pid)
        process.terminate()
        assert process.wait(30) == 0
        assert psutil.wait_procs(guests, timeout=10)[1] == []
