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
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from duet.guests import GuestRoot, ensure_root
from duet.kernels import KernelImage, KernelSettings, build
from duet.kernels.arms import arm_spec
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.plan import boot_cmdline, command
from duet.lessons.schema import Arm

HERE = Path(__file__).parent
ROUND_S = 8
"""How long a workload with an argument for seconds runs before the next one has its turn."""
BOOT_S = 600
"""Boot, the last round and the way down, on a busy host under emulation."""
MEMORY_MB = 2048
"""At least: KASAN's shadow is an eighth, its quarantine a 32nd, and freed memory is kept."""
DISK_MB = 1024

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
    "02-grace-periods": (HERE / "mounts.sh").read_text(),
    "03-inode-recycling": (HERE / "inodes.sh").read_text(),
    "04-extent-shrinker": (HERE / "extents.sh").read_text(),
    "05-cacheline-pingpong": (HERE / "names.sh").read_text(),
}
"""Shell that runs beside the workloads, as one more loop."""
ALONE = {("04-extent-shrinker", "extents")}
"""Workloads that know what the shrinkers free, and stop when somebody else had them free it."""
WORK: dict[str, str] = {
    "containers": r"^containers: containers=(\d+)",
    "umounts": r"^storm: .*\bumounts=(\d+)",
    "inodes": r"^(?:recycle|removal): .*\bfiles=(\d+)",
    "scans": r"^extents: nr=.*\bscans=(\d+)",
    "entries freed": r"^extents: nr=.*\bfreed=(\d+)",
    "stats": r"^statstorm: run .*\bstats=(\d+)",
    "rounds beside": r"^stress: beside=(\d+)",
}
"""What was done, from the workloads' own lines; summed up."""

# The kernel's own words when something is wrong; on printk lines alone, not on a program's.
COMPLAINT = re.compile(
    r"WARNING|\bBUG\b|KASAN:|lockdep|possible .*(?:lock|dependency|recursi)|suspicious RCU|Oops"
    r"|INFO: (?:task|rcu|trying)|DEADLOCK|ODEBUG|Corruption|general protection|Kernel panic"
    r"|refcount_t|Out of memory|oom-kill|Assertion failed"
)
HARMLESS = re.compile(r"MAX_LOCKDEP|RCU lockdep checking is enabled|lockdep size")
PRINTK = re.compile(r"^\[ *\d+\.\d+\] ?")


@dataclass(frozen=True)
class Verdict:
    """What one arm's console says."""

    complaints: tuple[str, ...]
    failures: tuple[str, ...]
    rounds: int | None
    """None: the guest did not come to its end."""
    work: dict[str, int]
    """By the names of WORK, what is not zero."""

    @property
    def clean(self) -> bool:
        """Nothing to complain of, and something was done."""
        return not self.complaints and not self.failures and bool(self.rounds)


def judge(console: str) -> Verdict:
    """Read a whole console."""
    lines = console.replace("\r", "").splitlines()
    printk = [line for line in lines if PRINTK.match(line)]
    complaints = [x for x in printk if COMPLAINT.search(x) and not HARMLESS.search(x)]
    ended = re.search(r"^stress: end rounds=(\d+)$", "\n".join(lines), re.MULTILINE)
    return Verdict(
        tuple(complaints),
        tuple(line for line in lines if line.startswith("stress: failed")),
        int(ended[1]) if ended else None,
        {what: n for what, pattern in WORK.items() if (n := _sum(pattern, lines))},
    )


def _sum(pattern: str, lines: list[str]) -> int:
    return sum(int(found[1]) for line in lines if (found := re.search(pattern, line)))


