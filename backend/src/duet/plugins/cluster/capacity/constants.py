# SPDX-License-Identifier: GPL-2.0-or-later
"""The constants of the capacity model. Each has a meaning, a command that measures it, and a
shipped figure.

The shipped figures were measured on the reference machine (REFERENCE). `low` and `high` are the
smallest and the largest result of the measurements that docs/CAPACITY.md names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from duet.base import files as durable
from duet.base.errors import InputError
from duet.base.settings import cache_dir

# A figure is a range with a low and a high value. Sums and products are ranges, too.


@dataclass(frozen=True, slots=True)
class Estimate:
    """A range from `low` to `high`. Neither may be below zero.

    Raises:
        ValueError: the ends are in the wrong order, or one is below zero.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise ValueError(f"not a range: {self.low} to {self.high}")

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Estimate | float) -> Estimate:
        by = other if isinstance(other, Estimate) else exactly(other)
        return Estimate(self.low * by.low, self.high * by.high)

    def over(self, divisor: float) -> Estimate:
        """Divide both ends by a positive number."""
        return Estimate(self.low / divisor, self.high / divisor)


def larger(one: Estimate, other: Estimate) -> Estimate:
    """Return an estimate with the larger of the two low ends and the larger of the two high
    ends."""
    return Estimate(max(one.low, other.low), max(one.high, other.high))


def exactly(value: float) -> Estimate:
    """Return a figure without a spread."""
    return Estimate(value, value)


def spanning(one: Estimate, other: Estimate) -> Estimate:
    """Return the range that covers both estimates."""
    return Estimate(min(one.low, other.low), max(one.high, other.high))


NOTHING = exactly(0.0)


