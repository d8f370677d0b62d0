# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports for programs: JSON with documented keys, and CSV with every raw sample. Pure.

KEYS documents the JSON. A test checks that KEYS and the JSON agree.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import asdict

from duet.measure.compare import summary, warnings
from duet.measure.model import Comparison, Report, Series, Table
from duet.measure.spread import ratios, spread, spread_words
from duet.measure.verdicts import of_the_clock

SCHEMA_VERSION = 1
KEYS: dict[str, str] = {
    "schema_version": "1; rises when a key changes its meaning or goes",
    "lesson": "slug",
    "title": "of the lesson",
    "question": "of the lesson",
    "at": "when it began, ISO 8601, UTC",
    "command": "command line that repeats the measurement",
    "made_by": "command line that makes the lesson first; empty for a lesson of the checkout",
    "by": "version of Kernel Duet, and its commit",
    "programs": "{name: version} of the guest programs that the workload runs",
    "partial": "why it is incomplete; null if complete",
    "clock": "wall or count",
    "shift": "of the first condition: 2^shift ns per instruction; null on the wall clock",
    "workload": "name",
    "params": "knobs of the first condition; every row has its own",
    "sweep": "{param, values}; null if no knob was swept",
    "host": "fingerprint of the machine: cpu, cpus, memory_mib, os, kernel, qemu, accel",
    "arms": "[{name, title, role, kernel, key, config_sha256, patches, both, compiler, base, "
    "config, origins, source, tarball_sha256, settings}]; the first is the reference; "
    "patches and both are [[file, sha256 of its diff]]; origins has {subject, commit} for each of "
    "patches; source describes the source tree of a trial, "
    "{version, commit, describe, tree, dirty, changes, patches}, or null",
    "rows": "one per metric, arm and condition; the headline metric first",
    "rows.arm": "name",
    "rows.metric": "name; `title` is for people",
    "rows.title": "of the metric",
    "rows.unit": "of all its values",
    "rows.better": "higher, lower or neither",
    "rows.median": "over all starts; null without a number",
    "rows.mean": "over all starts; null without a number",
    "rows.stddev": "over all starts; null for fewer than two",
    "rows.ci": "[low, high], 95 % of the mean; null on the count clock",
    "rows.n": "runs of the default start; every sample of the wall clock",
    "rows.clock": "wall or count",
    "rows.shift": "null on the wall clock",
    "rows.sharing": "vCPUs that share the one thread of the count clock; null on the wall clock",
    "rows.params": "knobs",
    "rows.workload": "name",
    "rows.evidence": "measured (wall clock), counted (events or instructions), sampled (at the "
    "tick), static (DWARF)",
    "rows.samples": "of the default start, in the order of the runs",
    "rows.perturbed": "count clock: one per other start (seed)",
    "rows.extra": "true: shown, but no verdict is drawn from it",
    "rows.refused": "why there is no number, or none that may be used; else null",
    "rows.layouts": "{values, runs, low, high, low_ratio, high_ratio, part, noise, sentence} over "
    "relinked kernels; ratios are to the figure, part is half of the range as a share of the "
    "figure, noise the same for the default link's own runs; null without --layouts",
    "comparisons": "one per metric, arm and condition; the headline metric first",
    "comparisons.metric": "name",
    "comparisons.arm": "name",
    "comparisons.to": "name of the reference arm",
    "comparisons.ratio": "median over median of all starts; null if refused",
    "comparisons.change_percent": "-78.2 for a ratio of 0.218",
    "comparisons.ci": "[low, high], 95 % of the ratio (bootstrap); null on the count clock",
    "comparisons.range": "[lowest, highest] ratio over all starts; null without perturbed ones",
    "comparisons.layouts": "[lowest, highest] ratio of both arms in equal link order; null without",
    "comparisons.p": "Mann-Whitney U, two-sided; null on the count clock",
    "comparisons.verdict": "higher, lower, no difference proven, deterministic or refused",
    "comparisons.sentence": "the verdict in words, with better or worse",
    "comparisons.clock": "wall or count",
    "comparisons.shift": "null on the wall clock",
    "comparisons.sharing": "as in rows",
    "comparisons.params": "knobs",
    "ratio": "of the headline metric, last arm, first condition; null if refused",
    "verdict": "of that comparison; null if there is none",
    "sentence": "of that comparison; null if there is none",
    "warnings": "sentences on arms that differ by more than a patch (base, compiler), and on "
    "results that depend on the length of an instruction",
    "refusals": "sentences about whole conditions, e.g. a busy host",
    "errors": "[{arm, sentence, remedy, code}]: the error that stopped an arm",
    "counted": "[{arm, events, lost}] of counted runs, per condition",
    "hosts": "of each comparison on a pool: {comparison, table, layout, node, cpu, qemu, accel, "
    "kernels: {arm: sha256}, root, waited_share, again}; empty if all ran on this machine",
    "remarks": "sentences: hosts that were not mixed, options that a kernel lacks, a blind x-ray",
    "lines": "[{arm, params, shift, sharing, lines}]: the workload's output in untraced runs",
}
CSV_HEAD = (
    "lesson",
    "workload",
    "params",
    "clock",
    "shift",
    "arm",
    "metric",
    "unit",
    "better",
    "evidence",
    "kind",
    "run",
    "value",
    "refused",
    "host",
)


def json_text(report: Report) -> str:
    """Return the report as one JSON object. Numbers that JSON cannot represent become null."""
    return json.dumps(tree(report), indent=2, allow_nan=False) + "\n"