def script(folder: LessonFolder, seconds: int) -> str:
    """The first program of the guest: every workload in turn, until the time is over."""
    lesson = folder.lesson
    turns = [
        line
        for own in PARAMS.get(folder.slug, ({},))
        for name in lesson.workloads
        for line in _turn(folder, name, own)
    ]
    beside = EXTRA.get(folder.slug, "beside() { sleep 1; }\n")
    return f"""#!/bin/sh
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /scratch
mount -a
uptime_s() {{ cut -d. -f1 /proc/uptime; }}
memory() {{ grep -E '^(Slab|Percpu|KernelStack)' /proc/meminfo | tr -s ' \\n' ' '; }}
try() {{ "$@" || echo "stress: failed ($?): $*"; }}
reclaim() {{
	while [ ! -e /run/over ]; do
		[ -e /run/alone ] || echo 2 >/proc/sys/vm/drop_caches
		sleep 0.1
	done
}}
{beside}
over() {{ [ "$(uptime_s)" -ge "$end" ]; }}
loop_beside() {{
	times=0
	while [ ! -e /run/over ]; do
		beside || echo "stress: failed: beside"
		times=$((times + 1))
	done
	echo "stress: beside=$times"
}}
echo "stress: begin $(memory)"
end=$(($(uptime_s) + {seconds}))
reclaim & loop_beside &
rounds=0
while ! over; do
{"".join(f"	over || {line}" + chr(10) for line in turns)}	rounds=$((rounds + 1))
done
touch /run/over
wait
echo 3 >/proc/sys/vm/drop_caches
sleep 3
echo "stress: after $(memory)"
echo "stress: end rounds=$rounds"
poweroff -f
"""


def _turn(folder: LessonFolder, name: str, own: dict[str, int]) -> Iterator[str]:
    workload = folder.lesson.workloads[name]
    known = folder.lesson.params
    options = {"seconds": ROUND_S, **own} if "seconds" in known else own
    params = folder.check_params(options, "wall")
    for line in workload.setup:
        yield f"try {line.format(**params)}"
    for line in workload.writes:
        path, _, value = line.format(**params).partition(" ")
        yield f"echo {shlex.quote(value)} >{path}"
    alone = (folder.slug, name) in ALONE
    if alone:
        yield "{ touch /run/alone; sleep 2; }"
    yield f"try timeout 600 {command(workload, params)}"
    if alone:
        yield "rm /run/alone"


def archive(name: str, text: str) -> bytes:
    """A cpio archive (newc, as Documentation/driver-api/early-userspace has it) of one program."""

    def entry(name: str, mode: int, content: bytes) -> bytes:
        fields = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        return pad(head) + pad(content)

    def pad(part: bytes) -> bytes:
        return part + bytes(-len(part) % 4)

    return entry(name, 0o100755, text.encode()) + entry("TRAILER!!!", 0, b"")


def run(folder: LessonFolder, image: KernelImage, root: GuestRoot, seconds: int) -> str:
    """Boot, wait for the end, give the whole console."""
    lesson = folder.lesson
    defaults = folder.check_params({}, "wall")
    with tempfile.TemporaryDirectory(prefix="duet-stress-") as name:
        place = Path(name)
        whole = root.image.read_bytes()
        (place / "initrd").write_bytes(
            whole + bytes(-len(whole) % 4) + archive("stress", script(folder, seconds))
        )
        (place / "disk").touch()
        with (place / "disk").open("r+b") as disk:
            disk.truncate(DISK_MB << 20)
        # On a busy host a guest may take its TSC for ten times as slow, and be over too early.
        kernel = ["console=ttyS0", "tsc=unstable", "clocksource=hpet", "panic=-1", "oops=panic"]
        kernel += ["rdinit=/stress"]
        kernel += boot_cmdline(lesson, defaults)
        command_line = [
            *("nice", "-n", "10", "qemu-system-x86_64", "-nodefaults", "-no-reboot"),
            *("-display", "none", "-M", "q35", "-smp", "2", "-cpu", "max"),
            *("-m", str(max(MEMORY_MB, 2 * lesson.memory_mb)), "-accel", "tcg,thread=multi"),
            *("-kernel", str(image.bzimage), "-initrd", str(place / "initrd")),
            *("-append", " ".join(kernel), "-serial", f"file:{place / 'console'}"),
            *("-drive", f"file={place / 'disk'},format=raw,if=virtio,cache=unsafe"),
        ]
        with subprocess.Popen(command_line, stdin=subprocess.DEVNULL) as qemu:
            try:
                qemu.wait(seconds + BOOT_S)
            except subprocess.TimeoutExpired:
                print(f"  not over after {seconds + BOOT_S} s", file=sys.stderr)
            finally:
                qemu.kill()
        return (place / "console").read_text(errors="replace")


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
                said += console.splitlines()[-20:]
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