REFERENCE: Final = "2 CPUs (Xeon, virtual), 24 GiB, guests under QEMU's emulation, November 2026"
SEGMENTS: Final = "make bench ARGS=segments"
VIEWERS: Final = "make bench ARGS=viewers"
FOLLOWERS: Final = "make bench ARGS=followers"
CLASS: Final = "make bench ARGS=class"
LANES: Final = "make bench ARGS=lanes"
POOL: Final = "make bench ARGS=pool"


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the model.

    Args:
        unit: unit of its figures. "CPU ms" is the busy time of one CPU.
        source: the command that measures it.
        what: its meaning, in words.
        shipped: the figure that was measured on the reference machine.
    """

    name: str
    unit: str
    source: str
    what: str
    shipped: Estimate


def _constants() -> Iterable[Constant]:
    def one(name: str, unit: str, source: str, low: float, high: float, what: str) -> Constant:
        return Constant(name, unit, source, what, Estimate(low, high))

    return (
        one("open_server", "CPU ms", SEGMENTS, 1.85, 3.0,
            "the server, for a page's socket: handshake, greeting, lesson, list of segments"),
        one("open_nginx", "CPU ms", SEGMENTS, 0.22, 0.4, "nginx, for the same"),
        one("open_bytes", "bytes", SEGMENTS, 196e3, 198e3, "sent for the same"),
        one("page_first_bytes", "bytes", SEGMENTS, 229e3, 231e3,
            "compressed size of the page: its document and the files that the document names"),
        one("page_all_bytes", "bytes", SEGMENTS, 881e3, 883e3,
            "the same with all scripts and styles that these files name"),
        one("segment_nginx", "CPU ms", SEGMENTS, 0.009, 0.047,
            "nginx, for a segment of 10 to 100 KB in its cache"),
        one("segment_server", "CPU ms", SEGMENTS, 0.4, 0.58,
            "the server, for a segment when no cache is in front of it"),
        one("live_segments_server", "CPU ms", SEGMENTS, 0.09, 0.17,
            "the server, per viewer and second of a live run whose segments come from a cache"),
        one("live_segments_nginx", "CPU ms", SEGMENTS, 0.1, 0.17, "nginx, for the same"),
        one("live_segments_bytes", "bytes", SEGMENTS, 0.16e6, 0.17e6, "sent for the same"),
        one("live_messages_bytes", "bytes", SEGMENTS, 1.14e6, 1.2e6,
            "sent per viewer and second of a live run by messages"),
        one("live_messages_server", "CPU ms", VIEWERS, 1.5, 2.3, "the server, for the same"),
        one("server_memory", "bytes", SEGMENTS, 148e6, 150e6, "of the server with one recording"),
        one("viewer_memory", "bytes", SEGMENTS, 70e3, 118e3, "of the server, for each socket"),
        one("place_server", "CPU ms", FOLLOWERS, 0.013, 0.047,
            "the server, to send one position of a class's driver to one follower"),
        one("place_bytes", "bytes", FOLLOWERS, 250, 260, "sent for the same"),
        one("lane_cores", "CPUs", CLASS, 0.36, 1.0,
            "used by the guest, decoding and the server for one lane while its run goes on"),
        one("lane_memory", "bytes", CLASS, 332e6, 700e6, "of the same, at its peak"),
        one("run_time", "s", CLASS, 6.0, 6.5, "how long a run occupies its slot"),
        one("copy_start", "ms", LANES, 117, 443,
            "from the request to the first event of a lane that is a copy of a parked guest"),
        one("boot_start", "ms", LANES, 1247, 2801, "the same for a lane that boots"),
        one("parked_memory", "bytes", LANES, 111e6, 125e6, "of a parked guest"),
        one("lease_first", "ms", POOL, 0.0, 9300,
            "extra time to the first event if a pool lease has to be reserved first"),
        one("lease_stands", "ms", POOL, 0.0, 1700, "extra time if the lease exists already"),
    )  # fmt: skip


CONSTANTS: Final[dict[str, Constant]] = {one.name: one for one in _constants()}


@dataclass(frozen=True, slots=True)
class Known:
    """A constant with the figure that this installation uses.

    Args:
        samples: number of samples measured on this installation. 0 means that the shipped figure is
            used.
        at: date of the last sample.
    """

    constant: Constant
    figure: Estimate
    samples: int = 0
    at: str = ""


Figures = dict[str, Known]


def shipped() -> Figures:
    """Return all constants with the reference machine's figures."""
    return {name: Known(one, one.shipped) for name, one in CONSTANTS.items()}


# capacity.json holds the constants that `make bench` measured on this installation.
#
# This file is in the cache folder. It records the date, load, program and machine of each sample.
# Different machines may share a home folder, so samples from other machines are ignored.


VERSION: Final = 1
NAME: Final = "capacity.json"
FILE_BYTES: Final = 1 << 20
"""Maximum size of the file. Usual size: 60 KB. A larger file is refused."""
SAMPLES: Final = 8
"""Samples kept per constant and machine. The oldest are dropped."""
MACHINES: Final = 8
FAR: Final = 1000.0
"""A value that is more than this many times below or above the shipped figure is implausible."""
Text = Annotated[str, Field(max_length=200)]