def tree(report: Report) -> dict[str, object]:
    """Return the JSON object as nested dicts and lists. Its keys are in KEYS."""
    first = report.tables[0] if report.tables else None
    condition = first.condition if first else None
    head = _headline(report)
    return {
        "schema_version": SCHEMA_VERSION,
        "lesson": report.lesson,
        "title": report.title,
        "question": report.question,
        "at": report.at,
        "command": report.command,
        "made_by": report.made_by,
        "by": report.by,
        "programs": dict(report.programs),
        "partial": report.partial,
        "clock": condition.clock if condition else None,
        "shift": condition.shift if condition else None,
        "workload": condition.workload if condition else None,
        "params": dict(condition.params) if condition else {},
        "sweep": {"param": report.sweep[0], "values": list(report.sweep[1])}
        if report.sweep
        else None,
        "host": dict(report.host),
        "arms": [asdict(arm) for arm in report.arms],
        "rows": [row(one, table) for table in report.tables for one in table.series],
        "comparisons": [
            _comparison(c, table) for table in report.tables for c in table.comparisons
        ],
        "ratio": _finite(head.ratio) if head else None,
        "verdict": head.verdict if head else None,
        "sentence": head.sentence if head else None,
        "warnings": [*warnings(report.arms), *of_the_clock(report)],
        "refusals": list(dict.fromkeys(r for table in report.tables for r in table.refusals)),
        "errors": [
            {"arm": arm, "sentence": e.sentence, "remedy": e.remedy, "code": e.code}
            for table in report.tables
            for arm, e in table.errors.items()
        ],
        "counted": [
            {"arm": arm, "events": events, "lost": lost}
            for table in report.tables
            for arm, (events, lost) in table.counted.items()
        ],
        "hosts": [asdict(one) for one in report.hosts],
        "remarks": list(report.remarks),
        "lines": [
            {"arm": arm, **_where(table), "lines": list(lines)}
            for table in report.tables
            for arm, lines in table.lines.items()
        ],
    }


def row(one: Series, table: Table) -> dict[str, object]:
    found = summary(one.starts, table.condition.clock)
    return {
        "arm": one.arm,
        "metric": one.metric,
        "title": one.title,
        "unit": one.unit,
        "better": one.better,
        "median": _finite(found.median) if found else None,
        "mean": _finite(found.mean) if found else None,
        "stddev": _finite(found.stddev) if found else None,
        "ci": _finite_pair(found.ci) if found else None,
        "n": one.n,
        "clock": table.condition.clock,
        **_where(table),
        "workload": table.condition.workload,
        "evidence": one.evidence,
        "samples": [_finite(v) for v in one.samples],
        "perturbed": [_finite(v) for v in one.perturbed],
        "extra": one.extra,
        "refused": one.refused,
        "layouts": _layouts(one),
    }


def _layouts(one: Series) -> dict[str, object] | None:
    found = spread(one)
    if found is None:
        return None
    low, high = found.ratios
    return {
        "values": [_finite(v) for v in found.values],
        "runs": found.runs,
        "low": _finite(found.low),
        "high": _finite(found.high),
        "low_ratio": _finite(low),
        "high_ratio": _finite(high),
        "part": _finite(found.part),
        "noise": _finite(found.noise),
        "sentence": spread_words(one),
    }


def csv_text(report: Report) -> str:
    """Return CSV with a line per sample. A series without samples gets a line with the reason."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for index, table in enumerate(report.tables):
        nodes = {one.layout: one.node for one in report.hosts if one.table == index}
        condition = table.condition
        knobs = " ".join(f"{name}={value}" for name, value in condition.params.items())
        shift = "" if condition.shift is None else condition.shift
        for one in table.series:
            start = [report.lesson, condition.workload, knobs, condition.clock, shift]
            start += [one.arm, one.metric, one.unit, one.better, one.evidence]
            for kind, number, value, layout in _samples(one):
                cells = [*start, kind, number, value, one.refused or "", nodes.get(layout, "")]
                writer.writerow([" ".join(c.split()) if isinstance(c, str) else c for c in cells])
    return out.getvalue()


def _samples(one: Series) -> Iterator[tuple[str, int | str, str, int]]:
    """Yield (kind, number, value, layout) for each sample of a series."""
    if not one.samples and not one.perturbed:
        yield "none", "", "", 0
    for kind, values in (("run", one.samples), ("perturbed", one.perturbed)):
        for number, value in enumerate(values, 1):
            yield kind, number, repr(value), 0
    for number, values in sorted(one.layouts.items()):
        for value in values:
            yield "layout", number, repr(value), number


def _headline(report: Report) -> Comparison | None:
    """Return the last arm's comparison for the first judged metric of the first condition."""
    found = report.tables[0].comparisons if report.tables else []
    return next((c for c in reversed(found) if c.metric == found[0].metric), None)


def _comparison(found: Comparison, table: Table) -> dict[str, object]:
    ours, theirs = table.of(found.metric, found.arm), table.of(found.metric, found.to)
    return {
        "metric": found.metric,
        "arm": found.arm,
        "to": found.to,
        "ratio": _finite(found.ratio),
        "change_percent": _finite(found.change_percent),
        "ci": _finite_pair(found.ci),
        "range": _finite_pair(found.range),
        "layouts": _finite_pair(ratios(ours, theirs) if ours and theirs else None),
        "p": _finite(found.p),
        "verdict": found.verdict,
        "sentence": found.sentence,
        "clock": table.condition.clock,
        **_where(table),
    }


def _where(table: Table) -> dict[str, object]:
    condition = table.condition
    sharing = condition.sharing if condition.clock == "count" else None
    return {"shift": condition.shift, "sharing": sharing, "params": dict(condition.params)}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _finite_pair(pair: tuple[float, float] | None) -> list[float | None] | None:
    return [_finite(v) for v in pair] if pair is not None else None
