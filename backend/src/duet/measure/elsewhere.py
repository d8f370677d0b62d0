# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of measurements on another host. That host writes a file, and this host checks it.

The file has one JSON object per line: first the pack and the host, then a table for each finished
job, and last an end line. The field `hash` of a line is the SHA-256 of the previous line's hash and
the line's own content. So a changed number, a lost line or a line from another run is detected. The
hashes use no key, so anybody can recompute them after a change. Trust a result only if you trust
its sender.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any, Final, Literal, TypeGuard

from pydantic import Field, ValidationError

from duet.base.errors import DuetError, InputError
from duet.base.files import write
from duet.bundle.manifest import Sha256
from duet.kernels import KernelSettings
from duet.kernels.arms import MadeOf, arm_made_of, changes_since
from duet.lenses.scope.native import Layout
from duet.lessons.load import find
from duet.measure.jobs import Job, Name, has_planned_series, is_usable
from duet.measure.model import ArmFacts, Report, Table
from duet.measure.plan import MeasurePlan, knobs
from duet.measure.published import StoredTable, plan_key, published_plans
from duet.measure.replica import ReplicaRuns, Strict, replica_digest
from duet.measure.run import Collector, blank_report

FORMAT: Final = 1
WHY_CHARACTERS: Final = 2000
RESULT_BYTES: Final = 64 << 20
"""Largest result file that is read, in bytes. A table with 20 series has some 4 kB."""


class BadHostResult(InputError):
    """The result file is damaged, or its kernels or plans differ from those of this tree."""

    code = "bad-result"


class PackedJob(Job):
    """A job of a pack.

    Args:
        published: whether the job measures the lesson's published figures. Otherwise the user
            chose what it measures.
        needs_cpus: number of CPUs that the host must have.
    """

    published: bool = False
    needs_cpus: int = 1


class PackedArm(Strict):
    """The kernel of an arm in a pack."""

    facts: ArmFacts
    bzimage_sha256: Sha256


class PackedReplica(Strict):
    """The native replica of a lesson in a pack.

    Args:
        layouts: layouts of the arms' kernels.
        sha256: replica_digest() of the lesson.
        compiler: what compiled the replica.
    """

    layouts: Annotated[tuple[Layout, ...], Field(min_length=2)]
    sha256: Sha256
    compiler: str


class PackRecord(Strict):
    """Record of what a pack contains.

    Args:
        by: version and commit of the Kernel Duet that made the pack.
        statics: lesson -> arm -> metric -> value read from the arm's vmlinux (`dwarf` metrics).
        replicas: lesson -> its native replica.
        files: path in the pack -> SHA-256.
    """

    format: Literal["kernel-duet-pack"] = "kernel-duet-pack"
    version: Literal[1] = FORMAT
    by: str
    at: str
    jobs: tuple[PackedJob, ...]
    arms: dict[Name, dict[Name, PackedArm]]
    statics: dict[Name, dict[Name, dict[Name, float]]]
    replicas: dict[Name, PackedReplica] = Field(default_factory=dict)
    root_sha256: Sha256
    qemu: str
    files: dict[str, Sha256] = Field(default_factory=dict)

    def digest(self) -> str:
        """Return the SHA-256 that names this pack."""
        return _digest(b"", self.model_dump(mode="json"))


class HostLine(Strict):
    """The first line of a result: the pack and the host.

    Args:
        pack: digest of the whole record, including `files`.
        record: the record without `files`.
        name: the host's name, for table columns.
        host: facts about the host, none of which identifies it on a network.
    """

    kind: Literal["host"] = "host"
    pack: Sha256
    record: PackRecord
    name: Annotated[str, Field(min_length=1, max_length=60)]
    host: dict[Name, str]
    at: str


class TableLine(Strict):
    """Line of a finished job.

    Args:
        job: index of the job in the record.
        waited_share: part of the CPU time that a guest needed but had to wait for, in the worst
            run; None on the count clock.
    """

    kind: Literal["table"] = "table"
    job: int
    table: StoredTable
    waited_share: float | None = None
    seconds: float


