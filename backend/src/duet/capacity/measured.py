# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of constants that `duet bench` measured on this installation, capacity.json.

It lies in the cache folder, with date, load, program and machine of each sample. A home folder may
be shared by unlike machines: samples of another machine count for nothing here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from duet import durable
from duet.capacity.constants import CONSTANTS, Figures, Known, shipped
from duet.capacity.estimate import Estimate
from duet.errors import InputError
from duet.settings import cache_dir

VERSION: Final = 1
NAME: Final = "capacity.json"
FILE_BYTES: Final = 1 << 20
"""Usual: 60 KB. A longer one is refused."""
SAMPLES: Final = 8
"""Of each constant and machine; the oldest go."""
MACHINES: Final = 8
FAR: Final = 1000.0
"""So many times less or more than the shipped figure is no measurement."""
Text = Annotated[str, Field(max_length=200)]


class Sample(BaseModel):
    """One measurement of one constant.

    Args:
        host: see runs.pack.host_fingerprint.
        load: of the host when it was over.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text
    value: float = Field(gt=0, allow_inf_nan=False)
    at: date
    program: Text
    host: dict[Text, Text] = Field(max_length=8)
    load: float = Field(ge=0, allow_inf_nan=False)


class File(BaseModel):
    """All of the file."""

    model_config = ConfigDict(extra="forbid")

    version: int
    samples: list[Sample] = Field(max_length=SAMPLES * MACHINES * 64)


def constants_file() -> Path:
    """Where it lies."""
    return cache_dir() / NAME


def read(path: Path) -> list[Sample]:
    """Its samples; none where there is no file.

    Raises:
        InputError: it is damaged, of another version, or says what cannot be.
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
        raise _refused(path, f"has format {found.version}, and this version reads {VERSION}")
    for sample in found.samples:
        if why := _impossible(sample):
            raise _refused(path, why)
    return found.samples


def _impossible(sample: Sample) -> str:
    constant = CONSTANTS.get(sample.name)
    if constant is None:
        return f"names {sample.name!r:.60}, which is no constant"
    low, high = constant.shipped.low / FAR, constant.shipped.high * FAR
    if not low <= sample.value <= high:
        return f"gives {sample.name} as {sample.value:g} {constant.unit}, which cannot be"
    return ""


def _refused(path: Path, why: str) -> InputError:
    return InputError(
        f"the measured constants in {path} cannot be used: the file {why}.",
        remedy="Delete that file; ./duet plan then has the shipped figures, and ./duet bench "
        "measures anew.",
    )


def record(
    path: Path, values: Mapping[str, float], host: Mapping[str, str], program: str, load: float
) -> int:
    """Put measurements of now into the file; gives how many.

    What is no number, not above zero, or far from everything that was seen is left out. Two that
    write in the same moment: the file is whole, and has the samples of the later one.

    Raises:
        InputError: the file that is there cannot be used.
        OSError: it cannot be written.
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
    """The newest SAMPLES of each constant on each of the newest MACHINES, in order."""
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
    """Every constant: from samples of this machine, else as shipped.

    From the smallest to the largest sample. A few of them show less than the whole spread, so the
    range is at least as wide, relative to its middle, as the shipped one.
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
    """The kernel may have been updated; CPUs and memory are the same."""
    return all(one.get(key) == other.get(key) for key in ("cpu", "cpus", "memory_gib"))


def _widened(own: Estimate, shipped: Estimate) -> Estimate:
    half = (shipped.high - shipped.low) / (shipped.high + shipped.low)
    middle = (own.low + own.high) / 2
    return Estimate(min(own.low, middle * (1 - half)), max(own.high, middle * (1 + half)))
