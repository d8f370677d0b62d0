# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage `build`: how long kernel builds take, from cold to unchanged, and a first `duet try`.

Builds run over an overlay of the cache: the files that they write are removed at the end, and the
cache's own trees and kernels do not change. A cold build takes minutes on each side, so it is
measured only if DUET_BENCH_COLD=1 is set; otherwise the figures of the last measurement are shown,
with their date.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

from duet.base.errors import DuetError, InfraError
from duet.base.settings import repo_root
from duet.guests.vng import find_vng
from duet.kernels import ArmSpec, BuildProgress, KernelSettings, Phase, build, lookup, plan
from duet.kernels.arms import arm_specs
from duet.kernels.builder import LOCK
from duet.kernels.order import outwards
from duet.kernels.tree import build_lock
from duet.lessons import load as lessons
from duet.measure.provenance import host_fingerprint
from tools.bench.speed.build_inside import FILE, ids_of, patch_of, source_of
from tools.bench.speed.pairs import (
    Bench,
    DifferentResultsError,
    Figure,
    Result,
    Row,
    Skipped,
    Stage,
    Turn,
    measured,
    row_of,
)

NAME = "build"
COLD = "DUET_BENCH_COLD"
STORED = Path(__file__).with_name("build_cold.json")
COLD_TARGET = 1 / 0.6
"""Our cold build may take 60 % of the time of virtme-ng's."""
FIRST_TRY_S, NEXT_TRY_S = 40.0, 25.0
CHANGE_PAIRS, SMOKE_PAIRS = 3, 1
COMMAND_S = 3600.0
RUN = "stress-ng --pipe 1 --pipe-ops 2000 --metrics-brief"
"""Command of the trials. It takes 0.1 s, so the time is that of everything else."""
NOTHING = "nothing to do: all kernels are built"
CHANGED = f"{FILE} changed, ccache off"
PHASES = (
    ("to read the patch", re.compile(r"kernel 1 of ")),
    ("to build", re.compile(r"kernel (\d+) of \1, .*: done ")),
    ("to prepare guests", re.compile(r"recording ")),
    ("to record", re.compile(r"run 1 of ")),
)
"""Phases of a trial, in order, and the line of `duet try` that begins the next one."""
LAST_PHASE = "to measure"


