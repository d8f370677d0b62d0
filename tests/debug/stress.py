#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stress of each patched arm on a kernel that looks for its own mistakes (debug.config).

    .venv/bin/python -m tests.debug.stress [--seconds N] [--lesson L] [--arm A] [--results FILE]

Run by hand, not in CI: a debug kernel takes a quarter of an hour to compile and a run takes
minutes. Each arm boots on two vCPUs and runs its lesson's workloads in a loop, with reclaim
beside them. Then the whole console is read. One line an arm; exit code 1 if the kernel
complained anywhere, a workload failed, or the guest did not come to its end.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from dataclasses import replace
from pathlib import Path

from duet.guests import GuestRoot, ensure_root
from duet.kernels import KernelImage, KernelSettings, build
from duet.kernels.arms import arm_spec
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.plan import boot_cmdline
from duet.lessons.schema import Arm
from duet.trials.check.console import BESIDE, Verdict, lines_of
from duet.trials.check.console import judge as judge_console
from duet.trials.check.machine import boot
from duet.trials.check.program import first_program, turn
from duet.trials.check.table import script as stress_script

# Where a lesson's defaults are made for looking: a debug kernel is five to ten times as slow. Each
# of these is a turn of its own, so that one run meets the short paths and the long ones.
PARAMS: dict[str, tuple[dict[str, int], ...]] = {
    "01-shrinker-bitmaps": ({"n": 60, "touched": 20},),
    "02-grace-periods": ({"hogs": 6, "reclaim_ms": 5},),
    "03-inode-recycling": (
        {"batch": 1, "files": 512, "removed": 1500, "backlog": 1},
        {"batch": 32, "files": 1500, "removed": 3000, "backlog": 4},
        {"batch": 512, "files": 3000, "removed": 1500, "backlog": 2},
    ),
    "04-extent-shrinker": (
        {"delayed": 1500, "written": 400, "scans": 100, "fio_mb": 4, "verify": 1, "hot": 50},
        {"delayed": 300, "written": 800, "scans": 100, "fio_mb": 4, "verify": 1, "never_merge": 0},
    ),
    "05-cacheline-pingpong": (
        {"tasks": 6, "seconds": 3, "stats": 2000},
        {"tasks": 6, "seconds": 3, "stats": 2000, "name_length": 40, "entries": 0},
    ),
}
EXTRA: dict[str, str] = {
    "02-grace-periods": "mounts",
    "03-inode-recycling": "inodes",
    "04-extent-shrinker": "extents",
    "05-cacheline-pingpong": "names",
}
"""Script of duet.trials.check that runs beside the workloads, as one more loop."""
ALONE = {("04-extent-shrinker", "extents")}
"""Workloads that know what the shrinkers free, and stop when somebody else had them free it."""
WORK: dict[str, str] = {
    "containers": r"^containers: containers=(\d+)",
    "umounts": r"^storm: .*\bumounts=(\d+)",
    "inodes": r"^(?:recycle|removal): .*\bfiles=(\d+)",
    "scans": r"^extents: nr=.*\bscans=(\d+)",
    "entries freed": r"^extents: nr=.*\bfreed=(\d+)",
    "stats": r"^statstorm: run .*\bstats=(\d+)",
    **BESIDE,
}
"""What was done, from the workloads' own lines; summed up."""


def judge(console: str) -> Verdict:
    """Read a whole console."""
    return judge_console(console, WORK)


def script(folder: LessonFolder, seconds: int) -> str:
    """The first program of the guest: every workload in turn, until the time is over."""
    turns = [
        line
        for own in PARAMS.get(folder.slug, ({},))
        for name in folder.lesson.workloads
        for line in turn(folder, name, own, alone=(folder.slug, name) in ALONE)
    ]
    extra = EXTRA.get(folder.slug)
    return first_program(turns, {extra: stress_script(extra)} if extra else {}, seconds)


def run(folder: LessonFolder, image: KernelImage, root: GuestRoot, seconds: int) -> str:
    """Boot, wait for the end, give the whole console."""
    return boot(
        image.bzimage,
        root.image,
        script(folder, seconds),
        seconds=seconds,
        memory_mb=folder.lesson.memory_mb,
        options=boot_cmdline(folder.lesson, folder.check_params({}, "wall")),
    )


def chosen(folder: LessonFolder, names: list[str] | None) -> list[Arm]:
    """The patched arms of these names; without names, those that are not optional."""
    usual = folder.usual_arms
    return [arm for arm in folder.lesson.arms if arm.patches and arm.name in (names or usual)]


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description="Stress of the patched arms on debug kernels.")
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--lesson", choices=lessons.slugs())
    parser.add_argument("--arm", action="append", help="only this arm; may be repeated")
    parser.add_argument("--results", type=Path, help="append the result lines here, too")
    parser.add_argument("--consoles", type=Path, help="keep the consoles in this folder")
    parser.add_argument(
        "--beneath",
        type=Path,
        help="apply this patch before the arm's own ones;"
        " harmless header changes of another arm spare a compile of everything",
    )
    options = parser.parse_args()
    settings = KernelSettings.default(debug=True)
    root = asyncio.run(ensure_root())
    beneath = (options.beneath.resolve(),) if options.beneath else ()
    bad = 0
    for slug in [options.lesson] if options.lesson else lessons.slugs():
        folder = lessons.load(slug)
        for arm in chosen(folder, options.arm):
            patches = (*beneath, *folder.patch_files(arm.name))
            image = build([replace(arm_spec(folder, arm.name), patches=patches)], settings)[0]
            began = time.monotonic()
            console = run(folder, image, root, options.seconds)
            verdict = judge(console)
            bad += not verdict.clean
            line = (
                f"{slug} {arm.name} {image.key}: {'clean' if verdict.clean else 'NOT CLEAN'},"
                f" {options.seconds} s of stress ({time.monotonic() - began:.0f} s in all),"
                f" {verdict.rounds} rounds,"
                f"{''.join(f' {n} {what},' for what, n in verdict.work.items())}"
                f" {len(verdict.complaints)} complaints, {len(verdict.failures)} failures"
            )
            said = [*verdict.complaints[:5], *verdict.failures[:5]]
            if verdict.rounds is None:
                said += lines_of(console)[-20:]
            text = "\n".join([line, *(f"    {one}" for one in said)])
            print(text, flush=True)
            if options.results:
                with options.results.open("a") as results:
                    results.write(f"{time.strftime('%H:%M', time.gmtime())} {text}\n")
            if options.consoles:
                options.consoles.mkdir(parents=True, exist_ok=True)
                (options.consoles / f"{slug}-{arm.name}.txt").write_text(console)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
