# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a pack's measurements on the host for ./measure, and write one result file.

The host builds no kernels and computes no verdicts. The result names each job that the host cannot
run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from duet.base.clock import format_duration
from duet.base.errors import DuetError, InfraError, InputError
from duet.guests import Accel, GuestRoot, GuestSpec, open_guest
from duet.guests.boot import kvm_refusal
from duet.kernels.image import KernelImage, Manifest
from duet.kernels.recipe import KernelKey
from duet.lenses.scope import native
from duet.lessons.load import load
from duet.measure import MeasurePlan, Measuring, Progress
from duet.measure.elsewhere import (
    WHY_CHARACTERS,
    EndLine,
    HostLine,
    PackedJob,
    PackRecord,
    ReplicaLine,
    ResultWriter,
    SkippedLine,
    TableLine,
    now,
)
from duet.measure.model import Report
from duet.measure.plan import all_steps
from duet.measure.provenance import host_fingerprint
from duet.measure.published import host_cpus, stored_table
from duet.measure.replica import TAKES_S, ReplicaRuns, measure_replica
from duet.plugins.pack.unpack import RECORD
from duet.runs.selftest import Selftest, shortest_run
from duet.runs.sources import image_source, lesson_symbols
from duet.session import LaneSource, RunSpec

RUN_S: Final = 12.0
"""Estimated duration of a run (boot, workload, end) until a run has been timed."""
LEAST_S: Final = 20.0
"""If less time than this is left, no further job is started."""
TIME: Final = re.compile(r"^(\d+(?:\.\d+)?)(s|m|h)?$")
INTERRUPTED: Final = 130
UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, None: 60.0}
SYS_CPU: Final = Path("/sys/devices/system/cpu")


def note(words: str) -> None:
    """Print a line of progress."""
    print(words, file=sys.stderr, flush=True)


@dataclass(slots=True)
class Pace:
    """Measured durations of runs on this host, by lesson and clock."""

    seen: dict[tuple[str, str], float] = field(default_factory=dict)

    def seconds(self, job: PackedJob) -> float:
        """Return the estimated duration of a job."""
        runs = len(all_steps(job.plan()))
        side_by_side = 1 if job.clock == "wall" else min(runs, host_cpus())
        return runs * self.seen.get((job.lesson, job.clock), RUN_S / side_by_side)

    def learn(self, job: PackedJob, seconds: float) -> None:
        self.seen[job.lesson, job.clock] = seconds / max(1, len(all_steps(job.plan())))


def ordered(jobs: Sequence[PackedJob]) -> list[int]:
    """Return the indexes of jobs, sorted so that the jobs that can change the most verdicts come
    first.

    Jobs that need a host with more CPUs come first, then other jobs on the wall clock. Jobs on the
    count clock come last, because they give the same figures on every host.
    """

    def rank(number: int) -> tuple[int, int, int]:
        job = jobs[number]
        kind = 2 if job.clock == "count" else 0 if job.needs_cpus > 2 else 1
        return kind, len(all_steps(job.plan())), number

    return sorted(range(len(jobs)), key=rank)


def read_time(text: str) -> float:
    """Parse a time such as '90s', '8m', '1.5h', or '8' (minutes) into seconds.

    Raises:
        InputError: the text is not a time.
    """
    match = TIME.match(text)
    if match is None:
        raise InputError(
            f"--time needs a time such as 8m, but got {text!r:.40}.",
            remedy="Write for example --time 90s, --time 8m or --time 2h.",
        )
    return float(match[1]) * UNITS[match[2]]


