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

from duet.guests import ensure_root
from duet.kernels import KernelSettings, build
from duet.kernels.arms import arm_spec
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Arm
from duet.trials.check.console import lines_of
from duet.trials.check.report import judge, run


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
            console = run(folder, image.bzimage, root, options.seconds)
            verdict = judge(folder, console)
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