class SkippedLine(Strict):
    """Line that says why a job did not run."""

    kind: Literal["skipped"] = "skipped"
    job: int
    why: Annotated[str, Field(max_length=WHY_CHARACTERS)]


class ReplicaLine(Strict):
    """Line of a lesson's native replica, or the reason why it was not run."""

    kind: Literal["replica"] = "replica"
    lesson: Name
    runs: ReplicaRuns | None = None
    why: Annotated[str, Field(max_length=WHY_CHARACTERS)] = ""


class EndLine(Strict):
    """The last line, which proves that the run has ended and that the file is complete."""

    kind: Literal["end"] = "end"
    at: str
    seconds: float


Line = HostLine | TableLine | SkippedLine | ReplicaLine | EndLine
_KINDS: Final[dict[str, type[Line]]] = {
    "host": HostLine,
    "table": TableLine,
    "skipped": SkippedLine,
    "replica": ReplicaLine,
    "end": EndLine,
}


def _digest(before: bytes, tree: object) -> str:
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(before + text.encode()).hexdigest()


def hashed(line: Line, before: str) -> tuple[bytes, str]:
    """Return the line's bytes and its hash.

    Args:
        before: hash of the previous line; "" for the first line.
    """
    tree = line.model_dump(mode="json")
    own = _digest(before.encode(), tree)
    return json.dumps({**tree, "hash": own}, ensure_ascii=False).encode() + b"\n", own


# Write results, on the host that measures.


class ResultWriter:
    """Context manager that writes a result file while jobs run, and syncs each line to disk.

    If a file from the same pack exists, new lines are appended to it.
    """

    def __init__(self, path: Path, first: HostLine) -> None:
        self._path, self._first = path, first
        self._file: IO[bytes] | None = None
        self._hash = ""
        self.done: set[int] = set()
        """Jobs that already have a table."""
        self.replicas_done: set[str] = set()
        """Lessons whose native replica has been measured."""

    def __enter__(self) -> ResultWriter:
        """Open the file.

        Raises:
            BadHostResult: the file has other contents, or is a result of another pack.
            OSError: the file cannot be written.
        """
        text = b"".join(map(self._next, self._kept() or [self._first]))
        write(self._path, text)  # atomic, because the file may have results of many hours
        self._file = self._path.open("ab")
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._file is not None
        self._file.close()

    def add(self, line: Line) -> None:
        """Append a line and sync it."""
        assert self._file is not None
        self._file.write(self._next(line))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _next(self, line: Line) -> bytes:
        text, self._hash = hashed(line, self._hash)
        if isinstance(line, TableLine):
            self.done.add(line.job)
        if _has_replica(line):
            self.replicas_done.add(line.lesson)
        return text

    def _kept(self) -> list[Line]:
        """Return the lines to keep from an earlier run: its host and all its figures."""
        if not self._path.exists() or not self._path.stat().st_size:
            return []
        lines = _read_lines(self._path)
        first = lines[0]
        assert isinstance(first, HostLine)
        if first.pack != self._first.pack:
            raise BadHostResult(
                f"{self._path.name} is a result of another pack.",
                remedy="Name another file for this run, or delete the old one.",
            )
        return [first, *(x for x in lines if isinstance(x, TableLine) or _has_replica(x))]


def _has_replica(line: Line) -> TypeGuard[ReplicaLine]:
    return isinstance(line, ReplicaLine) and line.runs is not None


# Read results, on the host that judges the figures.