class Pack:
    """The pack on this host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        text = (folder / RECORD).read_text(encoding="utf-8")
        self.record = PackRecord.model_validate_json(text)
        self.root = GuestRoot("pack", folder / "root/root.cpio.gz", folder / "root")

    def image(self, lesson: str, arm: str) -> KernelImage:
        facts = self.record.arms[lesson][arm].facts
        manifest = Manifest(
            key=facts.key, kernel_version=facts.kernel, package="",
            tarball_sha256=facts.tarball_sha256, config_sha256=facts.config_sha256, patches=(),
            compiler=facts.compiler, linker="", built_at=self.record.at, seconds=0, objects=0,
            cold=False, proven=True,
        )  # fmt: skip
        return KernelImage(KernelKey(facts.key), self.folder / "kernels" / facts.key, manifest)

    def source(self, plan: MeasurePlan, arm: str) -> LaneSource:
        image = self.image(plan.folder.slug, arm)
        symbols = lesson_symbols(plan.folder, arm, image)
        source = image_source(arm, image, symbols, self.root, plan.folder.slug)
        return replace(source, vmlinux=None, scope=None)

    def measuring(self, job: PackedJob, host: Mapping[str, str]) -> Measuring:
        """Prepare a job to run on this host."""
        plan = job.plan()
        arms = self.record.arms[job.lesson]
        return Measuring(
            plan,
            {arm: self.source(plan, arm) for arm in plan.arms},
            facts=[arms[arm].facts for arm in plan.arms],
            host=host,
            statics=self.record.statics.get(job.lesson, {}),
            progress=_tell,
            judged=False,
        )

    def selftest(self) -> Selftest:
        """Prepare the tests of this host with the kernels of the first job on the wall clock.

        Raises:
            InputError: the pack has no such job.
        """
        job = next((job for job in self.record.jobs if job.clock == "wall"), None)
        if job is None:
            raise InputError(
                "this pack has no measurement on the wall clock, which --selftest needs.",
                remedy="Make a pack of a lesson: ./duet pack LESSON.",
            )
        plan = job.plan()

        async def sources_of(arms: Sequence[str]) -> dict[str, LaneSource]:
            return {arm: self.source(plan, arm) for arm in arms}

        spec = RunSpec(plan.folder, plan.arms[:2], plan.workload, plan.params, "wall")
        return Selftest(shortest_run(spec), sources_of, None, xray=False)

    def measure_replica(self, lesson: str, tell: Callable[[str], None]) -> ReplicaRuns:
        """Measure a lesson's native replica on this host. Blocks.

        Args:
            tell: receives lines of progress; may raise an error to stop.

        Raises:
            InfraError: the host has too few cores, or the replica fails.
        """
        packed = self.record.replicas[lesson]
        cores = native.one_cpu_a_core(native.allowed_cpus())
        cpus = native.choose_cpus(cores, 0, native.usual_threads())
        operation = native.read_operation(load(lesson))
        runs = measure_replica(lesson, operation, packed.layouts, cores, cpus, tell)
        return runs.model_copy(update={"made": {**runs.made, "compiler": packed.compiler}})

    async def accelerator(self) -> tuple[str, str]:
        """Return the accelerator (tcg or kvm) and, for tcg, also why it is not kvm.

        If /dev/kvm can be opened, boot a probe guest to find out whether KVM works.
        """
        if why := kvm_refusal():
            return str(Accel.TCG), why.rstrip(".")
        if not self.record.jobs:
            return str(Accel.TCG), "this pack runs no guest"
        job = self.record.jobs[0]
        image = self.image(job.lesson, job.arms[0])
        spec = GuestSpec("probe", image.bzimage, self.root.image, vcpus=1, memory_mib=256)
        async with open_guest("qemu", spec) as guest:
            found = guest.facts.accel
        no_guest = "/dev/kvm opens, but no guest boots under it"
        return str(found), "" if found is Accel.KVM else no_guest


def _tell(step: Progress) -> None:
    left = (
        "" if step.left_s is None else f" (about {format_duration(step.left_s)} left of this job)"
    )
    note(f"{step}{left}")


def host_facts() -> dict[str, str]:
    """Return the host's properties that affect times, without identifying the host."""
    facts = host_fingerprint()
    facts["cores"] = str(_cores() or facts["cpus"])
    facts["smt"] = {"1": "on", "0": "off"}.get(_read(SYS_CPU / "smt/active"), "unknown")
    facts["governor"] = _read(SYS_CPU / "cpu0/cpufreq/scaling_governor") or "none"
    facts["l3"] = _read(SYS_CPU / "cpu0/cache/index3/size") or "unknown"
    facts["load"] = f"{os.getloadavg()[0]:.2f}"
    return facts


