# SPDX-License-Identifier: GPL-2.0-or-later
"""The first program of a guest under stress: workloads in turn, others beside them, reclaim.

Everything that is found goes to the console, in lines that `console.py` reads.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from duet.lessons.load import LessonFolder
from duet.lessons.plan import command

ROUND_S = 8
"""How long a workload with an argument for seconds runs before the next one has its turn."""
BEGUN = "stress: begin "
TURN_S = 600
"""One that takes longer is ended, and has failed."""
FRAME = """#!/bin/sh
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /scratch
mount -a
uptime_s() {{ cut -d. -f1 /proc/uptime; }}
memory() {{ grep -E '^(Slab|Percpu|KernelStack)' /proc/meminfo | tr -s ' \\n' ' '; }}
try() {{ "$@" || echo "stress: failed ($?): $*"; }}
stressors() {{
	timeout {turn_s} stress-ng --temp-path /tmp --timeout {round_s} "$@" >/run/said 2>&1
	code=$?
	case $code in 0|3|4) return ;; esac # 3, 4: no memory for it, or not for this kernel
	echo "stress: failed ($code): stress-ng $*"
	tail -n 5 /run/said
}}
reclaim() {{
	while [ ! -e /run/over ]; do
		[ -e /run/alone ] || echo 2 >/proc/sys/vm/drop_caches
		sleep 0.1
	done
}}
over() {{ [ "$(uptime_s)" -ge "$end" ]; }}
loop_beside() {{
	times=0
	while [ ! -e /run/over ]; do
		beside || echo "stress: failed: $1"
		times=$((times + 1))
	done
	echo "stress: beside=$times"
}}
echo "stress: begin $(memory)"
end=$(($(uptime_s) + {seconds}))
reclaim &
{beside}rounds=0
while ! over; do
{turns}	rounds=$((rounds + 1))
done
touch /run/over
wait
echo 3 >/proc/sys/vm/drop_caches
sleep 3
echo "stress: after $(memory)"
echo "stress: end rounds=$rounds"
poweroff -f
"""


def first_program(turns: Sequence[str], beside: Mapping[str, str], seconds: int) -> str:
    """A shell script.

    Args:
        turns: lines, one after another until the time is over; `try` and `stressors` are known.
        beside: name -> shell text with a function `beside` that is called in a loop meanwhile;
            its files in /run go to /run/NAME.
        seconds: after which no further turn begins.
    """
    loops = "".join(_loop(name, text) for name, text in beside.items())
    lines = [f"	over || {line}\n" for line in turns or ["sleep 1"]]
    return FRAME.format(
        turns="".join(lines), beside=loops, seconds=seconds, turn_s=TURN_S, round_s=ROUND_S
    )


def has_begun(console: str) -> bool:
    """Whether the guest has booted: its first program ran."""
    return BEGUN in console


def _loop(name: str, text: str) -> str:
    """One script beside, in a shell and a folder of its own: images and mounts have equal names."""
    own = text.replace("/run/", f"/run/{name}/")
    return f"mkdir -p /run/{name}\n(\n{own}\nloop_beside {name}\n) &\n"


def turn(
    folder: LessonFolder, name: str, own: Mapping[str, int], *, alone: bool = False
) -> Iterator[str]:
    """The lines of one workload of a lesson.

    Args:
        own: knobs; `seconds` is ROUND_S unless given.
        alone: nobody else reclaims meanwhile.

    Raises:
        InputError: a knob that the lesson does not have.
    """
    workload = folder.lesson.workloads[name]
    known = folder.lesson.params
    options = {"seconds": ROUND_S, **own} if "seconds" in known else dict(own)
    params = folder.check_params(options, "wall")
    for line in workload.setup:
        yield f"try {line.format(**params)}"
    for line in workload.writes:
        path, _, value = line.format(**params).partition(" ")
        yield f"echo {shlex.quote(value)} >{path}"
    if alone:
        yield "{ touch /run/alone; sleep 2; }"
    yield f"try timeout {TURN_S} {command(workload, params)}"
    if alone:
        yield "rm /run/alone"
