# SPDX-License-Identifier: GPL-2.0-or-later
"""Model of a bundle's manifest.json (FORMAT.md)."""

from __future__ import annotations

from struct import Struct
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from duet.base.errors import InputError

FORMAT: Literal[2] = 2
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
ArmName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Text = Annotated[str, Field(max_length=4000, pattern=r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$")]
"""String without control characters, because a recording's strings are printed on terminals."""
Knob = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,59}$")]
Whole = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Facts = Annotated[dict[Text, Text], Field(max_length=64)]


class Strict(BaseModel):
    """Base class of the models, which are frozen and reject unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Figures(Strict):
    """Metrics of a lane at the time of recording. A replay must compute exactly these values.

    Args:
        by: the version of Kernel Duet that computed the metrics.
        metrics: `as_dict` of session.Metrics, with `cycles` renamed to `grace_periods`, and
            `op_ns`.
        tallies: values of the lesson's counted metrics.
        tables: number of rows of each table.
        ops: number of operations that the workload counted.
        ops_per_s: operations per second that the workload reported.
        status: the workload's exit status.
    """

    by: Text = ""
    metrics: Annotated[dict[Text, JsonValue], Field(max_length=64)]
    tallies: Annotated[dict[Text, Number], Field(max_length=256)] = Field(default_factory=dict)
    tables: Annotated[dict[Text, Whole], Field(max_length=64)] = Field(default_factory=dict)
    ops: Whole | None = None
    ops_per_s: Number | None = None
    status: Whole | None = None


class Waited(Strict):
    """CPU seconds that a lane's vCPUs ran, and CPU seconds that they waited for a host CPU."""

    ran_s: Annotated[Number, Field(ge=0)]
    waited_s: Annotated[Number, Field(ge=0)]


class ArmEntry(Strict):
    """One lane of the recording.

    Args:
        kernel: the build's manifest, with package, tarball, patches and their checksums, and
            compiler.
        kernel_version: output of `uname -r`; '' if unknown.
        config_sha256: hash of the requested configuration options; '' if unknown.
        symbols: addresses of the kernel symbols that the lesson's rules use, so that a replay needs
            no System.map.
        loss: number of lost events (`events`) and of loss intervals (`intervals`), and the lost
            events by place ("ring buffer", "kprobe", "host").
        truncated: whether the end is missing because the run sent more data than a recording may
            contain.
        figures: None if the lane failed.
        contention: measured only on the wall clock; None if it was not measured.
        writes: what the guest wrote before the workload ('PATH VALUE'), in order.
    """

    name: ArmName
    title: Text
    role: Literal["before", "after", "alternative", "mainline"]
    patches: Annotated[tuple[Text, ...], Field(max_length=32)] = ()
    kernel: Annotated[dict[Text, JsonValue], Field(max_length=64)] = Field(default_factory=dict)
    kernel_version: Text = ""
    config_sha256: Sha256 | Literal[""] = ""
    symbols: Annotated[dict[Text, Whole], Field(max_length=4096)] = Field(default_factory=dict)
    loss: Annotated[dict[Text, Whole], Field(max_length=64)] = Field(default_factory=dict)
    truncated: bool = False
    figures: Figures | None = None
    contention: Waited | None = None
    writes: Annotated[tuple[Text, ...], Field(max_length=64)] = ()


def patches_of(entry: ArmEntry) -> dict[str, str]:
    """Return path -> SHA-256 of the diff for each patch of a lane's kernel, in order."""
    listed = entry.kernel.get("patches")
    found = listed if isinstance(listed, list) else []
    return {
        str(patch.get("path", ""))[:200]: str(patch.get("sha256", ""))[:64]
        for patch in found
        if isinstance(patch, dict)
    }


class Manifest(Strict):
    """Complete manifest of a recording.

    Args:
        shift: on the count clock each instruction takes 2^shift ns; 0 on the wall clock.
        seed: seed of the guest's random numbers. The seed makes a run repeatable only on the count
            clock.
        window_ms: duration to which each lane was trimmed, from its start marker; None if not
            trimmed.
        left_out: maps each failed lane, which is not in this recording, to the reason for the
            failure.
        sums: SHA-256 of each member; the writer fills in this map.
    """

    format: Literal[2] = FORMAT
    created: Annotated[Text, Field(max_length=40)]
    lesson: Annotated[str, Field(pattern=r"^\d{2}-[a-z0-9-]{1,60}$")]
    clock: Literal["wall", "count"]
    shift: Annotated[int, Field(ge=0, le=10)] = 0
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 1
    params: Annotated[dict[Knob, Whole], Field(max_length=64)]
    workload: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
    window_ms: Annotated[int, Field(ge=1, lt=1 << 31)] | None = None
    arms: Annotated[tuple[ArmEntry, ...], Field(min_length=1, max_length=9)]
    left_out: Facts = Field(default_factory=dict)
    host: Facts = Field(default_factory=dict)
    versions: Facts = Field(default_factory=dict)
    sums: Annotated[dict[str, Sha256], Field(max_length=64)] = Field(default_factory=dict)

    def arm(self, name: str) -> ArmEntry:
        """Return the lane with this name.

        Raises:
            InputError: the recording has no such lane.
        """
        for entry in self.arms:
            if entry.name == name:
                return entry
        raise InputError(
            f"the recording has no lane '{name:.60}'.",
            remedy=f"Choose from: {', '.join(entry.name for entry in self.arms)}.",
        )


# One record of a transcript.

CTL = -1
"""Stream number of the control port. The CPUs' streams are 0, 1, ..."""
LENS = -2
"""Stream number for the x-ray's samples and states. Each payload begins with RECORD_TIME."""
RECORD_TIME = Struct("<Q")
"""Guest time of a sample; 0 for a state."""


class Record(NamedTuple):
    """Bytes from one port. `host_ns` is the time since the start of the recording."""

    host_ns: int
    stream: int
    payload: bytes