def _cores() -> int:
    names = (f"cpu{n}/topology/core_cpus_list" for n in sorted(os.sched_getaffinity(0)))
    return len({text for name in names if (text := _read(SYS_CPU / name))})


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def host_name(facts: Mapping[str, str]) -> str:
    """Return the host's name for tables, such as '16 x Example CPU'."""
    model = re.sub(r"\((?:R|TM)\)| CPU| Processor|@.*", "", facts["cpu"]).strip()
    return f"{facts['cpus']} x {' '.join(model.split())}"[:60]


@dataclass(slots=True)
class Session:
    """One start of ./measure.

    Args:
        until_s: monotonic time at which to stop. None means to stop only when everything is
            measured.
    """

    pack: Pack
    writer: ResultWriter
    facts: Mapping[str, str]
    until_s: float | None
    pace: Pace = field(default_factory=Pace)
    began_s: float = field(default_factory=time.monotonic)

    async def run(self) -> None:
        """Run the replicas and jobs without a result, and write the result file's last line."""
        await self._run_replicas()
        jobs = self.pack.record.jobs
        todo = [number for number in ordered(jobs) if number not in self.writer.done]
        for place, number in enumerate(todo, 1):
            job = jobs[number]
            if why := self._why_not(job):
                note(f"left out: {_words(job)}: {why}")
                self._skip(number, why)
                continue
            note(f"job {place} of {len(todo)}: {_words(job)}")
            await self._one(number, job)
        self.writer.add(EndLine(at=now(), seconds=round(time.monotonic() - self.began_s, 1)))

    async def _run_replicas(self) -> None:
        """Measure the native replicas before the first guest starts."""
        for lesson in sorted(self.pack.record.replicas.keys() - self.writer.replicas_done):
            note(f"native replica of {lesson}")
            line = ReplicaLine(lesson=lesson)
            left_s = self._left_s()
            if left_s is not None and left_s < TAKES_S:
                line.why = f"it takes about {format_duration(TAKES_S)}"
            else:
                try:
                    line.runs = await self._replica(lesson)
                except DuetError as error:
                    line.why = f"{error.sentence} {error.remedy}"[:WHY_CHARACTERS]
            if line.why:
                note(f"left out: {line.why}")
            self.writer.add(line)

    async def _replica(self, lesson: str) -> ReplicaRuns:
        stopped = threading.Event()

        def tell(words: str) -> None:
            if stopped.is_set():
                raise InfraError("the measurement was stopped.", remedy="Start ./measure again.")
            note(words)

        try:
            return await asyncio.to_thread(self.pack.measure_replica, lesson, tell)
        finally:
            stopped.set()

    def _skip(self, number: int, why: str) -> None:
        self.writer.add(SkippedLine(job=number, why=why[:WHY_CHARACTERS]))

    def _left_s(self) -> float | None:
        return None if self.until_s is None else self.until_s - time.monotonic()

    def _why_not(self, job: PackedJob) -> str:
        if job.needs_cpus > host_cpus():
            return f"it needs {job.needs_cpus} CPUs, and this host has {host_cpus()}"
        left_s, wanted_s = self._left_s(), self.pace.seconds(job)
        if left_s is not None and (left_s < LEAST_S or left_s < wanted_s):
            return (
                f"it takes about {format_duration(wanted_s)}, "
                f"and {format_duration(max(0, left_s))} were left"
            )
        return ""

    async def _one(self, number: int, job: PackedJob) -> None:
        began = time.monotonic()
        measuring = self.pack.measuring(job, self.facts)
        try:
            async with asyncio.timeout(self._left_s()):
                report = await measuring.run()
        except TimeoutError:
            self._skip(number, "the time was over before its last run")
            return
        except DuetError as error:
            self._skip(number, f"{error.sentence} {error.remedy}")
            note(f"failed: {error.sentence}")
            return
        seconds = time.monotonic() - began
        self.pace.learn(job, seconds)
        if not any(one.samples for one in report.tables[0].series if one.evidence != "static"):
            faults = [error.sentence for error in report.tables[0].errors.values()]
            why = " ".join(faults) or "no run gave a number"
            self._skip(number, why)
            note(f"failed: {why}")
            return
        self.writer.add(_table_line(number, job, report, measuring.waited_share, seconds))