@dataclass(slots=True)
class HostResult:
    """A result that has passed the checks of read_result()."""

    path: Path
    first: HostLine
    tables: list[tuple[PackedJob, StoredTable]] = field(default_factory=list)
    skipped: list[tuple[PackedJob, str]] = field(default_factory=list)
    replicas: dict[str, ReplicaRuns] = field(default_factory=dict)
    """Lesson -> figures of its native replica."""
    no_replica: dict[str, str] = field(default_factory=dict)
    """Lesson -> why its native replica was not run."""

    def reports(self, lesson: str) -> list[Report]:
        """Return a report for each table of a lesson, with verdicts."""
        found = []
        for job, stored in self.tables:
            if job.lesson != lesson:
                continue
            plan = job.plan()
            report = blank_report(
                plan, stored.arms, stored.host, f"{self.path.name}, job of a pack"
            )
            report.by, report.at = self.first.record.by, stored.at
            report.tables = [judged_table(plan, stored.table())]
            report.remarks = [f"Measured on another host: {self.first.name}."]
            found.append(report)
        return found


def judged_table(plan: MeasurePlan, table: Table) -> Table:
    """Add the comparisons of the table's arms to the table, and return it."""
    collector = Collector(plan, table.condition, {})
    collector.table = table
    collector.compare()
    return table


def read_result(path: Path) -> HostResult:
    """Read a result and check it against its hashes, its pack, and the lessons of this tree.

    Raises:
        BadHostResult: the file is cut off, was changed, or has results for other kernels or plans.
    """
    lines = _read_lines(path)
    first, last = lines[0], lines[-1]
    assert isinstance(first, HostLine)
    if not isinstance(last, EndLine):
        raise BadHostResult(
            f"{path.name} has no end line after its {len(lines)} lines: it was cut off, or its run "
            "has not ended.",
            remedy="Copy the whole file again, or let ./measure finish it.",
        )
    result = HostResult(path, first)
    jobs = first.record.jobs
    for line in lines[1:-1]:
        if isinstance(line, ReplicaLine):
            if line.runs is None:
                result.no_replica[line.lesson] = line.why
            else:
                _check_replica(path, first.record, line.lesson, line.runs)
                result.replicas[line.lesson] = line.runs
            continue
        if isinstance(line, HostLine | EndLine) or not 0 <= line.job < len(jobs):
            raise _changed(path, "a line is not the result of a job in the file's pack")
        if isinstance(line, TableLine):
            _check_table(path, first, jobs[line.job], line.table)
            result.tables.append((jobs[line.job], line.table))
        else:
            result.skipped.append((jobs[line.job], line.why))
    for lesson in dict.fromkeys([*(job.lesson for job, _ in result.tables), *result.replicas]):
        _check_kernels(path, lesson, first.record.arms[lesson])
    return result


def _read_lines(path: Path) -> list[Line]:
    """Return all lines. Check that the first line is a HostLine, and that every hash is correct.

    Raises:
        BadHostResult: the file is not a result, or was changed.
    """
    try:
        if path.stat().st_size > RESULT_BYTES:
            raise ValueError(f"it is longer than {RESULT_BYTES} bytes")
        text = path.read_bytes()
        trees = [_tree(line) for line in text.splitlines()]
        hashes = [str(tree.pop("hash")) for tree in trees]
        lines = [_KINDS[tree["kind"]].model_validate(tree) for tree in trees]
        if not lines or not isinstance(lines[0], HostLine):
            raise ValueError("its first line names no host")
    except (OSError, ValueError) as error:
        raise BadHostResult(
            f"{path.name} is not a result of ./measure: {_first_words(error)}.",
            remedy="Name the file that a pack's ./measure wrote.",
        ) from error
    before = ""
    for number, (tree, said) in enumerate(zip(trees, hashes, strict=True), 1):
        before = _digest(before.encode(), tree)
        if before != said:
            raise _changed(path, f"line {number} does not match its hash")
    return lines


def _tree(text: bytes) -> dict[str, Any]:
    tree = json.loads(text)
    if not isinstance(tree, dict) or str(tree.get("kind")) not in _KINDS or "hash" not in tree:
        raise ValueError("a line does not have the form of a result line")
    return tree


def _first_words(error: Exception) -> str:
    if isinstance(error, ValidationError):
        fault = error.errors()[0]
        return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
    return f"{error.strerror if isinstance(error, OSError) else error}".splitlines()[0].rstrip(".")


