# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of the `--json` output of `duet measure`: for a lesson, --published and --check-hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duet.cli.keys import key


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One metric of one arm under one condition."""

    arm: str
    metric: str
    title: str
    unit: str
    better: str
    median: float | None
    mean: float | None
    stddev: float | None
    ci: Sequence[float | None] | None
    n: int
    clock: str
    shift: int | None
    sharing: int | None
    params: Mapping[str, int]
    workload: str
    evidence: str
    samples: Sequence[float | None]
    perturbed: Sequence[float | None]
    extra: bool
    refused: str | None
    layouts: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class MeasuredComparison:
    """Comparison of one metric between two arms."""

    metric: str
    arm: str
    to: str
    ratio: float | None
    change_percent: float | None
    ci: Sequence[float | None] | None
    range: Sequence[float | None] | None
    layouts: Sequence[float | None] | None
    p: float | None
    verdict: str
    sentence: str
    clock: str
    shift: int | None
    sharing: int | None
    params: Mapping[str, int]


_ARM = (
    "[{name, title, role, kernel, key, config_sha256, patches, both, compiler, base, config, "
    "origins: [{subject, commit}], source: {version, commit, describe, tree, dirty, changes, "
    "patches} or null}]"
)


_HOST = (
    "[{comparison, table, layout, node, cpu, qemu, accel, kernels: {arm: sha256}, root, "
    "waited_share, again}]"
)


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """Written by measure/reports/machine.py."""

    schema_version: int
    lesson: str
    title: str
    question: str
    at: str
    command: str
    made_by: str = key("command line that creates the lesson of a trial, or empty")
    by: str = key("version of Kernel Duet, and its commit")
    programs: Mapping[str, str] = key("of the guests, which the workload runs", "{name: version}")
    partial: str | None = key("null, or why it is incomplete")
    clock: str | None = key()
    shift: int | None = key()
    workload: str | None = key()
    params: Mapping[str, int] = key()
    sweep: Mapping[str, object] | None = key(shape="{param, values}")
    host: Mapping[str, str] = key()
    arms: Sequence[Mapping[str, object]] = key(shape=_ARM)
    rows: Sequence[MeasuredRow] = key()
    comparisons: Sequence[MeasuredComparison] = key()
    ratio: float | None = key()
    verdict: str | None = key()
    sentence: str | None = key("ratio to sentence: of the first metric, last arm against first")
    warnings: Sequence[str] = key()
    refusals: Sequence[str] = key()
    errors: Sequence[Mapping[str, object]] = key(shape="[{arm, sentence, remedy, code}]")
    counted: Sequence[Mapping[str, object]] = key(shape="[{arm, events, lost}]")
    hosts: Sequence[Mapping[str, object]] = key(shape=_HOST)
    remarks: Sequence[str] = key("about hosts of a pool, or kernels of a trial")
    lines: Sequence[Mapping[str, object]] = key(shape="[{arm, shift, params, lines}]")


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A figure from a mail, and the figure that was measured here."""

    lesson: str
    claim: str
    mail: str
    value: float
    base: float | None
    unit: str
    context: str
    link: str | None
    mail_ratio: float | None
    mail_interval: Sequence[float] | None
    exponent: float | None
    ratio: float | None
    arm: str | None
    to: str | None
    metric: str | None
    clock: str | None
    shift: int | None
    n: int
    interval: Sequence[float] | None
    verdict: str
    words: str
    times: float | None
    because: str
    on: str


@dataclass(frozen=True, slots=True)
class PublishedResult:
    rows: Sequence[PublishedRow]
    counts: Mapping[str, int] = key(shape="{verdict: rows}")
    mails: Mapping[str, Mapping[str, Mapping[str, object]]] = key(
        shape="{lesson: {link: {author, date, subject, url}}}"
    )
    rule: str = key()
    skipped: Mapping[str, str] = key(shape="{lesson: why}")
    host: Mapping[str, str] = key()
    kernels: Mapping[str, Sequence[Mapping[str, object]]] = key(
        shape="{lesson: [arm, as in measure]}"
    )
    seconds: float = key()
    partial: str | None = key()


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A figure of the same run on two hosts."""

    arm: str
    metric: str
    unit: str
    run: str
    values: Sequence[float | None]
    equal: bool


@dataclass(frozen=True, slots=True)
class ComparedHosts:
    """The same comparison on two hosts."""

    comparison: str
    nodes: Sequence[str]
    equal: bool
    trouble: Sequence[str] = key("why figures are not compared")
    figures: Sequence[ComparedFigure] = key()


@dataclass(frozen=True, slots=True)
class AgreementResult:
    equal: bool = key("bool")
    sentence: str = key()
    comparisons: Sequence[ComparedHosts] = key()
