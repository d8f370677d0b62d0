# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands in for duet.measure.reports until it lands: JSON and the plainest text."""

from __future__ import annotations

import json

from duet.measure import Report
from duet.measure.stats import summary

FORMATS = ("mail", "ministat", "lkp", "will-it-scale", "sweep", "json", "csv")


def render(report: Report, how: str) -> str:
    """JSON for `json`, else sentences."""
    rows, comparisons = [], []
    for table in report.tables:
        c = table.condition
        for s in table.series:
            x = summary(s.samples, c.clock)
            rows.append(
                {
                    "arm": s.arm, "metric": s.metric, "unit": s.unit, "better": s.better,
                    "median": x.median if x else None, "mean": x.mean if x else None,
                    "ci": x.ci if x else None, "n": s.n, "clock": str(c.clock),
                    "shift": c.shift, "params": c.params, "evidence": s.evidence,
                    "samples": s.samples, "perturbed": s.perturbed, "refused": s.refused,
                }
            )  # fmt: skip
        comparisons += [
            {
                "metric": x.metric, "arm": x.arm, "to": x.to, "ratio": x.ratio, "ci": x.ci,
                "range": x.range, "p": x.p, "verdict": x.verdict, "sentence": x.sentence,
                "shift": c.shift, "params": c.params,
            }
            for x in table.comparisons
        ]  # fmt: skip
    last = [c for c in comparisons if c["arm"] == report.arms[-1].name][:1]
    if how == "json":
        tree = {
            "lesson": report.lesson, "clock": str(report.tables[0].condition.clock),
            "rows": rows, "comparisons": comparisons, "partial": report.partial,
            "ratio": last[0]["ratio"] if last else None,
            "verdict": last[0]["verdict"] if last else None,
            "refusals": [r for t in report.tables for r in t.refusals],
            "command": report.command, "at": report.at, "host": report.host,
        }  # fmt: skip
        return json.dumps(tree, indent=2)
    lines = [f"{r['arm']} {r['metric']} {r['median']} {r['unit']} n={r['n']} "
             f"shift={r['shift']} {r['refused'] or ''}" for r in rows]  # fmt: skip
    return "\n".join([*lines, *(str(c["sentence"]) for c in comparisons)])