def _changed(path: Path, how: str) -> BadHostResult:
    return BadHostResult(
        f"{path.name} was changed after its run: {how}.",
        remedy="Copy the file from the host again; never edit it.",
    )


def _check_table(path: Path, first: HostLine, job: PackedJob, table: StoredTable) -> None:
    """Check that a table fits its job, and that the job fits the lessons in this tree."""
    where = f"{job.lesson}, {job.workload} on the {job.clock} clock"
    try:
        plan = job.plan()
    except DuetError as error:
        raise BadHostResult(
            f"{path.name} was measured with another plan: {error.sentence.rstrip('.')} ({where}).",
            remedy="Check out the version that made the pack, or make a new pack.",
        ) from error
    key = plan_key(plan)
    if job.published and not _is_published(plan):
        said = " ".join(f"{name}={value}" for name, value in knobs(plan).items())
        raise BadHostResult(
            f"{path.name} was measured with another plan than this tree's plan for "
            "published figures "
            f"({where}{', ' if said else ''}{said}).",
            remedy="Make a new pack with ./duet pack, and run it on the other host.",
        )
    packed = first.record.arms.get(job.lesson, {})
    if table.lesson != job.lesson or table.key != key or not has_planned_series(plan, table.series):
        raise _changed(path, f"a table does not have what its job measures ({where})")
    for arm in table.arms:
        if arm.name not in packed or packed[arm.name].facts.key != arm.key:
            raise BadHostResult(
                f"the figures of {arm.name} in {path.name} are for a kernel that is not in the "
                f"file's pack ({where}).",
                remedy="Name the file that ./measure of this pack wrote.",
            )
    for one in table.series:
        if not is_usable(one):
            raise _changed(path, f"{one.metric} has no usable samples ({where})")


def _check_replica(path: Path, record: PackRecord, lesson: str, runs: ReplicaRuns) -> None:
    """Check that a replica's figures fit the pack, and that this tree has the same replica."""
    packed = record.replicas.get(lesson)
    if packed is None or runs.lesson != lesson or lesson not in record.arms:
        raise _changed(path, f"its pack has no native replica of {runs.lesson}")
    if packed.layouts != tuple(arm.layout for arm in runs.arms):
        raise _changed(path, f"the replica of {lesson} has another layout than its pack")
    if packed.sha256 != replica_digest(find(lesson)):
        raise BadHostResult(
            f"{path.name} was measured with another replica of {lesson} than this tree's.",
            remedy=f"Make a new pack with ./duet pack {lesson}, and run the new pack.",
        )


def _is_published(plan: MeasurePlan) -> bool:
    """Whether the lesson's published figures need exactly this measurement."""
    wanted = published_plans(plan.folder, every=True).get(plan_key(plan))
    return wanted is not None and Job.fields_of(wanted) == Job.fields_of(plan)


def _check_kernels(path: Path, lesson: str, arms: dict[str, PackedArm]) -> None:
    """Check that the measured kernels have the patches and configuration of this source tree."""
    settings, folder = KernelSettings.default(), find(lesson)
    for name, packed in arms.items():
        facts = packed.facts
        then = MadeOf(facts.config_sha256, dict([*facts.both, *facts.patches]), facts.writes)
        changes = changes_since(then, arm_made_of(folder, name, settings))
        if changes:
            raise BadHostResult(
                f"{path.name} was measured with a kernel of {name} that differs from this tree's: "
                f"{changes[0]}.",
                remedy=f"Make a pack with ./duet pack {lesson}, and run it on the other host.",
            )


def now() -> str:
    """Return the current time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def stored_elsewhere(results: Iterable[HostResult]) -> list[StoredTable]:
    """Return the tables with published figures from all results, each with its host's name."""
    return [
        table.model_copy(update={"on": result.first.name, "host": result.first.host | table.host})
        for result in results
        for job, table in result.tables
        if job.published
    ]
