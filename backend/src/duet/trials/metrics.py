# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of a trial, as the lesson that is written has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duet.trials.spec import Trial, plain_name
from duet.trials.tracing import Tracing

Tree = dict[str, Any]
WATCHED = "watched"
"""The workload that runs under the microscope, which makes a guest slow."""
SHARED = {"reads": "reads", "writes": "writes", "rmws": "read-modify-writes"}
TICK_MS = 4.0
"""At which a kernel of TICK_CPU_ACCOUNTING and HZ=250 adds up user and system time."""
SAMPLED = ("user_ms", "system_ms")
SHARED_PREFIX = "shared_"
"""Of the names of their metrics."""


def trial_metrics(trial: Trial, tracing: Tracing) -> Tree:
    """The command's own number if one is known, its time, and each function's."""
    metrics: Tree = {}
    if (head := trial.headline) is not None:
        metrics["headline"] = {"title": head.title, "unit": head.unit, "better": head.better}
        metrics["headline"]["line"] = head.line
    for name, title, extra in (
        ("elapsed_ms", "time of the command", False),
        ("user_ms", "its time in user space, sampled", True),
        ("system_ms", "its time in the kernel, sampled", True),
    ):
        line = rf"^{trial.program}: .*\b{name}=(?P<value>[\d.]+)"
        metrics[name] = {"title": title, "unit": "ms", "better": "lower", "line": line}
        if extra:
            metrics[name] |= {"extra": True, "resolution": TICK_MS, "sampled": True}
    for function in tracing.functions:
        span = [function.key, f"{function.key}_ret"]
        some = {"arms": list(function.arms)} if function.arms else {}
        metrics[f"{function.key}_us"] = {
            **{"title": f"{function.name}(), mean", "unit": "us", "better": "lower"},
            **{"span": span, "scale": 0.001, "extra": True, **some},
        }
        metrics[f"{function.key}_calls"] = {
            **{"title": f"{function.name}()", "unit": "calls", "better": "neither"},
            **{"event": function.key, "extra": True, **some},
        }
    metrics |= _shared(tracing.watched) if tracing.watched else {}
    for field in tracing.fields:
        name = f"{field.struct}.{field.name}"
        where: Tree = {"title": f"{name} begins at", "unit": "bytes", "better": "neither"}
        where |= {"dwarf": f"offsetof struct {name}", "extra": True}
        where |= {"arms": list(field.arms)} if field.arms else {}
        metrics[plain_name(f"{field.struct}-{field.name}-at").replace("-", "_")] = where
    return metrics


def _shared(watched: Sequence[str]) -> Tree:
    """What the watched functions do to lines that can travel, for each call of the first."""
    metrics: Tree = {}
    for count, words in SHARED.items():
        title = f"{words} on lines that CPUs share and write"
        one: Tree = {"title": title, "unit": f"per {watched[0]}()", "better": "lower"}
        one |= {"microscope": {"count": count, "shared": True}, "workloads": [WATCHED]}
        metrics[f"{SHARED_PREFIX}{count}"] = one
    return metrics
