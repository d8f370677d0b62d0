# SPDX-License-Identifier: GPL-2.0-or-later
"""Barriers that a change takes away. Pure.

Guests are x86, which reorders a store with a later load and nothing else; beside an atomic
operation a barrier is no instruction there. A kernel without it behaves the same, so no run here
can judge such a change (Documentation/memory-barriers.txt, "CPU MEMORY BARRIERS").
"""

from __future__ import annotations

import re
from collections import Counter

BARRIER = re.compile(
    r"\b((?:smp_|dma_|virt_)?(?:mb|rmb|wmb)|smp_mb__\w+|smp_store_mb|smp_store_release"
    r"|smp_load_acquire|rcu_assign_pointer|clear_bit_unlock|test_and_set_bit_lock)\s*\("
)
COMMENT = re.compile(r"/\*.*?\*/|//.*|^\s*\*.*|/\*.*")


def barriers_gone(diff: str) -> tuple[str, ...]:
    """Names of the barriers that the change has fewer of; none if it has as many in all.

    Args:
        diff: unified; of comments nothing counts.
    """
    balance: Counter[str] = Counter()
    for line in diff.splitlines():
        if line[:1] not in ("+", "-") or line.startswith(("+++ ", "--- ")):
            continue
        for name in BARRIER.findall(COMMENT.sub("", line[1:])):
            balance[name] += 1 if line[0] == "-" else -1
    if balance.total() <= 0:
        return ()
    return tuple(f"{name}()" for name, fewer in balance.items() if fewer > 0)
