# SPDX-License-Identifier: GPL-2.0-or-later
"""A synthetic stage, recordings and kernels behind the seams of duet.server.interfaces.

`python -m tests.support.toy_stage [PORT]` serves them, for work on the page.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from duet import messages as m
from duet.api.app import create_app
from duet.base.errors import InputError
from duet.guests.clones import TemplateCounts
from duet.lessons import load as lesson_cache
from duet.lessons import load as lessons
from duet.messages.codec import Packet, pack, pack_line
from duet.runs.sources import JudgeRequest, MeasureRequest
from duet.server.director import Director
from duet.session import RunSpec
from duet.stream.hub import Hub, RunLog
from tests.support.synthetic import LABEL, lane_messages

NOW = "2026-01-01T00:00:00Z"
MESSAGES_A_TURN = 8


class ToyRun:
    """A run that replays synthetic messages in the guest's own time, `speed` times as fast."""

    def __init__(self, spec: RunSpec, hub: Hub | None, speed: float) -> None:
        self.log = RunLog(spec.run_id, spec.folder.slug)
        self.request = spec
        self.hub = hub
        self.send: Callable[[RunLog, Packet], None] = RunLog.add
        self.speed = speed
        self.stopped = False
        self.closed = False
        self.acts: list[tuple[str, int]] = []
        self.lines = 0

    def publish(self, message: m.ServerMessage) -> None:
        packet = pack_line(message, self.lines) if isinstance(message, m.Line) else pack(message)
        self.lines += isinstance(message, m.Line)
        if self.hub is None:
            self.send(self.log, packet)
        else:
            self.hub.publish(self.log, packet)

    def state(self, phase: m.RunPhase) -> None:
        live = self.hub is not None
        self.publish(
            m.Run(
                run_id=self.log.run_id,
                lesson=self.log.lesson,
                clock=self.request.clock,
                source="live" if live else "recorded",
                params=self.request.params,
                phase=phase,
                workload=self.request.workload,
                arms=list(self.request.arms),
                started_at=NOW,
                recorded_at=None if live else NOW,
                message=LABEL,
            )
        )

    def lane(self, arm: str, phase: m.LanePhase) -> None:
        self.publish(
            m.Lane(
                run_id=self.log.run_id,
                arm=arm,
                phase=phase,
                message=LABEL,
                accel="none",
                kernel="6.1.0-synthetic",
                boot_s=0.5,
            )
        )

    def messages(self) -> list[tuple[float, m.ServerMessage]]:
        hogs, seconds = self.request.params["hogs"], float(self.request.params["seconds"])
        lanes = [
            lane_messages(self.request.folder, self.log.run_id, arm, hogs, seconds)
            for arm in self.request.arms
        ]
        return sorted((pair for lane in lanes for pair in lane), key=lambda pair: pair[0])

    def says(self, arm: str) -> str:
        """What the workload prints last."""
        return f"storm: umounts=0 per_s=0 ({LABEL})"

    def withdraw(self) -> None:
        self.state("stopped")

    def close(self) -> None:
        self.closed = True

    async def perform(self, slot: int = 0) -> None:
        self.slot = slot
        self.state("booting")
        for arm in self.request.arms:
            self.lane(arm, "booting")
        timed = await asyncio.to_thread(self.messages)
        self.state("running")
        for arm in self.request.arms:
            self.lane(arm, "running")
        began = time.monotonic()
        for number, (when, message) in enumerate(timed):
            delay = began + when / 1e9 / self.speed - time.monotonic()
            if self.hub is not None and delay > 0:
                await asyncio.sleep(delay)
            elif number % MESSAGES_A_TURN == 0:
                await asyncio.sleep(0)  # a recording is published at once, but not in one turn
            if self.stopped:
                break
            if isinstance(message, m.Batch):
                message = message.model_copy(update={"sent_ns": float(time.time_ns())})
            self.publish(message)
        end: m.LanePhase = "stopped" if self.stopped else "done"
        for arm in self.request.arms:
            self.publish(
                m.Line(
                    run_id=self.log.run_id,
                    arm=arm,
                    stream="out",
                    text=self.says(arm),
                    t_ns=0.0,
                )
            )
            self.lane(arm, end)
        self.state("stopped" if self.stopped else "done")
        if self.hub is None:
            self.publish(m.Reading(run_id=self.log.run_id, read=1, total=1, whole=True))

    async def stop(self) -> None:
        self.stopped = True

    async def act(self, name: str, value: int) -> None:
        self.acts.append((name, value))

    async def hold(self, on: bool, after: int) -> None:
        """As if each lane stood 187 accesses after it was asked to."""
        for arm in self.request.arms:
            self.publish(
                m.Held(
                    run_id=self.log.run_id,
                    arm=arm,
                    phase="held" if on else "going",
                    after=after,
                    asked=1204,
                    stood=1391 + after,
                )
            )

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict]:
        task = f"storm-{row or 0}"
        return [
            {
                "t_ns": around_ns + 1e4 * i,
                "cpu": i % 2 if cpu is None else cpu,
                "tid": 100 + (row or 0),
                "task": task,
                "event": "sched_switch",
                "fields": {"next_comm": LABEL},
            }
            for i in range(min(n, 5))
        ]

    def bundle(self) -> Path | bytes | None:
        return None