@dataclass(frozen=True, slots=True)
class Overlay:
    """The cache, with a layer that receives all writes.

    Args:
        folder: the folder of that layer.
    """

    cache: Path
    folder: Path

    def words(self, words: Sequence[str]) -> list[str]:
        """Return the command that mounts the overlay in a new namespace and runs `words` there."""
        for name in ("upper", "work"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        layers = f"lowerdir={self.cache},upperdir={self.folder}/upper,workdir={self.folder}/work"
        script = 'mount -t overlay overlay -o "$0" "$1" && shift && exec "$@"'
        root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        inside = ["/bin/sh", "-c", script, layers, str(self.cache), *words]
        return ["unshare", *root, "--mount", *inside]

    def run(self, *words: str, more: Mapping[str, str] | None = None) -> str:
        """Run a command over the overlay; return its standard output.

        Raises:
            InfraError: the command failed.
        """
        done = subprocess.run(
            self.words(words),
            env={**os.environ, **(more or {})},
            cwd=repo_root(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_S,
        )
        if done.returncode:
            raise InfraError(
                f"{' '.join(words[:6])} failed over an overlay of the cache (exit code "
                f"{done.returncode}).",
                remedy="Read the detail.",
                detail=done.stderr[-3000:],
            )
        return done.stdout

    def inside(self, *words: str) -> object:
        """Run an operation of build_inside; return its result."""
        return json.loads(self.run(sys.executable, "-m", "tools.bench.speed.build_inside", *words))

    def search(self) -> Turn:
        """Measure make in the tree of the overlay."""
        turn = self.inside("search")
        assert isinstance(turn, list)
        return Turn(*turn)

    def why_not(self) -> str:
        """Return a sentence that says why an overlay is impossible here, or ""."""
        try:
            self.run("true")
        except (InfraError, OSError):
            return (
                "This machine mounts no overlay here. It takes unshare of util-linux, and "
                "unprivileged user namespaces or root."
            )
        return ""


def run(bench: Bench) -> Iterator[Result]:
    """Yield builds with nothing to do, builds of one changed file, two trials, and cold builds."""
    settings = KernelSettings.default()
    last = last_arm(settings)
    why = "No lesson has a kernel on the default base." if last is None else _missing(settings)
    overlay = Overlay(settings.cache, bench.folder / "overlay")
    why = why or overlay.why_not()
    if why or last is None:
        yield from (Skipped(NAME, case, why) for case in (NOTHING, CHANGED))
    else:
        with build_lock(settings.cache / LOCK, wait_s=60, on_wait=lambda note: None):
            yield from _warm(bench, overlay, last)
    if not bench.smoke:
        yield from _cold(bench)


def last_arm(settings: KernelSettings) -> ArmSpec | None:
    """Return the arm whose source is in the tree after all kernels of the lessons were built."""
    arms: dict[str, ArmSpec] = {}
    for slug in lessons.slugs():
        folder = lessons.load(slug)
        for name, spec in arm_specs(folder).items():
            arm = folder.arm(name)
            if not arm.optional and arm.base is None and arm.config is None:
                arms.setdefault(str(plan(spec, settings)), spec)
    order = outwards(list(arms.values()), settings.patches, settings.base)
    return order[-1] if order else None


def _missing(settings: KernelSettings) -> str:
    """Return why the stage cannot run, as a sentence; "" if no kernel or tree is missing."""
    for slug in lessons.slugs():
        folder = lessons.load(slug)
        for name, spec in arm_specs(folder).items():
            if folder.arm(name).optional:
                continue
            if lookup(plan(spec, settings), settings) is None:
                return f"The kernel of {slug}, {name}, is not built. Run: ./duet build."
    base = settings.base
    tree = settings.tree(base, None, settings.tarball(base).sha256)
    if not (tree.src / "vmlinux.a").is_file():
        return "No kernel was compiled in the cache. Run: ./duet build."
    return ""


def _warm(bench: Bench, overlay: Overlay, last: ArmSpec) -> Iterator[Result]:
    """Yield the comparisons that start with a compiled tree."""
    overlay.inside("arm", last.lesson, last.name)
    yield _nothing(bench, overlay, last)
    yield _changed(bench, overlay, last)
    if not bench.smoke:
        overlay.inside("arm", last.lesson, last.name)
        yield from _trials(bench, overlay)


def _nothing(bench: Bench, overlay: Overlay, last: ArmSpec) -> Row:
    """Compare `duet build` of a stored kernel with make in a tree that is up to date."""
    words = (sys.executable, "-m", "duet", "build", last.lesson, "--arm", last.name, "--json")

    def ours() -> Turn:
        turn = measured(lambda: overlay.run(*words))
        (kernel,) = json.loads(str(turn.output))["kernels"]
        assert not kernel["built"]
        return turn._replace(output=ids_of(Path(kernel["folder"]) / "vmlinux"))

    mine, others = [], []
    for _ in range(SMOKE_PAIRS if bench.smoke else bench.pairs):
        mine.append(ours())
        others.append(overlay.search())
        _check_same(NOTHING, mine[-1], others[-1])
    return row_of(
        NAME, NOTHING, "make", mine, others, work=1, unit="kernels",
        note="make searches the compiled tree; duet build finds the stored kernel by its inputs.",
    )  # fmt: skip


def _changed(bench: Bench, overlay: Overlay, last: ArmSpec) -> Row:
    """Compare the build of one changed file with make, which searches the tree first."""
    pairs = SMOKE_PAIRS if bench.smoke else CHANGE_PAIRS
    found = overlay.inside("change", last.lesson, last.name, str(pairs))
    assert isinstance(found, list)
    ours, theirs = ([Turn(*turn) for turn in side] for side in found)
    for mine, other in zip(ours, theirs, strict=True):
        _check_same(CHANGED, mine, other)
    return row_of(
        NAME, CHANGED, "make, which searches the tree", ours, theirs, work=1, unit="kernels",
        note="Both compile one object and link; the kernels are the same to the byte.",
    )  # fmt: skip


def _check_same(case: str, mine: Turn, other: Turn) -> None:
    if mine.output != other.output:
        raise DifferentResultsError(f"{NAME}, {case}: the kernels differ.")


# A trial from its call to its report.


def _trials(bench: Bench, overlay: Overlay) -> Iterator[Figure]:
    """Yield the first trial after the lessons' kernels were built, and the next one."""
    settings = KernelSettings.default()
    base = settings.base
    source = source_of(settings.tree(base, None, settings.tarball(base).sha256))
    stock = ArmSpec("90-bench", "stock", instrumented=False)
    overlay.run("rm", "-rf", str(settings.store.folder / plan(stock, settings)))
    wanted = (("first", "two kernels", FIRST_TRY_S), ("next", "one kernel", NEXT_TRY_S))
    for number, (name, built, target_s) in enumerate(wanted):
        patch = bench.folder / f"{name}.patch"
        patch.write_text(patch_of(source, 2000 + number))
        seconds = tried(overlay, patch, bench.folder / "trials")
        parts = ", ".join(f"{s:.1f} s {phase}" for phase, s in seconds.items())
        yield Figure(
            NAME, f"{name} duet try of a patch of {FILE}", sum(seconds.values()), "s", target_s,
            note=f"With {built} to build and a command of 0.1 s, run 14 times ({RUN}): {parts}.",
        )  # fmt: skip


def tried(overlay: Overlay, patch: Path, trials: Path) -> dict[str, float]:
    """Run `duet try`; return the seconds of its phases.

    Raises:
        InfraError: the command failed.
    """
    words = (sys.executable, "-m", "duet", "try", str(patch), "--run", RUN)
    began = time.monotonic()
    with subprocess.Popen(
        overlay.words(words),
        env={**os.environ, "DUET_TRIALS": str(trials)},
        cwd=repo_root(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = [(time.monotonic() - began, line) for line in process.stdout]
    whole_s = time.monotonic() - began
    if process.returncode:
        raise InfraError(
            f"duet try failed with exit code {process.returncode}.",
            remedy="Read the detail.",
            detail="".join(line for _, line in lines)[-3000:],
        )
    return phases_of(lines, whole_s)


def phases_of(lines: Sequence[tuple[float, str]], whole_s: float) -> dict[str, float]:
    """Return the seconds of each phase of a trial, from its lines and their times."""
    found: dict[str, float] = {}
    since = 0.0
    for phase, ending in PHASES:
        at = next((time_s for time_s, line in lines if ending.match(line)), since)
        found[phase], since = at - since, at
    return {**found, LAST_PHASE: whole_s - since}


# Cold builds, beside virtme-ng's smallest configuration on the same source.


def _cold(bench: Bench) -> Iterator[Result]:
    """Yield the stored comparisons with virtme-ng, or measure them anew if COLD is set."""
    case = "cold builds beside virtme-ng"
    if os.environ.get(COLD) == "1":
        try:
            vng = find_vng()
        except DuetError as error:
            yield Skipped(NAME, case, f"{error.sentence} {error.remedy}")
            return
        ours = cold_ours(bench.folder / "ours")
        theirs = cold_vng(bench.folder / "vng", str(vng))
        store_cold(ours, theirs)
    if not STORED.is_file():
        yield Skipped(NAME, case, f"They take half an hour. Set {COLD}=1 to measure them.")
        return
    stored = json.loads(STORED.read_text())
    if any(stored["host"].get(fact) != host_fingerprint().get(fact) for fact in ("cpu", "cpus")):
        yield Skipped(
            NAME, case, f"The stored ones are of another machine. Set {COLD}=1 to measure them."
        )
        return
    ours, theirs = (Cold.read(stored[side]) for side in ("ours", "theirs"))
    yield from cold_rows(ours, theirs, stored["day"])


@dataclass(frozen=True, slots=True)
class Cold:
    """Turns of one side: a cold build, one with a changed file, and one without a change."""

    cold: Turn
    changed: Turn
    nothing: Turn
    objects: int

    @classmethod
    def read(cls, tree: Mapping[str, Any]) -> Cold:
        """Convert the result of asdict() back."""
        turns = {name: Turn(*tree[name]) for name in ("cold", "changed", "nothing")}
        return cls(**turns, objects=tree["objects"])


def store_cold(ours: Cold, theirs: Cold) -> None:
    """Store both sides with the date and the machine."""
    day = datetime.now(UTC).date().isoformat()
    tree = {"day": day, "host": host_fingerprint(), "ours": asdict(ours), "theirs": asdict(theirs)}
    STORED.write_text(json.dumps(tree, indent=1, ensure_ascii=False) + "\n")


def cold_rows(ours: Cold, theirs: Cold, day: str) -> Iterator[Row]:
    """Yield the three comparisons with virtme-ng."""
    note = (
        f"One pair, of {day}, because a cold build takes minutes ({COLD}=1 measures again). "
        "The same source, jobs and compiler, without ccache. The configurations differ: "
        f"{ours.objects:,} objects beside {theirs.objects:,} of vng --build --skip-modules, both "
        "with DWARF."
    )
    cases = (
        ("cold build", ours.cold, theirs.cold, COLD_TARGET),
        (f"one more kernel, {FILE} changed", ours.changed, theirs.changed, None),
        ("nothing to do", ours.nothing, theirs.nothing, None),
    )
    for case, mine, other, target in cases:
        yield row_of(
            NAME, case, "virtme-ng", [mine], [other],
            work=1, unit="kernels", target=target, note=note,
        )  # fmt: skip


def cold_ours(folder: Path) -> Cold:
    """Build a kernel without ccache: cold, then with a change, then with nothing to do."""
    known = KernelSettings.default()
    source = known.tarball(known.base).path
    settings = KernelSettings(folder, known.patches, source)
    conf = settings.beside("ccache", settings.base) / "ccache.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text("disable = true\n")
    stock = ArmSpec(settings.base.name, "stock")
    cold, objects = _built(stock, settings)
    patch = folder / "change.patch"
    tree = settings.tree(settings.base, None, settings.tarball(settings.base).sha256)
    patch.write_text(patch_of(source_of(tree), 1000))
    changed, _ = _built(ArmSpec(settings.base.name, "change", (patch,), folder), settings)
    words = (sys.executable, "-m", "duet", "build", "--base", settings.base.name)
    environment = {**os.environ, "DUET_CACHE": str(folder), "DUET_SOURCE": str(source)}
    _call(words, repo_root(), environment)  # the first call also hashes the source
    nothing = measured(lambda: _call(words, repo_root(), environment))
    return Cold(cold, changed, nothing, objects)


def _built(arm: ArmSpec, settings: KernelSettings) -> tuple[Turn, int]:
    """Build a kernel; return the time from the unpacked source to the link, and the objects."""
    began = Event()
    turns: list[Turn] = []

    def tell(progress: BuildProgress) -> None:
        if progress.phase is Phase.PATCH and not began.is_set():
            began.set()
            turns.append(_now())
        elif progress.phase is Phase.STORE and len(turns) == 1:
            turns.append(_now())

    (image,) = build([arm], settings, on_progress=tell)
    first, last = turns
    wall_s, cpu_s = last.wall_s - first.wall_s, last.cpu_s - first.cpu_s
    return Turn(wall_s, cpu_s), image.manifest.objects


def _now() -> Turn:
    """Return the current time, and the CPU time of this process and its ended children."""
    spent = os.times()
    cpu_s = spent.user + spent.system + spent.children_user + spent.children_system
    return Turn(time.monotonic(), cpu_s)


def cold_vng(folder: Path, vng: str) -> Cold:
    """Make the builds of cold_ours() with virtme-ng, in a separate tree."""
    unpack_for_vng(folder)
    words = (vng, "--build", "--skip-modules")
    cold = measured(lambda: _call(words, folder))
    source = (folder / FILE).read_text()
    (folder / "change.patch").write_text(patch_of(source, 1000))
    _call(("patch", "--strip=1", "--input=change.patch"), folder)
    changed = measured(lambda: _call(words, folder))
    nothing = measured(lambda: _call(words, folder))
    return Cold(cold, changed, nothing, objects_in(folder))


def unpack_for_vng(folder: Path) -> None:
    """Unpack the source of the default base."""
    settings = KernelSettings.default()
    folder.mkdir(parents=True)
    source = settings.tarball(settings.base).path
    _call(("tar", "--extract", "--file", str(source), "--strip-components=1"), folder)


def objects_in(folder: Path) -> int:
    """Count the compiled objects of a tree, by kbuild's records."""
    return sum(name.endswith(".o.cmd") for _, _, names in os.walk(folder) for name in names)


def _call(words: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Run a command.

    Raises:
        InfraError: the command failed.
    """
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_S,
    )
    if done.returncode:
        raise InfraError(
            f"{' '.join(words)} failed (exit code {done.returncode}).",
            remedy="Read the detail.",
            detail=(done.stdout + done.stderr)[-3000:],
        )


STAGE = Stage(NAME, "from a source to a kernel, and from a patch to a report", run, 50)
