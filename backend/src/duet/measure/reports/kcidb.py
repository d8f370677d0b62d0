# SPDX-License-Identifier: GPL-2.0-or-later
"""Convert a report to KCIDB, the format of KernelCI's database: checkouts, builds, tests. Pure.

The format is defined by the KCIDB schema, version 5.0 (https://github.com/kernelci/kcidb-io). The
schema forbids null values, so unknown values are left out.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from duet.base.errors import KernelError
from duet.measure.compare import warnings, worse_by
from duet.measure.model import ArmFacts, Report, Series, SourceFacts, Table

ORIGIN = "kernel_duet"
VERSION = {"major": 5, "minor": 0}
Tree = dict[str, Any]


def render(report: Report) -> str:
    """Return the report as a KCIDB document in JSON, without judging any test."""
    return text(report)


def text(report: Report, worse_than: float | None = None) -> str:
    """Return the report as a KCIDB document in JSON.

    Args:
        worse_than: limit in per cent. The test of an arm's headline metric is FAIL if the metric is
            worse than the first arm's by more than this, otherwise PASS. If the limit is None,
            tests have only numbers and are DONE.
    """
    return json.dumps(document(report, worse_than), indent=2, ensure_ascii=False) + "\n"


def document(report: Report, worse_than: float | None = None) -> Tree:
    """Return the KCIDB document as nested dicts and lists. `worse_than` is explained in text()."""
    checkouts = {_checkout_id(arm): _checkout(arm, report) for arm in report.arms}
    builds = {_build_id(arm): _build(arm) for arm in report.arms}
    arms = {arm.name: arm for arm in report.arms}
    tests: list[Tree] = []
    apart = warnings(list(report.arms))
    for number, table in enumerate(report.tables):
        for series in table.series:
            if series.arm in arms:
                tests.append(_test(report, number, series, arms[series.arm], worse_than))
        for name in (name for name in table.errors if name in arms):
            tests.append(_stopped(report, number, arms[name]))
    for test in tests if apart else ():
        test.setdefault("misc", {})["warnings"] = apart
    return {
        "version": VERSION,
        "checkouts": list(checkouts.values()),
        "builds": list(builds.values()),
        "tests": tests,
    }


def _checkout(arm: ArmFacts, report: Report) -> Tree:
    source = arm.source
    own = arm.patches[source.patches :] if source else arm.patches
    changes = [source.changes] if source and source.changes else []
    shas = [*changes, *(sha for _, sha in (*arm.both, *own))]
    tree: Tree = {
        "id": _checkout_id(arm),
        "origin": ORIGIN,
        "comment": f"{arm.title}: Linux {arm.kernel or arm.base}".strip(": "),
        **(_commit(source) if source else {}),
        "patchset_hash": _sha256("".join(f"{sha}\n" for sha in shas)) if shas else "",
        "start_time": report.at,
        "valid": True,
        "misc": {
            "base": arm.base,
            "patches": [name for name, _ in (*arm.both, *arm.patches)],
            "patchset_hash_of": "the diffs alone, without messages",
            "command": report.command,
            **({"made_by": report.made_by} if report.made_by else {}),
            **({"own_patches": _origins(arm)} if arm.origins else {}),
            **({"source": asdict(source)} if source else {}),
        },
    }
    if source and source.dirty and not changes:
        del tree["patchset_hash"]  # in the schema, a missing hash means unknown
    return tree


def _commit(source: SourceFacts) -> Tree:
    """Return the commit to which all patches apply. Uncommitted changes count as a patch."""
    named = {"git_commit_hash": source.commit, "git_commit_name": source.describe}
    return {key: value for key, value in named.items() if value}


def _origins(arm: ArmFacts) -> list[Tree]:
    """Return subject, diff hash and, if known, commit of each of the arm's own patches."""
    return [
        {"subject": one.subject, "sha256": sha, **({"commit": one.commit} if one.commit else {})}
        for one, (_, sha) in zip(arm.origins, arm.patches, strict=True)
    ]


def _build(arm: ArmFacts) -> Tree:
    return {
        "id": _build_id(arm),
        "checkout_id": _checkout_id(arm),
        "origin": ORIGIN,
        "architecture": "x86_64",
        **({"compiler": arm.compiler} if arm.compiler else {}),
        "config_name": "-".join(part for part in (arm.base, arm.config) if part) or "default",
        "status": "PASS",
        "misc": {"config_sha256": arm.config_sha256},
    }


def _test(
    report: Report, number: int, series: Series, arm: ArmFacts, worse_than: float | None
) -> Tree:
    table = report.tables[number]
    status, why = _status(report, table, series, worse_than)
    tree = _head(report, number, arm, series.metric)
    tree |= {"status": status, "comment": f"{series.title}, {arm.title}"}
    if series.samples:
        tree["number"] = {"value": series.figure, "unit": series.unit}
    misc: Tree = {"better": series.better, "evidence": series.evidence}
    misc["samples"] = list(series.samples)
    tree["misc"] = {**misc, **({"why": why} if why else {})}
    return tree


def _stopped(report: Report, number: int, arm: ArmFacts) -> Tree:
    """Return the test that reports an arm's failure."""
    error = report.tables[number].errors[arm.name]
    fault = "FAIL" if isinstance(error, KernelError) else "MISS"
    tree = _head(report, number, arm, "run")
    return tree | {"status": fault, "comment": error.sentence[:1000]}


def _status(
    report: Report, table: Table, series: Series, worse_than: float | None
) -> tuple[str, str]:
    """Return a test's status, and a sentence with the reason."""
    if series.refused is not None or not series.samples:
        return "ERROR", series.refused or "there is no number"
    first = report.arms[0].name
    headline = table.series[0].metric
    if series.arm == first or series.metric != headline:
        return "DONE", ""
    worse, why = worse_by(table, series.metric, (first, series.arm))
    if worse_than is None:
        return "DONE", why
    if worse is None:
        return "ERROR", why
    return ("FAIL" if worse > worse_than else "PASS"), why


def _head(report: Report, number: int, arm: ArmFacts, metric: str) -> Tree:
    condition = report.tables[number].condition
    count = condition.clock == "count"
    clock = "counted instructions" if count else "wall clock"
    unique = f"{report.at} {report.lesson} {number} {arm.name} {arm.key} {metric}"
    return {
        "id": f"{ORIGIN}:{_sha256(unique)[:32]}",
        "build_id": _build_id(arm),
        "origin": ORIGIN,
        "path": f"{ORIGIN}.{report.lesson}.{condition.workload}.{metric}",
        "start_time": report.at,
        "environment": {
            "comment": f"QEMU guest, {clock}",
            "misc": {**report.host, "params": dict(condition.params), **_hosts(report, number)},
        },
    }


def _hosts(report: Report, number: int) -> Tree:
    """Return the hosts of a table's comparisons if the table was measured on a pool."""
    found = [asdict(one) for one in report.hosts if one.table == number]
    known = [{key: value for key, value in one.items() if value is not None} for one in found]
    return {"hosts": known} if known else {}


def _checkout_id(arm: ArmFacts) -> str:
    source = arm.source
    own = arm.patches[source.patches :] if source else arm.patches
    tree = [source.tree] if source else []
    made_of = [arm.base, *tree, *(sha for _, sha in (*arm.both, *own))]
    return f"{ORIGIN}:{_sha256(' '.join(made_of))[:32]}"


def _build_id(arm: ArmFacts) -> str:
    """Return the build's id. It is the same on all machines for the same kernel and source."""
    return f"{_checkout_id(arm)}-{arm.key}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
