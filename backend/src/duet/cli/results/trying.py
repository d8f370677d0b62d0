# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet try` prints with `--json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duet.cli.results import keys
from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class TriedPatch:
    """One patch of a kernel of a trial."""

    subject: str
    sha256: str = key("of its diff")
    commit: str | None = key("null where none is named")
    link: str | None = key("of the mail")


@dataclass(frozen=True, slots=True)
class TriedSource:
    """The source tree of a kernel of a trial."""

    version: str
    commit: str | None = key("null: no repository")
    describe: str | None = key()
    tree: str = key("git's hash of all files")
    dirty: bool = key()
    changes: str | None = key("sha256 of the diff from the commit to the files")


@dataclass(frozen=True, slots=True)
class TriedArm:
    """One kernel of a trial."""

    arm: str
    about: str
    patches: Sequence[str]
    kernel: str
    key: str
    base: str | None = keys.key("null: the usual one")
    source: TriedSource | None = keys.key("null: the base is all there is to say")
    made_of: Sequence[TriedPatch] = keys.key()


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
    variables: Sequence[str] = key("global variables whose numbers the x-ray reads")
    watched: Sequence[str] = key("functions, by the microscope")
    shared: Mapping[str, Mapping[str, float]] = key(
        "with --watch: reads, writes and read-modify-writes of lines that CPUs share and write, "
        "for each call of the first watched function",
        per="arm",
    )
    proposed: Sequence[str] = key("events of the subsystem", shape="[argument of --trace]")
    given: str = key("what makes it again")
    check: str | None = key("what looks for mistakes of these kernels; null with --kernel")
    said: Sequence[str] = key("about what was read and built", shape="[sentence]")