class ToyStage:
    """Runs that no guest makes."""

    saves_first = False

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self.rests = 0

    async def __aenter__(self) -> ToyStage:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None

    def prepare(self, spec: RunSpec, hub: Hub) -> ToyRun:
        run = ToyRun(spec, hub, self.speed)
        run.state("preparing")
        return run

    async def judge(self, request: JudgeRequest, publish: Callable[[m.Judged], None]) -> None:
        line = m.JudgedLine(kind="goal", says="fast", wanted="", found=LABEL, holds=True)
        state = m.Judged(
            lesson=request.run.folder.slug,
            challenge=request.challenge,
            arm=request.arm,
            phase="measuring",
            total=len(request.run.arms),
        )
        publish(state)
        await asyncio.sleep(0.2)
        done = {"phase": "done", "met": True, "because": "All holds.", "lines": [line]}
        publish(state.model_copy(update=done))

    async def measure(
        self, request: MeasureRequest, publish: Callable[[m.ServerMessage], None]
    ) -> None:
        arms = request.run.arms
        total = len(arms) * request.repeats
        for done in range(total + 1):
            rates = {arm: [2000.0 - 700 * i] * (done // len(arms)) for i, arm in enumerate(arms)}
            rows = [
                m.MeasuredRow(
                    arm=arm,
                    n=len(r),
                    ops_per_s=r,
                    ops_per_s_median=r[0] if r else None,
                    ops_per_s_mean=r[0] if r else None,
                    verdict=LABEL,
                )
                for arm, r in rates.items()
            ]
            publish(
                m.Measured(
                    lesson=request.run.folder.slug,
                    run_id=request.run.run_id,
                    source="live",
                    rows=rows,
                    at=NOW,
                    clock=request.run.clock,
                    params=request.run.params,
                    workload=request.run.workload,
                    metric="made_up",
                    title=LABEL,
                    better="neither",
                    verdict=LABEL,
                    command="",
                    done=done,
                    total=total,
                )
            )
            await asyncio.sleep(0.2 / self.speed)

    def expect(self, spec: RunSpec, others: object) -> None:
        """It boots nothing, so it prepares nothing."""

    def parked(self) -> TemplateCounts:
        return TemplateCounts(
            held=2, held_bytes=3 << 20, waiting=1, later=3, made=4, failed=1, refused=2
        )

    async def rest(self) -> None:
        self.rests += 1


class ToyRecordings:
    """One synthetic `recording` of each lesson."""

    def __init__(self, hogs: int = 3, seconds: int = 1) -> None:
        self.knobs = {"hogs": hogs, "seconds": seconds}
        self.cache: dict[str, ToyRun] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.publish: Callable[[RunLog, Packet], None] = RunLog.add

    def paths(self, slug: str) -> dict[str, Path]:
        return {}

    def file(self, slug: str, name: str) -> Path | None:
        return None

    def cells(self, slug: str) -> list:
        return []

    def listing(self, slug: str) -> list[dict]:
        return [
            {
                "name": "synthetic",
                "lesson": slug,
                "workload": None,
                "params": self.knobs,
                "recorded_at": NOW,
                "clock": "wall",
                "arms": [a.name for a in lesson_cache.find(slug).lesson.arms],
                "bytes": 0,
                "seconds": self.knobs["seconds"],
            }
        ]

    def tables(self, slug: str) -> list[dict]:
        return []

    def begin(self, slug: str, name: str | None = None) -> ToyRun | None:
        if name not in (None, "synthetic"):
            raise InputError(f"there is no recording '{name}'.", remedy="Choose: synthetic.")
        if slug not in self.cache:
            folder = lesson_cache.find(slug)
            params = folder.check_params(self.knobs)
            arms = tuple(arm.name for arm in folder.lesson.arms)
            workload = next(iter(folder.lesson.workloads))
            run_id = f"recorded:{slug}:synthetic"
            request = RunSpec(folder, arms, workload, params, "wall", run_id)
            run = ToyRun(request, None, 1.0)
            run.send = self.publish
            self.cache[slug] = run
            self.tasks[slug] = asyncio.create_task(run.perform())
        return self.cache[slug]

    async def load(self, slug: str, name: str | None = None) -> ToyRun | None:
        run = self.begin(slug, name)
        await self.tasks[slug]
        return run

    async def close(self) -> None:
        for task in self.tasks.values():
            task.cancel()

    def measured(self, slug: str) -> None:
        return None


class ToyKernels:
    """Kernels that are there, or are `built` in a few steps."""

    def __init__(self, missing: tuple[str, ...] = (), step_s: float = 0.5) -> None:
        self.missing = set(missing)
        self.step_s = step_s
        self.newest: dict[str, m.Build] = {}

    def ready(self, slug: str) -> dict[str, bool]:
        return {a.name: a.name not in self.missing for a in lesson_cache.find(slug).lesson.arms}

    def request(self, slug: str, arms: Iterable[str]) -> bool:
        return False

    def latest(self) -> list[m.ServerMessage]:
        return list(self.newest.values())

    async def work(self, tell: Callable[[m.ServerMessage], None]) -> None:
        slug = lessons.slugs()[0]
        for arm in sorted(self.missing):
            for done in range(11):
                self.newest[arm] = m.Build(
                    lesson=slug,
                    arms=sorted(self.missing),
                    arm=arm,
                    done=done,
                    total=10,
                    phase="done" if done == 10 else "compile",
                    elapsed_s=done * self.step_s,
                    message=LABEL,
                )
                if done == 10:
                    self.missing.discard(arm)
                tell(self.newest[arm])
                await asyncio.sleep(self.step_s)


def toy_app(
    page: Path,
    *,
    speed: float = 1.0,
    missing: tuple[str, ...] = (),
    build_step_s: float = 0.5,
    slots: int = 1,
    **options: object,
) -> object:
    """The real application on synthetic parts."""

    def director(hub: Hub) -> Director:
        stage, kernels = ToyStage(speed), ToyKernels(missing, build_step_s)
        return Director(hub, stage, ToyRecordings(), kernels, slots=slots)

    return create_app(director, page=page, **options)  # type: ignore[arg-type]


if __name__ == "__main__":
    import uvicorn

    from duet.base.settings import repo_root
    from duet.stream.http import server_config

    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8642
    missing = tuple(sys.argv[2].split(",")) if len(sys.argv) > 2 else ()
    app = toy_app(repo_root() / "frontend/dist", missing=missing)
    uvicorn.Server(server_config(app, host="127.0.0.1", port=port)).run()
