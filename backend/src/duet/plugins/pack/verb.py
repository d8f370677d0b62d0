# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet pack`: collect measurements, and all files that they need, for another host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.keys import keys_text
from duet.cli.options import Arms, ClockOption, Json, Set, Workload
from duet.cli.output import emit, note
from duet.lenses.scope.native import LEAST_CORES
from duet.plugins.pack.results import PackResult

KEYS = keys_text(PackResult)


def pack(
    lessons: Annotated[
        list[str],
        typer.Argument(help="Lessons, or trials of ./duet try, whose kernels are built."),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", help="FILE.tar, or a folder that does not exist."),
    ] = Path("kernel-duet-pack.tar"),
    arms: Arms = "",
    workload: Workload = "",
    clock: ClockOption = "",
    set: Set = None,
    as_json: Json = False,
) -> int:
    """Pack measurements for a host with nothing installed.

    A lesson's pack measures its published figures. With --arms, --workload, --clock or --set, it
    measures only that one condition. On the host, run tar xf FILE.tar, then run
    ./measure in the new folder.
    """
    from duet.plugins.pack.making import Asked, make_pack

    made = make_pack(lessons, output, Asked(arms, workload, clock, tuple(set or ())))
    if as_json:
        emit(made)
        return 0
    for words in made.left_out:
        note(f"left out: {words}.")
    print(f"{made.file}: {made.bytes / 2**20:.0f} MiB, {made.jobs} measurements, {made.runs} runs")
    for lesson in made.replicas:
        print(f"also the native replica of {lesson}, on a host of {LEAST_CORES} or more cores")
    return 0
