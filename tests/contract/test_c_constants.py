# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers that C and Python both need: the compiler says what C has, and Python has the same."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from duet.guests import limits
from duet.kernels import traceable as tracepoints
from duet.lenses import clock
from duet.lenses.scope import symbols as ranges
from duet.lenses.scope import wire as scope
from duet.session.program import MAX_ARGS, Act
from duet.session.reduce import OTHER, THREAD, OutTable, StopReason
from duet.session.tables import TABLES
from duet.session.trouble import DEADLINE
from duet.wire import frames, reader
from duet.wire import frames as pages

Values = Callable[[Sequence[str], Sequence[str]], list[int]]
LOOP, AGENT, SCOPE = "backend/src/duet/session/loop", "vm-images/agent", "vm-images/microscope"
RECORD_ENDS = {"pad": ("pad", 1), "pad2": ("watch", 4)}
"""Columns whose bytes the plugin uses for itself: name and width in C."""


@pytest.fixture
def c_values(root: Path, tmp_path: Path) -> Values:
    """c_values(includes, expressions): what integer expressions of C come to."""

    def values(includes: Sequence[str], expressions: Sequence[str]) -> list[int]:
        lines = ["#include <stddef.h>", "#include <stdio.h>"]
        lines += [f'#include "{root / name}"' for name in includes]
        lines += ["int main(void) {"]
        lines += [f'\tprintf("%lld\\n", (long long)({one}));' for one in expressions]
        (tmp_path / "values.c").write_text("\n".join([*lines, "\treturn 0;", "}", ""]))
        folders = [f"-I{(root / name).parent}" for name in includes]
        command = ["gcc", "-std=gnu11", *folders, "-c", "values.c", "-o", "values.o"]
        # Only what a program uses is linked: the other functions of an included file are not.
        command[2:2] = ["-ffunction-sections", "-fvisibility=hidden"]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
        link = ["gcc", "values.o", "-Wl,--gc-sections", "-o", "values"]
        subprocess.run(link, cwd=tmp_path, check=True, timeout=120)
        done = subprocess.run(
            [tmp_path / "values"], capture_output=True, text=True, check=True, timeout=60
        )
        return [int(line) for line in done.stdout.split()]

    return values


def test_the_line_of_an_agent_that_ends_a_workload(root: Path) -> None:
    assert f'"{DEADLINE}' in (root / AGENT / "run.c").read_text()


def test_cpus_of_a_guest(c_values: Values) -> None:
    (agent,) = c_values([f"{AGENT}/frame.h"], ["FRAME_MAX_CPUS"])
    (plugin,) = c_values([f"{SCOPE}/core.h"], ["CORE_MAX_VCPUS"])
    assert agent == limits.MAX_CPUS == clock.MAX_CPUS
    assert plugin == limits.MICROSCOPE_CPUS


def test_cpus_and_fields_that_a_recording_may_have(root: Path) -> None:
    """Frames and pages are refused at the same number, which is not below that of a guest."""
    folder = root / "backend/src/duet/decode"
    flags = subprocess.run(
        ["pkg-config", "--cflags", "libtraceevent"],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout.split()  # fmt: skip
    macros = subprocess.run(
        ["gcc", "-std=gnu11", *flags, "-dM", "-E", folder / "_pages.c"],
        capture_output=True, text=True, check=True, timeout=120,
    ).stdout.splitlines()  # fmt: skip
    assert f"#define MAX_CPUS {frames.MAX_CPUS}" in macros
    assert frames.MAX_CPUS >= limits.MAX_CPUS
    assert f"#define MAX_FIELDS {tracepoints.MOST_COLUMNS}" in macros


def test_bytes_of_frames_and_pages(c_values: Values) -> None:
    found = c_values(
        [f"{AGENT}/frame.h", f"{AGENT}/drain.h"],
        ["FRAME_MAGIC", "FRAME_MAX_PAYLOAD", "sizeof(struct frame_header)", "DRAIN_PAGE_BYTES"],
    )
    assert found == [reader.MAGIC, reader.MAX_PAYLOAD, reader.HEADER.size, pages.PAGE_BYTES]


def test_enums_and_columns_of_the_loop(c_values: Values) -> None:
    acts = [act.name for act in Act]
    why = {"NO_MEMORY": StopReason.NO_MEMORY, "ALL_DONE": StopReason.DONE}
    why |= {
        one.name: one
        for one in (StopReason.START, StopReason.PLACE, StopReason.LOST, StopReason.NAMED)
    }
    out = {("STILL_OPEN" if one is OutTable.OPEN else one.name): one for one in OutTable}
    names = ["MAX_ARGS", *acts, *why, *out, "NTABLES", "ROLE_THREAD", "ROLE_OTHER"]
    expected = [
        MAX_ARGS,
        *map(int, Act),
        *why.values(),
        *out.values(),
        len(OutTable),
        THREAD,
        OTHER,
    ]
    assert len(why) == len(StopReason)
    assert c_values([f"{LOOP}/reduce.h"], names) == expected


def test_widths_of_the_loops_columns(c_values: Values) -> None:
    """A column that is read with another width gives other numbers, and no error."""
    dtypes = {
        out: list(TABLES[out.name.lower()].values())
        for out in (
            *(OutTable.SPANS, OutTable.OPS, OutTable.LINKS, OutTable.OPEN, OutTable.POINTS),
        )
    }
    (most,) = c_values([f"{LOOP}/reduce.h"], ["MAX_COLUMNS"])
    cells = [f"widths[{int(out)}][{place}]" for out in dtypes for place in range(most)]
    found = c_values([f"{LOOP}/program.c"], cells)
    for place, kinds in enumerate(dtypes.values()):
        widths = [np.dtype(kind).itemsize for kind in kinds]
        padded = widths + [0] * (most - len(widths))
        assert found[place * most : (place + 1) * most] == padded


def test_the_microscopes_numbers(c_values: Values) -> None:
    names = ["FRAME_PROTOCOL", "CORE_MAX_WATCH", "CORE_MAX_LOG", "FUNCTIONS_MAX"]
    names += ["ACCESS_READ", "ACCESS_WRITE", "ACCESS_RMW"]
    found = c_values([f"{SCOPE}/{name}.h" for name in ("core", "frame", "functions")], names)
    assert found == [
        *(scope.PROTOCOL, scope.MAX_WATCH_BYTES, scope.MAX_LOG, ranges.MAX_FUNCTIONS),
        *(scope.READ, scope.WRITE, scope.RMW),
    ]


def test_a_record_of_the_microscope_lies_where_python_reads_it(c_values: Values) -> None:
    fields, expected = ["sizeof(Record)"], [scope.RECORD.itemsize]
    for name, (kind, offset, *_) in (scope.RECORD.fields or {}).items():
        own, width = RECORD_ENDS.get(name, (name, kind.itemsize))
        fields += [f"offsetof(Record, {own})", f"sizeof(((Record *)0)->{own})"]
        expected += [offset, width]
    assert c_values([f"{SCOPE}/core.h"], fields) == expected
