# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture that decode, reduce and open use: one real run with the events of all lessons.

The product's own recording code makes it once, and it stays in the cache. One guest with two vCPUs
runs Linux 6.1 with the instrumentation of all lessons and SRCU for shrinkers. Its workload is the
lessons' own programs and four stressors of stress-ng (guests/mix.sh), which cause at least a
million events. All probes that the lessons have on that kernel are enabled, and so are sched_switch
and sched_waking for all tasks. The events wait in ring buffers of BUFFER_KB, so that a slow host
loses none.

The capture's lesson (guests/union.py) has the kinds, spans, tracks, links and points of all
lessons. So the capture can be reduced, too. A smoke run uses a shipped recording of lesson 02
instead.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from duet.base.errors import InfraError
from duet.base.settings import EXTRA_LESSONS, cache_dir, repo_root
from duet.cli.arguments import environment_variable
from duet.cli.output import note
from duet.lessons.load import LessonFolder, load
from tools.bench.speed.guests.union import (
    ARM,
    SLUG,
    both_patches,
    lesson_tree,
    trace_tree,
    write_union,
)
from tools.bench.speed.pairs import Bench

if TYPE_CHECKING:
    from duet.kernels import KernelSettings

EVENTS = 1_000_000
ROUNDS = 3
BUFFER_KB = 128 << 10
"""Size of each CPU's ring buffer. A whole run writes 140 MB on two CPUs."""
KEPT = "capture"
SMOKE = ("02-grace-periods", "9-hogs", "srcu")
"""Lesson, recording and arm of a smoke bench."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A recorded lane.

    Args:
        path: the .duet file.
        events: events in the lane's pages.
        trace_dat: the same pages as `duet export --to trace.dat` writes them.
        slug: lesson to decode and reduce it with.
        root: folder with lessons/ and kernel-patches/ that has this lesson.
    """

    path: Path
    arm: str
    events: int
    trace_dat: Path
    slug: str
    root: Path

    def folder(self) -> LessonFolder:
        """Load the lesson."""
        return load(self.slug, self.root)


def capture(bench: Bench) -> Capture:
    """Return the capture. If it is missing, make it, which takes a guest and some minutes.

    Raises:
        InfraError: no kernel of the lessons is built, or the run lost events or had too few.
    """
    if bench.smoke:
        return _smoke(bench.folder)
    root = cache_dir() / "bench"
    kept = root / KEPT
    facts = kept / "facts.json"
    if not facts.is_file() or json.loads(facts.read_text())["inputs"] != _inputs():
        kept.mkdir(parents=True, exist_ok=True)
        facts.unlink(missing_ok=True)
        _make(root, kept)
    return Capture(
        kept / "all.duet",
        ARM,
        json.loads(facts.read_text())["events"],
        kept / "all.dat",
        SLUG,
        root,
    )


def _smoke(folder: Path) -> Capture:
    slug, name, arm = SMOKE
    path = repo_root() / "lessons" / slug / "recorded" / f"{name}.duet"
    dat = folder / f"{name}.dat"
    return Capture(path, arm, _export(path, arm, dat), dat, slug, repo_root())


def _export(path: Path, arm: str, dat: Path) -> int:
    """Write one lane as trace.dat, and return the number of its events.

    Raises:
        InfraError: the workload failed.
    """
    from duet.bundle import open_bundle
    from duet.bundle.reader import read_lane
    from duet.export.tracedat import write

    bundle = open_bundle(path)
    lane = read_lane(bundle, arm)
    if lane.status:
        said = " ".join(line.text for line in lane.lines[-1:])
        raise InfraError(
            f"the capture's workload ended with {lane.status}: {said}",
            remedy="Correct tools/bench/speed/guests/mix.sh.",
        )
    entry = next(one for one in bundle.manifest.arms if one.name == arm)
    with dat.open("wb") as file:
        write(file, entry, lane)
    events = 0
    for part in lane.decoded(lane.decoder()):
        events += sum(len(table) for table in part.tables.values())
    return events


def _inputs() -> str:
    """Return a digest of what the capture depends on: the lesson, its patches and programs."""
    trees = json.dumps([lesson_tree(), trace_tree(), ROUNDS, BUFFER_KB])
    digest = hashlib.sha256(trees.encode())
    mix = Path(__file__).with_name("guests") / "mix.sh"
    programs = sorted(repo_root().glob("lessons/[0-9]*/workload/*.[ch]"))
    for path in (*both_patches(), *programs, mix):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _make(root: Path, kept: Path) -> None:
    """Record the run, export it, and store its facts."""
    write_union(root)
    with lessons_below(root):
        lost = asyncio.run(_record(root, kept / "all.duet"))
    if lost:
        raise InfraError(
            f"the guest lost {lost:,} events while the capture was recorded.",
            remedy="Try again on a quieter machine.",
        )
    events = _export(kept / "all.duet", ARM, kept / "all.dat")
    if events < EVENTS:
        raise InfraError(
            f"the capture has {events:,} events, fewer than {EVENTS:,}.",
            remedy="Raise ROUNDS in tools/bench/speed/capture.py.",
        )
    facts = {"inputs": _inputs(), "events": events}
    (kept / "facts.json").write_text(json.dumps(facts))


async def _record(root: Path, path: Path) -> int:
    """Record the run as `duet record --whole` does, and return how many written events were lost.

    Raises:
        InfraError: no kernel of the lessons is built.
    """
    from duet.cli.building import build_missing
    from duet.cli.recording import record_run
    from duet.kernels import KernelSettings
    from duet.kernels.arms import arm_spec
    from duet.session.spec import check_run

    kernels = KernelSettings.default()
    need_kernels(kernels)
    folder = load(SLUG, root)
    await asyncio.to_thread(build_missing, [arm_spec(folder, ARM)], kernels)
    spec = check_run(folder, [ARM], None, "wall", {"rounds": ROUNDS, "vcpus": 2})
    note(f"recording a capture of {EVENTS:,} events, once, for the benchmark")
    lanes, _ = await record_run(replace(spec, buffer_kb=BUFFER_KB), path, None, kernels)
    # A kprobe that hits inside another kprobe's handler makes no event, so none was lost.
    lost = [lane.lost_by_place for lane in lanes.values()]
    return sum(sum(one.values()) - one.get("kprobe", 0) for one in lost)


def need_kernels(kernels: KernelSettings) -> None:
    """Check that the stock kernel of lesson 02 is built; one more arm then builds in minutes.

    Raises:
        InfraError: the kernel is not built.
    """
    from duet.kernels.arms import find_image

    find_image(load(SMOKE[0], repo_root()), "rwsem", kernels)


@contextmanager
def lessons_below(root: Path) -> Iterator[None]:
    """Add `root` to DUET_LESSONS, so that guests get the programs of its lessons."""
    given = os.environ.get(EXTRA_LESSONS, "")
    with environment_variable(EXTRA_LESSONS, f"{root}:{given}" if given else str(root)):
        yield
