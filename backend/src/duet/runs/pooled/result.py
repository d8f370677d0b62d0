# SPDX-License-Identifier: GPL-2.0-or-later
"""What the program of a comparison gives, checked where it arrives.

It is one line of ASCII, so that it is found in a log that has other lines as well.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from duet.base.errors import DuetError, InfraError
from duet.confine.messages import error_from_json, error_to_json
from duet.measure import Table
from duet.measure.model import ArmFacts, Condition, Series
from duet.measure.plan import MAX_REPEATS, conditions
from duet.measure.run import Collector
from duet.runs.pooled.limits import RESULT_BYTES, UNPACKED_BYTES
from duet.runs.pooled.parts import Part
from duet.runs.pooled.request import VERSION, Name, Packet

MARK: Final = b"duet-comparison "
"""Before the result."""


class Odd(Exception):
    """What came is no result of the comparison that was asked for."""


Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Facts(Packet):
    """What a program saw of its host."""

    host: dict[Name, str] = Field(max_length=50)
    kernels: dict[Name, Digest] = Field(max_length=128)
    root: Digest
    waited_share: float | None = Field(default=None, ge=0, le=1)


class Counts(Packet):
    """A table as it travels: verdicts are drawn where all is together."""

    condition: Condition
    series: list[Series]
    lines: dict[str, list[str]]
    refusals: list[str]
    errors: dict[str, str]
    counted: dict[str, tuple[int, int]]


class Result(Packet):
    """What a comparison gave, or the failure that came before its first run."""

    version: Literal[1] = VERSION
    failure: str = ""
    facts: Facts | None = None
    arms: list[ArmFacts] = Field(default_factory=list)
    counts: Counts | None = None
    partial: str | None = None

    def error(self) -> DuetError | None:
        """The failure."""
        return error_from_json(self.failure.encode()) if self.failure else None

    def table(self) -> Table:
        """The table, without verdicts."""
        assert self.counts is not None
        counts = self.counts
        errors = {arm: error_from_json(text.encode()) for arm, text in counts.errors.items()}
        return Table(
            condition=counts.condition,
            series=counts.series,
            lines=counts.lines,
            refusals=counts.refusals,
            errors=errors,
            counted=counts.counted,
        )


def counts_of(table: Table) -> Counts:
    """A table as it travels."""
    return Counts(
        condition=table.condition,
        series=table.series,
        lines=table.lines,
        refusals=table.refusals,
        errors={arm: error_to_json(error).decode() for arm, error in table.errors.items()},
        counted=table.counted,
    )


def line_of(result: Result) -> bytes:
    """The line that a program writes.

    Raises:
        InfraError: it is longer than what a pool holds of a program.
    """
    text = result.model_dump_json(exclude_unset=False).encode()
    line = MARK + base64.b64encode(zlib.compress(text)) + b"\n"
    if len(line) > RESULT_BYTES or len(text) > UNPACKED_BYTES:
        raise InfraError(
            f"the result of a comparison has {len(line):,} bytes, and {RESULT_BYTES:,} at most go"
            " back from a host.",
            remedy="Ask for fewer --repeats.",
        )
    return line


def read_result(output: bytes, part: Part) -> Result:
    """The result in a program's output.

    Raises:
        Odd: there is none, or it is not of this comparison.
    """
    lines = [line for line in output.splitlines() if line.startswith(MARK)]
    if not lines:
        raise Odd("it gave no result")
    try:
        unpack = zlib.decompressobj()
        text = unpack.decompress(
            base64.b64decode(lines[-1][len(MARK) :], validate=True), UNPACKED_BYTES
        )
        if not unpack.eof:
            raise Odd("its result is cut off or too long")
        result = Result.model_validate_json(text)
    except (binascii.Error, zlib.error, ValidationError, ValueError):
        raise Odd("its result cannot be read; use the same version on all hosts") from None
    if not result.failure:
        _check(result, part)
    return result


def _check(result: Result, part: Part) -> None:
    """Whether it is one of what was asked for."""
    (condition,) = conditions(part.plan)
    blank = Collector(part.plan, condition, {}).table
    expected = [(one.metric, one.arm) for one in blank.series]
    if result.counts is None or result.facts is None or result.counts.condition != condition:
        raise Odd("its result is of another condition")
    series = result.counts.series
    if [(one.metric, one.arm) for one in series] != expected:
        raise Odd("its result has other metrics or arms; use the same lesson on all hosts")
    if tuple(arm.name for arm in result.arms) != part.plan.arms:
        raise Odd("its result is of other arms")
    booted = {*part.plan.arms}
    booted |= {f"{arm} link {part.layout}" for arm in part.plan.arms} if part.layout else set()
    if set(result.facts.kernels) != booted:
        raise Odd("its result does not say which kernels it ran")
    ran = any(one.samples or one.layouts for one in series if one.evidence != "static")
    if ran and not all(result.facts.host.get(name) for name in ("cpu", "qemu", "accel")):
        raise Odd("its result does not say what its host is")
    for one in series:
        found = [one.samples, one.perturbed, *one.layouts.values()]
        if any(len(each) > MAX_REPEATS or not all(map(math.isfinite, each)) for each in found):
            raise Odd(f"its result has no usable figures of {one.metric}")
        if set(one.layouts) - {part.layout}:
            raise Odd("its result has figures of other links")
