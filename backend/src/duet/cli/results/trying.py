# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet try` prints with `--json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class TriedArm:
    """One kernel of a trial."""

    arm: str
    about: str
    patches: Sequence[str]
    kernel: str
    key: str


@dataclass(frozen=True, slots=True)
class TryResult:
    """Of `duet try`."""

    trial: str
    lesson: str = key("slug")
    folder: str = key("what DUET_LESSONS is to name")
    command: str = key()
    clock: str = key()
    arms: Sequence[TriedArm] = key()
    functions: Sequence[str] = key()
    events: Sequence[str] = key()
    left_out: Sequence[str] = key(shape="[sentence]")
    recording: str | None = key("path, null with --no-trace")
    elapsed_ms: Mapping[str, float] = key("of the traced run", per="arm")
    measured: str | None = key("path, null with --no-measure")
    verdict: str | None = key()
    saved: str | None = key("path of --save-lesson")
    fields: Sequence[str] = key("that the patches add or move", shape="[struct.member]")
    watched: Sequence[str] = key("functions, by the microscope")
    proposed: Sequence[str] = key("events of the subsystem", shape="[argument of --trace]")