class Sample(BaseModel):
    """A measured value of one constant.

    Args:
        host: the machine, as runs.pack.recording_host describes it.
        load: the host's load at the end of the measurement.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text
    value: float = Field(gt=0, allow_inf_nan=False)
    at: date
    program: Text
    host: dict[Text, Text] = Field(max_length=8)
    load: float = Field(ge=0, allow_inf_nan=False)


class File(BaseModel):
    """The content of capacity.json."""

    model_config = ConfigDict(extra="forbid")

    version: int
    samples: list[Sample] = Field(max_length=SAMPLES * MACHINES * 64)


def constants_file() -> Path:
    return cache_dir() / NAME


def read(path: Path) -> list[Sample]:
    """Read the samples. Without a file, there are no samples.

    Raises:
        InputError: the file is damaged, has another version, or contains impossible values.
    """
    try:
        with path.open("rb") as file:
            text = file.read(FILE_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _refused(path, f"cannot be read ({error.strerror})") from None
    if len(text) > FILE_BYTES:
        raise _refused(path, f"is longer than {FILE_BYTES >> 20} MiB")
    try:
        found = File.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "its text"
        raise _refused(path, f"is damaged at {where:.60}: {first['msg']:.120}") from None
    if found.version != VERSION:
        raise _refused(path, f"has format {found.version}, but this version reads format {VERSION}")
    for sample in found.samples:
        if why := _impossible(sample):
            raise _refused(path, why)
    return found.samples


def _impossible(sample: Sample) -> str:
    constant = CONSTANTS.get(sample.name)
    if constant is None:
        return f"names {sample.name!r:.60}, which is not a constant"
    low, high = constant.shipped.low / FAR, constant.shipped.high * FAR
    if not low <= sample.value <= high:
        return f"gives {sample.name} as {sample.value:g} {constant.unit}, which is implausible"
    return ""


def _refused(path: Path, why: str) -> InputError:
    return InputError(
        f"the measured constants in {path} cannot be used: the file {why}.",
        remedy="Delete the file; then ./duet plan uses the shipped figures, and make bench "
        "measures again.",
    )


def record(
    path: Path, values: Mapping[str, float], host: Mapping[str, str], program: str, load: float
) -> int:
    """Add new measurements to the file, and return their number.

    Values that are not finite, not above zero, or implausible are left out. If two processes write
    at the same moment, the file stays valid, but only the later process's samples are kept.

    Raises:
        InputError: the existing file cannot be used.
        OSError: the file cannot be written.
    """
    today = datetime.now(UTC).date()
    new = [
        Sample(name=name, value=value, at=today, program=program, host=dict(host), load=load)
        for name, value in values.items()
        if math.isfinite(value) and value > 0
    ]
    new = [sample for sample in new if not _impossible(sample)]
    samples = bounded([*read(path), *new])
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = File(version=VERSION, samples=samples).model_dump_json(indent=1)
    durable.write(path, whole.encode() + b"\n")
    return len(new)


def bounded(samples: list[Sample]) -> list[Sample]:
    """Keep, in order, at most SAMPLES samples for each constant and each recent machine.

    The newest samples are kept. Recent machines are the MACHINES machines with the newest samples.
    """
    counts: dict[Any, int] = {}
    machines: dict[Any, None] = {}
    taken = []
    for sample in reversed(samples):
        machine = frozenset(sample.host.items())
        if machine not in machines and len(machines) == MACHINES:
            continue
        machines[machine] = None
        counts[sample.name, machine] = counts.get((sample.name, machine), 0) + 1
        if counts[sample.name, machine] <= SAMPLES:
            taken.append(sample)
    return taken[::-1]


def figures(samples: list[Sample], host: Mapping[str, str]) -> Figures:
    """Return every constant with the figure from this machine's samples, or with the shipped
    figure.

    A range extends from the smallest to the largest sample. A few samples do not show the full
    spread. So the range is widened until its relative width is at least that of the shipped range.
    """
    found = shipped()
    for name, known in found.items():
        own = [one for one in samples if one.name == name and same_machine(one.host, host)]
        if own:
            values = [one.value for one in own]
            figure = _widened(Estimate(min(values), max(values)), known.figure)
            last = max(one.at for one in own)
            found[name] = Known(known.constant, figure, len(own), last.isoformat())
    return found


def same_machine(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Do both hosts have the same CPUs and memory? Their kernels may differ."""
    return all(one.get(key) == other.get(key) for key in ("cpu", "cpus", "memory_gib"))


def _widened(own: Estimate, shipped: Estimate) -> Estimate:
    half = (shipped.high - shipped.low) / (shipped.high + shipped.low)
    middle = (own.low + own.high) / 2
    return Estimate(min(own.low, middle * (1 - half)), max(own.high, middle * (1 + half)))
