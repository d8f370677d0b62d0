# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines of a plan a template holds, and which each copy gets by itself. Pure."""

from __future__ import annotations

AMENDABLE = ("write ", "run ", "deadline_ms ")
"""What the agent takes from RESUME (vm-images/agent/plan.c: is_amendment)."""
CHECK = "duet-check"
"""Its program in the guest says whether a copy is sound; see vm-images/root."""


def split_plan(plan: str) -> tuple[str, str]:
    """(what is set up once, what each copy gets); knobs of a workload change the second alone."""
    lines = plan.splitlines(keepends=True)
    base = "".join(line for line in lines if not line.startswith(AMENDABLE))
    return base, "".join(line for line in lines if line.startswith(AMENDABLE))


def parked_plan(plan: str) -> str:
    """What the template itself is set up with: a plan needs a workload, which never starts."""
    return f"{split_plan(plan)[0]}run {CHECK}\n"


def check_amendment() -> str:
    """The copy that is made to be checked runs this."""
    return f"deadline_ms 20000\nrun {CHECK}\n"