def _table_line(
    number: int, job: PackedJob, report: Report, waited_share: float | None, seconds: float
) -> TableLine:
    (table,) = report.tables
    faults = [f"{arm} failed: {error.sentence.rstrip('.')}" for arm, error in table.errors.items()]
    table.refusals += [*faults, *([report.partial] if report.partial and not faults else [])]
    stored = stored_table(job.lesson, table, report.arms, report.host, report.at)
    return TableLine(job=number, table=stored, waited_share=waited_share, seconds=round(seconds, 1))


def _words(job: PackedJob) -> str:
    knobs = " ".join(f"{name}={value}" for name, value in job.params.items())
    return f"{job.lesson}, {job.workload}, {job.clock} clock, {knobs}"


def main(words: Sequence[str]) -> int:
    """Measure, and return the exit code."""
    parser = argparse.ArgumentParser(prog="./measure", description="Measure what this pack holds.")
    parser.add_argument("--time", help="stop after this time, for example 8m; run again to go on")
    parser.add_argument("--name", help="name of this host in tables, at most 60 characters")
    parser.add_argument("--output", type=Path, default=Path("result.jsonl"), help="result file")
    parser.add_argument("--accel", choices=("auto", "tcg", "kvm"), help="what executes guests")
    parser.add_argument("--facts", action="store_true", help="describe this host, measure nothing")
    parser.add_argument("--selftest", action="store_true", help="test guests on this host")
    given = parser.parse_args(words[1:])
    try:
        return _measure(Pack(Path(words[0])), given)
    except DuetError as error:
        print(f"error: {error.sentence}\nremedy: {error.remedy}", file=sys.stderr)
        return error.exit_code


def _measure(pack: Pack, given: argparse.Namespace) -> int:
    began = time.monotonic()
    until_s = began + read_time(given.time) if given.time else None
    if given.accel:
        os.environ["DUET_ACCEL"] = given.accel
    facts = host_facts()
    accel, why = asyncio.run(pack.accelerator())
    facts |= {"accel": accel, "qemu": pack.record.qemu}
    note(f"host: {', '.join(f'{name} {value}' for name, value in facts.items())}")
    if why:
        note(f"no KVM: {why}")
    if given.facts:
        return 0
    if given.selftest:
        return asyncio.run(_selftest(pack.selftest()))
    first = HostLine(
        pack=pack.record.digest(),
        record=pack.record.model_copy(update={"files": {}}),
        name=(given.name or host_name(facts))[:60],
        host=facts,
        at=now(),
    )
    try:
        with ResultWriter(given.output, first) as writer:
            whole = asyncio.run(_until_signal(Session(pack, writer, facts, until_s)))
    except OSError as error:
        raise InputError(
            f"{given.output} cannot be written ({error.strerror}).",
            remedy="Use --output to name a file that you may write to.",
        ) from error
    if not whole:
        note(f"stopped; run ./measure again to go on with {given.output}")
        return INTERRUPTED
    done = len(writer.done) + len(writer.replicas_done)
    wanted = len(pack.record.jobs) + len(pack.record.replicas)
    note(f"{given.output}: {done} of {wanted} measurements")
    return 0


async def _selftest(test: Selftest) -> int:
    """Run all tests and print their results; return 1 if one failed."""
    results = [result async for result in test.results(note)]
    for result in results:
        print(f"{'ok    ' if result.ok else 'FAILED'}  {result.name:12} {result.found}")
    return 0 if all(result.ok for result in results) else 1


async def _until_signal(session: Session) -> bool:
    """Run the jobs. Return False if a signal stopped them. In both cases, all guests have ended."""
    task = asyncio.create_task(session.run())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
